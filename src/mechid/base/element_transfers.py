"""Transfers of elements, and of masses that act like moments of inertia.

- Coefficients on one measure whose laws cancel.
- A rotor geared to a joint: its inertia is that of the body it drives.
- A spring of unknown free length from the ground to an arm that turns about a fixed axis: its
  potential ½ k s² is that of a first moment of the arm (the principle of static balancing); so is
  that of a force with a fixed direction.
- A nut that a thread moves along the axis of its screw: its mass is a moment of inertia of the
  screw, if gravity does no work on it.
- A rod from a crank to a slide or line along the crank's axis: its ends move across each other, so
  the product of the two has no energy, and its weight is that of a first moment of the crank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import sympy as sp
from flint import arb

from mechid.base.constant import Constant, constants, zero_of
from mechid.base.homogeneous import (
    ONE,
    UPPER,
    ZERO,
    Rho,
    Shared,
    Ten,
    direction,
    point,
    shared_vectors,
    symmetric_product,
)
from mechid.base.spaces import size
from mechid.base.transfers import Transfer, entries_of
from mechid.dynamics.columns import ElementTerm, element_terms
from mechid.exact.geometry import Geometry, Vector, cross, dot
from mechid.exact.numbers import recognise
from mechid.mechanism.element_laws import INERTIA, SPRING, Measure, law_functions, measure_parts
from mechid.mechanism.joint_kinds import JointKind
from mechid.mechanism.records import GROUND, Joint, Point, Vec3


def element_transfers(geometry: Geometry, gravity: Vec3) -> tuple[Transfer, ...]:
    """Return the transfers between elements, weights, masses and moments of inertia.

    Zeros are decided in balls: call it at the precision of the exact stage.
    """
    x, y, z = (recognise(c)[0] for c in gravity)
    g: Vector = (x, y, z)
    numbers = {body.name: i for i, body in enumerate(geometry.mechanism.bodies, start=1)}
    rest = constants(geometry, gravity)
    return (
        *_equal_elements(geometry),
        *_rotors(geometry, rest, numbers, gravity),
        *_springs(geometry, g, numbers),
        *_threads(geometry, g, numbers, rest),
        *_rods(geometry, g, numbers),
    )


def _equal_elements(geometry: Geometry) -> list[Transfer]:
    """Return sums of coefficients on one measure whose laws cancel for any motion."""
    groups: dict[Measure, list[ElementTerm]] = {}
    for term in element_terms(geometry.mechanism):
        if not term.known:
            groups.setdefault(term.measure, []).append(term)
    return [transfer for group in groups.values() for transfer in _cancelling(group)]


def _cancelling(terms: list[ElementTerm]) -> Iterator[Transfer]:
    parts = [law_functions(t.law, t.shape, lambda x: recognise(x)[0]) for t in terms]
    functions = list(dict.fromkeys(key for part in parts for key in part))
    table = sp.Matrix([[part.get(f, 0) for part in parts] for f in functions])
    for vector in table.nullspace():
        used = [(t, x) for t, x in zip(terms, vector, strict=True) if x != 0]
        entries = tuple((t.column.name, x / used[0][1]) for t, x in used)
        names = [name for name, _ in entries]
        words = f"{names[0]} to {', '.join(names[1:])}, which act on the same coordinate"
        yield Transfer(words, used[0][0].column.owner, used[-1][0].column.owner, entries)


def _rotors(
    geometry: Geometry, rest: dict[str, Constant], numbers: dict[str, int], g: Vec3
) -> list[Transfer]:
    """Return rotor inertias that cannot be distinguished from the inertia of the body they drive.

    A rotor geared to one joint has the energy of a moment of inertia about the joint's axis if
    the body that carries the joint never turns about that axis; on a slide from the ground, that
    of a mass, if gravity does no work on it.
    """
    zero = zero_of(geometry)
    found = []
    for term in element_terms(geometry.mechanism):
        parts = measure_parts(term.measure)
        if term.known or term.law != INERTIA or len(parts) != 1 or parts[0][0][0] != "joint":
            continue
        (_, name, _), ratio = parts[0]
        joint = geometry.mechanism.joint(name)
        factor = recognise(ratio)[0] ** 2
        for side, (parent, child) in enumerate(
            ((joint.body_b, joint.body_a), (joint.body_a, joint.body_b))
        ):
            if child == GROUND:
                continue
            ten = _driven(geometry, joint, side, rest.get(parent), g, zero)
            if ten is None:
                continue
            entries = (
                (term.column.name, ONE),
                *entries_of(numbers[child], tuple(-factor * x for x in ten)),
            )
            words = f"{term.column.name} to {child}, about the axis of {name}"
            found.append(Transfer(words, term.column.owner, child, entries, name))
            break
    return found


def _driven(
    geometry: Geometry, joint: Joint, side: int, parent: Constant | None, g: Vec3, zero: float
) -> Ten | None:
    """Return the inertia of body `side` that has the energy ½ q̇² of a joint's only coordinate."""
    frame, other = geometry.frames[joint.name, side], geometry.frames[joint.name, 1 - side]
    at_ground = (joint.body_a, joint.body_b)[1 - side] == GROUND
    across = [geometry.balls(x) for x in other.axes[2]]
    if joint.kind.hinge:
        still = parent.directions if parent is not None else []
        if not at_ground and len(still) == 1:
            turns = sum((a * b for a, b in zip(still[0], across, strict=True)), arb(0))
            if size(turns) > zero:
                return None
        elif not at_ground and len(still) != 3:
            return None
        u = frame.axes[2]
        return (0, 0, 0, 0, *(u[i] * u[j] for i, j in UPPER))
    if joint.kind.guide and at_ground:
        works = sum((arb(a) * b for a, b in zip(g, across, strict=True)), arb(0))
        return (ONE, *([ZERO] * 9)) if size(works) <= zero else None
    return None


