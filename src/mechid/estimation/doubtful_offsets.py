"""Offsets of the forces that neither data nor CAD values show or exclude.

Parameters imitate them, so that models with and without predict alike, and none are taken unless
they are clearly more probable. If they are there all the same, the values are wrong. So values stay
as they are, and their covariance contains what the offsets would have done to them: the mean over
all sets of forces that may have one (`wrong_forces.py`) of

    K G (o oᵀ + V) G Kᵀ,

with the offsets o ± V that the data leave them, and the response K = dφ/do of the parameters. What
is there with a probability p only is no normal law: with a normal law of the same variance, 95 %
would reach too short a way. G makes that the same, force by force.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from mechid.estimation.doubtful_forces import MUCH, most_grown
from mechid.estimation.estimate import Estimate
from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR, less, with_root
from mechid.estimation.linear import compressed, prior_factor, reduced
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.regression import Floats
from mechid.estimation.wrong_forces import wrong_forces

REMEDY = "estimate offsets (--offsets), or say that the sensors are zeroed (--set offsets=0)"
_OUTSIDE = 0.05  # of the intervals that are meant to hold


def with_doubtful_offsets(estimate: Estimate, other: Posterior) -> tuple[Estimate, tuple[str, ...]]:
    """Return an estimate whose covariance contains that there may be offsets, and a warning if that
    is much.

    Parameters
    ----------
    estimate : Estimate
        Without offsets.
    other : Posterior
        Of the same parameters, with offsets of the usual size.
    """
    fit, channels, gaussian = other.fit, other.channels, other.gaussian
    data = reduced(fit.A, fit.t, gaussian.mean)
    used = np.bincount(channels.series, minlength=len(channels.names)) > 0
    at, sizes = channels.layout["offsets"], (USUAL_CHANNEL_ERROR,)
    sets = wrong_forces(data, gaussian, at, used, sizes, right=0.0)
    b = len(estimate.parameters)
    reach = _reach(np.nan_to_num(sets.off))
    shifts = [
        np.sqrt(weight) * _shifts(*with_root(data, prior), b, at, reach)
        for prior, weight in zip(sets.priors, sets.weights, strict=True)
    ]
    # Values stay, so that an offset may have moved them by more than the CAD values are uncertain.
    doubted = compressed(np.hstack(shifts))
    wider = estimate.covariance + doubted @ doubted.T
    most, times = most_grown(estimate, wider)
    chances = ", ".join(
        f"{name} {p:.0%}" for name, p in zip(channels.names, sets.off, strict=True) if p > 0
    )
    said = (
        f"offsets of the forces of {USUAL_CHANNEL_ERROR:.0%} were not taken, but data and CAD "
        f"values do not exclude them (probability of each: {chances}): standard deviations contain "
        f"what they would have done, and that of {most} grows most, {times:.3g} times; {REMEDY}"
    )
    wide = replace(estimate, covariance=wider, doubted_offsets=doubted)
    return wide, (said,) if times > MUCH else ()


def if_zeroed(estimate: Estimate) -> Floats:
    """Return the covariance (b, b) that an estimate would have if sensors were known to be zeroed:
    without the offsets that nothing excludes."""
    if estimate.doubted_offsets is None:
        return estimate.covariance
    root = less(prior_factor(estimate.covariance), estimate.doubted_offsets)
    return np.asarray(root @ root.T)


def _reach(p: Floats) -> Floats:
    """Return how many times as far 95 % of an error reach that is there with probability p, else 0,
    than they would with a normal law of the same variance."""
    there = np.maximum(p, _OUTSIDE)
    far = ndtri(1 - _OUTSIDE / (2 * there)) / (ndtri(1 - _OUTSIDE / 2) * np.sqrt(there))
    return np.asarray(np.maximum(far, 1.0))


def _shifts(x: Floats, root: Floats, b: int, offsets: slice, reach: Floats) -> Floats:
    """Return what offsets do to the b parameters: columns whose squares are K G (o oᵀ + V) G Kᵀ."""
    T, S = root[:b], root[offsets]
    K = T @ np.linalg.pinv(S)
    return np.asarray(K @ (reach[:, None] * np.column_stack([S, x[offsets]])))
