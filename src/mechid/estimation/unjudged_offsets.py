"""Offsets of the forces beside errors of the model, which nobody can judge.

Where residuals are noise, data and CAD values tell how probable an offset is. Where they are not,
evidence says what fits the errors of the model: missing friction looks like an offset, and hides
one. So values stay, and their covariance contains what offsets of the usual size would have done to
them, as it does for gains. Only an offset that would leave more in the residuals than the model
lacks would have been seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.doubtful_forces import MUCH, most_grown
from mechid.estimation.doubtful_offsets import REMEDY
from mechid.estimation.estimate import Estimate
from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.noise import root_mean_square

# Standard deviation of an offset, of the force: intervals of 95 % reach as far as the usual one.
_SIZE = USUAL_CHANNEL_ERROR / 2


def with_unjudged_offsets(
    estimate: Estimate, posterior: Posterior
) -> tuple[Estimate, tuple[str, ...]]:
    """Return an estimate whose covariance contains offsets of all forces, and a warning if that is
    much.

    Parameters
    ----------
    estimate : Estimate
        Without offsets. Its `unmodelled` is what the model lacks.
    posterior : Posterior
        That it comes from.
    """
    fit, channels = posterior.fit, posterior.channels
    T, b, n_d = fit.solution.root, len(estimate.parameters), len(estimate.channels)
    sizes = _SIZE * root_mean_square(channels.forces - fit.residuals, channels.channel, n_d)
    # The same sensor in all logs.
    added = fit.transform(sizes[channels.channel, None] * np.eye(n_d)[channels.channel])
    taken_up = (fit.A @ T).T @ added
    left = np.linalg.norm(added - fit.A @ (T @ taken_up), axis=0)
    whole = np.linalg.norm(added, axis=0)
    lacking = np.zeros(n_d) if estimate.unmodelled is None else np.nan_to_num(estimate.unmodelled)
    trace = sizes * left / np.where(whole > 0, whole, 1.0)
    hidden = np.ones(n_d)
    np.divide(lacking, trace, out=hidden, where=trace > lacking)
    doubted = T[:b] @ taken_up * hidden
    wider = estimate.covariance + doubted @ doubted.T
    most, times = most_grown(estimate, wider)
    said = (
        f"offsets of the forces of {_SIZE:.1%} cannot be told from what the model lacks: standard "
        f"deviations contain what they would have done, and that of {most} grows most, {times:.3g} "
        f"times; {REMEDY}"
    )
    wide = replace(estimate, covariance=wider, doubted_offsets=doubted)
    return wide, (said,) if times > MUCH else ()
