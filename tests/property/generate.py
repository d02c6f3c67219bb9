"""Random mechanisms that are closed by construction, with coordinates that are independent.

Bodies stand in random poses. A joint gets a random frame in its first body and random coordinates;
the frame in its second body follows from where the bodies stand, so every joint is closed in the
reference pose, whatever loops the joints make. Which coordinates are independent follows from the
null space of the twists that the joints allow, computed here from poses written out by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mechid.kinematics.compile import Rigid
from mechid.mechanism.element_kinds import ELEMENT_KINDS, ElementKind
from mechid.mechanism.parts import ball_parts
from mechid.mechanism.records import (
    GROUND,
    JOINT_KINDS,
    Body,
    CadInertia,
    Coefficient,
    Constraint,
    Coupling,
    DistanceConstraint,
    ForceElement,
    Joint,
    JointCoordinate,
    JointType,
    Mechanism,
    Part,
    Point,
)
from mechid.spatial.rotations import rpy_from_matrix

from ..contract.changes import frame_of, random_rigid, vector_of
from ..contract.joint_table import joint_pose, with_quaternion

Array = npt.NDArray[np.float64]

TYPES: tuple[JointType, ...] = tuple(JOINT_KINDS)
# Singular values of twists are zero to rounding (1e-15) or clear of it.
_RANK = 1e-7
# Directions in which the independent coordinates must move the rest; else another draw is better.
_CLEAR = 0.1
_STEP = 1e-3  # of differences of fourth order: 1e-13 of truncation and of rounding


@dataclass(frozen=True, eq=False)
class Drawn:
    """A mechanism and the values of its independent coordinates in the reference pose."""

    mechanism: Mechanism
    y: Array
    n_tree: int


class NotUsableError(Exception):
    """No freedom, or coordinates that are nearly dependent."""


def random_mechanism(
    tree: list[JointType],
    closing: list[JointType],
    rng: np.random.Generator,
    n_constraints: int = 0,
) -> Drawn:
    """Return a mechanism with a body per tree joint, and further joints that close loops.

    Constraints are couplings of two or three joint coordinates, and distances, at random.
    """
    poses = {GROUND: Rigid(np.eye(3), np.zeros(3))}
    pairs = []
    for k in range(len(tree)):
        parent = list(poses)[rng.integers(len(poses))]
        poses[f"body_{k}"] = random_rigid(rng, 1.0)
        pairs.append((parent, f"body_{k}"))
    names = list(poses)
    for _ in closing:
        a, b = rng.permutation(len(names))[:2]
        pairs.append((names[a], names[b]))
    joints, values = [], []
    for k, (type, (a, b)) in enumerate(zip([*tree, *closing], pairs, strict=True)):
        if rng.random() < 0.3:
            a, b = b, a
        joint, value = _joint(f"joint_{k}", type, a, b, poses, rng)
        joints.append(joint)
        values.append(value)
    bodies = tuple(Body(n, frame_of(p)) for n, p in poses.items() if n != GROUND)
    points = tuple(Point(f"P_{n}", n, vector_of(rng.uniform(-1, 1, 3))) for n in poses)
    bare = Mechanism("random", (0.0, 0.0, -9.81), bodies, tuple(joints), (), points=points)
    constraints = _constraints(poses, joints, values, n_constraints, bare.points, rng)
    bare = replace(bare, constraints=constraints)
    if any(len(part.holders) > 1 for part in ball_parts(bare)):
        raise NotUsableError("a part that may spin between balls")
    chosen = _independent(poses, joints[: len(tree)], joints[len(tree) :], values, constraints)
    coordinates = tuple(
        JointCoordinate(f"y{i}", joints[k].name, index, f"F{i}", joints[k].kind.choice_units[index])
        for i, (k, index) in enumerate(chosen)
    )
    y = np.array([_scalars(joints[k], values[k])[index] for k, index in chosen])
    return Drawn(replace(bare, coordinates=coordinates), y, len(tree))


def _constraints(
    poses: dict[str, Rigid],
    joints: list[Joint],
    values: list[Array],
    n: int,
    points: tuple[Point, ...],
    rng: np.random.Generator,
) -> tuple[Constraint, ...]:
    """Return constraints that hold where the bodies stand."""
    single = [
        (k, index)
        for k, joint in enumerate(joints)
        for index, unit in enumerate(joint.kind.units)
        if unit != "-"
    ]
    found: list[Constraint] = []
    for i in range(n):
        if rng.random() < 0.3 or len(single) < 2:
            a, b = (points[p] for p in rng.permutation(len(points))[:2])
            far = _point_place(poses, b) - _point_place(poses, a)
            found.append(DistanceConstraint(f"rod_{i}", a, b, float(np.linalg.norm(far))))
            continue
        some = [single[p] for p in rng.permutation(len(single))[: rng.integers(2, 4)]]
        factors = rng.uniform(0.3, 2, len(some)) * rng.choice([-1, 1], len(some))
        terms = [(joints[k].name, j, float(f)) for (k, j), f in zip(some, factors, strict=True)]
        constant = sum(values[k][j] * f for (k, j), f in zip(some, factors, strict=True))
        found.append(
            Coupling(f"gear_{i}", tuple(terms), None if rng.random() < 0.5 else float(constant))
        )
    return tuple(found)


def _point_place(poses: dict[str, Rigid], point: Point) -> Array:
    pose = poses[point.body]
    return np.asarray(pose.translation + pose.rotation @ np.array(point.local))


def _joint(
    name: str, type: JointType, a: str, b: str, poses: dict[str, Rigid], rng: np.random.Generator
) -> tuple[Joint, Array]:
    pitch = float(rng.uniform(0.1, 0.5) * rng.choice([-1, 1])) if JOINT_KINDS[type].thread else 0.0
    frame_a = random_rigid(rng, 0.5)
    value = rng.uniform(-1, 1, len(JOINT_KINDS[type].coordinates))
    if JOINT_KINDS[type].thread:
        value = 10 * value  # several turns
    if JOINT_KINDS[type].has_orientation:
        # Not near a pitch of 90°, in case the orientation becomes independent.
        e = np.array([1.0, *rng.uniform(-0.4, 0.4, 3)])
        value[-4:] = e / np.linalg.norm(e)
    bare = Joint(name, type, a, b, frame_of(frame_a), frame_of(frame_a), pitch=pitch)
    R, t = joint_pose(bare, value[None])
    frame_b = poses[b].inverse @ poses[a] @ frame_a @ Rigid(R[0], t[0])
    return Joint(name, type, a, b, frame_of(frame_a), frame_of(frame_b), pitch=pitch), value


def _scalars(joint: Joint, value: Array) -> Array:
    """Coordinates with the orientation as roll, pitch, yaw."""
    if not joint.kind.has_orientation:
        return value
    R, _ = joint_pose(joint, value[None])
    return np.concatenate([value[:-4], rpy_from_matrix(R[0])])


def twists(joint: Joint, pose_a: Rigid, value: Array) -> Array:
    """Return ω and v (of the body point at the ground's origin) of b against a, (6, n_speeds).

    Columns are per unit of the coordinates; orientations by roll, pitch, yaw.
    """
    here = _scalars(joint, value)
    columns = []
    for k in range(len(here)):
        ends = [_placed(joint, pose_a, here + sign * _STEP * np.eye(len(here))[k]) for sign in
                (-2, -1, 1, 2)]  # fmt: skip
        rate = sum(w * A for w, A in zip((1, -8, 8, -1), ends, strict=True)) / (12 * _STEP)
        turning = rate @ np.linalg.inv(_placed(joint, pose_a, here))  # Ȧ A⁻¹ = [ω× v; 0 0]
        columns.append([turning[2, 1], turning[0, 2], turning[1, 0], *turning[:3, 3]])
    return np.array(columns).T.reshape(6, len(columns))


def _placed(joint: Joint, pose_a: Rigid, scalars: Array) -> Array:
    """Return the pose of frame b in the ground, (4, 4), orientations by roll, pitch, yaw."""
    R, t = joint_pose(joint, with_quaternion(joint, scalars[None]))
    frame = pose_a @ Rigid.of(joint.frame_a) @ Rigid(R[0], t[0])
    A = np.eye(4)
    A[:3, :3], A[:3, 3] = frame.rotation, frame.translation
    return A


def _independent(
    poses: dict[str, Rigid],
    tree: list[Joint],
    closing: list[Joint],
    values: list[Array],
    constraints: tuple[Constraint, ...] = (),
) -> list[tuple[int, int]]:
    """Choose coordinates of tree joints, as (number of the joint, index), by pivoting."""
    of = {joint.name: twists(joint, poses[joint.body_a], v) for joint, v in
          zip([*tree, *closing], values, strict=True)}  # fmt: skip
    columns = [(k, i) for k, joint in enumerate(tree) for i in range(of[joint.name].shape[1])]
    body = {GROUND: np.zeros((6, len(columns)))}
    left = list(enumerate(tree))
    while left:
        k, joint = next((k, j) for k, j in left if (j.body_a in body) or (j.body_b in body))
        left.remove((k, joint))
        own = np.zeros((6, len(columns)))
        for c, (owner, i) in enumerate(columns):
            if owner == k:
                own[:, c] = of[joint.name][:, i]
        if joint.body_a in body:
            body[joint.body_b] = body[joint.body_a] + own
        else:
            body[joint.body_a] = body[joint.body_b] - own
    rows = []
    for joint in closing:
        held = scipy.linalg.null_space(of[joint.name].T) if of[joint.name].size else np.eye(6)
        rows.append(held.T @ (body[joint.body_b] - body[joint.body_a]))
    pair = {joint.name: (joint.body_a, joint.body_b) for joint in (*tree, *closing)}
    for c in constraints:
        row = np.zeros(len(columns))
        if isinstance(c, Coupling):
            for name, index, factor in c.terms:
                a, b = pair[name]
                row += factor * (np.linalg.pinv(of[name]) @ (body[b] - body[a]))[index]
        else:
            ra, rb = _point_place(poses, c.point_a), _point_place(poses, c.point_b)
            line = (rb - ra) / np.linalg.norm(rb - ra)
            wrench = np.concatenate([np.cross(rb, line), line])  # works on ω, v at the origin
            row = wrench @ (body[c.point_b.body] - body[c.point_a.body])
        rows.append(row[None])
    J = np.vstack([np.zeros((1, len(columns))), *rows])
    J[np.abs(J) < _RANK] = 0.0  # rounding of differences must not be the largest of all
    s = scipy.linalg.svdvals(J)
    if np.any((s > _RANK) & (s < 0.02)):
        raise NotUsableError("nearly singular")
    N = scipy.linalg.null_space(J, rcond=_RANK) if J.any() else np.eye(len(columns))
    n = N.shape[1]
    if n == 0:
        raise NotUsableError("a structure")
    _, r, order = scipy.linalg.qr(N.T, pivoting=True, mode="economic")
    if abs(r[n - 1, n - 1]) < _CLEAR:
        raise NotUsableError("nearly dependent")
    return [columns[i] for i in sorted(order[:n])]


def random_inertia(rng: np.random.Generator) -> CadInertia:
    """Return the inertia of a physical body of about 1 kg and 0.5 m."""
    x = rng.uniform(-0.4, 0.4, (3, 3))
    second = x @ x.T + 0.01 * np.eye(3)  # ∫ r rᵀ dm, so the inertia is a physical one
    central = np.trace(second) * np.eye(3) - second
    return CadInertia(
        float(rng.uniform(0.5, 3)),
        vector_of(rng.uniform(-0.3, 0.3, 3)),
        tuple(central[np.triu_indices(3)].tolist()),
    )


def single_coordinates(mechanism: Mechanism) -> list[tuple[str, int]]:
    """Joint coordinates that are one angle or one displacement."""
    return [(j.name, k) for j in mechanism.joints for k in range(j.kind.n_scalars)]


def random_elements(
    mechanism: Mechanism, rng: np.random.Generator, kinds: tuple[str, ...] = tuple(ELEMENT_KINDS)
) -> tuple[ForceElement, ...]:
    """Return an element of every kind of the table that the mechanism can carry."""
    # A generator for each kind: a new entry of the table does not change what others draw.
    seed = int(rng.integers(2**32))
    found = (
        _random_element(mechanism, kind, np.random.default_rng((seed, crc32(kind.encode()))))
        for kind in kinds
    )
    return tuple(e for e in found if e is not None)


def _random_element(
    mechanism: Mechanism, word: str, rng: np.random.Generator
) -> ForceElement | None:
    kind, name = ELEMENT_KINDS[word], f"e_{word}"
    single, points = single_coordinates(mechanism), mechanism.points
    attachment = kind.attachment
    if attachment == "line":
        attachment = "joint" if single and rng.integers(2) else "points"
    pick = [single[i] for i in rng.permutation(len(single))]
    one = points[int(rng.integers(len(points)))] if points else None
    match attachment:
        case "points" if len({p.body for p in points}) > 1:
            mixed = [points[i] for i in rng.permutation(len(points))]
            a, b = mixed[0], next(p for p in mixed if p.body != mixed[0].body)
            return ForceElement(name, word, (random_part(name, kind, rng),), (a, b))
        case "joint" if pick:
            part = random_part(name, kind, rng)
            return ForceElement(name, word, (part,), coordinates=(pick[0],))
        case "frames":
            joint = mechanism.joints[int(rng.integers(len(mechanism.joints)))]
            part = random_part(name, kind, rng)
            return ForceElement(name, word, (part,), coordinates=((joint.name, 0),))
        case "motors" if len(pick) > 1:
            parts = []
            for i in range(2):
                part = random_part(f"{name}_{i}", kind, rng)
                ratios = tuple(rng.uniform(-2, 2, 2).tolist())
                parts.append(Part(part.name, part.values, ratios))
            return ForceElement(name, word, tuple(parts), coordinates=tuple(pick[:2]))
        case "force" | "moment" if one is not None:
            axes_of = (GROUND, one.body)[int(rng.integers(2))]
            at = (one,) if attachment == "force" else ()
            part = random_part(name, kind, rng)
            direction = vector_of(rng.uniform(-1, 1, 3))
            return ForceElement(
                name, word, (part,), at, body=one.body, direction=direction, axes_of=axes_of
            )
    return None


def random_part(name: str, kind: ElementKind, rng: np.random.Generator) -> Part:
    """Return values that the kind allows, some of them zero, some to be identified."""

    drawn, apart = rng, rng.spawn(1)[0]

    def coefficient() -> Coefficient:
        none = drawn.random() < 0.2
        value = 0.0 if none else float(drawn.uniform(0.5, 2))
        return Coefficient(value, identify=not none and bool(drawn.integers(2)))

    for n in np.tile([3, 6, 2, 1, 0], 50):  # how many values a list has
        values: dict[str, object] = {}
        for key in kind.keys:
            # What came later is drawn apart, so that all other examples stay as they were.
            drawn = apart if key.name.startswith("hysteresis") else rng
            match key.form:
                case "coefficient":
                    values[key.name] = coefficient()
                case "coefficients":
                    values[key.name] = tuple(coefficient() for _ in range(n))
                case "number" if key.name == "load":
                    values[key.name] = 0.0  # drives alone have it (`test_load_friction`)
                case "number":
                    values[key.name] = float(drawn.uniform(0.5, 1.5))
                case "numbers":
                    values[key.name] = tuple(np.sort(rng.uniform(-1, 1, max(n - 1, 0))).tolist())
        part = Part(name, tuple(values.items()))  # type: ignore[arg-type]
        if kind.fault(part) is None:
            return part
    raise AssertionError(f"no values of {name} are allowed")
