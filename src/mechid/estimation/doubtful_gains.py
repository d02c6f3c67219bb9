"""Gains of the forces that the data support and the estimate did not take.

Where the model is wrong in other ways, its errors look like gains, and gains that are taken go
straight into the forces that it predicts; and where residuals are noise, gains may be probable, but
not clearly so. If there are some, the parameters have adapted to them. So values stay as they are,
and their uncertainty contains what gains of that size would have done to them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.estimate import Estimate
from mechid.estimation.posterior import Posterior


def with_doubtful_gains(
    estimate: Estimate, posterior: Posterior, size: float, *, clean: bool = False
) -> Estimate:
    """Return an estimate whose covariance contains gains of all forces, each on its own.

    Parameters
    ----------
    estimate : Estimate
        Without gains.
    posterior : Posterior
        That it comes from.
    size : float
        Standard deviation of the gains.
    clean : bool
        Whether residuals are nothing but noise.
    """
    fit, channels = posterior.fit, posterior.channels
    T, b = fit.solution.root, len(estimate.parameters)
    forces = channels.forces - fit.residuals
    own = np.eye(len(estimate.channels))[channels.channel]
    # What the parameters take up of a gain of one in each force.
    shifts = T[:b] @ ((fit.A @ T).T @ fit.transform(forces[:, None] * own))
    why = "not clearly better than none" if clean else "errors of the model look like them"
    return replace(
        estimate,
        covariance=estimate.covariance + size**2 * (shifts @ shifts.T),
        known=(
            *estimate.known,
            f"gains of the forces of about {size:.1%} would fit, but {why}: they are not taken, "
            "and standard deviations contain what they would have done",
        ),
    )
