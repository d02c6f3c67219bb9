"""Models with few parameters: identified with one motion, they predict another.

The ways of the literature, step by step: a base set or all parameters; elimination of those that
contribute little, going by CAD values; regrouping by singular values with an imposed rank;
elimination by relative standard deviation; least squares. The default of mechid, and CAD values as
they are, join in for comparison.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from mechid.errors import DataError
from mechid.estimation.automatic import Automatic
from mechid.estimation.linear import condition
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.estimation.regression import Bools, Floats, Regression
from mechid.reduction.contribution import Contribution, contribution
from mechid.reduction.deviation import by_deviation
from mechid.reduction.regroup import regroup
from mechid.studies.experiments.shared import mechanism, true_values, words_key
from mechid.studies.given_motions import GivenMotion
from mechid.studies.observed import (
    Columns,
    cad_of,
    cad_values,
    columns_of,
    observed,
    problem,
)
from mechid.tasks.cad_prior import prior_from_cad
from mechid.textfile.words import hint

OLS = OrdinaryLeastSquares()
HOME: GivenMotion = {"departures": {}}


@dataclass(frozen=True)
class Reduced:
    """A model that is identified with one motion and predicts another.

    Attributes
    ----------
    model : str
        Mechanism: a name of the zoo or a file.
    truth : str
        Mechanism with the true values; empty: the model itself.
    gravity : bool
        Whether there is weight.
    base : str
        Base set, as in `identify`; empty: all parameters. A named list that is not a base set
        stands for its parameters with their own values.
    motion, validation : mapping
        Motions of identification and of prediction (`mechid.studies.given_motions`); without
        `validation` that of identification, with exact forces.
    rate, seconds : float
        Samples per second (Hz) and duration (s) of both.
    springs : bool
        Whether known forces of springs and dampers are part of the forces that errors and
        contributions are relative to.
    ranked_on : sequence of motions
        Contributions are means over these; by default the motion of identification.
    threshold : float
        Percent: parameters that contribute less are set to zero.
    size : int, optional
        Number of parameters that are kept, the largest contributions first; all by default.
    regrouped : bool
        Whether what is left is regrouped by singular values, columns in SI units.
    rank : int, optional
        Imposed; by default what rounding allows.
    deviation : bool
        Whether parameters are then dropped whose relative standard deviation exceeds ten times the
        smallest.
    parameters : sequence of str
        Parameters that are identified as they are, instead of all this.
    method : "ols", "auto" or "cad"
        Least squares; the default of mechid with the CAD values as prior; CAD values as they are.
    noise : float
        Standard deviation of the errors of the forces, relative to the root mean square of each.
    noise_of : "whole" or "parameters"
        Of the whole force, or of what is left without springs and dampers.
    cad_error : float
        Relative error of the CAD values (`mechid.estimation.perturb`).
    sizes : sequence of int
        Numbers of parameters that are reported, where there are several; empty: all.
    reported : float, optional
        Seconds of the motion that time histories report; all by default.
    seed : int
        Of both kinds of errors.
    """

    model: str
    truth: str = ""
    gravity: bool = True
    base: str = ""
    motion: GivenMotion = field(default_factory=lambda: HOME)
    validation: GivenMotion | None = None
    rate: float = 50.0
    seconds: float = 10.0
    springs: bool = True
    ranked_on: tuple[GivenMotion, ...] = ()
    threshold: float = 0.0
    size: int | None = None
    regrouped: bool = False
    rank: int | None = None
    deviation: bool = False
    parameters: tuple[str, ...] = ()
    method: Literal["ols", "auto", "cad"] = "ols"
    noise: float = 0.0
    noise_of: Literal["whole", "parameters"] = "whole"
    cad_error: float = 0.0
    sizes: tuple[int, ...] = ()
    reported: float | None = None
    seed: int = 0

    def __hash__(self) -> int:
        """Return the hash of all of it as text: motions are mappings."""
        return hash(words_key(asdict(self)))

    def shared(self) -> Hashable:
        """Key of the work that cells share: mechanism, parameters and motions."""
        of = ("model", "gravity", "base", "motion", "validation", "ranked_on", "rate", "seconds")
        return words_key({name: getattr(self, name) for name in of})


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with few parameters.

    Attributes
    ----------
    parameters : tuple of str
        The k parameters that were identified.
    true, cad, values : arrays (k,)
        Their values by truth and by CAD, and as identified.
    deviation : array (k,)
        Relative standard deviation, percent; NaN where none is known.
    weights : array (k, p)
        Each as a sum of the parameters before regrouping, whose names are `terms`.
    terms : tuple of str
    kept : int
        Parameters left by their contribution, before any regrouping.
    condition, raw_condition : float
        Of the observation matrix, columns of unit length and as they are.
    """

    parameters: tuple[str, ...]
    true: Floats
    cad: Floats
    values: Floats
    deviation: Floats
    weights: Floats
    terms: tuple[str, ...]
    kept: int
    condition: float
    raw_condition: float


def columns(s: Reduced) -> Columns:
    """Return the parameters that a model starts with."""
    return columns_of(s.model, s.base)


