"""Standard deviations from estimates without each part of the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from mechid.estimation.blocks import parts_of_motion
from mechid.estimation.estimate import Estimate
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.regression import Floats, Ints

# Parts of the motion: many where residuals are noise, and few where errors of the model are alike
# over large parts of it.
_MANY, _FEW = 10, 4


def with_jackknife(estimate: Estimate, posterior: Posterior, noise: bool) -> Estimate:
    """Return an estimate with standard deviations that hold where its model does not.

    Errors of the model are not independent from sample to sample, and parameters adapt to them.
    How much is seen when parts of the motion are left out one by one: with B parts the covariance
    is (B - 1)/B Σ Δ Δᵀ, Δ the change of the estimate. Parameters and offsets whose standard
    deviation is larger by that get it; correlations stay.
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
        # Without a log nothing is known of its offsets: that is no spread of the others.
        spread[:b] = np.maximum(spread[:b], _spread(posterior, channels.regression.logs)[0][:b])
    wider = _times(spread[:b], estimate.sigma)
    errors = estimate.errors
    if errors is not None and errors.cross is not None:
        more = _times(spread[b:], errors.sigma_offset)
        cross = errors.cross * np.outer(wider, more)
        errors = replace(errors, cross=cross, sigma_offset=errors.sigma_offset * more)
    return replace(estimate, covariance=estimate.covariance * np.outer(wider, wider), errors=errors)


def _times(spread: Floats, sigma: Floats) -> Floats:
    """Return how many times as large a standard deviation becomes that is not to be smaller."""
    return np.asarray(np.maximum(1.0, spread / np.where(sigma > 0, sigma, np.inf)))


def _spread(posterior: Posterior, block: Ints) -> tuple[Floats, int]:
    """Return standard deviations of parameters, and of the offset of each force (the mean of all
    logs) if there are offsets, by leaving out blocks of samples, and their number."""
    shifts, channels = posterior.held_out(block).shifts, posterior.channels
    B, layout = len(shifts), channels.layout
    offsets = np.zeros((B, 0))
    if channels.offsets:
        n_d = len(channels.regression.channels)
        offsets = shifts[:, layout["offsets"]].reshape(B, channels.n_logs, n_d).mean(axis=1)
    shifts = np.hstack([shifts[:, layout["parameters"]], offsets])
    return np.asarray(np.sqrt((B - 1) / B * np.sum(shifts**2, axis=0))), B
