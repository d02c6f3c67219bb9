"""Checks of solved motions that several tests share."""

from __future__ import annotations

import numpy as np

from mechid.kinematics import reference_point as rp
from mechid.kinematics.compile import STILL, Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, rates, solve_motion
from mechid.kinematics.sensitivities import Sensitivities, sensitivities
from mechid.mechanism.records import Point

from .changes import Change
from .differences import STEP, TRUNCATION, angular, doubt, first, middle, second
from .joint_table import joint_pose
from .states import EPS, Array, condition, joint_frames, reach, solved_in_blocks

QUANTITIES = ("position", "rotation", "velocity", "omega", "acceleration", "alpha")


def close_to(a: Array, b: Array, relative: float, least: float = 0.0) -> bool:
    """Equal up to a part of the largest entry (or of `least`, if that is larger)."""
    if a.size == 0:
        return a.shape == b.shape
    scale = max(float(np.abs(b).max()), least)
    return a.shape == b.shape and bool(np.abs(a - b).max() <= relative * scale)


def assert_close(a: Array, b: Array, relative: float, scale: float) -> None:
    assert np.abs(a - b).max(initial=0.0) <= relative * scale


def tolerance(*motions: Motion) -> float:
    """Rounding of a few hundred operations, amplified by closing once per derivative.

    Of 50 seeds of random mechanisms two differed by 1300 roundings between the formulations.
    """
    return 4000 * EPS * max(condition(m) for m in motions) ** 2


def sizes(f: FrameMotion, scale: float) -> dict[str, float]:
    """What the quantities of a motion are compared by.

    What happens to stand still is known no better than what moves beside it.
    """
    p1, w1, p2, w2 = (
        float(np.abs(x).max(initial=0.0)) for x in (f.velocity, f.omega, f.acceleration, f.alpha)
    )
    speed = p1 / scale + w1
    turn = p2 / scale + w2 + w1**2
    values = (scale, 1.0, scale * speed, speed, scale * turn, turn)
    return dict(zip(QUANTITIES, values, strict=True))


def check_closed(motion: Motion) -> None:
    """The pose of frame b in frame a is the one that the joint's coordinates and type say.

    Each pose is a chain of a few dozen products of numbers of the size of the mechanism, and so
    is wrong by some tens of eps; closing adds no more, as Newton's method ends at the rounding of
    the residual.
    """
    bound, far = 100 * EPS, reach(motion)
    for joint in motion.model.mechanism.joints:
        f = joint_frames(motion, joint.name)
        Ra = np.swapaxes(f.rotation[:, 0], 1, 2)
        R = Ra @ f.rotation[:, 1]
        t = np.einsum("nij,nj->ni", Ra, f.position[:, 1] - f.position[:, 0])
        R_joint, t_joint = joint_pose(joint, joint_motion(motion, joint.name).coordinates)
        assert np.abs(R - R_joint).max() <= bound, joint.name
        assert np.abs(t - t_joint).max() <= bound * far, joint.name
    check_constraints(motion)


def check_constraints(motion: Motion) -> None:
    """Couplings and distances hold, read from the poses by their definitions."""
    mechanism = motion.model.mechanism
    for c in mechanism.couplings:
        parts = [f * joint_motion(motion, n).coordinates[:, k] for n, k, f in c.terms]
        total = np.sum(parts, axis=0)
        scale = max(float(np.abs(part).max()) for part in parts)
        want = total[0] if c.constant is None else c.constant
        assert_close(total, np.full(len(total), want), tolerance(motion), scale)
    names = {body.name: k for k, body in enumerate(mechanism.bodies)}
    f = motion.bodies()

    def place(point: Point) -> Array:
        local = np.array(point.local)
        if point.body not in names:
            return np.tile(local, (len(motion.y), 1))
        k = names[point.body]
        return np.asarray(f.position[:, k] + f.rotation[:, k] @ local)

    for d in mechanism.distances:
        far = np.linalg.norm(place(d.point_b) - place(d.point_a), axis=1)
        assert_close(far, np.full(len(far), d.length), tolerance(motion), reach(motion))


