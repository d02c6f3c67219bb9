"""What the force channels show: τ = (1 + g) (W φ + known) + o + noise, per channel.

Gains g and offsets o are built on predicted forces: a gain on measured ones would be correlated
with their noise. The product of g and φ makes the problem bilinear; it is linearised at the last
estimate in each iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.linear import Solution
from mechid.estimation.regression import Floats, Ints, Regression

# Prior of offsets that only the data determine.
FREE_OFFSETS = "each force may have an unknown offset"


@dataclass(frozen=True, eq=False)
class Channels:
    """Forces as functions of x = (φ, g, o), or of a part of it.

    Attributes
    ----------
    regression : Regression
    gains, offsets : bool
        Whether x has gains, and offsets, of all n_d channels.
    """

    regression: Regression
    gains: bool = False
    offsets: bool = False

    @cached_property
    def rows(self) -> tuple[Floats, Floats, Ints]:
        """A (m, b), t (m,) and the channel of each row (m,), as stacked."""
        return self.regression.stacked()

    @property
    def channel(self) -> Ints:
        """Channel of each row, (m,)."""
        return self.rows[2]

    @property
    def size(self) -> int:
        """Length of x."""
        b, n_d = len(self.regression.parameters), len(self.regression.channels)
        return b + n_d * (self.gains + self.offsets)

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return φ (b,), g (n_d,) and o (n_d,); zeros for what is no part of x."""
        b, n_d = len(self.regression.parameters), len(self.regression.channels)
        none = np.zeros(n_d)
        g = x[b : b + n_d] if self.gains else none
        o = x[len(x) - n_d :] if self.offsets else none
        return x[:b], g, o

    def residuals(self, x: Floats) -> Floats:
        """Return measured less expected values of the valid rows, (m,)."""
        A, t, channel = self.rows
        phi, g, o = self.split(x)
        if not (self.gains or self.offsets):
            return np.asarray(t - A @ phi)
        forces = A @ phi + self._known
        return np.asarray(t + self._known - (1 + g[channel]) * forces - o[channel])

    def linearised(self, x: Floats) -> tuple[Floats, Floats]:
        """Return J (m, n) and y (m,): y - J x' are the residuals of x' near x."""
        A, t, channel = self.rows
        if not (self.gains or self.offsets):
            return A, t
        phi, g, _ = self.split(x)
        own = np.eye(len(self.regression.channels))[channel]
        blocks = [(1 + g[channel])[:, None] * A]
        if self.gains:
            blocks.append((A @ phi + self._known)[:, None] * own)
        if self.offsets:
            blocks.append(own)
        return np.hstack(blocks), t + g[channel] * (A @ phi)

    def errors(self, solution: Solution) -> ChannelErrors | None:
        """Return gains and offsets with their standard deviations, if there are any."""
        if not (self.gains or self.offsets):
            return None
        _, g, o = self.split(solution.x)
        _, sg, so = self.split(np.linalg.norm(solution.root, axis=1))
        b, n_d = len(self.regression.parameters), len(g)
        cross = solution.root[:b] @ solution.root[-n_d:].T if self.offsets else None
        return ChannelErrors(g, sg, o, so, cross)

    @cached_property
    def _known(self) -> Floats:
        return self.regression.known[self.regression.valid]
