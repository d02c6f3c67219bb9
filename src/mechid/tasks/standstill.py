"""Samples near standstill, where dry friction is no step: found by residuals, and left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.regression import Floats
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.signals.filters import Decimation
from mechid.signals.moving import slow_speeds
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import measured_rows
from mechid.tasks.stages import chosen_base, problem_of
from mechid.validation.diagnosis_motion import LARGER, slow_samples


def without_standstill(
    mechanism: Mechanism,
    motions: Sequence[PreparedMeasurement],
    options: IdentifyOptions,
    n_logs: int = 1,
) -> tuple[PreparedMeasurement, ...]:
    """Return motions, of which the logs ignore forces near standstill as options ask.

    Motions for validation keep all samples, so that errors before and after can be compared.

    Parameters
    ----------
    mechanism : Mechanism
    motions : sequence of PreparedMeasurement
        The logs of the identification first.
    options : IdentifyOptions
        Its `standstill`: "keep"; "auto": where residuals are much larger near standstill than
        elsewhere, and the mapping file does not say; or a speed (m/s or rad/s) for all coordinates.
    n_logs : int
        How many of the motions are logs.
    """
    asked, logs = options.standstill, motions[:n_logs]
    if asked == "keep":
        return tuple(motions)
    limits = (
        _found(mechanism, logs, options) if asked == "auto" else _all(mechanism, logs[0], asked)
    )
    return (*(_ignoring(log, limits, mechanism) for log in logs), *motions[n_logs:])


def _ignoring(
    log: PreparedMeasurement, limits: Mapping[str, float], mechanism: Mechanism
) -> PreparedMeasurement:
    """Return a log that ignores forces below speeds; what its mapping file says counts first."""
    both = {**limits, **log.ignore_below}
    if both == dict(log.ignore_below):
        return log
    return replace(log, ignore_below=both, notes=(*log.notes, *slow_speeds(both, mechanism)))


def _all(mechanism: Mechanism, motion: PreparedMeasurement, speed: float) -> dict[str, float]:
    """Return one speed for all coordinates whose force was measured."""
    known = (c for c in mechanism.coordinates if not c.held and c.force in motion.forces)
    return {c.name: speed for c in known}


def _found(
    mechanism: Mechanism, logs: Sequence[PreparedMeasurement], options: IdentifyOptions
) -> dict[str, float]:
    """Return the speeds below which residuals of a first fit are much larger than elsewhere."""
    chosen = chosen_base(mechanism, options)
    problem = problem_of(mechanism, chosen, logs, options, len(logs))
    r, prior = problem.regression, problem.prior
    fit = MaximumAPosteriori("none" if prior is None else "full", 1.0)
    e = fit(r, prior).residuals
    names = {c.force: c.name for c in mechanism.coordinates}
    speeds = np.concatenate([own_speeds(mechanism, log) for log in logs])
    found = {}
    for j, (force, v) in enumerate(zip(r.channels, speeds.T, strict=True)):
        x = e[:, j] - np.nanmean(e[:, j]) if r.valid[:, j].any() else e[:, j]
        speed, ratio = slow_samples(x, v)
        if ratio > LARGER:
            found[names[force]] = float(f"{speed:.3g}")
    return found


def own_speeds(mechanism: Mechanism, motion: PreparedMeasurement) -> Floats:
    """Return the speed of the coordinate of each force, (N, n_d), at the samples that count."""
    yd = motion.yd[:, measured_rows(mechanism, motion.forces)]
    return yd if motion.decimation == 1 else Decimation(motion.decimation).apply(yd)