def check_frames(motion: Motion, f: FrameMotion) -> None:
    """Velocities and accelerations are differences of positions; of rotations, likewise.

    Poses are known to eps times the condition, and their differences accordingly.
    """
    size, turn = reach(motion) * condition(motion), condition(motion)
    check_first(f.velocity, first(f.position), f.position, size)
    check_second(f.acceleration, second(f.position), f.position, size)
    omega, alpha = angular(f.rotation)
    check_first(f.omega, omega, f.rotation, turn)
    check_second(f.alpha, alpha, f.rotation, turn)


def check_first(speeds: Array, differences: Array, values: Array, size: float = 1.0) -> None:
    """Up to truncation, and the rounding of values of this size (see differences.py)."""
    truncation = TRUNCATION * np.abs(differences).max(initial=0.0) + doubt(values, 1)
    bound = truncation + 20 * EPS * size / STEP
    assert np.abs(middle(speeds) - differences).max(initial=0.0) <= bound


def check_second(
    accelerations: Array, differences: Array, values: Array, size: float = 1.0
) -> None:
    truncation = TRUNCATION * np.abs(differences).max(initial=0.0) + doubt(values, 2)
    bound = truncation + 20 * EPS * size / STEP**2
    assert np.abs(middle(accelerations) - differences).max(initial=0.0) <= bound


def check_joints(motion: Motion) -> None:
    """Speeds and accelerations of joints, cut or not, are differences of their coordinates.

    Speeds of an orientation are ω of b relative to a, in the axes of frame a.
    """
    size = max(1.0, reach(motion)) * condition(motion)
    for joint in motion.model.mechanism.joints:
        j = joint_motion(motion, joint.name)
        assert j.coordinates.shape[1] == len(joint.kind.coordinates)
        assert j.speeds.shape == j.accelerations.shape == (len(motion.y), joint.kind.n_speeds)
        n = joint.kind.n_scalars
        speeds, accelerations = first(j.coordinates[:, :n]), second(j.coordinates[:, :n])
        if joint.kind.has_orientation:
            omega, alpha = angular(joint_pose(joint, j.coordinates)[0])
            speeds = np.concatenate([speeds, omega], axis=1)
            accelerations = np.concatenate([accelerations, alpha], axis=1)
        check_first(j.speeds, speeds, j.coordinates, size)
        check_second(j.accelerations, accelerations, j.coordinates, size)


def check_sensitivities(motion: Motion) -> Sensitivities:
    """Identities between sensitivities, admissible motions and rates; return the former."""
    s, n = sensitivities(motion), motion.model.n_independent
    R, bound = rates(motion).R, tolerance(motion)
    by_y, by_yd, by_ydd = slice(0, n), slice(n, 2 * n), slice(2 * n, 3 * n)
    assert close_to(s.v[..., by_yd], R, bound)
    assert close_to(s.vd[..., by_ydd], R, bound)
    assert not s.v[..., by_ydd].any()
    assert not s.q[..., n:].any()
    f, g = motion.bodies(), s.frames
    scale = sizes(f, reach(motion))
    # Velocities are the sensitivities of positions times ẏ, and so on by the chain rule.
    velocity = np.einsum("nbik,nk->nbi", g.position[..., by_y], motion.yd)
    assert_close(velocity, f.velocity, bound, scale["velocity"])
    assert close_to(g.velocity[..., by_yd], g.position[..., by_y], bound)
    assert close_to(g.acceleration[..., by_ydd], g.position[..., by_y], bound)
    for speed, rate, by_speed, by_rate in (
        ("velocity", "acceleration", g.velocity, g.position),
        ("omega", "alpha", g.omega, None),
    ):
        along = np.einsum("nbik,nk->nbi", by_speed[..., by_y], motion.yd)
        part = by_speed[..., by_yd] if by_rate is None else by_rate[..., by_y]
        along += np.einsum("nbik,nk->nbi", part, motion.ydd)
        assert_close(along, getattr(f, rate), 10 * bound, scale[rate])
        of_speed = np.einsum("nbik,nk->nbi", by_speed[..., by_yd], motion.yd)
        assert_close(of_speed, getattr(f, speed), bound, scale[speed])
    return s


