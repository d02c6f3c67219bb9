"""Few rows that stand for all rows of a linear problem, whatever the weights of its series.

Loops that weigh anew in every turn would factorise all rows each time. Rows of one series have one
weight, so that R of their QR factorisation, made once, stands for them in all turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from mechid.estimation.channels import Channels
from mechid.estimation.regression import Floats, Ints

# Rows must become fewer by this factor to be worth it.
_FEWER = 2


@dataclass(frozen=True, eq=False)
class ShortRows:
    """Rows with the products JᵀJ, Jᵀy and yᵀy of each series.

    Attributes
    ----------
    J, y : array (k, n), array (k,)
        As measured.
    first : array (k,) of int
        A row of the whole problem with the weight of each of these.
    """

    J: Floats
    y: Floats
    first: Ints

    @staticmethod
    def of(channels: Channels) -> ShortRows | None:
        """Return the rows; None if forces are not linear in x, or rows are few already."""
        m, n = len(channels.channel), channels.size
        if not channels.linear or m <= _FEWER * len(channels.names) * (n + 1):
            return None
        whole = np.column_stack(channels.linearised(np.zeros(n)))
        parts, first = [], []
        for own in (np.flatnonzero(channels.series == j) for j in np.unique(channels.series)):
            columns = np.flatnonzero(np.any(whole[own] != 0, axis=0))
            (R,) = qr(whole[np.ix_(own, columns)], mode="r", check_finite=False)
            k = min(R.shape)
            short = np.zeros((k, n + 1))
            short[:, columns] = R[:k]
            parts.append(short)
            first.append(np.full(k, own[0]))
        found = np.vstack(parts)
        return ShortRows(found[:, :-1], found[:, -1], np.concatenate(first))

    def weighted(self, weight: Floats) -> tuple[Floats, Floats]:
        """Return J and y with weights of the rows of the whole problem, (m,)."""
        w = weight[self.first]
        return self.J * w[:, None], self.y * w
