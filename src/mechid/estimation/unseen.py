"""Offsets of force channels that the data could not show.

Where a body always hangs on the same side, its weight looks like an offset of the force: parameters
adapt to the offset, and neither residuals nor held-out errors tell. Standard deviations do not
contain what is not looked for, so the output has to name it.
"""

from __future__ import annotations

import numpy as np

from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR
from mechid.estimation.posterior import Posterior
from mechid.estimation.regression import Floats

# An offset is not seen if the data leave it more than this part of its usual size, and worth a word
# if it would shift a parameter by more than so many standard deviations.
_UNSEEN, _SHIFT = 0.5, 2.0


def unseen_offsets(posterior: Posterior, sigma: Floats) -> tuple[str, ...]:
    """Return a sentence on the offset that would do most harm without being seen, if there is one.

    Parameters
    ----------
    posterior : Posterior
    sigma : array (b,)
        Standard deviations of the parameters.
    """
    channels, fit = posterior.channels, posterior.fit
    if channels.offsets:
        return ()
    T = fit.solution.root
    Q = fit.A @ T
    usual = USUAL_CHANNEL_ERROR * channels.usual_sizes("offsets", posterior.prior.mean)
    worst = (_SHIFT, "", "")
    for s in np.unique(channels.series):
        if usual[s] == 0:
            continue
        c = fit.transform((channels.series == s).astype(float))
        along = Q.T @ c
        left = 1.0 / np.sqrt(max(float(c @ c - along @ along), 0.0) + 1.0 / usual[s] ** 2)
        if left < _UNSEEN * usual[s]:
            continue
        shift = np.abs(T @ along)[: len(sigma)] * usual[s] / np.where(sigma > 0, sigma, np.inf)
        k = int(np.argmax(shift))
        if shift[k] > worst[0]:
            worst = (float(shift[k]), channels.names[s], channels.regression.parameters[k])
    size, force, parameter = worst
    if not force:
        return ()
    return (
        f"an offset of {USUAL_CHANNEL_ERROR:.0%} of force {force} would not be seen in these data "
        f"and would shift {parameter} by {size:.2g} standard deviations: estimate offsets "
        "(--offsets) if it may have one",
    )
