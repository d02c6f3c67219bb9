"""Changes of a mechanism that change its description only: names, order, frames, cuts, place.

Each returns the new mechanism together with what leads back: the transform of every old body frame
in the new one, the motion of the whole in space, and the new independent coordinates of old ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from mechid.kinematics.compile import STILL, Rigid
from mechid.mechanism.records import (
    GROUND,
    CadInertia,
    Constraint,
    Coupling,
    DistanceCoordinate,
    Frame,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    Limit,
    Mechanism,
    Point,
    PointCoordinate,
)
from mechid.spatial.inertia import central, parameters, transform
from mechid.spatial.rotations import matrix_from_quaternion

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Change:
    """A mechanism described otherwise.

    y of the new one is sign · y + offset; the frame of old body B is the frame `frames[B]` of the
    new one, after the old ground has been moved to `whole` (default: nothing changed).
    """

    mechanism: Mechanism
    sign: Array
    offset: Array
    frames: dict[str, Rigid] = field(default_factory=dict)
    whole: Rigid = STILL


def coupled_joints(mechanism: Mechanism) -> set[str]:
    return {name for c in mechanism.couplings for name, _, _ in c.terms}


def _with_points(
    constraints: tuple[Constraint, ...], point: Callable[[Point], Point]
) -> tuple[Constraint, ...]:
    """Constraints whose points are described otherwise."""
    return tuple(
        c
        if isinstance(c, Coupling)
        else replace(c, point_a=point(c.point_a), point_b=point(c.point_b))
        for c in constraints
    )


def unchanged(mechanism: Mechanism) -> Change:
    n = len(mechanism.coordinates)
    return Change(mechanism, np.ones(n), np.zeros(n))


def permuted(mechanism: Mechanism, rng: np.random.Generator) -> Change:
    """Bodies and joints in another order."""
    bodies, joints = (
        tuple(items[i] for i in rng.permutation(len(items)))
        for items in (mechanism.bodies, mechanism.joints)
    )
    return unchanged(replace(mechanism, bodies=bodies, joints=joints))


def renamed(mechanism: Mechanism) -> Change:
    """Every body, joint and point under another name, in reverse alphabetical order."""
    names = {
        kind: {x.name: f"{kind}_{999 - i}" for i, x in enumerate(items)}
        for kind, items in (("body", mechanism.bodies), ("joint", mechanism.joints))
    }
    names["body"][GROUND] = GROUND

    def point(p: Point) -> Point:
        return replace(p, name=f"new_{p.name}", body=names["body"][p.body])

    def coordinate(c: IndependentCoordinate) -> IndependentCoordinate:
        if isinstance(c, JointCoordinate):
            return replace(c, joint=names["joint"][c.joint])
        if isinstance(c, PointCoordinate):
            return replace(c, point=point(c.point))
        return replace(c, point_a=point(c.point_a), point_b=point(c.point_b))

    changed = replace(
        mechanism,
        bodies=tuple(replace(b, name=names["body"][b.name]) for b in mechanism.bodies),
        joints=tuple(
            replace(
                j,
                name=names["joint"][j.name],
                body_a=names["body"][j.body_a],
                body_b=names["body"][j.body_b],
            )
            for j in mechanism.joints
        ),
        points=tuple(map(point, mechanism.points)),
        coordinates=tuple(map(coordinate, mechanism.coordinates)),
        constraints=tuple(
            replace(c, terms=tuple((names["joint"][n], k, f) for n, k, f in c.terms))
            if isinstance(c, Coupling)
            else c
            for c in _with_points(mechanism.constraints, point)
        ),
        elements=(),
        cut=None if mechanism.cut is None else tuple(names["joint"][n] for n in mechanism.cut),
    )
    return unchanged(changed)


def swapped(mechanism: Mechanism, rng: np.random.Generator, part: float = 0.6) -> Change:
    """Bodies a and b of some joints exchanged: coordinates change their sign.

    Of a universal joint, the axes x and z change places with the bodies, so that the angles are
    -angle_2 and -angle_1. Joints whose coordinates would mix are left alone if they are driven.
    """
    driven = {c.joint for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    driven |= coupled_joints(mechanism)
    mixing = ("planar", "spherical", "free")
    chosen = {
        j.name
        for j in mechanism.joints
        if rng.random() < part and not (j.name in driven and j.type in mixing) and _two_ways(j)
    }
    joints = [_swapped(j) if j.name in chosen else j for j in mechanism.joints]
    sign = np.ones(len(mechanism.coordinates))
    coordinates = list(mechanism.coordinates)
    for i, c in enumerate(coordinates):
        if isinstance(c, JointCoordinate) and c.joint in chosen:
            sign[i] = -1
            if mechanism.joint(c.joint).type == "universal":
                coordinates[i] = replace(c, index=1 - c.index)

    def term(name: str, index: int, factor: float) -> tuple[str, int, float]:
        if name not in chosen:
            return name, index, factor
        is_universal = mechanism.joint(name).type == "universal"
        return name, 1 - index if is_universal else index, -factor

    changed = replace(
        mechanism,
        joints=tuple(joints),
        coordinates=tuple(coordinates),
        constraints=tuple(
            replace(c, terms=tuple(term(*t) for t in c.terms)) if isinstance(c, Coupling) else c
            for c in mechanism.constraints
        ),
        elements=(),
    )
    return Change(changed, sign, np.zeros(len(sign)))


def _two_ways(joint: Joint) -> bool:
    """Tell whether the joint is one of its kind seen from b too: a line of a is none of b."""
    kind = joint.kind
    return kind.axes[0] == kind.axes[1] or (kind.crossed is not None and not kind.slides)


def _swapped(joint: Joint) -> Joint:
    a, b = joint.frame_a, joint.frame_b
    if joint.type == "universal":
        turn = Rigid(np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]]), np.zeros(3))
        a, b = (frame_of(Rigid.of(f) @ turn) for f in (a, b))
    n = len(joint.kind.coordinates)
    limits = tuple(_times(limit, -1.0) for limit in joint.limits)
    if joint.type == "universal":
        limits = (*limits, *(Limit() for _ in range(n - len(limits))))[::-1]
    return replace(
        joint,
        body_a=joint.body_b,
        body_b=joint.body_a,
        frame_a=b,
        frame_b=a,
        limits=limits if n == 1 or joint.type in ("universal", "cylindrical") else (),
    )


def _times(limit: Limit, factor: float) -> Limit:
    """Limits of a coordinate times a factor."""
    ends = [None if x is None else factor * x for x in (limit.lower, limit.upper)]
    return Limit(*(ends if factor > 0 else ends[::-1]))


def cut_elsewhere(mechanism: Mechanism, rng: np.random.Generator) -> Change:
    """A random spanning tree that keeps the joints with independent or coupled coordinates."""
    driven = {c.joint for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    driven |= coupled_joints(mechanism)
    joints = sorted(mechanism.joints, key=lambda j: (j.name not in driven, rng.random()))
    group = {name: name for name in (GROUND, *(b.name for b in mechanism.bodies))}
    cut = []
    for joint in joints:
        a, b = group[joint.body_a], group[joint.body_b]
        if a == b:
            cut.append(joint.name)
        group = {name: a if label == b else label for name, label in group.items()}
    return unchanged(replace(mechanism, cut=tuple(cut)))


def reframed(mechanism: Mechanism, rng: np.random.Generator, size: float) -> Change:
    """Every body frame somewhere else in its body."""
    moves = {body.name: random_rigid(rng, size) for body in mechanism.bodies}
    return _moved(mechanism, moves, STILL)


def carried(mechanism: Mechanism, rng: np.random.Generator, size: float) -> Change:
    """The whole mechanism somewhere else in space, gravity with it."""
    return _moved(mechanism, {}, random_rigid(rng, size))


def scaled(mechanism: Mechanism, factor: float) -> Change:
    """Every length times a factor, as if written in other units."""

    def point(p: Point) -> Point:
        return replace(p, local=vector_of(factor * np.array(p.local)))

    def frame(f: Frame) -> Frame:
        return replace(f, origin=vector_of(factor * np.array(f.origin)))

    sign = np.ones(len(mechanism.coordinates))
    coordinates = list(mechanism.coordinates)
    for i, c in enumerate(coordinates):
        if c.unit == "m":
            sign[i] = factor
        if isinstance(c, PointCoordinate):
            coordinates[i] = replace(c, point=point(c.point))
        elif isinstance(c, DistanceCoordinate):
            coordinates[i] = replace(c, point_a=point(c.point_a), point_b=point(c.point_b))

    def constraint(c: Constraint) -> Constraint:
        if not isinstance(c, Coupling):
            return replace(c, length=factor * c.length)
        units = [mechanism.joint(n).kind.units[k] for n, k, _ in c.terms]
        terms = zip(c.terms, units, strict=True)
        return replace(
            c, terms=tuple((n, k, f / factor if unit == "m" else f) for (n, k, f), unit in terms)
        )

    changed = replace(
        mechanism,
        constraints=tuple(map(constraint, _with_points(mechanism.constraints, point))),
        bodies=tuple(
            replace(b, frame=frame(b.frame), inertia=None, shapes=()) for b in mechanism.bodies
        ),
        joints=tuple(
            replace(
                j,
                frame_a=frame(j.frame_a),
                frame_b=frame(j.frame_b),
                pitch=factor * j.pitch,
                limits=tuple(
                    _times(limit, factor if unit == "m" else 1.0)
                    for limit, unit in zip(j.limits, j.kind.units, strict=False)
                ),
            )
            for j in mechanism.joints
        ),
        points=tuple(map(point, mechanism.points)),
        coordinates=tuple(coordinates),
        elements=(),
    )
    return Change(changed, sign, np.zeros(len(sign)))


def _moved(mechanism: Mechanism, moves: dict[str, Rigid], whole: Rigid) -> Change:
    """Body frames put at `moves` of the old ones, then everything carried along by `whole`."""

    def inside(body: str) -> Rigid:
        """Old body frame in the new one; for the ground, where its things are carried."""
        return whole if body == GROUND else moves.get(body, STILL).inverse

    def point(p: Point) -> Point:
        return replace(p, local=vector_of(apply(inside(p.body), p.local)))

    offset = np.zeros(len(mechanism.coordinates))
    coordinates = list(mechanism.coordinates)
    for i, c in enumerate(coordinates):
        if isinstance(c, PointCoordinate):
            direction = whole.rotation @ np.array(c.direction)
            offset[i] = direction @ whole.translation
            coordinates[i] = replace(c, point=point(c.point), direction=vector_of(direction))
        elif isinstance(c, DistanceCoordinate):
            coordinates[i] = replace(c, point_a=point(c.point_a), point_b=point(c.point_b))
    bodies = []
    for body in mechanism.bodies:
        move = moves.get(body.name, STILL)
        bodies.append(
            replace(
                body,
                frame=frame_of(whole @ Rigid.of(body.frame) @ move),
                inertia=None if body.inertia is None else _inertia(body.inertia, move.inverse),
                shapes=(),
            )
        )
    joints = tuple(
        replace(
            j,
            frame_a=frame_of(inside(j.body_a) @ Rigid.of(j.frame_a)),
            frame_b=frame_of(inside(j.body_b) @ Rigid.of(j.frame_b)),
        )
        for j in mechanism.joints
    )
    changed = replace(
        mechanism,
        gravity=vector_of(whole.rotation @ np.array(mechanism.gravity)),
        bodies=tuple(bodies),
        joints=joints,
        points=tuple(map(point, mechanism.points)),
        coordinates=tuple(coordinates),
        constraints=_with_points(mechanism.constraints, point),
        elements=(),
    )
    frames = {name: move.inverse for name, move in moves.items()}
    return Change(changed, np.ones(len(offset)), offset, frames, whole)


def _inertia(inertia: CadInertia, old_in_new: Rigid) -> CadInertia:
    phi = parameters(inertia.mass, np.array(inertia.center), np.array(inertia.inertia_center))
    mass, center, six = central(transform(phi, old_in_new.rotation, old_in_new.translation))
    return replace(inertia, mass=mass, center=vector_of(center), inertia_center=tuple(six.tolist()))


def random_rigid(rng: np.random.Generator, size: float) -> Rigid:
    return Rigid(matrix_from_quaternion(rng.standard_normal(4)), size * rng.uniform(-1, 1, 3))


def apply(rigid: Rigid, point: npt.ArrayLike) -> Array:
    return np.asarray(rigid.translation + rigid.rotation @ np.asarray(point, float))


def vector_of(v: Array) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in v)
    return (x, y, z)


def frame_of(rigid: Rigid) -> Frame:
    x, y, z = (vector_of(row) for row in rigid.rotation)
    return Frame(vector_of(rigid.translation), (x, y, z))