def exact(s: Reduced, motion: GivenMotion | None = None) -> Regression:
    """Return the linear problem of a motion (default: of identification) with exact forces."""
    chosen = s.motion if motion is None else motion
    seen, time = observed(
        s.model, chosen, gravity=s.gravity, base=s.base, rate=s.rate, seconds=s.seconds
    )
    tau = seen.W @ true_values(s.truth or s.model) + seen.known
    return problem(mechanism(s.model).coordinates, seen, time, columns(s), tau)


def measured(s: Reduced) -> Regression:
    """Return the linear problem of identification with the errors of the forces."""
    r = exact(s)
    whole = r.tau if s.noise_of == "whole" else r.tau - r.known
    size = s.noise * np.sqrt(np.mean(whole**2, axis=0))
    draws = np.random.default_rng([s.seed, 2]).standard_normal(r.tau.shape)
    return replace(r, tau=r.tau + size * draws)


def counted(s: Reduced, r: Regression) -> Regression:
    """Return a problem with the forces that errors and contributions are relative to."""
    return r if s.springs else replace(r, tau=r.tau - r.known, known=np.zeros(r.known.shape))


def cad(s: Reduced) -> Floats:
    """Return CAD values of the parameters that a model starts with."""
    return np.asarray(columns(s).matrix @ cad_values(s.truth or s.model, s.cad_error, s.seed))


def truth(s: Reduced) -> Floats:
    """Return their true values."""
    return np.asarray(columns(s).matrix @ true_values(s.truth or s.model))


def contributions(s: Reduced, values: Floats | None = None) -> Contribution:
    """Return contributions with the CAD values, or with others."""
    on = [counted(s, exact(s, m)) for m in s.ranked_on] or [counted(s, measured(s))]
    return contribution(on, cad(s) if values is None else values)


def fitted(s: Reduced) -> Fitted:
    """Reduce and identify a model.

    Raises
    ------
    MechidError
        For settings that do not go together, or a motion that cannot be performed.
    """
    return _fit(replace(s, validation=None, sizes=(), reported=None))


@lru_cache(maxsize=256)
def _fit(s: Reduced) -> Fitted:
    r = measured(s)
    if s.method == "auto":
        return _automatic(s, r)
    names = _names(s, r.parameters)
    chosen = r.select(names)
    start = np.isin(r.parameters, names)
    weights = np.eye(len(names))
    if s.regrouped:
        g = regroup(chosen, s.rank, scale=np.ones(len(names)))
        chosen, weights = g.regression, g.matrix
    if s.deviation:
        found = by_deviation(chosen)
        left = np.isin(chosen.parameters, found.order[: found.natural])
        chosen, weights = chosen.select(np.array(chosen.parameters)[left].tolist()), weights[left]
    return _result(s, chosen, weights, start, len(names))


def _names(s: Reduced, names: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that are kept, in their own order."""
    if s.parameters:
        if strange := [n for n in s.parameters if n not in names]:
            raise DataError(
                f"there is no parameter {strange[0]}",
                where=s.model,
                remedy=hint(strange[0], list(names)),
            )
        return tuple(n for n in names if n in s.parameters)
    if not s.threshold and s.size is None:
        return tuple(names)
    found = contributions(s)
    kept = set(found.above(s.threshold))
    order = [n for n in found.ranking.order if n in kept][: s.size]
    if not order:
        raise DataError(
            f"no parameter contributes {s.threshold:g} %", where=s.model, remedy="lower threshold"
        )
    return tuple(n for n in names if n in set(order))


def _result(s: Reduced, r: Regression, weights: Floats, start: Bools, kept: int) -> Fitted:
    true, guess = (weights @ x[start] for x in (truth(s), cad(s)))
    values, deviation = guess, np.full(len(guess), np.nan)
    if s.method == "ols":
        estimate = OLS(r)
        values, deviation = estimate.values, np.asarray(estimate.relative)
    return Fitted(
        r.parameters,
        true,
        guess,
        values,
        deviation,
        weights,
        tuple(np.array(columns(s).names)[start].tolist()),
        kept,
        *condition_numbers(r),
    )


def _automatic(s: Reduced, r: Regression) -> Fitted:
    base = columns(s).base
    if base is None:
        raise DataError(
            f"the method auto needs a base set, got {s.base or 'all parameters'}",
            where=s.model,
            remedy="name a base set, or use the method ols",
        )
    known = cad_of(s.truth or s.model, s.cad_error, s.seed)
    prior = prior_from_cad(known, base, cad_error=s.cad_error or None)
    estimate = Automatic()(r, prior)
    found = _result(
        replace(s, method="cad"),
        r,
        np.eye(len(r.parameters)),
        np.ones(len(r.parameters), dtype=bool),
        len(r.parameters),
    )
    return replace(found, values=estimate.values, deviation=np.asarray(estimate.relative))


def condition_numbers(r: Regression) -> tuple[float, float]:
    """Return the condition numbers of a problem: columns of unit length, and as they are."""
    A = r.stacked()[0]
    return condition(A), float(np.linalg.cond(A))


def predicted(s: Reduced, f: Fitted, values: Floats | None = None) -> tuple[Floats, Regression]:
    """Return the forces that a model predicts (N, n_i), and the motion with the exact ones."""
    r = counted(s, exact(s, s.validation))
    return r.select(f.parameters).W @ (f.values if values is None else values) + r.known, r
