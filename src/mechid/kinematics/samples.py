"""Solving many samples: along a path in parallel chunks, or each for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mechid.kinematics.engine.choice import wanted
from mechid.kinematics.kernels.follow import solve_chunks
from mechid.kinematics.kernels.held import Held
from mechid.kinematics.memory import zeros
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.tables import Floats, Ints
from mechid.kinematics.threads import spread

if TYPE_CHECKING:
    from mechid.kinematics.engine.path import PathCode

# Samples that are worth a thread.
_SHORTEST_PART = 128
# Samples of a chunk, and of a lane of generated code: finding the pose where one begins has its
# price. A pose depends on the one before by rounding, so that the chunks must not depend on the
# number of threads.
_CHUNK = 256
# Bundles of lanes of generated code come in fours, which two or four threads share out evenly, of
# about so many samples.
_BUNDLES, _BUNDLE = 4, 4096
# Lanes with fewer samples are not worth their beginning: there are fewer bundles, or one chunk.
_SHORTEST_LANE = 200
# Equal steps to a pose that are tried, before the kernels look for the way; and how often they are
# tried along a chunk: from there on its samples are too far apart, or noise.
_STEPS = (2, 8, 32)
_BRIDGES = 32
_AT_ONCE = 256  # such poses: what is computed on the way is kept until they are found


@dataclass(frozen=True)
class Samples:
    """Input and output arrays of one run; `status` and `reach` tell how each sample ended."""

    model: KinematicModel
    y: Floats
    yd: Floats
    ydd: Floats
    dt: Floats
    q: Floats
    v: Floats
    vd: Floats
    status: Ints
    reach: Floats

    @staticmethod
    def empty(
        model: KinematicModel, y: Floats, yd: Floats, ydd: Floats, time: Floats | None
    ) -> Samples:
        """Return the arrays for N samples, unsolved."""
        n = y.shape[0]
        dt = time_steps(time, n)
        c = model.compiled
        q, v, vd = zeros((n, c.n_q)), zeros((n, c.n_v)), zeros((n, c.n_v))
        return Samples(model, y, yd, ydd, dt, q, v, vd, np.zeros(n, dtype=np.int64), np.zeros(n))

    def code(self) -> PathCode | None:
        """Return generated code for these samples, or None if there is none."""
        return self.model.path_code

    def results(self) -> tuple[Floats, Floats]:
        """Return what is computed of each sample besides q, a row per sample."""
        return self.v, self.vd

    def solve_in_lanes(
        self,
        code: PathCode,
        starts: Ints,
        q_starts: Floats,
        y_starts: Floats,
        ends: Floats | None = None,
        steps: int = 0,
    ) -> None:
        """Solve chunks starts[i] … starts[i + 1] - 1 by generated code, each from a closed pose.

        Where the code is not sure of a sample, it comes there in shorter steps; where that does not
        help, the kernels do the rest of the chunk. `ends` and `steps` are as in `PathCode.follow`.
        """
        inputs, outputs = (self.y, self.yd, self.ydd, self.dt), (self.q, *self.results())
        done = code.follow(starts, inputs, y_starts, q_starts, outputs, ends, steps)
        for i in np.flatnonzero(done < starts[1:] - starts[:-1]):
            k, end = starts[i] + done[i], starts[i + 1]
            q, y = q_starts[i], y_starts[i]
            for _ in range(_BRIDGES):
                if k > starts[i]:
                    q, y = self.q[k - 1], self.y[k - 1]
                head, reached = _reached(code, self.y[k : k + 1], q[None], y[None])
                if not reached[0]:
                    break
                rest = np.array([k, end])
                k += code.follow(rest, inputs, self.y[k : k + 1], head, outputs)[0]
                if k == end:
                    break
            if k < end:
                if k > starts[i]:
                    q, y = self.q[k - 1], self.y[k - 1]
                self.solve(np.array([k, end]), q[None], y[None], self.model.in_pieces)

    def solve(self, starts: Ints, q_starts: Floats, y_starts: Floats, way: Held) -> None:
        """Solve chunks starts[i] … starts[i + 1] - 1, each from a closed pose.

        `way` is `in_pieces` or `in_one_piece` of the model.
        """
        n = starts.size - 1
        if n == 0:
            return
        length = max(1, int(starts[-1] - starts[0]) // n)

        def run(first: int, last: int) -> None:
            self.run(way, starts, first, last, q_starts, y_starts)

        spread(run, n, max(1, _SHORTEST_PART // length))

    def run(
        self, way: Held, starts: Ints, first: int, last: int, q_starts: Floats, y_starts: Floats
    ) -> None:
        """Solve chunks first … last - 1 of `starts`."""
        solve_chunks(
            way,
            starts,
            first,
            last,
            self.y,
            self.yd,
            self.ydd,
            self.dt,
            q_starts,
            y_starts,
            self.q,
            self.v,
            self.vd,
            self.status,
            self.reach,
        )


def time_steps(time: Floats | None, n: int) -> Floats:
    """Return the time from each of n samples to the next (s); zero where it is not known."""
    dt = np.zeros(n)
    if time is not None and n > 1:
        np.subtract(time[1:], time[:-1], out=dt[:-1])
    return dt


def solve_each(
    samples: Samples, q_home: Floats, y_home: Floats, *, in_one_piece: bool = True
) -> None:
    """Reach every sample from the home pose along a straight line in y.

    Where the order of solution fails, all rows together are tried, unless that is not wanted.
    """
    n = samples.y.shape[0]
    if n == 0:
        return
    home = np.tile(q_home, (n, 1)), np.tile(y_home, (n, 1))
    code = samples.code() if wanted(n) else None
    if code is None:
        samples.solve(np.arange(n + 1), *home, samples.model.in_pieces)
    else:
        q, there = _reached(code, samples.y, *home)
        # the others are left to the kernels, from home
        q_starts, y_starts = (
            np.where(there[:, None], x, far) for x, far in zip((q, samples.y), home, strict=True)
        )
        samples.solve_in_lanes(code, np.arange(n + 1), q_starts, y_starts)
    for k in np.flatnonzero(samples.status) if in_one_piece else ():
        # The order of solution fails where the rows chosen for it are weak.
        samples.status[k] = 0
        one = np.array([k, k + 1])
        samples.solve(one, q_home[None], y_home[None], samples.model.in_one_piece)


def solve_path(samples: Samples, q_home: Floats, y_home: Floats) -> None:
    """Solve samples in order, in parallel chunks whose first poses are found beforehand."""
    n = samples.y.shape[0]
    if n == 0:
        return
    if _solve_in_chunks(samples, q_home, y_home):
        return
    # Something on the way is not reachable along the shortcut: strictly in order, from the start,
    # so that the first failing sample is the one that is named.
    for way in (samples.model.in_pieces, samples.model.in_one_piece):
        samples.status[:] = 0
        samples.solve(np.array([0, n]), q_home[None], y_home[None], way)
        if not samples.status.any():
            return


def _solve_in_chunks(samples: Samples, q_home: Floats, y_home: Floats) -> bool:
    """Solve samples in chunks, side by side; tell whether they fit together."""
    n = samples.y.shape[0]
    code = samples.code() if wanted(n) else None
    if code is not None:
        return _solve_in_lanes(samples, code, q_home, y_home)
    if n < 2 * _CHUNK:
        return False
    starts = np.linspace(0, n, n // _CHUNK + 1).astype(np.int64)
    heads = _heads(samples, starts[1:-1], q_home, y_home)
    if heads is None:
        return False
    y_starts = np.vstack([y_home, samples.y[starts[1:-1]]])
    q_starts = np.vstack([q_home, heads])
    samples.solve(starts, q_starts, y_starts, samples.model.in_pieces)
    return not samples.status.any() and _joined(samples, starts[1:-1])


def _solve_in_lanes(samples: Samples, code: PathCode, q_home: Floats, y_home: Floats) -> bool:
    """Solve samples by generated code; tell whether the chunks of its lanes fit together."""
    n = samples.y.shape[0]
    bundles = _BUNDLES * max(1, round(n / (_BUNDLES * _BUNDLE)))
    while bundles > 1 and n < bundles * code.lanes * _SHORTEST_LANE:
        bundles //= 2
    chunks = bundles * code.lanes if n >= code.lanes * _SHORTEST_LANE else 1
    starts = n * np.arange(chunks + 1) // chunks
    q_starts, y_starts = np.tile(q_home, (chunks, 1)), np.tile(y_home, (chunks, 1))
    ends, inner = np.full((chunks, q_home.size), np.nan), starts[1:-1]
    samples.solve_in_lanes(code, starts, q_starts, y_starts, ends, _STEPS[0])
    if samples.status.any():
        return False
    return _same(ends[:-1], samples.q[inner]) or _lanes_joined(samples, code, inner)


def _reached(
    code: PathCode, y: Floats, q_from: Floats, y_from: Floats
) -> tuple[Floats, np.ndarray]:
    """Return poses at y (n, n_i), each in equal steps from a closed pose, and which are found."""
    n = len(y)
    q, found = np.zeros((n, q_from.shape[1])), np.zeros(n, dtype=bool)
    for steps in _STEPS:
        left = np.flatnonzero(~found)
        if not left.size:
            break
        parts = np.arange(1, steps + 1)[:, None] / steps
        for at in range(0, left.size, _AT_ONCE):
            rest = left[at : at + _AT_ONCE]
            way = y_from[rest, None] + parts * (y[rest] - y_from[rest])[:, None]
            way[:, -1] = y[rest]
            starts = np.arange(rest.size + 1) * steps
            flat = way.reshape(-1, y.shape[1])
            poses, done = _poses(code, starts, flat, q_from[rest], y_from[rest])
            there = done == steps
            q[rest[there]], found[rest[there]] = poses[starts[1:] - 1][there], True
    return q, found


def _poses(
    code: PathCode, starts: Ints, y: Floats, q_starts: Floats, y_starts: Floats
) -> tuple[Floats, Ints]:
    """Follow chunks of poses y (n, n_i) at rest; return q (n, n_q) and how many are done."""
    still = np.zeros_like(y)
    q, first, second = (np.empty((len(y), rows.n)) for rows in code.rows)
    inputs = (y, still, still, np.zeros(len(y)))
    return q, code.follow(starts, inputs, y_starts, q_starts, (q, first, second))


def _lanes_joined(samples: Samples, code: PathCode, where: Ints) -> bool:
    """Tell what `_joined` does, by generated code where that is sure."""
    y, before = np.ascontiguousarray(samples.y[where]), where - 1
    starts = np.arange(where.size + 1)
    q, done = _poses(code, starts, y, samples.q[before], samples.y[before])
    return _same(q, samples.q[where]) if done.all() else _joined(samples, where)


def _heads(samples: Samples, where: Ints, q_home: Floats, y_home: Floats) -> Floats | None:
    """Return closed poses at a few samples of the path, or None if one is not reached."""
    y = np.ascontiguousarray(samples.y[where])
    few = Samples.empty(samples.model, y, np.zeros_like(y), np.zeros_like(y), None)
    few.solve(np.array([0, len(where)]), q_home[None], y_home[None], samples.model.in_pieces)
    return None if few.status.any() else few.q


def _joined(samples: Samples, where: Ints) -> bool:
    """Tell whether each chunk begins where the one before leads, not on another branch."""
    before = where - 1
    few = Samples.empty(
        samples.model,
        np.ascontiguousarray(samples.y[where]),
        np.zeros((len(where), samples.y.shape[1])),
        np.zeros((len(where), samples.y.shape[1])),
        None,
    )
    few.solve(
        np.arange(len(where) + 1), samples.q[before], samples.y[before], samples.model.in_pieces
    )
    return not few.status.any() and _same(few.q, samples.q[where])


def _same(q: Floats, other: Floats) -> bool:
    """Tell whether poses are the same: those of different branches differ by far more.

    So do angles by a turn.
    """
    return bool(np.all(np.abs(q - other) < 1e-6 * (1.0 + np.abs(q))))
