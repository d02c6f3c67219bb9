"""Problems of the tests of physical consistency: models of the zoo with known truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np

from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING, random_states
from mechid.dynamics.regressor import observation_matrix
from mechid.estimation.estimate import Estimate
from mechid.estimation.linear import prior_factor, with_prior
from mechid.estimation.perturb import perturbed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.exact.geometry import exact_geometry
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load
from mechid.tasks.cad_prior import prior_from_cad

UNKNOWN = 100.0


@cache
def model(name: str) -> tuple[Mechanism, BaseSet]:
    mechanism = load(name)
    null = all_transfers(exact_geometry(mechanism), EVERYTHING).null
    return mechanism, base_set(null, last(null))


@cache
def truth(name: str) -> Prior:
    return prior_from_cad(*model(name), cad_error=0.2, unknown=UNKNOWN)


def erroneous(name: str, seed: int, error: float = 0.2) -> Prior:
    """What CAD says if it is wrong by so much."""
    mechanism, base = model(name)
    cad = perturbed(mechanism, error, np.random.default_rng(seed))
    return prior_from_cad(cad, base, cad_error=error, unknown=UNKNOWN)


@cache
def _observed(name: str, samples: int) -> tuple[np.ndarray, np.ndarray]:
    mechanism, base = model(name)
    o = observation_matrix(random_states(mechanism, EVERYTHING, samples, 1))
    return base.observation(o.W), o.known


def regression(name: str, noise: float, seed: int = 0, samples: int = 60) -> Regression:
    """Forces in random states, with noise relative to the root mean square of each."""
    W, known = _observed(name, samples)
    forces = W @ truth(name).mean + known
    size = np.sqrt(np.mean(forces**2, axis=0))
    rng = np.random.default_rng(seed)
    tau = forces + noise * size * rng.standard_normal(forces.shape)
    n, n_d, _ = W.shape
    return Regression(
        W,
        tau,
        known,
        np.arange(n) * 0.01,
        model(name)[1].base,
        tuple(f"f{k}" for k in range(n_d)),
        ("N",) * n_d,
        np.ones((n, n_d), dtype=bool),
    )


@dataclass(frozen=True)
class Bayes:
    """Most probable base values for known relative noise; prior full, or only its variances."""

    noise: float
    prior: Literal["full", "diagonal"] = "full"
    scale: float = 1.0
    name: str = "bayes"

    def sigma(self, regression: Regression) -> np.ndarray:
        return self.noise * np.sqrt(np.mean(regression.tau**2, axis=0))

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        assert prior is not None
        A, t, channel = regression.stacked()
        sigma = self.sigma(regression)
        P = prior.base_covariance
        if self.prior == "diagonal":
            P = np.diag(np.diag(P))
        F = self.scale * prior_factor(P)
        found = with_prior(A / sigma[channel, None], t / sigma[channel], prior.mean, F)
        return Estimate(
            self.name,
            regression.parameters,
            found.x,
            found.covariance,
            regression.channels,
            sigma,
            regression.unstacked(t - A @ found.x),
            found.condition,
        )


def without(prior: Prior) -> Prior:
    """The same without declared deviations."""
    return replace(prior, covariance=np.zeros_like(prior.covariance))
