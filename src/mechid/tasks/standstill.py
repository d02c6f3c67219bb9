"""Samples near standstill, where dry friction is no step: found by residuals, and left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.signals.moving import slow_speeds
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.diagnose import own_speeds
from mechid.tasks.friction import fit_noise
from mechid.tasks.stages import chosen_base, problem_of
from mechid.validation.added_columns import fitted_problem
from mechid.validation.diagnosis_motion import LARGER, slow_samples


def without_standstill(
    mechanism: Mechanism, motions: Sequence[PreparedMeasurement], options: IdentifyOptions
) -> tuple[PreparedMeasurement, ...]:
    """Return motions whose identification motion ignores forces near standstill, as options ask.

    Motions for validation keep all samples, so that errors before and after can be compared.

    Parameters
    ----------
    mechanism : Mechanism
    motions : sequence of PreparedMeasurement
        The identification motion first.
    options : IdentifyOptions
        Its `standstill`: "keep"; "auto": where residuals are much larger near standstill than
        elsewhere, and the mapping file does not say; or a speed (m/s or rad/s) for all coordinates.
    """
    asked, (first, *others) = options.standstill, motions
    if asked == "keep":
        return tuple(motions)
    limits = _found(mechanism, first, options) if asked == "auto" else _all(mechanism, first, asked)
    limits |= first.ignore_below
    if limits == dict(first.ignore_below):
        return tuple(motions)
    notes = (*first.notes, *slow_speeds(limits, mechanism))
    return (replace(first, ignore_below=limits, notes=notes), *others)


def _all(mechanism: Mechanism, motion: PreparedMeasurement, speed: float) -> dict[str, float]:
    """Return one speed for all coordinates whose force was measured."""
    known = (c for c in mechanism.coordinates if not c.held and c.force in motion.forces)
    return {c.name: speed for c in known}


def _found(
    mechanism: Mechanism, motion: PreparedMeasurement, options: IdentifyOptions
) -> dict[str, float]:
    """Return the speeds below which residuals of a first fit are much larger than elsewhere."""
    problem = problem_of(mechanism, chosen_base(mechanism, options), [motion], options)
    r, prior = problem.regression, problem.prior
    e = fitted_problem(r, fit_noise(r, prior), prior).residuals()
    names = {c.force: c.name for c in mechanism.coordinates}
    found = {}
    for j, (force, v) in enumerate(zip(r.channels, own_speeds(mechanism, motion).T, strict=True)):
        x = e[:, j] - np.nanmean(e[:, j]) if r.valid[:, j].any() else e[:, j]
        speed, ratio = slow_samples(x, v)
        if ratio > LARGER:
            found[names[force]] = float(f"{speed:.3g}")
    return found
