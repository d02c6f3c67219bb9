"""Parameters and constant offsets of the force channels: τ = W φ + known + o + noise.

What else sensors may do is part of the posterior (`posterior/`); plain estimators know offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.linear import Solution
from mechid.estimation.noise import root_mean_square
from mechid.estimation.regression import Floats, Ints, Regression

# Prior of offsets that only the data determine.
FREE_OFFSETS = "each force may have an unknown offset"


@dataclass(frozen=True, eq=False)
class Channels:
    """The rows J x ≈ y of a problem, with x = φ, or φ and an offset of each channel in each log.

    Attributes
    ----------
    regression : Regression
    offsets : bool
        Whether x has offsets.
    """

    regression: Regression
    offsets: bool = False

    @cached_property
    def rows(self) -> tuple[Floats, Floats, Ints]:
        """A (m, b), t (m,) and the channel of each row (m,), as stacked."""
        return self.regression.stacked()

    @property
    def channel(self) -> Ints:
        """Channel of each row, (m,)."""
        return self.rows[2]

    @cached_property
    def series(self) -> Ints:
        """Series of each row (m,): a channel in a log, numbered log by log."""
        sample = np.nonzero(self.regression.valid)[0]
        return self.channel + len(self.regression.channels) * self.regression.logs[sample]

    @property
    def zeros(self) -> Ints | int:
        """Rows of zeros of each series besides, (n_series,)."""
        return 0 if self.regression.zeros is None else self.regression.zeros

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the series, for messages."""
        if self.n_logs == 1:
            return self.regression.channels
        logs = range(1, self.n_logs + 1)
        return tuple(f"{name} of log {k}" for k in logs for name in self.regression.channels)

    @property
    def n_logs(self) -> int:
        """Number of logs L."""
        return int(self.regression.logs.max(initial=0)) + 1

    @property
    def size(self) -> int:
        """Length of x: b, and L n_d offsets log by log."""
        return len(self.regression.parameters) + (len(self.names) if self.offsets else 0)

    @cached_property
    def sizes(self) -> Floats:
        """Root mean square of the measured force of each series, N or N m."""
        forces = self.regression.tau[self.regression.valid]
        return root_mean_square(forces, self.series, len(self.names))

    @cached_property
    def problem(self) -> tuple[Floats, Floats]:
        """J (m, n) and y (m,)."""
        A, t, _ = self.rows
        if not self.offsets:
            return A, t
        return np.hstack([A, np.eye(len(self.names))[self.series]]), t

    def errors(self, solution: Solution) -> ChannelErrors | None:
        """Return the offsets with their standard deviations, if there are any."""
        if not self.offsets:
            return None
        b, n_d, L = len(self.regression.parameters), len(self.regression.channels), self.n_logs
        offset = solution.x[b:].reshape(L, n_d)
        # Of another log: the mean of those that have this force, and as uncertain as one of them.
        seen = (np.bincount(self.series, minlength=L * n_d) > 0).reshape(L, n_d)
        count = np.maximum(seen.sum(axis=0), 1)
        mean = np.sum(np.where(seen, offset, 0.0), axis=0) / count
        root = np.sum(seen[..., None] * solution.root[b:].reshape(L, n_d, -1), axis=0)
        root = root / count[:, None]
        squares = np.sum(np.where(seen, offset - mean, 0.0) ** 2, axis=0)
        between = np.sqrt(squares / np.maximum(count - 1, 1))
        none = np.zeros(n_d)
        return ChannelErrors(
            gain=none,
            sigma_gain=none,
            offset=mean,
            sigma_offset=np.hypot(np.linalg.norm(root, axis=1), between),
            cross=solution.root[:b] @ root.T,
            by_log=offset if L > 1 else None,
            logs=() if self.regression.log is None else tuple(np.unique(self.regression.log)),
            drift=none,
            delay=none,
            sigma_delay=none,
        )
