"""Gains of the forces that the estimate did not take.

A factor of all forces, or of one that shares no parameter with others, looks like heavier bodies:
parameters take it up, and nothing but CAD values could tell. Where the model is wrong in other
ways, its errors look like gains, and gains that are taken go straight into the forces that it
predicts; and where residuals are noise, gains may be probable, but not clearly so. So values stay
as they are, and unless somebody says that the forces are calibrated, their covariance contains what
gains of the usual size would have done to them, or of the size that the data support. Half of their
variance is common to all forces, which have the supply, the amplifier or the torque constant of one
maker in common: if gains were independent, those that many forces show would seem to cancel.

Sensors keep their gains: what parameters took up of them is no error of a prediction for the same
sensors, nor a difference between two logs (`if_calibrated`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.doubtful_forces import MUCH, most_grown
from mechid.estimation.estimate import DoubtedGains, Estimate
from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR, less
from mechid.estimation.linear import prior_factor
from mechid.estimation.map_posterior import Posterior

# Standard deviation of the gain of a force that nobody said to be calibrated: intervals of 95 %
# reach as far as the usual error of a channel.
USUAL_GAIN_ERROR = USUAL_CHANNEL_ERROR / 2


def with_doubtful_gains(
    estimate: Estimate, posterior: Posterior, supported: float = 0.0, *, clean: bool = False
) -> Estimate:
    """Return an estimate whose covariance contains gains of all forces.

    Parameters
    ----------
    estimate : Estimate
        Without gains.
    posterior : Posterior
        That it comes from.
    supported : float
        Standard deviation of gains that the data support, if it is more than usual.
    clean : bool
        Whether residuals are nothing but noise.
    """
    fit, channels = posterior.fit, posterior.channels
    T, b = fit.solution.root, len(estimate.parameters)
    forces = channels.forces - fit.residuals
    size, n_d = max(supported, USUAL_GAIN_ERROR), len(estimate.channels)
    gains = np.column_stack([np.eye(n_d), np.ones(n_d)]) * size / np.sqrt(2)
    # What the parameters take up.
    added = forces[:, None] * gains[channels.channel]
    shifts = T[:b] @ ((fit.A @ T).T @ fit.transform(added))
    wider = estimate.covariance + shifts @ shifts.T
    most, times = most_grown(estimate, wider)
    found = replace(estimate.widened(wider), doubted_gains=DoubtedGains(gains, shifts))
    first = "data do not exclude gain errors of the forces"
    if supported > USUAL_GAIN_ERROR:
        but = "are not clearly better than none" if clean else "errors of the model look like them"
        first = f"gain errors of the forces of about {supported:.1%} would fit, but {but}"
    said = (
        f"{first}: standard deviations contain what gain errors of {size:.1%} would have done, and "
        f"that of {most} grows most, {times:.3g} times; declare what may remain (--set gains=1%), "
        "or say that the forces are calibrated (--set gains=0)"
    )
    return replace(found, warnings=(*found.warnings, said)) if times > MUCH else found


def if_calibrated(estimate: Estimate) -> Estimate:
    """Return the estimate if forces were known to be calibrated, or for the same sensors: without
    the gain errors that its covariance contains."""
    gains = estimate.doubted_gains
    if gains is None:
        return estimate
    root = less(prior_factor(estimate.covariance), gains.shifts)
    return replace(estimate, covariance=np.asarray(root @ root.T), doubted_gains=None)
