"""Fixed points that turns approach slowly, found in fewer turns (Anderson's acceleration).

If x follows from x as F(x), the residuals F(x) - x of the last turns tell how they depend on x: the
next x is the one at which their straight-line continuation vanishes.
"""

from __future__ import annotations

import numpy as np

from mechid.estimation.regression import Floats

_DEPTH = 4  # turns that are remembered
# Residuals from which turns are close enough to a straight line, by how much they may grow before
# all is forgotten, and how far a step may go, relative to the residual.
_NEAR, _WORSE, _FAR = 0.2, 2.0, 20.0
_RANK = 1e-8  # of differences of residuals, relative


class Anderson:
    """Remembers turns x → F(x), and proposes the next x."""

    def __init__(self) -> None:
        self._x: list[Floats] = []
        self._f: list[Floats] = []

    def next(self, x: Floats, to: Floats) -> Floats:
        """Return the x to go on with after a turn has led from x to F(x), (n,) each."""
        f = to - x
        size = np.linalg.norm(f)
        before = np.linalg.norm(self._f[-1]) if self._f else np.inf
        if size > _NEAR or size > _WORSE * before:
            self._x, self._f = [], []
            return to
        self._x, self._f = [*self._x[-_DEPTH:], x], [*self._f[-_DEPTH:], f]
        if len(self._f) < 2:
            return to
        dX, dF = np.diff(self._x, axis=0).T, np.diff(self._f, axis=0).T
        part = np.linalg.lstsq(dF, f, rcond=_RANK)[0]
        step = f - (dX + dF) @ part
        longest = np.linalg.norm(step)
        return np.asarray(x + step * min(1.0, _FAR * size / longest if longest > 0 else 1.0))
