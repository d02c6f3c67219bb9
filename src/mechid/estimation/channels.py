"""What the force channels show: τ = (1 + g) F(t - δ) + o + drift + noise, F = W φ + known.

Gains g and delays δ act on predicted forces: on measured ones they would be correlated with the
noise. Offsets o and drift belong to one log, gains and delays to the sensor. Drift is a sum of
cosines of half periods over the log, with amplitudes that fall as 1/k: a random walk seen over the
time of the log. Products of g or δ with φ make the problem bilinear; it is linearised at the last
estimate in each iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.late import late, resolution
from mechid.estimation.linear import Solution
from mechid.estimation.noise import root_mean_square
from mechid.estimation.regression import Floats, Ints, Regression

# Prior of offsets that only the data determine.
FREE_OFFSETS = "each force may have an unknown offset"
# Cosines of a drift; the highest has half as many periods in a log.
DRIFT_TERMS = 8


class Parts(NamedTuple):
    """x in parts; zeros for what is no part of it.

    phi (b,), gain (n_d,), offset (L, n_d), drift (L, n_d, K), delay (n_d,) in seconds.
    """

    phi: Floats
    gain: Floats
    offset: Floats
    drift: Floats
    delay: Floats


@dataclass(frozen=True, eq=False)
class Channels:
    """Forces as functions of x = (φ, g, o, drift, δ), or of a part of it.

    Attributes
    ----------
    regression : Regression
    gains, offsets, drift, delay : bool
        Whether x has gains and delays of all n_d channels, offsets and drift of all channels in
        each of the L logs.
    """

    regression: Regression
    gains: bool = False
    offsets: bool = False
    drift: bool = False
    delay: bool = False

    @cached_property
    def rows(self) -> tuple[Floats, Floats, Ints]:
        """A (m, b), t (m,) and the channel of each row (m,), as stacked."""
        return self.regression.stacked()

    @property
    def channel(self) -> Ints:
        """Channel of each row, (m,)."""
        return self.rows[2]

    @cached_property
    def forces(self) -> Floats:
        """Measured forces of the rows, (m,)."""
        return self.regression.tau[self.regression.valid]

    @cached_property
    def series(self) -> Ints:
        """Series of each row (m,): a channel in a log, numbered log by log."""
        return self.channel + len(self.regression.channels) * self._log

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

    @cached_property
    def layout(self) -> dict[str, slice]:
        """Where x has its parts."""
        n_d, L = len(self.regression.channels), self.n_logs
        lengths = {
            "parameters": len(self.regression.parameters),
            "gains": n_d if self.gains else 0,
            "offsets": L * n_d if self.offsets else 0,
            "drift": L * n_d * DRIFT_TERMS if self.drift else 0,
            "delay": n_d if self.delay else 0,
        }
        ends = np.cumsum(list(lengths.values()))
        return {
            n: slice(int(e) - k, int(e)) for (n, k), e in zip(lengths.items(), ends, strict=True)
        }

    @property
    def size(self) -> int:
        """Length of x."""
        return int(self.layout["delay"].stop)

    @property
    def linear(self) -> bool:
        """Whether forces are linear in x."""
        return not (self.gains or self.delay)

    def split(self, x: Floats) -> Parts:
        """Return the parts of x."""
        n_d, L = len(self.regression.channels), self.n_logs
        shapes = {"gains": (n_d,), "offsets": (L, n_d), "drift": (L, n_d, DRIFT_TERMS)}
        found = [x[self.layout["parameters"]]]
        for name in ("gains", "offsets", "drift", "delay"):
            shape = shapes.get(name, (n_d,))
            own = x[self.layout[name]]
            found.append(own.reshape(shape) if own.size else np.zeros(shape))
        return Parts(*found)

    def usual_sizes(self, name: str, phi: Floats) -> Floats:
        """Return unit errors of a part of x: what changes each force by its root mean square."""
        n_d, L = len(self.regression.channels), self.n_logs
        if name == "gains":
            return np.ones(n_d)
        if name == "delay":
            A, k, A1, k1 = self._late(np.zeros(n_d))
            forces, rate = (
                root_mean_square(x, self.channel, n_d) for x in (A @ phi + k, A1 @ phi + k1)
            )
            return np.asarray(forces / np.where(rate > 0, rate, np.inf))
        size = root_mean_square(self.forces, self.series, L * n_d)
        return size if name == "offsets" else np.repeat(size, DRIFT_TERMS)

    def residuals(self, x: Floats) -> Floats:
        """Return measured less expected values of the valid rows, (m,)."""
        A, t, _ = self.rows
        parts = self.split(x)
        if self.linear:
            return np.asarray(t - A @ parts.phi - self._added(parts))
        A, known, *_ = self._late(parts.delay)
        F = (1 + parts.gain[self.channel]) * (A @ parts.phi + known)
        return np.asarray(t + self._known - F - self._added(parts))

    def linearised(self, x: Floats) -> tuple[Floats, Floats]:
        """Return J (m, n) and y (m,): y - J x' are the residuals of x' near x."""
        A, t, channel = self.rows
        if self.size == A.shape[1]:
            return A, t
        parts = self.split(x)
        n_d = len(self.regression.channels)
        own = np.eye(n_d)[channel]
        mine = np.eye(n_d * self.n_logs)[self.series] if self.offsets or self.drift else None
        factor = 1 + parts.gain[channel]
        late, known, rate, known_rate = self._late(parts.delay)
        F = late @ parts.phi + known
        blocks = [factor[:, None] * late]
        if self.gains:
            blocks.append(F[:, None] * own)
        if self.offsets and mine is not None:
            blocks.append(mine)
        if self.drift and mine is not None:
            blocks.append((mine[:, :, None] * self._cosines[:, None, :]).reshape(len(t), -1))
        if self.delay:
            blocks.append((-factor * (rate @ parts.phi + known_rate))[:, None] * own)
        J = np.hstack(blocks)
        return (J, t) if self.linear else (J, self.residuals(x) + J @ x)

    def errors(self, solution: Solution) -> ChannelErrors | None:
        """Return errors of the channels with their standard deviations, if there are any."""
        if self.size == len(self.regression.parameters):
            return None
        n_d, L = len(self.regression.channels), self.n_logs
        parts = self.split(solution.x)
        sigma = self.split(np.linalg.norm(solution.root, axis=1))
        cross, mean, spread = None, parts.offset[0], sigma.offset[0]
        if self.offsets:
            # Of another log: the mean of these, and as uncertain as one of them.
            root = solution.root[self.layout["offsets"]].reshape(L, n_d, -1).mean(axis=0)
            cross = solution.root[self.layout["parameters"]] @ root.T
            mean = parts.offset.mean(axis=0)
            between = parts.offset.std(axis=0, ddof=1) if L > 1 else np.zeros(n_d)
            spread = np.hypot(np.linalg.norm(root, axis=1), between)
        drift = np.zeros(n_d)
        if self.drift:
            added = self._added(parts._replace(offset=np.zeros((L, n_d))))
            drift = root_mean_square(added, self.channel, n_d)
        return ChannelErrors(
            gain=parts.gain,
            sigma_gain=sigma.gain,
            offset=mean,
            sigma_offset=spread,
            cross=cross,
            by_log=parts.offset if L > 1 and self.offsets else None,
            logs=() if self.regression.log is None else tuple(np.unique(self.regression.log)),
            drift=drift,
            delay=parts.delay,
            sigma_delay=np.hypot(sigma.delay, resolution(self.regression) if self.delay else 0.0),
        )

    def _added(self, parts: Parts) -> Floats:
        """Return offsets and drift of the rows, (m,)."""
        added = parts.offset.ravel()[self.series]
        if self.drift:
            amplitudes = parts.drift.reshape(-1, DRIFT_TERMS)[self.series]
            added = added + np.sum(amplitudes * self._cosines, axis=1)
        return added

    def _late(self, delay: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return A and known of the rows at the delayed times, and their time derivatives."""
        if not self.delay:
            A = self.rows[0]
            return A, self._known, np.zeros((0, 0)), np.zeros(0)
        valid = self.regression.valid
        W, known, W_rate, known_rate = (x[valid] for x in late(self.regression, delay))
        return W, known, W_rate, known_rate

    @cached_property
    def _known(self) -> Floats:
        return self.regression.known[self.regression.valid]

    @cached_property
    def _sample(self) -> Ints:
        return np.nonzero(self.regression.valid)[0]

    @cached_property
    def _log(self) -> Ints:
        return self.regression.logs[self._sample]

    @cached_property
    def _cosines(self) -> Floats:
        """cos(π k s)/k with s from 0 to 1 over each log, (m, K)."""
        r = self.regression
        s = np.zeros(len(r.time))
        for log in range(self.n_logs):
            own = r.logs == log
            t = r.time[own]
            s[own] = (t - t.min()) / max(float(np.ptp(t)), np.finfo(float).tiny)
        k = np.arange(1, DRIFT_TERMS + 1)
        return np.asarray(np.cos(np.pi * k * s[self._sample, None]) / k)
