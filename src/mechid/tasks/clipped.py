"""Forces at the limit of a sensor, or of a dead one: they are no measurements, and neither fitted
nor predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.clipping import clipped_samples, clipped_words
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.unlike import dead_size, dead_words
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import filtered_forces


def without_clipped(
    regression: Regression, motion: PreparedMeasurement, model: Floats, place: str = ""
) -> tuple[Regression, tuple[str, ...]]:
    """Return the problem of a motion without clipped samples and dead sensors, and what was left
    out.

    Limits are seen in the forces before the parallel filter. What the filter makes of such samples
    is left out, too. Where all sensors seem dead, nothing is.

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
    dead = _dead(r, motion, model)
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        if size := dead.get(name):
            tau[:, j] = np.nan
            words[dead_words(f"{name}{place}", size, unit)] = j
            continue
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


def _dead(r: Regression, motion: PreparedMeasurement, model: Floats) -> dict[str, float]:
    """Return the forces of dead sensors, and how large the model predicts them."""
    found = {}
    for j, name in enumerate(r.channels):
        there = np.isfinite(motion.tau[:, j])
        expected = np.interp(motion.time[there], r.time, model[:, j])
        if size := dead_size(motion.tau[there, j], expected):
            found[name] = size
    return found if len(found) < len(r.channels) else {}
