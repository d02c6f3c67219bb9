"""Coordinates, speeds and accelerations of any joint, cut or not, along a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.kinematics.compile import Rigid
from mechid.kinematics.coordinates import joint_coordinates
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.motion import Motion, checked_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.joint_kinds import Step
from mechid.mechanism.records import Joint
from mechid.shown import Shown


@dataclass(frozen=True, repr=False)
class JointMotion(Shown):
    """Coordinates (N, n) in the order of NOTATION.md, speeds and accelerations (N, n_speeds).

    The speeds of an orientation are the angular velocity of b relative to a in the axes of a's
    joint frame. Angles are continuous along an ordered motion.

    Attributes
    ----------
    coordinates : array (N, n)
        m, rad, or components of a quaternion.
    speeds, accelerations : arrays (N, n_speeds)
        m or rad, per s and per s².
    """

    coordinates: Floats
    speeds: Floats
    accelerations: Floats


def joint_motion(motion: Motion, name: str) -> JointMotion:
    """Return the motion of one joint.

    Parameters
    ----------
    motion : Motion
    name : str
        Of the joint, whether it is cut or not.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.solve_motion(mechid.load("pendulum"), [[0.3]], [[2.0]])
    >>> hinge = mechid.joint_motion(motion, "hinge")
    >>> np.allclose(hinge.coordinates, 0.3), np.allclose(hinge.speeds, 2.0)  # rad, rad/s
    (True, True)
    """
    motion = checked_motion(motion)
    model = motion.model
    joint = model.mechanism.joint(name)
    frames = [
        (joint.body_a, Rigid.of(joint.frame_a)),
        (joint.body_b, Rigid.of(joint.frame_b)),
    ]
    f = frame_motion(model, motion.q, motion.v, motion.vd, frames)
    Ra = f.rotation[:, 0]
    rotation = np.swapaxes(Ra, 1, 2) @ f.rotation[:, 1]
    translation = np.einsum("nji,nj->ni", Ra, f.position[:, 1] - f.position[:, 0])
    values = joint_coordinates(joint, rotation, translation)
    speeds, accelerations = _rates(joint, f)
    return JointMotion(_continuous(motion, joint, values), speeds, accelerations)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ni,ni->n", a, b))


def _rates(joint: Joint, f: FrameMotion) -> tuple[Floats, Floats]:
    """Rates of the coordinates from the relative motion of the two joint frames."""
    x_b = f.rotation[:, 1, :, 0]
    axes = [f.rotation[:, 0, :, k] for k in range(3)]
    wa, wb = f.omega[:, 0], f.omega[:, 1]
    w, alpha = wb - wa, f.alpha[:, 1] - f.alpha[:, 0]
    s, s1, s2 = (v[:, 1] - v[:, 0] for v in (f.position, f.velocity, f.acceleration))

    def along(k: int) -> tuple[Floats, Floats]:
        """Rates of the k-th component of b's origin in frame a."""
        d = axes[k]
        d1 = np.cross(wa, d)
        d2 = np.cross(f.alpha[:, 0], d) + np.cross(wa, d1)
        return _dot(d1, s) + _dot(d, s1), _dot(d2, s) + 2 * _dot(d1, s1) + _dot(d, s2)

    def about(k: int) -> tuple[Floats, Floats]:
        """Component k of the relative angular velocity in frame a, and its derivative."""
        d1 = np.cross(wa, axes[k])
        return _dot(axes[k], w), _dot(axes[k], alpha) + _dot(d1, w)

    def part(step: Step) -> list[tuple[Floats, Floats]]:
        if step.motion == "slide":
            return [along(step.axis)]
        if step.motion == "ball":
            return [about(k) for k in range(3)]
        if joint.kind.crossed is None:
            return [about(step.axis)]
        # w = q̇1 z_a + q̇2 x_b with z_a normal to x_b
        z_a = axes[2]
        q1, q2 = _dot(z_a, w), _dot(x_b, w)
        if step.on == 0:
            return [(q1, _dot(z_a, alpha - q2[:, None] * np.cross(wb, x_b)))]
        return [(q2, _dot(x_b, alpha - q1[:, None] * np.cross(wa, z_a)))]

    parts = [pair for step in joint.kind.steps for pair in part(step)]
    n = f.position.shape[0]
    if not parts:
        return np.zeros((n, 0)), np.zeros((n, 0))
    speeds, accelerations = zip(*parts, strict=True)
    return np.stack(speeds, axis=1), np.stack(accelerations, axis=1)


def _continuous(motion: Motion, joint: Joint, values: Floats) -> Floats:
    """Undo the jumps of angles by full turns, and of quaternions by sign."""
    values = values.copy()
    for index, unit in enumerate(joint.kind.units):
        if unit != "rad":
            continue
        place = motion.model.compiled.coordinate.get((joint.name, index))
        if place is not None:  # the tree counts the turns
            turns = np.rint((motion.q[:, place.q] - values[:, index]) / (2 * np.pi))
            values[:, index] += 2 * np.pi * turns
        elif motion.ordered and not joint.kind.thread:  # a screw counts its turns itself
            values[:, index] = np.unwrap(values[:, index])
    if joint.kind.has_orientation and motion.ordered and len(values) > 1:
        e = values[:, -4:]
        flips = np.where(_dot(e[1:], e[:-1]) < 0, -1.0, 1.0)
        e[1:] *= np.cumprod(flips)[:, None]
    return values
