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

    Attributes
    ----------
    count : int
    gap : int
        Samples on both sides of a block that are used for neither.
    """

    count: int = 5
    gap: int = 0

    def folds(self, n: int) -> tuple[Fold, ...]:
        """Return the folds of n samples.

        Raises
        ------
        DataError
            If there are fewer samples than blocks, or none is left between gaps.
        """
        if self.count < 2 or self.gap < 0 or n < self.count:
            raise DataError(
                f"{n} samples cannot be split into {self.count} blocks with gaps of {self.gap}",
                remedy="use at least 2 blocks, at most one per sample, and gaps ≥ 0",
            )
        edges = np.linspace(0, n, self.count + 1).round().astype(np.int64)
        everything = np.arange(n)
        found = []
        for a, b in pairwise(edges.tolist()):
            apart = (everything < a - self.gap) | (everything >= b + self.gap)
            if not apart.any():
                raise DataError(
                    f"gaps of {self.gap} samples leave none of {n} samples to estimate from",
                    remedy="use smaller gaps or more blocks",
                )
            found.append(Fold(everything[apart], everything[a:b]))
        return tuple(found)
