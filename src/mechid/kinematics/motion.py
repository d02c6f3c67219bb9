"""Position, speed and acceleration of everything along a motion, in one batched call."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from mechid.errors import (
    BranchJumpError,
    KinematicsError,
    SingularPoseError,
    UnreachablePoseError,
)
from mechid.kinematics.branch import check_branch
from mechid.kinematics.frames import FrameMotion, body_frames, frame_motion
from mechid.kinematics.kernels.closure import CROSSED, SINGULAR
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.kernels.follow import rates_batch, solve_ordered
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.tables import Floats, Order
from mechid.mechanism.records import Mechanism


@dataclass(frozen=True)
class Motion:
    """A solved motion: independent coordinates in, tree coordinates out (NOTATION.md)."""

    model: KinematicModel
    time: Floats | None
    y: Floats
    yd: Floats
    ydd: Floats
    q: Floats
    v: Floats
    vd: Floats
    ordered: bool

    def bodies(self) -> FrameMotion:
        """Return the motion of all body frames, shapes (N, n_bodies, ...)."""
        return frame_motion(self.model, self.q, self.v, self.vd, body_frames(self.model))


@dataclass(frozen=True)
class Rates:
    """Linear maps of each sample: v = R ẏ, v̇ = R ÿ + b; `ratio` of pivots warns of singularity."""

    R: Floats
    bias: Floats
    ratio: Floats


def solve_motion(
    mechanism: Mechanism | KinematicModel,
    y: Floats,
    yd: Floats | None = None,
    ydd: Floats | None = None,
    *,
    time: Floats | None = None,
    ordered: bool = True,
    start: Floats | None = None,
) -> Motion:
    """Solve the closure for every sample, to machine precision, on one branch.

    Parameters
    ----------
    mechanism : Mechanism or KinematicModel
    y, yd, ydd : arrays (N, n_i)
        Independent coordinates, speeds and accelerations, in the order of the model; speeds and
        accelerations default to zero.
    time : array (N,), optional
        Times of the samples (s): sharpens prediction and is named in errors.
    ordered : bool
        True: the samples follow each other along a path, each starts from the one before.
        False: they are unrelated, each is reached from the home pose along a straight line in y.
    start : array (n_q,), optional
        A closed pose on the branch to use, instead of the home pose of the model.

    Raises
    ------
    UnreachablePoseError, SingularPoseError, BranchJumpError
        With the sample, and the time if known.
    """
    model = mechanism if isinstance(mechanism, KinematicModel) else kinematic_model(mechanism)
    y = _samples(model, y, "y")
    yd = np.zeros_like(y) if yd is None else _samples(model, yd, "yd", y.shape[0])
    ydd = np.zeros_like(y) if ydd is None else _samples(model, ydd, "ydd", y.shape[0])
    t = None if time is None else np.ascontiguousarray(time, dtype=float)
    if t is not None and t.shape != (y.shape[0],):
        raise KinematicsError(f"time must have shape ({y.shape[0]},), got {t.shape}")
    q_home = model.home_q if start is None else np.array(start, dtype=float)
    y_home = model.home_y if start is None else independent_of(model, q_home)
    q, v, vd = _run(model, y, yd, ydd, t, ordered, q_home, y_home)
    motion = Motion(model, t, y, yd, ydd, q, v, vd, ordered)
    if ordered:
        check_branch(model, motion.q, motion.time)
    return motion


def rates(motion: Motion) -> Rates:
    """Return the admissible motions R and the bias b of every sample."""
    n, n_v, n_i = motion.y.shape[0], motion.v.shape[1], motion.y.shape[1]
    R, b, ratio = np.zeros((n, n_i, n_v)), np.zeros((n, n_v)), np.ones(n)
    v, vd = np.zeros((n, n_v)), np.zeros((n, n_v))
    if n:
        model = motion.model
        rates_batch(
            model.tables,
            model.order,
            motion.y,
            motion.yd,
            motion.ydd,
            motion.q.copy(),
            v,
            vd,
            R,
            b,
            ratio,
        )
    return Rates(np.swapaxes(R, 1, 2), b, ratio)


def independent_of(model: KinematicModel, q: Floats) -> Floats:
    """Return the independent coordinates of a closed pose."""
    t = model.tables
    values, _ = dense_rows(t, q)
    y = np.zeros(model.n_independent)
    driven = t.rows.driver >= 0
    y[t.rows.driver[driven]] = values[driven]
    y[t.direct.driver] = q[t.direct.q]
    return y


def _samples(model: KinematicModel, values: Floats, name: str, n: int | None = None) -> Floats:
    values = np.ascontiguousarray(values, dtype=float)
    n_i = model.n_independent
    if values.ndim != 2 or values.shape[1] != n_i or (n is not None and values.shape[0] != n):
        want = f"({'N' if n is None else n}, {n_i})"
        raise KinematicsError(f"{name} must have shape {want}, got {values.shape}")
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        sample, column = (int(i) for i in bad[0])
        raise KinematicsError(
            f"{name} of {model.mechanism.coordinates[column].name} is not a finite number",
            where=f"sample {sample}",
            remedy="fill or remove the sample",
            sample=sample,
        )
    return values


def _run(
    model: KinematicModel,
    y: Floats,
    yd: Floats,
    ydd: Floats,
    time: Floats | None,
    ordered: bool,
    q_home: Floats,
    y_home: Floats,
) -> tuple[Floats, Floats, Floats]:
    n = y.shape[0]
    c = model.compiled
    q, v, vd = np.zeros((n, c.n_q)), np.zeros((n, c.n_v)), np.zeros((n, c.n_v))
    if n == 0:
        return q, v, vd
    status, reach = np.zeros(n, dtype=np.int64), np.zeros(n)
    dt = np.zeros(n)
    if time is not None and n > 1:
        dt[:-1] = np.diff(time)

    def solve(starts: np.ndarray, q_starts: Floats, y_starts: Floats, order: Order) -> None:
        solve_ordered(
            model.tables,
            order,
            starts,
            y,
            yd,
            ydd,
            dt,
            q_starts,
            y_starts,
            q,
            v,
            vd,
            status,
            reach,
        )

    if ordered:
        _solve_path(model, y, q_home, y_home, solve, status, q)
    else:
        starts = np.arange(n + 1)
        solve(starts, np.tile(q_home, (n, 1)), np.tile(y_home, (n, 1)), model.order)
        for k in np.flatnonzero(status):
            # The block order fails where the rows chosen for it are weak: all rows together.
            status[k] = 0
            solve(np.array([k, k + 1]), q_home[None], y_home[None], model.one_piece)
    if status.any():
        _refuse(model, y, time, status, reach)
    return q, v, vd


def _solve_path(model, y, q_home, y_home, solve, status, q) -> None:  # type: ignore[no-untyped-def]
    """Solve samples in order, in parallel chunks whose first poses are found beforehand."""
    n = y.shape[0]
    chunks = max(1, min(4 * numba.get_num_threads(), n // 64))
    starts = np.linspace(0, n, chunks + 1).astype(np.int64)
    q_starts, y_starts = np.empty((chunks, q_home.size)), np.empty((chunks, y_home.size))
    q_starts[0], y_starts[0] = q_home, y_home
    ok = True
    if chunks > 1:
        heads = solve_heads(model, y[starts[1:-1]], q_home, y_home)
        ok = heads is not None
        if heads is not None:
            q_starts[1:], y_starts[1:] = heads, y[starts[1:-1]]
    if ok:
        solve(starts, q_starts, y_starts, model.order)
        ok = not status.any()
    if not ok:
        # Something on the way is not reachable along the shortcut: strictly in order, from the
        # start, so that the first failing sample is the one that is named.
        for order in (model.order, model.one_piece):
            status[:] = 0
            solve(np.array([0, n]), q_home[None], y_home[None], order)
            if not status.any():
                break


def solve_heads(model: KinematicModel, y: Floats, q_home: Floats, y_home: Floats) -> Floats | None:
    """Return closed poses at a few samples of a path, or None if one is not reached."""
    n = y.shape[0]
    c = model.compiled
    q, v, vd = np.zeros((n, c.n_q)), np.zeros((n, c.n_v)), np.zeros((n, c.n_v))
    status, reach, rest = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros_like(y)
    solve_ordered(
        model.tables,
        model.order,
        np.array([0, n]),
        y,
        rest,
        rest,
        np.zeros(n),
        q_home[None],
        y_home[None],
        q,
        v,
        vd,
        status,
        reach,
    )
    return None if status.any() else q


def _refuse(
    model: KinematicModel, y: Floats, time: Floats | None, status: np.ndarray, reach: Floats
) -> None:
    sample = int(np.flatnonzero(status)[0])
    when = None if time is None else float(time[sample])
    where = f"sample {sample}" + ("" if when is None else f" (t = {when:g} s)")
    values = ", ".join(
        f"{x.name} = {value:.6g} {x.unit}"
        for x, value in zip(model.mechanism.coordinates, y[sample], strict=True)
    )
    if status[sample] == SINGULAR:
        raise SingularPoseError(
            f"singular pose near {values}: the independent coordinates do not determine the "
            f"speeds there (pivot ratio {reach[sample]:.1e})",
            where=where,
            remedy="keep the motion away from this pose or choose other independent coordinates",
            sample=sample,
            time=when,
        )
    if status[sample] == CROSSED:
        raise BranchJumpError(
            f"a singular pose lies before {values}: beyond it the branch is not determined",
            where=where,
            remedy="keep the motion on one side of the singular pose, or choose other independent "
            "coordinates",
            sample=sample,
            time=when,
        )
    raise UnreachablePoseError(
        f"no pose on this branch has {values}; the way there ends after "
        f"{100 * reach[sample]:.3g} % of the step",
        where=where,
        remedy="reduce the range of the motion, or start from another branch",
        sample=sample,
        time=when,
    )
