"""Position, speed and acceleration of everything along a motion, in one batched call."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import KinematicsError
from mechid.kinematics.branch import check_branch
from mechid.kinematics.frames import FrameMotion, body_frames, frame_motion
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.kernels.follow import rates_batch
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.refusals import refuse_failures, refuse_locked_angles
from mechid.kinematics.samples import Samples, solve_each, solve_path
from mechid.kinematics.tables import Floats
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

    def part(self, samples: slice) -> Motion:
        """Return some of the samples."""
        return replace(
            self,
            time=None if self.time is None else self.time[samples],
            y=self.y[samples],
            yd=self.yd[samples],
            ydd=self.ydd[samples],
            q=self.q[samples],
            v=self.v[samples],
            vd=self.vd[samples],
        )

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
    samples = Samples.empty(model, y, yd, ydd, t)
    if ordered:
        solve_path(samples, q_home, y_home)
    else:
        solve_each(samples, q_home, y_home)
    refuse_failures(samples, t)
    refuse_locked_angles(model, samples.q, t)
    if ordered:
        check_branch(model, samples.q, t)
    return Motion(model, t, y, yd, ydd, samples.q, samples.v, samples.vd, ordered)


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
