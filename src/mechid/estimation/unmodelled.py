"""Force that the model does not describe: missing friction, hysteresis, errors of the geometry.

Parameters adapt to such errors as far as they can; the rest stays in the residuals, and comes
again on other motions. It is what noise is not: the same whenever the motion repeats itself, or
correlated in time. Both are looked for in the errors of parts of the motion that are held out, so
that what the parameters imitated counts, too. Noise can be correlated in time as well, but it does
not repeat itself with the motion: where a motion that does not repeat itself leaves coloured
residuals, nobody can tell which of both they are, so that they count and a warning says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from mechid.estimation.blocks import parts_of_motion
from mechid.estimation.effective import lack_of_fit, period, repeated
from mechid.estimation.estimate import Estimate
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.noise import root_mean_square
from mechid.estimation.regression import Floats, Ints
from mechid.estimation.whitening import fit_colour, row_numbers, stretches

# Parts of the motion that are held out.
_PARTS = 10
# Probability of noise below which errors are called repeatable.
_NOISE = 1e-3
# Outliers are clipped at this many standard deviations.
_CLIP = 4.0
# Samples below which correlations in time are taken as chance.
_SHORTEST = 50
# What to do about it; who knows that friction was tried, or where, says something else instead.
REMEDY = "see the diagnosis, try --friction auto"
# What is lacking is worth a warning above this part of the force, and where it is more than noise.
_MATTERS, _MOST = 0.01, 0.5


def with_unmodelled(estimate: Estimate, posterior: Posterior) -> Estimate:
    """Return an estimate that knows what its model lacks, with a warning where this matters."""
    channels, n_d = posterior.channels, len(estimate.channels)
    lacking = unmodelled_forces(posterior)
    forces = root_mean_square(channels.forces, channels.channel, n_d)
    coloured = posterior.fit.colours is not None and not _repeats(posterior)
    warnings = (*estimate.warnings, *_words(estimate, lacking, forces, coloured=coloured))
    return replace(estimate, unmodelled=lacking, warnings=warnings)


def unmodelled_forces(posterior: Posterior) -> Floats:
    """Return the rms of the force that the model does not describe, N or N m, (n_d,).

    Parameters
    ----------
    posterior : Posterior
        Colour that was fitted is noise if the motion repeats itself.
    """
    channels = posterior.channels
    columns = _columns(posterior)
    block = parts_of_motion(channels.regression, columns, _PARTS)
    e = posterior.held_out(block).errors
    coloured = posterior.fit.colours is not None
    where, number = stretches(channels.regression), row_numbers(channels.regression)
    squares = np.array(
        [_square(e, parts, number, period(columns, parts), coloured, len(where)) for parts in where]
    )
    count = np.array([sum(map(len, parts)) for parts in where])
    n_d = len(channels.regression.channels)
    total, number = (x.reshape(-1, n_d).sum(axis=0) for x in (squares * count, count))
    return np.asarray(np.sqrt(total / np.maximum(number, 1)))


def _columns(posterior: Posterior) -> Floats:
    """Return columns of parameters in units of what CAD values leave open, which show a period."""
    return np.asarray(
        posterior.channels.rows[0] * np.sqrt(np.diag(posterior.prior.base_covariance))
    )


def _repeats(posterior: Posterior) -> bool:
    """Return whether the motion of some log repeats itself."""
    columns = _columns(posterior)
    where = stretches(posterior.channels.regression)
    return any(period(columns, parts) is not None for parts in where if parts)


def _words(
    estimate: Estimate, lacking: Floats, forces: Floats, *, coloured: bool
) -> tuple[str, ...]:
    """Return a warning about forces (rms, (n_d,)) that the model does not describe well."""
    names, noise = estimate.channels, estimate.noise
    with np.errstate(invalid="ignore"):
        seen = (forces > 0) & (lacking > _MATTERS * forces)
        # Colour that was fitted is a part of the noise.
        seen &= coloured | (lacking**2 > _MOST * noise**2)
    if not seen.any():
        return ()
    shares = ", ".join(
        f"{names[j]} {100 * lacking[j] / forces[j]:.3g} %" for j in np.flatnonzero(seen)
    )
    if coloured:
        return (
            f"residuals are correlated in time ({shares} of the force, rms) and were taken for "
            "noise with a memory; if it is the model or the sensors that lack something, standard "
            "deviations of the parameters are too small, and predicted forces can be off by as "
            "much as that, which their intervals contain: measure the motion twice in a row, which "
            f"tells one from the other, {REMEDY}",
        )
    return (
        "residuals are not noise: they repeat with the motion, or are correlated in time "
        f"({shares} of the force, rms); the model or the sensors lack something, and predicted "
        f"forces can be off by as much as that, which their intervals contain: {REMEDY}",
    )


def _square(
    e: Floats,
    parts: Sequence[Ints],
    number: Ints,
    again: int | None,
    coloured: bool,
    series: int,
) -> float:
    """Return the mean square of errors of one series that are no noise."""
    if not parts:
        return 0.0
    rows = np.concatenate(parts)
    most = _CLIP * float(np.median(np.abs(e[rows]))) / float(ndtri(0.75))
    e = np.clip(e, -most, most)
    own = e[rows]
    found = 0.0
    if (again is None or not coloured) and len(own) >= _SHORTEST:
        ratio = fit_colour([e[part] for part in parts]).ratio
        found = float(np.mean(own**2)) * (1 - 1 / ratio**2)
    if again is not None and lack_of_fit(own, number[rows] % again) * series < _NOISE:
        found = max(found, repeated(own, number[rows] % again))
    return found
