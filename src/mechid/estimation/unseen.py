"""Offsets of forces, and errors of the places of joints, that the data could not show.

Where a body always hangs on the same side, its weight looks like an offset of the force. Parameters
adapt to it, and neither residuals nor held-out errors tell. Standard deviations do not contain what
is not looked for, so the output has to name it.

A body whose joints all sit elsewhere in it by the same vector moves as before, and takes the forces
of a body that is shifted: its parameters belong to the axes of the machine, and predicted forces
are right, but compared with a drawing they are off. No motion can show that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.estimation.estimate import Unseen
from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.spatial.inertia import by_central
from mechid.spatial.inertia_errors import moments

# An error is not seen if the data leave it more than this part of its usual size: the evidence for
# a term of nearly four standard deviations is about what is required to take it. It is worth a word
# if it would shift a parameter by more than so many standard deviations.
_UNSEEN, _SHIFT = 0.25, 2.0
# Distance of a joint from its place in a body, in radii of gyration about the centre: medium
# tolerances of machined lengths are 0.1 to 0.2 % of them.
_PLACED = 0.002
OFFSETS = (
    "estimate offsets (--offsets) if it may have one, or say that the sensors are zeroed "
    "(--set offsets=0)"
)
_OWN_AXES = (
    "the parameters belong to the axes of the machine; predicted forces are not affected, and "
    "standard deviations do not contain it unless it is declared (--hardpoints)"
)


def unseen_offsets(posterior: Posterior, sigma: Floats) -> tuple[Unseen, ...]:
    """Return the offset that does most harm unseen.

    Parameters
    ----------
    posterior : Posterior
    sigma : array (b,)
        Standard deviations of the parameters.
    """
    if posterior.channels.offsets:
        return ()
    fit, channels, found = posterior.fit, posterior.channels, []
    usual = USUAL_CHANNEL_ERROR * channels.usual_sizes("offsets", posterior.prior.mean)
    T = fit.solution.root
    Q = fit.A @ T
    for s in np.unique(channels.series):
        c = fit.transform(usual[s] * (channels.series == s))
        along = Q.T @ c
        # The data and its usual size leave it the variance 1/(1 + cᵀc - …), in units of that size.
        if c @ c - along @ along > 1.0 / _UNSEEN**2 - 1.0:
            continue
        error = (
            f"an offset of {USUAL_CHANNEL_ERROR:.0%} of force {channels.names[s]} would not be "
            "seen in these data and would"
        )
        names, shifts = channels.regression.parameters, (T @ along)[: len(sigma)]
        found.append(Unseen(error, names, shifts, _SHIFT, OFFSETS))
    return _most_harmful(found, sigma)


def unseen_places(prior: Prior, sigma: Floats) -> tuple[Unseen, ...]:
    """Return the body whose joints, elsewhere in it, would shift values most."""
    found: list[Unseen] = []
    for name, first in prior.bodies:
        phi = prior.values[first : first + 10]
        if not phi[0] > 0:
            continue
        _, _, second = moments(phi)
        off = _PLACED * float(np.sqrt(max(np.trace(second), 0.0) / phi[0]))
        by_center = by_central(phi)[:, 1:4]
        shifts = off * np.linalg.norm(prior.matrix[:, first : first + 10] @ by_center, axis=1)
        error = (
            f"joints that are {1e3 * off:.2g} mm off their places in {name} could not be seen in "
            "any motion and would"
        )
        found.append(Unseen(error, prior.base, shifts, _SHIFT, _OWN_AXES))
    return _most_harmful(found, sigma)


def _most_harmful(found: Sequence[Unseen], sigma: Floats) -> tuple[Unseen, ...]:
    """Return the error that shifts some parameter most, if any is worth a word."""
    sizes = [float(np.max(x.in_deviations(sigma), initial=0.0)) for x in found]
    if not sizes:
        return ()
    worst = found[int(np.argmax(sizes))]
    return (worst,) if worst.words(sigma) else ()
