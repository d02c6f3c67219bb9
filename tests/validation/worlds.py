"""Three coupled pendulums in closed form, whose measured forces can be made wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.signals.record import PreparedMeasurement
from mechid.validation.diagnosis import diagnose, gross_mistakes
from mechid.validation.diagnosis_record import Diagnosis

Array = np.ndarray
NAMES = ("q1", "q2", "q3")
FORCES = ("M1", "M2", "M3")
PARAMETERS = (*(f"{word}_{j}" for j in (1, 2, 3) for word in ("J", "G", "c")), "S")
N, RATE = 600, 100.0
CAD_ERROR = 0.2


def motion(seed: int) -> tuple[Array, Array, Array, Array]:
    """Return times and a random Fourier series of each angle, speed and acceleration."""
    rng = np.random.default_rng(seed)
    t = np.arange(N) / RATE
    w = 2 * np.pi * np.array([0.31, 0.52, 0.83])
    a, b = rng.normal(size=(2, 3, 3)) * 0.4
    S, C = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return t, S @ a + C @ b, (C * w) @ a - (S * w) @ b, -(S * w**2) @ a - (C * w**2) @ b


def observation(y: Array, yd: Array, ydd: Array) -> Array:
    """Return W: J q̈ + G sin q + c q̇ for each, and a shared inertia S of the sum of all."""
    W = np.zeros((len(y), 3, len(PARAMETERS)))
    for j in range(3):
        W[:, j, 3 * j : 3 * j + 3] = np.column_stack([ydd[:, j], np.sin(y[:, j]), yd[:, j]])
        W[:, j, -1] = ydd.sum(axis=1)
    return W


def coloured(rng: np.random.Generator, correlation: float) -> Array:
    """Return stationary noise (N, 3) of unit size, neighbours correlated."""
    e = rng.standard_normal((N + 200, 3))
    for k in range(1, len(e)):
        e[k] = correlation * e[k - 1] + np.sqrt(1 - correlation**2) * e[k]
    return e[200:]


class World:
    """A measured motion, with 5 % noise and what `wrong` does to the measured forces (N, 3)."""

    def __init__(
        self,
        seed: int = 0,
        wrong: Callable[[Array, Array], Array] | None = None,
        *,
        noise: float = 0.05,
        correlation: float = 0.0,
        still: int | None = None,
    ) -> None:
        rng = np.random.default_rng(1000 + seed)
        t, y, yd, ydd = motion(seed)
        if still is not None:
            y[:, still], yd[:, still], ydd[:, still] = 0.3, 0.0, 0.0
        cad = np.array([*(0.5, 3.0, 0.4) * 3, 0.2])
        self.true = cad * np.exp(CAD_ERROR * rng.standard_normal(len(cad)))
        W = observation(y, yd, ydd)
        self.exact = W @ self.true
        self.size = np.sqrt(np.mean(self.exact**2, axis=0))
        tau = self.exact + noise * self.size * coloured(rng, correlation)
        tau = tau if wrong is None else wrong(tau.copy(), t)
        self.motion = PreparedMeasurement(time=t, y=y, yd=yd, ydd=ydd, forces=FORCES, tau=tau)
        self.regression = Regression(
            W, tau, np.zeros_like(tau), t, PARAMETERS, FORCES, ("N m",) * 3,
            np.isfinite(tau),
        )  # fmt: skip
        b = len(cad)
        self.prior = Prior(PARAMETERS, PARAMETERS, np.eye(b), cad, np.diag((CAD_ERROR * cad) ** 2))

    def estimate(self, *, prior: bool = True, auto: bool = False) -> Estimate:
        """By `auto`, which finds errors of channels, or with what is known of parameters only."""
        if auto:
            return JointPosterior()(self.regression, self.prior)
        known = MaximumAPosteriori(scale=1.0) if prior else MaximumAPosteriori(prior="none")
        return known(self.regression, self.prior if prior else None)

    def diagnosis(self, *, prior: bool = True, auto: bool = False) -> tuple[Diagnosis, ...]:
        """As of an identification."""
        gross = gross_mistakes(self.regression, self.prior if prior else None)
        return gross or diagnose(
            self.regression,
            self.estimate(prior=prior, auto=auto),
            [self.motion],
            speeds=self.motion.yd,
            coordinates=[(name, "rad") for name in NAMES],
        )
