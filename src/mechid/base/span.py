"""Which transfers are new: an orthonormal basis that grows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mechid.base.transfers import Transfer
from mechid.exact.geometry import Geometry
from mechid.kinematics.tables import Floats

_NEW = 1e-7  # part of a unit vector outside the span that makes it a new one


def independent(geometry: Geometry, found: Iterable[Transfer]) -> tuple[Transfer, ...]:
    """Return the transfers that do not follow from those before them."""
    span = Span(geometry)
    return tuple(transfer for transfer in found if span.add(transfer))


class Span:
    """Orthonormal basis of transfers in floats, to tell new ones."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self._place: dict[str, int] = {}
        self._basis: Floats = np.zeros((0, 0))

    def add(self, transfer: Transfer) -> bool:
        """Add a transfer; say whether it was new."""
        for name, _ in transfer.entries:
            self._place.setdefault(name, len(self._place))
        if self._basis.shape[1] < len(self._place):
            grown = np.zeros((len(self._basis), 2 * len(self._place) + 64))
            grown[:, : self._basis.shape[1]] = self._basis
            self._basis = grown
        v = np.zeros(self._basis.shape[1])
        for name, entry in transfer.entries:
            v[self._place[name]] += float(self._geometry.balls(entry).mid())
        length = float(np.linalg.norm(v))
        if length == 0:
            return False
        v /= length
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            v -= self._basis.T @ (self._basis @ v)
        left = float(np.linalg.norm(v))
        if left < _NEW:
            return False
        self._basis = np.vstack([self._basis, v / left])
        return True
