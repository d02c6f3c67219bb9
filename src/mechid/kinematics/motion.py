"""Position, speed and acceleration of everything along a motion, in one batched call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import DataError, KinematicsError
from mechid.kinematics.frames import FrameMotion, Values, body_frames, frame_motion
from mechid.kinematics.kernels.closure import SINGULAR_RATIO
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.kernels.follow import rates_batch
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.refusals import (
    place_of,
    refuse_failures,
    refuse_leaps,
    refuse_locked_angles,
)
from mechid.kinematics.samples import Samples, solve_each, solve_path
from mechid.kinematics.tables import Floats, Ints
from mechid.kinematics.threads import spread
from mechid.mechanism.records import Mechanism
from mechid.shown import Plotted, Shown, Tabular, span

# Samples that are worth a thread: about a millisecond.
_SHORTEST_PART = 128


@dataclass(frozen=True, repr=False)
class Motion(Plotted, Tabular):
    """A solved motion: independent coordinates in, tree coordinates out (NOTATION.md).

    Attributes
    ----------
    model : KinematicModel
    time : array (N,), optional
        s.
    y, yd, ydd : arrays (N, n_i)
        Independent coordinates, speeds, accelerations: m or rad, per s, per s².
    q : array (N, n_q)
        Coordinates of the joints of the spanning tree: m, rad, quaternions.
    v, vd : arrays (N, n_v)
        Their speeds and accelerations.
    ordered : bool
        Whether the samples follow each other along a path.
    """

    model: KinematicModel
    time: Floats | None
    y: Floats
    yd: Floats
    ydd: Floats
    q: Floats
    v: Floats
    vd: Floats
    ordered: bool

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        mechanism = self.model.mechanism
        return {
            "mechanism": mechanism.name,
            "samples": len(self.y),
            "time": None if self.time is None else span(self.time, "s"),
            **{c.name: span(self.y[:, i], c.unit) for i, c in enumerate(mechanism.coordinates)},
        }

    def part(self, samples: slice) -> Motion:
        """Return some of the samples."""
        return replace(
            self,
            time=None if self.time is None else self.time[samples],
            y=np.ascontiguousarray(self.y[samples]),
            yd=np.ascontiguousarray(self.yd[samples]),
            ydd=np.ascontiguousarray(self.ydd[samples]),
            q=np.ascontiguousarray(self.q[samples]),
            v=np.ascontiguousarray(self.v[samples]),
            vd=np.ascontiguousarray(self.vd[samples]),
        )

    def chosen(self, samples: Ints) -> Motion:
        """Return some samples, by their numbers, without their times."""
        arrays = (self.y, self.yd, self.ydd, self.q, self.v, self.vd)
        y, yd, ydd, q, v, vd = (np.ascontiguousarray(x[samples]) for x in arrays)
        return Motion(self.model, None, y, yd, ydd, q, v, vd, ordered=False)

    def bodies(self) -> FrameMotion:
        """Return the motion of all body frames, shapes (N, n_bodies, ...)."""
        return frame_motion(self.model, self.q, self.v, self.vd, body_frames(self.model))


@dataclass(frozen=True, repr=False)
class Rates(Shown):
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

    Examples
    --------
    >>> import mechid, numpy as np
    >>> angle = np.linspace(0.785, 1.0, 5)[:, None]  # rad, (N, n_i)
    >>> motion = mechid.solve_motion(mechid.load("four_bar"), angle)
    >>> motion.q.shape  # the three tree joints
    (5, 3)
    >>> mechid.solve_motion(mechid.load("pendulum"), angle, time=np.arange(5.0)).plot()
    <Plot size ... with 3 Axes>
    """
    model = mechanism if isinstance(mechanism, KinematicModel) else kinematic_model(mechanism)
    wanted = checked_prescription(model, y, yd, ydd, time, start, ordered=ordered)
    samples = Samples.empty(model, wanted.y, wanted.yd, wanted.ydd, wanted.time)
    perform(wanted, samples, ordered)
    return Motion(
        model,
        wanted.time,
        wanted.y,
        wanted.yd,
        wanted.ydd,
        samples.q,
        samples.v,
        samples.vd,
        ordered,
    )


@dataclass(frozen=True)
class PrescribedMotion:
    """A motion that is to be performed: independent coordinates, and the pose it starts from."""

    time: Floats | None
    y: Floats
    yd: Floats
    ydd: Floats
    start_q: Floats
    start_y: Floats


def checked_prescription(
    model: KinematicModel,
    y: Floats,
    yd: Floats | None,
    ydd: Floats | None,
    time: Floats | None,
    start: Floats | None,
    *,
    ordered: bool = True,
) -> PrescribedMotion:
    """Return the input of `solve_motion` as arrays of the right shape, or raise."""
    n = len(np.atleast_1d(y))
    t = None if time is None else _times(time, n)
    y = _samples(model, y, "y", n, t)
    yd = np.zeros_like(y) if yd is None else _samples(model, yd, "yd", n, t)
    ydd = np.zeros_like(y) if ydd is None else _samples(model, ydd, "ydd", n, t)
    start_q = model.home_q if start is None else _pose(model, start)
    start_y = model.home_y if start is None else independent_of(model, start_q)
    refuse_leaps(model, y, start_y, t, ordered)
    return PrescribedMotion(t, y, yd, ydd, start_q, start_y)


