"""Models with few parameters: what they are made of, and the linear problems of their motions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np

from mechid.estimation.regression import Floats, Regression
from mechid.reduction.contribution import Contribution, contribution
from mechid.studies.experiments.shared import mechanism, true_values, words_key
from mechid.studies.given_motions import GivenMotion
from mechid.studies.observed import (
    Columns,
    cad_values,
    columns_of,
    observed,
    problem,
)

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