def check_formulations(motion: Motion) -> None:
    """The reference-point formulation finds the same motion."""
    model = motion.model
    system = rp.compile_system(model.mechanism)
    start = rp.assemble(system)
    other = rp.follow(system, motion.y, motion.yd, motion.ydd, start)
    # Parts between two balls spin as they like; the points on their lines do not.
    spins = rp.passive_spins(system, [start])
    spinning = {body for spin in spins for body in spin.bodies}
    assert spinning == {body for part in model.passive for body in part.bodies}
    bodies = [i for i, b in enumerate(model.mechanism.bodies) if b.name not in spinning]
    f = motion.bodies()
    bound = tolerance(motion)
    for name, size in sizes(f, reach(motion)).items():
        assert_close(getattr(f, name)[:, bodies], getattr(other, name)[:, bodies], bound, size)
    for spin in spins:
        for joint in (model.mechanism.joint(name) for name in spin.joints):
            body, frame = joint.body_a, joint.frame_a
            if body not in spin.bodies:
                body, frame = joint.body_b, joint.frame_b
            k = [b.name for b in model.mechanism.bodies].index(body)
            s = np.array(frame.origin)
            ours, theirs = (x.position[:, k] + x.rotation[:, k] @ s for x in (f, other))
            assert_close(ours, theirs, bound, reach(motion))


def same(a: Motion, b: Motion) -> None:
    """Equal up to what closing amplifies; turns of angles and signs of quaternions aside."""
    bound = 1000 * EPS * condition(a) ** 2
    for name in ("position", "rotation", "velocity", "omega", "acceleration", "alpha"):
        ours, theirs = getattr(a.bodies(), name), getattr(b.bodies(), name)
        assert close_to(ours, theirs, bound, reach(a) if name == "position" else 0.0), name


def check_change(old: Motion, change: Change) -> Motion:
    """Solve the same motion with the changed mechanism and compare all bodies; return it."""
    model = kinematic_model(change.mechanism)
    y = change.sign * old.y + change.offset
    new = solve_motion(model, y, change.sign * old.yd, change.sign * old.ydd, time=old.time)
    spinning = {body for part in old.model.passive for body in part.bodies}
    names = [b.name for b in old.model.mechanism.bodies]
    places = {b.name: i for i, b in enumerate(change.mechanism.bodies)}
    if set(places) != set(names):  # other names, same order
        places = dict(zip(names, places.values(), strict=True))
    kept = [name for name in names if name not in spinning]
    i, k = [names.index(name) for name in kept], [places[name] for name in kept]
    before, after = old.bodies(), moved_frames(new, change)
    bound, scale, G = tolerance(old, new), max(reach(old), reach(new)), change.whole
    for name, size in sizes(before, scale).items():
        a, b = getattr(after, name)[:, k], getattr(before, name)[:, i]
        b = G.rotation @ b if name == "rotation" else b @ G.rotation.T
        assert_close(a, b + G.translation if name == "position" else b, bound, size)
    check_balls(old, new, change, bound * scale)
    assert solved_in_blocks(new)
    return new


def moved_frames(motion: Motion, change: Change) -> FrameMotion:
    """Motion of the old body frames, which ride on the bodies of the changed mechanism."""
    frames = [(body.name, change.frames.get(body.name, STILL)) for body in change.mechanism.bodies]
    return frame_motion(motion.model, motion.q, motion.v, motion.vd, frames)


def check_balls(old: Motion, new: Motion, change: Change, bound: float) -> None:
    """Parts that spin freely: the balls that hold them stand where they did."""
    for part in old.model.passive:
        for name in part.joints:
            joint = old.model.mechanism.joint(name)
            body, frame = joint.body_a, joint.frame_a
            if body not in part.bodies:
                body, frame = joint.body_b, joint.frame_b
            local = Rigid(np.eye(3), np.array(frame.origin))
            if body not in {b.name for b in change.mechanism.bodies}:
                continue
            inside = change.frames.get(body, STILL) @ local
            a = frame_motion(new.model, new.q, new.v, new.vd, [(body, inside)]).position[:, 0]
            b = frame_motion(old.model, old.q, old.v, old.vd, [(body, local)]).position[:, 0]
            G = change.whole
            assert_close(a, b @ G.rotation.T + G.translation, bound, 1.0)
