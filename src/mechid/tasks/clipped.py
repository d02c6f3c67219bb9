"""Forces at the limit of a sensor, or of a dead one: they are no measurements, and neither fitted
nor predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.clipping import clipped_samples, clipped_words
from mechid.estimation.implausible import dead, dead_words
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import filtered_forces


def without_clipped(
    regression: Regression, motion: PreparedMeasurement, model: Floats, place: str = ""
) -> tuple[Regression, tuple[str, ...]]:
    """Return the problem of a motion without clipped samples, and what was left out.

    Limits are seen in the forces before the parallel filter. What the filter makes of such samples
    is left out, too.

    Parameters
    ----------
    regression : Regression
        Of the motion alone.
    motion : PreparedMeasurement
    model : array (M, n_d)
        Forces at the samples of the regression that a model predicts, N or N m: what is constant
        there may be so in truth, and stays.
    place : str
        Which motion it is, in sentences: " of log 2".
    """
    r, tau, words = regression, motion.tau.copy(), {}
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        expected = np.interp(motion.time, r.time, model[:, j])
        for limit, at in clipped_samples(motion.tau[:, j], expected):
            tau[at, j] = np.nan
            text = clipped_words(f"{name}{place}", limit, unit, at)
            words[text] = j
    if not words:
        return r, ()
    tau, valid = filtered_forces(replace(motion, tau=tau))
    found = replace(r, tau=tau, valid=r.valid & valid)
    if motion.decimation > 1:
        left = np.count_nonzero(found.valid, axis=0)
        words = {
            f"{text}; after the parallel filter {left[j]} of {len(r.time)} samples are left": j
            for text, j in words.items()
        }
    return found, tuple(words)


def without_dead(
    regression: Regression, motion: PreparedMeasurement, prior: Prior, place: str = ""
) -> tuple[Regression, tuple[str, ...]]:
    """Return the problem of a motion without forces of dead sensors, and which these are.

    Where all seem dead, nothing is left out. Arguments as in `without_clipped`.
    """
    r = regression
    constant = np.array([np.unique(x[np.isfinite(x)]).size == 1 for x in motion.tau.T])
    found = dead(r, prior, constant) if constant.any() else {}
    if not 0 < len(found) < len(r.channels):
        return r, ()
    units = dict(zip(r.channels, r.units, strict=True))
    words = (dead_words(f"{name}{place}", size, units[name]) for name, size in found.items())
    used = np.array([name not in found for name in r.channels])
    return replace(r, valid=r.valid & used), tuple(words)
