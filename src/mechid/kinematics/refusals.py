"""Motions that a mechanism cannot perform: named with the sample, the cause and a remedy."""

from __future__ import annotations

import numpy as np

from mechid.errors import BranchJumpError, SingularPoseError, UnreachablePoseError
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.kernels.closure import CROSSED, SINGULAR
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.samples import Samples
from mechid.kinematics.tables import Floats

# Nearer than this to a pitch of 90° (rad) roll and yaw can no longer be told apart.
LOCKED = 1e-6
# Steps longer than this (rad, or sizes of the mechanism) are no motion, and take long to follow.
LEAP = 1e3


def place_of(sample: int, time: Floats | None, first: int = 0) -> tuple[str, float | None]:
    """Return the words for a sample, counted from `first` on, and its time if there is one."""
    when = None if time is None else float(time[sample])
    return f"sample {first + sample}" + ("" if when is None else f" (t = {when:g} s)"), when


def values_of(model: KinematicModel, y: Floats) -> str:
    """Return the independent coordinates of one sample in words."""
    return ", ".join(
        f"{x.name} = {value:.6g} {x.unit}"
        for x, value in zip(model.mechanism.coordinates, y, strict=True)
    )


def refuse_leaps(
    model: KinematicModel, y: Floats, start: Floats, time: Floats | None, ordered: bool
) -> None:
    """Raise for a sample that is too far from where it is reached from to be followed.

    That is the sample before it, or `start` (n_i,). Coordinates that no loop reads, such as the
    spin of a wheel, are not followed step by step and may be anywhere.
    """
    if not y.size:
        return
    with np.errstate(over="ignore"):
        # no step is longer than all that is between: this is looked at first, ten times as fast
        if max(y.max(), start.max()) - min(y.min(), start.min()) <= LEAP * min(1.0, model.size):
            return
        unit = [1.0 if c.unit == "rad" else model.size for c in model.mechanism.coordinates]
        limit = np.where(model.looped, LEAP * np.maximum(unit, np.finfo(float).tiny), np.inf)
        before = np.concatenate([start[None], y[:-1]]) if ordered else start
        far = np.abs(y - before) > limit
    if far.any():
        k, i = (int(x) for x in np.argwhere(far)[0])
        c, (where, when) = model.mechanism.coordinates[i], place_of(k, time)
        origin = np.broadcast_to(before, y.shape)[k, i]
        raise UnreachablePoseError(
            f"{c.name} = {y[k, i]:.6g} {c.unit} is too far from {origin:.6g} {c.unit} "
            + ("before it" if ordered and k else "at the start"),
            where=where,
            remedy="correct or remove the sample; check the unit of the column",
            sample=k,
            time=when,
        )


def refuse_failures(
    samples: Samples, time: Floats | None, ordered: bool, start: Floats, first: int = 0
) -> None:
    """Raise for the first sample that was not solved, if there is one.

    `start` is the pose from which the first sample of an ordered motion, and every sample of
    another one, was reached. Samples are counted from `first` on.
    """
    failed = np.flatnonzero(samples.status)
    if not failed.size:
        return
    k = int(failed[0])
    where, when = place_of(k, time, first)
    values = values_of(samples.model, samples.y[k])
    before = samples.q[k - 1] if ordered and k > 0 else start
    origin = f"sample {first + k - 1}" if ordered and first + k > 0 else "the start"
    margin = float(singularity_margin(samples.model, before[None])[0])
    part = (
        f"{100 * samples.reach[k]:.3g} % of the way from {origin} (singularity margin {margin:.2g})"
    )
    if samples.status[k] == SINGULAR:
        raise SingularPoseError(
            f"singular pose {part} to {values}: the independent coordinates do not determine the "
            "speeds there",
            where=where,
            remedy="keep the motion away from this pose or choose other independent coordinates",
            sample=first + k,
            time=when,
        )
    if samples.status[k] == CROSSED:
        raise BranchJumpError(
            f"a singular pose lies {part} to {values}: beyond it the branch is not determined",
            where=where,
            remedy="keep the motion on one side of the singular pose, or choose other independent "
            "coordinates",
            sample=first + k,
            time=when,
        )
    raise UnreachablePoseError(
        f"no pose on this branch has {values}; the branch ends {part} there",
        where=where,
        remedy="reduce the range of the motion, or start from another branch",
        sample=first + k,
        time=when,
    )


def refuse_locked_angles(
    model: KinematicModel, q: Floats, time: Floats | None, first_sample: int = 0
) -> None:
    """Raise where an orientation given by roll, pitch, yaw has a pitch of ±90° or beyond."""
    for name in sorted(model.compiled.angles):
        first = model.mechanism.joint(name).kind.n_scalars
        pitch = q[:, model.compiled.coordinate[name, first + 1].q]
        locked = np.flatnonzero(np.abs(pitch) > np.pi / 2 - LOCKED)
        if locked.size:
            k = int(locked[0])
            where, when = place_of(k, time, first_sample)
            raise SingularPoseError(
                f"pitch of joint {name} is {np.degrees(pitch[k]):.6g} deg: at 90 deg roll and yaw "
                "turn about the same axis",
                where=where,
                remedy="keep the pitch within ±90 deg, or turn the frames of the joint",
                sample=first_sample + k,
                time=when,
            )
