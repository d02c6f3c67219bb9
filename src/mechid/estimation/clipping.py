"""Forces that a sensor or recorder clipped: samples at its limit are no measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Bools, Floats, Regression

# At the extreme value of a force that is clipped stand many samples, and few just below. The
# rounded top of a sine has at most 2.4 times as many samples at its highest level as at the next.
CLIPPED, _CROWDED = 0.005, 5.0
_FEW = 5
# The forces of the model must vary where the measured one does not: else it is constant in truth.
_VARIES = 0.02


def clip_limits(values: Floats) -> tuple[float, ...]:
    """Return the largest and the smallest of some values, those that stand for what is beyond."""
    if len(values) == 0 or np.ptp(values) == 0:
        return ()
    levels, counts = np.unique(values, return_counts=True)
    return tuple(
        float(levels[end])
        for end, beside in ((-1, -2), (0, 1))
        if crowded(int(counts[end]), int(counts[beside]), len(values))
    )


def crowded(count: int, beside: int, n: int) -> bool:
    """Return whether too many of n samples stand at an extreme value, for those at the next."""
    return n >= 10 * _FEW and count > max(_FEW, CLIPPED * n, _CROWDED * beside)


def varies(spread: float, span: float) -> bool:
    """Return whether a model varies where a force of this span does not."""
    return spread > _VARIES * span / 2


def clipped_samples(values: Floats, model: Floats) -> Iterator[tuple[float, Bools]]:
    """Yield limits at which a force was clipped, and which samples stand there, (N,).

    Parameters
    ----------
    values : array (N,)
        As a sensor measured them, N or N m; NaN where nothing valid was measured.
    model : array (N,)
        What a model says of the force: where it is constant, the force may be so in truth.
    """
    there = np.isfinite(values)
    for limit in clip_limits(values[there]):
        at = values == limit
        if varies(float(np.std(model[at])), float(np.ptp(values[there]))):
            yield limit, at


def clipped_words(name: str, limit: float, unit: str, at: Bools) -> str:
    """Return what was left out of a force, as text."""
    return (
        f"force {name} is clipped at {limit:.4g} {unit}: "
        f"{np.count_nonzero(at)} samples with exactly this value were left out"
    )


def without_clipped(regression: Regression, prior: Prior) -> tuple[Regression, tuple[str, ...]]:
    """Return a problem without samples at limits of a sensor, and what was left out.

    Forces that the CAD values say are constant there may be so in truth, and stay.
    """
    r, known = regression, prior.select(regression.parameters)
    model, valid, words = r.W @ known.mean + r.known, r.valid.copy(), []
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        for log in np.unique(r.logs):
            there = r.valid[:, j] & (r.logs == log)
            for limit, at in clipped_samples(np.where(there, r.tau[:, j], np.nan), model[:, j]):
                valid[at, j] = False
                place = f" of log {log + 1}" if r.logs.any() else ""
                words.append(clipped_words(f"{name}{place}", limit, unit, at))
    return replace(r, valid=valid), tuple(words)