def _hinge(geometry: Geometry, body: str) -> tuple[Joint, int] | None:
    """Return the revolute joint between a body and the ground, and the side of the body."""
    return _to_ground(geometry, body, lambda kind: kind.hinge)


def _to_ground(
    geometry: Geometry, body: str, wanted: Callable[[JointKind], bool]
) -> tuple[Joint, int] | None:
    for joint, side in geometry.ends.get(body, []):
        if wanted(joint.kind) and (joint.body_a, joint.body_b)[1 - side] == GROUND:
            return joint, side
    return None


def _none(geometry: Geometry, x: sp.Expr) -> bool:
    return size(geometry.balls(x)) <= zero_of(geometry)


def _minus(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _sum(a: Vector, x: sp.Expr, b: Vector, y: sp.Expr) -> Vector:
    return (x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2])


def _pulls(geometry: Geometry) -> Iterator[tuple[ElementTerm, Point, Callable[[Vector], Vector]]]:
    """Yield the terms that pull at a point with a potential -a · R b, and a for a given hinge.

    A spring of unknown free length from the ground, ½ s² = const - a · R b with a from the hinge
    to the anchor; a force with a fixed direction a.
    """
    for term in element_terms(geometry.mechanism):
        if term.known:
            continue
        match term.measure:
            case ("length", Point() as p, Point() as q) if (p.body == GROUND) != (q.body == GROUND):
                anchor, end = (p, q) if p.body == GROUND else (q, p)
                if term.law == SPRING and term.shape[:2] == (0.0, 1.0):
                    place = geometry.point(GROUND, anchor.local, anchor.expr)
                    yield term, end, partial(_minus, place)
            case ("force", Point() as end, vector, "ground"):
                along = geometry.vector(GROUND, vector)
                yield term, end, lambda origin, along=along: along  # type: ignore[misc]


def _springs(geometry: Geometry, g: Vector, numbers: dict[str, int]) -> Iterator[Transfer]:
    """On an arm hinged to the ground, a · R b is the weight of a first moment.

    Across the axis u, a = α g + β u × g, so that a · R b = g · R (α b - β u × b).
    """
    for term, end, pull in _pulls(geometry):
        hinge = _hinge(geometry, end.body)
        if hinge is None:
            continue
        joint, side = hinge
        on_ground, on_body = (geometry.frames[joint.name, s] for s in (1 - side, side))
        u = on_ground.axes[2]
        across = _sum(g, sp.Integer(1), u, -dot(g, u))
        if _none(geometry, dot(across, across)):
            continue
        a = pull(on_ground.origin)
        b = _minus(geometry.point(end.body, end.local, end.expr), on_body.origin)
        alpha = dot(a, across) / dot(across, across)
        beta = dot(a, cross(u, across)) / dot(across, across)
        axis = on_body.axes[2]
        b = _sum(b, sp.Integer(1), axis, -dot(b, axis))
        moment = _sum(b, alpha, cross(axis, b), -beta)
        ten = symmetric_product(point(on_body.origin), direction(moment))
        entries = ((term.column.name, sp.Integer(1)), *entries_of(numbers[end.body], ten, -1))
        words = f"{term.column.name} to the weight of {end.body}, which it balances"
        yield Transfer(words, term.column.owner, end.body, entries, joint.name)


