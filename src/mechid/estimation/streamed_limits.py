"""Limits at which forces were clipped, seen while a log is read in blocks.

Only the two outermost levels at each end of a force are kept, with the number of samples there, and
how much the model varies at the outermost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechid.estimation.clipping import crowded, varies
from mechid.estimation.regression import Floats


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
