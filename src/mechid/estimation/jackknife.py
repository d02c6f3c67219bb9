"""Standard deviations from estimates without each part of the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from mechid.estimation.blocks import parts_of_motion
from mechid.estimation.estimate import Estimate
from mechid.estimation.posterior import Posterior
from mechid.estimation.regression import Floats, Ints

# Parts of the motion: many where residuals are noise, and few where errors of the model are alike
# over large parts of it.
_MANY, _FEW = 10, 4


def with_jackknife(estimate: Estimate, posterior: Posterior, noise: bool) -> Estimate:
    """Return an estimate with standard deviations that hold where its model does not.

    Errors of the model are not independent from sample to sample, and parameters adapt to them.
    How much is seen when parts of the motion are left out one by one: with B parts the covariance
    is (B - 1)/B Σ Δ Δᵀ, Δ the change of the estimate. Parameters whose standard deviation is larger
    by that get it; correlations stay.
    """
    channels, b = posterior.channels, len(estimate.parameters)
    columns = channels.rows[0] * np.sqrt(np.diag(posterior.prior.base_covariance))
    block = parts_of_motion(channels.regression, columns, _MANY if noise else _FEW)
    spread, B = _spread(posterior, block)
    if B < 2:
        return estimate
    # Few parts do not determine a standard deviation well: as wide as Student's interval.
    spread *= stdtrit(B - 1, 0.975) / ndtri(0.975)
    if channels.n_logs > 1:
        spread = np.maximum(spread, _spread(posterior, channels.regression.logs)[0])
    spread = spread[:b]
    sigma = estimate.sigma
    wider = np.maximum(1.0, spread / np.where(sigma > 0, sigma, np.inf))
    return replace(estimate, covariance=estimate.covariance * np.outer(wider, wider))


def _spread(posterior: Posterior, block: Ints) -> tuple[Floats, int]:
    """Return standard deviations of x by leaving out blocks of samples, and their number."""
    shifts = posterior.held_out(block).shifts
    B = len(shifts)
    return np.asarray(np.sqrt((B - 1) / B * np.sum(shifts**2, axis=0))), B
