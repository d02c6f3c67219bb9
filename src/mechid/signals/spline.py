"""Speeds and accelerations by a cubic smoothing spline whose penalty cross-validation chooses.

The natural cubic spline f that makes Σ (y - f)² + λ ∫ f̈² least, in Reinsch's form: its second
derivatives γ at the samples solve (R + λ Qᵀ Q) γ = Qᵀ y with bands of two and one beside the
diagonal, and f = y - λ Q γ. The unit of time is the step, so that the bands are constant.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from mechid.kinematics.tables import Floats

_RANGE = (-4.0, 14.0)  # decimal logarithm of the penalty


def choose_penalty(values: Floats, seed: int = 0) -> float:
    """Return the penalty λ (unit of time: the step) that cross-validation prefers.

    Generalised cross-validation over all columns of values (N, n), each in units of its own
    scatter about the spline. The trace of the smoother is estimated with a random vector of ±1.
    """
    from scipy.optimize import minimize_scalar

    n = len(values)
    probe = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, 1))
    both = np.concatenate([values, probe], axis=1)

    def score(exponent: float) -> float:
        smooth, _ = _reinsch(both, 10.0**exponent)
        free = 1.0 - float(probe[:, 0] @ smooth[:, -1]) / n
        residual = np.mean((values - smooth[:, :-1]) ** 2, axis=0)
        scatter = np.mean(np.log(np.maximum(residual, np.finfo(float).tiny)))
        return float(scatter - 2 * np.log(max(free, np.finfo(float).eps)))

    found = minimize_scalar(score, bounds=_RANGE, method="bounded", options={"xatol": 0.05})
    return float(10.0**found.x)


def smooth_spline(values: Floats, rate: float, penalty: float) -> tuple[Floats, Floats, Floats]:
    """Return values (N, n) smoothed, and their first and second derivatives, (N, n) each."""
    y, curve = _reinsch(values, penalty)
    slope = np.empty_like(y)
    slope[:-1] = np.diff(y, axis=0) - (2 * curve[:-1] + curve[1:]) / 6
    slope[-1] = y[-1] - y[-2] + (curve[-2] + 2 * curve[-1]) / 6
    return y, slope * rate, curve * rate**2


def reach(penalty: float) -> int:
    """Return over how many samples the spline smooths: its bandwidth, λ^(1/4), a few times.

    The acceleration of the spline vanishes at its ends; this many samples feel it. Without a
    penalty what ends wrongly decays by a factor of 3.7 from sample to sample.
    """
    return int(np.ceil(8 + 4 * penalty**0.25))


def _reinsch(values: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return the spline and its second derivative at the samples, (N, n) each."""
    n = len(values)
    bands = np.empty((3, n - 2))
    bands[0], bands[1], bands[2] = (
        r + penalty * q for r, q in ((0.0, 1.0), (1 / 6, -4.0), (2 / 3, 6.0))
    )
    curve = np.zeros_like(values)
    curve[1:-1] = solveh_banded(bands, np.diff(values, 2, axis=0))
    padded = np.concatenate([curve[:1], curve, curve[-1:]])  # Q γ: second differences of γ
    return values - penalty * np.diff(padded, 2, axis=0), curve
