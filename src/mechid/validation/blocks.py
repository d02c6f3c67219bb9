"""Blocks of time for cross-validation.

Neighbouring samples of a motion are nearly the same, and so is coloured noise in them: samples
drawn at random would be predicted from their neighbours. Blocks of time, with gaps, are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Ints


@dataclass(frozen=True, eq=False)
class Fold:
    """Samples to estimate from and samples to predict."""

    train: Ints
    test: Ints


@dataclass(frozen=True)
class Blocks:
    """Contiguous blocks of about equal length, each predicted from all others.

    No block goes over the border of two logs: each log has its share of the blocks, at least one.

    Attributes
    ----------
    count : int
    gap : int
        Samples on both sides of a block that are used for neither.
    """

    count: int = 5
    gap: int = 0

    def folds(self, samples: int | Ints) -> tuple[Fold, ...]:
        """Return the folds of samples: their number, or the log of each, (N,).

        Raises
        ------
        DataError
            If there are fewer samples than blocks, or none is left between gaps.
        """
        log = np.zeros(samples, dtype=np.int64) if isinstance(samples, int) else samples
        n = len(log)
        if self.count < 2 or self.gap < 0 or n < self.count:
            raise DataError(
                f"{n} samples cannot be split into {self.count} blocks with gaps of {self.gap}",
                remedy="use at least 2 blocks, at most one per sample, and gaps ≥ 0",
            )
        everything = np.arange(n)
        found = []
        for test in self._cut(log):
            near = (everything >= test[0] - self.gap) & (everything <= test[-1] + self.gap)
            apart = ~(near & (log == log[test[0]]))
            if not apart.any():
                raise DataError(
                    f"gaps of {self.gap} samples leave none of {n} samples to estimate from",
                    remedy="use smaller gaps or more blocks",
                )
            found.append(Fold(everything[apart], test))
        return tuple(found)

    def _cut(self, log: Ints) -> list[Ints]:
        """Return the samples of each block."""
        logs = logs_of(log)
        shares = self.count * np.array([len(own) for own in logs]) / len(log)
        counts = np.maximum(np.floor(shares).astype(np.int64), 1)
        # What is left goes to the logs whose blocks are longest.
        while counts.sum() < self.count:
            counts[np.argmax(shares / counts)] += 1
        found = []
        for own, count in zip(logs, counts.tolist(), strict=True):
            edges = np.linspace(0, len(own), count + 1).round().astype(np.int64)
            found += [own[a:b] for a, b in pairwise(edges.tolist())]
        return found


def logs_of(log: Ints) -> list[Ints]:
    """Return the samples of each log, in their order; `log` (N,) is the log of each sample."""
    return [np.flatnonzero(log == k) for k in dict.fromkeys(log.tolist())]


def log_folds(log: Ints) -> tuple[Fold, ...]:
    """Return folds that predict each log from all others; `log` (N,) is the log of each sample.

    Raises
    ------
    DataError
        If there is only one log.
    """
    parts = logs_of(log)
    if len(parts) < 2:
        raise DataError("one log cannot be predicted from others", remedy="give at least 2 logs")
    return tuple(Fold(np.setdiff1d(np.arange(len(log)), own), own) for own in parts)