def _threads(
    geometry: Geometry, g: Vector, numbers: dict[str, int], rest: dict[str, Constant]
) -> Iterator[Transfer]:
    """A nut that cannot turn moves by the lead per radian of its screw, along the screw's axis."""
    for joint in geometry.mechanism.joints:
        if not joint.kind.thread or GROUND in (joint.body_a, joint.body_b):
            continue
        ends = (joint.body_a, joint.body_b)
        for turning, sliding in (ends, ends[::-1]):
            hinge = _hinge(geometry, turning)
            if hinge is None or len(rest[sliding].directions) != 3:
                continue
            pin = geometry.frames[hinge[0].name, 1 - hinge[1]].axes[2]
            thread = geometry.frames[joint.name, ends.index(turning)].axes[2]
            axis = geometry.frames[hinge[0].name, hinge[1]].axes[2]
            off = cross(thread, axis)
            if not _none(geometry, dot(off, off)) or not _none(geometry, dot(g, pin)):
                continue
            lead = recognise(joint.pitch)[0] / (2 * sp.pi)
            tensor = [axis[i] * axis[j] for i in range(3) for j in range(i, 3)]
            turned = (0, 0, 0, 0, *tensor)
            entries = (
                (f"m_{numbers[sliding]}", sp.Integer(1)),
                *entries_of(numbers[turning], tuple(-(lead**2) * x for x in turned)),
            )
            words = (
                f"mass of {sliding} to the moment of inertia of {turning}, by thread {joint.name}"
            )
            yield Transfer(words, sliding, turning, entries, joint.name)


def _points(geometry: Geometry, body: str) -> Iterator[tuple[str, Shared, int]]:
    """Yield the points that a body shares with others: other body, shared point, own side."""
    for joint, side in geometry.ends.get(body, []):
        ends = (joint.body_a, joint.body_b)
        if GROUND not in ends:
            for shared in shared_vectors(joint, geometry):
                if shared.is_point:
                    yield ends[1 - side], shared, side


def _runners(geometry: Geometry, body: str) -> Iterator[tuple[Vector, Rho]]:
    """Yield the points of a body that run along a line of the ground, and its direction there."""
    for joint, side in geometry.ends.get(body, []):
        line = joint.kind.line
        if line is not None and side == 1 and joint.body_a == GROUND:
            on_ground, own = geometry.frames[joint.name, 0], geometry.frames[joint.name, 1]
            yield on_ground.axes[line], point(own.origin)
    for slide, far, side in _points(geometry, body):
        guide = _to_ground(geometry, slide, lambda kind: kind.guide)
        if guide is not None:
            yield geometry.frames[guide[0].name, 1 - guide[1]].axes[2], far.on(side)


def _rods(geometry: Geometry, g: Vector, numbers: dict[str, int]) -> Iterator[Transfer]:
    for body in geometry.mechanism.bodies:
        for crank, near, near_side in _points(geometry, body.name):
            hinge = _hinge(geometry, crank)
            for rail, far in _runners(geometry, body.name):
                if hinge is None:
                    continue
                pin = geometry.frames[hinge[0].name, 1 - hinge[1]].axes[2]
                off = cross(rail, pin)
                if not _none(geometry, dot(off, off)) or not _none(geometry, dot(g, rail)):
                    continue
                rod = symmetric_product(near.on(near_side), far)
                center = geometry.frames[hinge[0].name, hinge[1]].origin
                end = near.on(1 - near_side)
                arm: Vector = (end[0] - center[0], end[1] - center[1], end[2] - center[2])
                weight = symmetric_product(point(center), direction(arm))
                entries = (
                    *entries_of(numbers[body.name], rod),
                    *entries_of(numbers[crank], weight, -1),
                )
                words = (
                    f"product of the ends of {body.name}, which move across each other, to the "
                    f"weight of {crank}"
                )
                yield Transfer(words, body.name, crank, entries)
