"""Forces that a sensor or recorder clipped: samples at its limit are no measurements.

Limits at which forces were clipped, seen while a log is read in blocks.

Only the two outermost levels at each end of a force are kept, with the number of samples there, and
how much the model varies at the outermost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

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


@dataclass
class _End:
    """The outermost values of one sign: samples there, at the next level, and sums of a model."""

    level: float = -np.inf
    count: int = 0
    beside: float = -np.inf
    beside_count: int = 0
    sums: Floats = field(default_factory=lambda: np.zeros(2))

    def add(self, values: Floats, model: Floats, middle: float) -> None:
        """Take in a block; a model is summed about `middle`, for the sake of its digits."""
        top = float(values.max())
        if top > self.level:
            self.beside, self.beside_count = self.level, self.count
            self.level, self.count, self.sums = top, 0, np.zeros(2)
        at = values == self.level
        self.count += int(np.count_nonzero(at))
        x = model[at] - middle
        self.sums = self.sums + np.array([x.sum(), np.sum(x**2)])
        lower = values[~at]
        if len(lower) == 0:
            return
        second = float(lower.max())
        if second > self.beside:
            self.beside, self.beside_count = second, 0
        self.beside_count += int(np.count_nonzero(lower == self.beside))

    @property
    def spread(self) -> float:
        """Standard deviation of the model where the force stands at its limit."""
        mean, square = self.sums / max(self.count, 1)
        return float(np.sqrt(max(square - mean**2, 0.0)))


class StreamedLimits:
    """Collects limits of forces; as `clipped_samples` finds them in a whole log.

    Parameters
    ----------
    n_d : int
        Number of forces.
    """

    def __init__(self, n_d: int) -> None:
        self._ends = [(_End(), _End()) for _ in range(n_d)]
        self._middle: Floats | None = None
        self._n = 0

    def add(self, tau: Floats, model: Floats) -> None:
        """Take in measured forces and those of a model, (k, n_d) each, N or N m."""
        if len(tau) == 0:
            return
        if self._middle is None:
            self._middle = model.mean(axis=0)
        self._n += len(tau)
        for j, (high, low) in enumerate(self._ends):
            high.add(tau[:, j], model[:, j], self._middle[j])
            low.add(-tau[:, j], model[:, j], self._middle[j])

    def found(self) -> list[tuple[int, float, int]]:
        """Return the force, the limit (N or N m) and the number of samples there, of each."""
        found = []
        for j, (high, low) in enumerate(self._ends):
            span = high.level + low.level
            for end, sign in ((high, 1.0), (low, -1.0)):
                if crowded(end.count, end.beside_count, self._n) and varies(end.spread, span):
                    found.append((j, sign * end.level, end.count))
        return found
