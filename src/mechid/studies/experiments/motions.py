"""Experiment `motions`: criteria of designed and random motions, and what they lead to.

Prediction errors are expected ones, of white noise and of CAD values with Gaussian errors, so that
nothing is drawn but the motions.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.errors import DataError, MechidError
from mechid.estimation.linear import prior_factor, with_prior
from mechid.estimation.regression import Floats
from mechid.excitation.criteria.root import resolution
from mechid.excitation.optimise import Effort, optimise
from mechid.excitation.starts import Starts
from mechid.options import ExciteOptions, changed
from mechid.signals.errors import rms
from mechid.studies.experiment import Experiment, Outcome, Row
from mechid.studies.experiments import shared
from mechid.studies.experiments.shared import words_key
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.criteria import checked_options, criterion_of
from mechid.tasks.excite import Plan, plan_of

CRITERIA = ("condition", "condition-equilibrated", "a", "d", "e", "prediction")
# Expected errors: estimator with CAD values as prior or plain, noise relative to the forces of the
# motion or to those of the motions that are predicted.
ERRORS = ("prior_own", "prior_usual", "plain_own", "plain_usual")
_OTHERS_SEED = 12345
_KEPT = 8


@dataclass(frozen=True, kw_only=True)
class MotionsSettings:
    """Motions that are designed or drawn.

    Attributes
    ----------
    model : str
    motion : mapping
        Options of `excite`; its limits are the usual ones.
    draws : int
        Number of random motions within the limits; 0 for the one that is designed.
    seed : int
        Of the random motions, and of the design.
    noise : float
        Standard deviation of the forces relative to their root mean square.
    cad_error : float
        Relative error of the CAD values.
    targets : int
        Number of random motions that are predicted.
    report : "motions" or "ranking"
        A row for each motion; or Spearman's rank correlation of each criterion with each error
        over the random motions.
    """

    model: str
    motion: Mapping[str, Any] = field(default_factory=dict)
    draws: int = 0
    seed: int = 0
    noise: float = 0.05
    cad_error: float = 0.2
    targets: int = 8
    report: Literal["motions", "ranking"] = "motions"

    def __post_init__(self) -> None:
        """Reject settings that make no sense."""
        if self.report == "ranking" and self.draws < 3:
            raise DataError(f"a ranking needs draws ≥ 3, got {self.draws}")
        if self.targets < 1:
            raise DataError(f"targets must be ≥ 1, got {self.targets}")

    @property
    def shared(self) -> Hashable:
        """What motions are compared by: all that does not depend on the seed."""
        return self.model, words_key(self.motion), self.noise, self.cad_error, self.targets


@dataclass(frozen=True, eq=False)
class Bench:
    """By what motions of a mechanism are compared."""

    plan: Plan
    options: ExciteOptions
    noise: float
    cad_error: float
    targets: int

    @property
    def base(self) -> BaseSet:
        """The base set."""
        return self.plan.base

    def drawn(self, n: int, seed: int) -> Iterator[Floats]:
        """Yield n random motions within the limits."""
        rng, starts = np.random.default_rng(seed), Starts(self.plan.problem)
        for _ in range(n):
            x = starts.draw(rng)
            if x is None:
                raise DataError("no random motion keeps all limits", remedy="widen the limits")
            yield x

    def seen(self, x: Floats) -> Observation:
        """Return what a motion shows."""
        return observation_matrix(self.plan.problem.motion(x))

    @cached_property
    def predicted(self) -> tuple[Floats, Floats]:
        """W_b (n, N, n_i, b) and forces (n, N, n_i) of the motions that are predicted."""
        others = [self.seen(x) for x in self.drawn(self.targets, _OTHERS_SEED)]
        W = np.array([self.base.observation(s.W) for s in others])
        return W, np.array([w @ self.cad + s.known for w, s in zip(W, others, strict=True)])

    @cached_property
    def _known(self) -> tuple[Floats, Floats]:
        mechanism = self.plan.problem.mechanism
        prior = prior_from_cad(mechanism, self.base, cad_error=self.cad_error)
        return prior.mean, prior.matrix @ prior_factor(prior.covariance)

    @property
    def cad(self) -> Floats:
        """CAD values of the base parameters, (b,)."""
        return self._known[0]

    @cached_property
    def criteria(self) -> Mapping[str, Any]:
        """All criteria, with the noise and the prior of the options."""
        mechanism, usual = self.plan.problem.mechanism, self.plan.usual
        return {
            name: criterion_of(mechanism, self.base, replace(self.options, criterion=name), usual)
            for name in CRITERIA
        }

    def row(self, seen: Observation) -> Row:
        """Return criteria and expected errors of a motion."""
        W = self.base.observation(seen.W)
        values = {name: c.look(W, seen.known).value for name, c in self.criteria.items()}
        own, usual = rms(W @ self.cad + seen.known), rms(np.concatenate(self.predicted[1]))
        found: dict[str, float] = {}
        for name, size in (("own", own), ("usual", usual)):
            sigma = self.noise * np.where(size > 0, size, 1.0)
            found[f"E_p_prior_{name}"] = self._error(self._with_prior(W, sigma))
            found[f"E_p_plain_{name}"] = self._error(self._plain(W, sigma))
        return {**values, "seen": resolution(W).seen, "parameters": W.shape[2], **found}

    def _with_prior(self, W: Floats, sigma: Floats) -> Floats:
        A = (W / sigma[:, None]).reshape(-1, W.shape[2])
        zero = np.zeros(A.shape[1])
        return with_prior(A, np.zeros(len(A)), zero, self._known[1]).root

    def _plain(self, W: Floats, sigma: Floats) -> Floats:
        """Return the root of the covariance of plain least squares, A⁺ Ω½."""
        A = W.reshape(-1, W.shape[2])
        return np.asarray(np.linalg.pinv(A) * np.tile(sigma, len(W)))

    def _error(self, root: Floats) -> float:
        """Return the expected E_p, summed over the forces, mean over the motions."""
        W, tau = self.predicted
        off = np.sqrt(np.sum((W @ root) ** 2, axis=(1, 3)))
        size = np.sqrt(np.sum(tau**2, axis=1))
        return float(np.mean(np.sum(off / np.where(size > 0, size, np.inf), axis=1)))


@lru_cache(_KEPT)
def _bench(model: str, words: str, noise: float, cad_error: float, targets: int) -> Bench:
    mechanism = shared.mechanism(model)
    options = checked_options(changed(ExciteOptions(), json.loads(words)))
    return Bench(plan_of(mechanism, options), options, noise, cad_error, targets)


def run(cells: Sequence[MotionsSettings]) -> Iterator[Outcome]:
    """Yield the rows of each cell, or the error that refuses it."""
    for settings in cells:
        try:
            yield _ranking(settings) if settings.report == "ranking" else _motions(settings)
        except MechidError as error:
            yield error


def _of(settings: MotionsSettings) -> Bench:
    return _bench(
        settings.model,
        words_key(settings.motion),
        settings.noise,
        settings.cad_error,
        settings.targets,
    )


def _motions(settings: MotionsSettings) -> list[Row]:
    bench = _of(settings)
    if settings.draws:
        drawn = bench.drawn(settings.draws, settings.seed)
        return [{"number": k, **bench.row(bench.seen(x))} for k, x in enumerate(drawn)]
    o = bench.options
    effort = Effort(o.random, o.starts, o.iterations)
    found = optimise(bench.plan.problem, effort, seed=settings.seed)
    return [{"number": 0, **bench.row(bench.seen(found.x))}]


def _ranking(settings: MotionsSettings) -> list[Row]:
    from scipy.stats import spearmanr

    rows = _motions(replace(settings, report="motions"))
    return [
        {
            "criterion": criterion,
            "error": error,
            "correlation": float(
                spearmanr(
                    [row[criterion] for row in rows], [row[f"E_p_{error}"] for row in rows]
                ).statistic
            ),
        }
        for criterion in CRITERIA
        for error in ERRORS
    ]


EXPERIMENT = Experiment(MotionsSettings, lambda settings: settings.shared, run)
