"""Errors of force channels, and of the places of joints, that the data could not show.

Where a body always hangs on the same side, its weight looks like an offset of the force; and a
common factor of all forces looks like heavier bodies. Parameters adapt to it, and neither residuals
nor held-out errors tell. Standard deviations do not contain what is not looked for, so the output
has to name it.

A body whose joints all sit elsewhere in it by the same vector moves as before, and takes the forces
of a body that is shifted: its parameters belong to the axes of the machine, and predicted forces
are right, but compared with a drawing they are off. No motion can show that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR
from mechid.estimation.posterior import Posterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.spatial.inertia import by_central
from mechid.spatial.inertia_errors import moments

# An error is not seen if the data leave it more than this part of its usual size: the evidence for
# a term of nearly four standard deviations is about what is required to take it. It is worth a word
# if it would shift a parameter by more than so many standard deviations.
_UNSEEN, _SHIFT = 0.25, 2.0
# Gain error of a calibrated force sensor. Many have a larger one, so that it is worth a word if it
# would shift a parameter by one standard deviation.
_CALIBRATED, _GAIN_SHIFT = 0.01, 1.0
# Distance of a joint from its place in a body, in radii of gyration about the centre: medium
# tolerances of machined lengths are 0.1 to 0.2 % of them.
_PLACED = 0.002


def unseen_offsets(posterior: Posterior, sigma: Floats) -> tuple[str, ...]:
    """Return a sentence on the offset that does most harm unseen.

    Parameters
    ----------
    posterior : Posterior
    sigma : array (b,)
        Standard deviations of the parameters.
    """
    if posterior.channels.offsets:
        return ()
    kind = f"an offset of {USUAL_CHANNEL_ERROR:.0%} of"
    remedy = (
        "estimate offsets (--offsets) if it may have one, or say that the sensors are zeroed "
        "(--set offsets=0)"
    )
    return _sentence(posterior, sigma, kind, remedy, _offsets(posterior))


def unseen_gains(posterior: Posterior, sigma: Floats) -> tuple[str, ...]:
    """Return a sentence on the gain error that does most harm unseen.

    Arguments as in `unseen_offsets`.
    """
    if posterior.channels.gains:
        return ()
    kind = f"a gain error of {_CALIBRATED:.0%} of"
    remedy = (
        "standard deviations are those of calibrated forces; declare what may remain "
        "(--set gains=1%), or say that they are calibrated (--set gains=0)"
    )
    return _sentence(posterior, sigma, kind, remedy, _gains(posterior), _GAIN_SHIFT)


def place_words(prior: Prior, sigma: Floats) -> tuple[str, ...]:
    """Return the sentence on the body whose joints, elsewhere in it, would shift values most."""
    worst, words = _SHIFT, ""
    for name, first in prior.bodies:
        phi = prior.values[first : first + 10]
        if not phi[0] > 0:
            continue
        _, _, second = moments(phi)
        off = _PLACED * float(np.sqrt(max(np.trace(second), 0.0) / phi[0]))
        by_center = by_central(phi)[:, 1:4]
        shift = off * np.linalg.norm(prior.matrix[:, first : first + 10] @ by_center, axis=1)
        shift = shift / np.where(sigma > 0, sigma, np.inf)
        k = int(np.argmax(shift))
        if shift[k] > worst:
            worst = float(shift[k])
            words = (
                f"joints that are {1e3 * off:.2g} mm off their places in {name} could not be seen "
                f"in any motion and would shift {prior.base[k]} by {worst:.2g} standard deviations:"
                " the parameters belong to the axes of the machine; predicted forces are not "
                "affected, and standard deviations do not contain it unless it is declared "
                "(--hardpoints)"
            )
    return (words,) if words else ()


def _offsets(posterior: Posterior) -> Iterator[tuple[str, Floats]]:
    """Yield the usual offset of each force, as measured rows (m,)."""
    channels = posterior.channels
    usual = USUAL_CHANNEL_ERROR * channels.usual_sizes("offsets", posterior.prior.mean)
    for s in np.unique(channels.series):
        yield f"force {channels.names[s]}", usual[s] * (channels.series == s)


def _gains(posterior: Posterior) -> Iterator[tuple[str, Floats]]:
    """Yield what a gain error of each force makes, and one of all forces together, likewise."""
    channels = posterior.channels
    wrong = _CALIBRATED * (channels.forces - posterior.fit.residuals)
    names = channels.regression.channels
    if len(names) > 1:
        yield "all forces together", wrong
    for j in np.unique(channels.channel):
        yield f"force {names[j]}", wrong * (channels.channel == j)


def _sentence(
    posterior: Posterior,
    sigma: Floats,
    kind: str,
    remedy: str,
    errors: Iterator[tuple[str, Floats]],
    least: float = _SHIFT,
) -> tuple[str, ...]:
    """Return the sentence on the worst of some errors, from a shift of `least` deviations on."""
    fit = posterior.fit
    T = fit.solution.root
    Q = fit.A @ T
    size, whose, parameter = least, "", ""
    for name, rows in errors:
        c = fit.transform(rows)
        along = Q.T @ c
        # The data and its usual size leave it the variance 1/(1 + cᵀc - …), in units of that size.
        if c @ c - along @ along > 1.0 / _UNSEEN**2 - 1.0:
            continue
        shift = np.abs(T @ along)[: len(sigma)] / np.where(sigma > 0, sigma, np.inf)
        k = int(np.argmax(shift))
        if shift[k] > size:
            size, whose = float(shift[k]), name
            parameter = posterior.channels.regression.parameters[k]
    if not whose:
        return ()
    return (
        f"{kind} {whose} would not be seen in these data and would shift {parameter} by {size:.2g} "
        f"standard deviations: {remedy}",
    )