def perform(wanted: PrescribedMotion, samples: Samples, ordered: bool, first: int = 0) -> None:
    """Solve the samples of a prescribed motion, or raise; errors count them from `first` on."""
    if ordered:
        solve_path(samples, wanted.start_q, wanted.start_y)
    else:
        solve_each(samples, wanted.start_q, wanted.start_y)
    refuse_failures(samples, wanted.time, ordered, wanted.start_q, first)
    refuse_locked_angles(samples.model, samples.q, wanted.time, first)


def checked_motion(motion: object) -> Motion:
    """Return a solved motion.

    Raises
    ------
    DataError
        If it is something else.
    """
    if not isinstance(motion, Motion):
        raise DataError(
            f"motion must be a Motion, got {type(motion).__name__}",
            remedy="solve it first, with mechid.solve_motion, or take mechid.tour(model)",
        )
    return motion


def rates(motion: Motion) -> Rates:
    """Return the admissible motions R and the bias b of every sample.

    Parameters
    ----------
    motion : Motion

    Returns
    -------
    Rates
        `R` (N, n_v, n_i) and `bias` (N, n_v), with v = R ẏ and v̇ = R ÿ + b.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.tour(mechid.load("four_bar"))
    >>> maps = mechid.rates(motion)
    >>> np.allclose(motion.v, (maps.R @ motion.yd[:, :, None])[:, :, 0])
    True
    """
    motion = checked_motion(motion)
    n, n_v, n_i = motion.y.shape[0], motion.v.shape[1], motion.y.shape[1]
    R, b, ratio = np.zeros((n, n_i, n_v)), np.zeros((n, n_v)), np.ones(n)
    v, vd = np.zeros((n, n_v)), np.zeros((n, n_v))
    inputs = (motion.y, motion.yd, motion.ydd, motion.q.copy())
    fill_rates(motion.model, inputs, (v, vd, R, b, ratio))
    return Rates(np.swapaxes(R, 1, 2), b, ratio)


def fill_rates(
    model: KinematicModel, inputs: tuple[Values, ...], outputs: tuple[Values, ...]
) -> None:
    """Run `rates_batch` on arrays (y, yd, ydd, q) and (v, vd, R, b, ratio), in place.

    Where the order of solution is weak, all rows together: as when the motion was solved.
    """
    if not len(inputs[0]):
        return

    def run(first: int, last: int) -> None:
        rates_batch(model.tables, model.order, first, last, *inputs, *outputs)

    spread(run, len(inputs[0]), _SHORTEST_PART)
    for k in np.flatnonzero(~(outputs[-1] > SINGULAR_RATIO)):
        rates_batch(model.tables, model.one_piece, k, k + 1, *inputs, *outputs)


def independent_of(model: KinematicModel, q: Floats) -> Floats:
    """Return the independent coordinates of a closed pose."""
    t = model.tables
    values, _ = dense_rows(model.compiled.for_kernels, q)
    y = np.zeros(model.n_independent)
    driven = t.rows.driver >= 0
    y[t.rows.driver[driven]] = values[driven]
    y[t.direct.driver] = q[t.direct.q]
    return y


def _samples(
    model: KinematicModel, values: Floats, name: str, n: int, time: Floats | None
) -> Floats:
    values = np.ascontiguousarray(values, dtype=float)
    if values.shape != (n, model.n_independent):
        names = ", ".join(c.name for c in model.mechanism.coordinates)
        raise KinematicsError(
            f"{name} must have shape ({n}, {model.n_independent}), got {values.shape}",
            remedy=f"give one row per sample and one column per coordinate: {names}",
        )
    finite = np.isfinite(values)
    if not finite.all():
        sample, column = (int(i) for i in np.argwhere(~finite)[0])
        where, when = place_of(sample, time)
        raise KinematicsError(
            f"{name} of {model.mechanism.coordinates[column].name} is not a finite number",
            where=where,
            remedy="fill or remove the sample",
            sample=sample,
            time=when,
        )
    return values


def _times(time: Floats, n: int) -> Floats:
    time = np.ascontiguousarray(time, dtype=float)
    if time.shape != (n,):
        raise KinematicsError(
            f"time must have shape ({n},), got {time.shape}", remedy="give one time per sample"
        )
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        sample = int(bad[0])
        raise KinematicsError(
            "time is not a finite number",
            where=f"sample {sample}",
            remedy="fill or remove the sample",
            sample=sample,
        )
    return time


def _pose(model: KinematicModel, start: Floats) -> Floats:
    start = np.array(start, dtype=float)
    if start.shape != (model.compiled.n_q,) or not np.all(np.isfinite(start)):
        raise KinematicsError(
            f"start must be {model.compiled.n_q} finite numbers, got shape {start.shape}",
            remedy="give a row of q of another motion of this model",
        )
    return start
