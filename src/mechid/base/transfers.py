"""Transfers of inertia: vectors along which parameters can change without changing any force.

Each is a null vector of the observation matrix of every motion, by what the joints share
or leave at rest (`constant.py`); see `homogeneous.py` for why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp
from flint import arb

from mechid.base.constant import Constant, constants, image_at_rest, sliding, zero_of
from mechid.base.homogeneous import (
    ONE,
    ZERO,
    Rho,
    Shared,
    Ten,
    direction,
    point,
    relative_rotation,
    shared_vectors,
    symmetric_product,
    tensor_unit,
)
from mechid.base.spaces import Row, contains, rank, reduced, size
from mechid.exact.geometry import Geometry, normalised
from mechid.exact.numbers import exactly, recognise
from mechid.mechanism.records import GROUND, Joint, Vec3
from mechid.spatial.inertia import NAMES

_AXES: tuple[tuple[str, Rho], ...] = tuple(
    (name, direction((sp.Integer(k == 0), sp.Integer(k == 1), sp.Integer(k == 2))))
    for k, name in enumerate("xyz")
)
_ORIGIN: Rho = point((ZERO, ZERO, ZERO))


@dataclass(frozen=True)
class Transfer:
    """A null vector of the observation matrix.

    Attributes
    ----------
    words : str
        What is moved where.
    source, target : str
        Bodies; the target of what has no effect at all is the ground.
    entries : tuple of (str, Expr)
        Parameter names and their coefficients, in the symbols of the model.
    joint : str
        The joint it belongs to; empty if it follows from what is at rest in the body.
    by_loops : bool
        Whether it holds only because the loops constrain the motion (found in closed poses), and
        not by the joints alone.
    """

    words: str
    source: str
    target: str
    entries: tuple[tuple[str, sp.Expr], ...]
    joint: str = ""
    by_loops: bool = False


@exactly
def transfers(geometry: Geometry, gravity: Vec3 | None = None) -> tuple[Transfer, ...]:
    """Return the transfers of a mechanism; they may depend on each other.

    Parameters
    ----------
    geometry : Geometry
    gravity : Vec3, optional
        Weight per unit mass, if not that of the model (all zeros for none).
    """
    g = geometry.mechanism.gravity if gravity is None else gravity
    mechanism = geometry.mechanism
    numbers = {body.name: i for i, body in enumerate(mechanism.bodies, start=1)}
    rest = constants(geometry, g)
    found = []
    for body in mechanism.bodies:
        for words, ten in without_effect(geometry, body.name, rest[body.name]):
            entries = entries_of(numbers[body.name], ten)
            found.append(Transfer(f"{words} of {body.name}", body.name, GROUND, entries))
    for joint in mechanism.joints:
        if GROUND not in (joint.body_a, joint.body_b):
            for words, on_a, on_b in _across(joint, geometry):
                entries = (
                    *entries_of(numbers[joint.body_a], on_a),
                    *entries_of(numbers[joint.body_b], on_b, -1),
                )
                text = f"{words} from {joint.body_a} to {joint.body_b}"
                found.append(Transfer(text, joint.body_a, joint.body_b, entries, joint.name))
    return (
        *found,
        *_sliding(geometry, rest, numbers),
        *_threads(geometry, rest, numbers, g),
    )


def entries_of(number: int, ten: Ten, sign: int = 1) -> tuple[tuple[str, sp.Expr], ...]:
    """Return ten parameters of body `number` with their names, zeros left out."""
    return tuple(
        (f"{name}_{number}", sp.expand(sign * x))
        for name, x in zip(NAMES, ten, strict=True)
        if x != 0
    )


def _across(joint: Joint, geometry: Geometry) -> Iterator[tuple[str, Ten, Ten]]:
    """Yield what can move across a joint: all products of what its bodies share."""
    shared = shared_vectors(joint, geometry)
    points = [s for s in shared if s.is_point]
    lines = [s for s in shared if not s.is_point]
    for p in points:
        yield f"monopole at {p.words}", _square(p, 0), _square(p, 1)
    for p in points:
        for u in lines:
            words = f"dipole along {u.words} at {p.words}"
            yield words, symmetric_product(p.on_a, u.on_a), symmetric_product(p.on_b, u.on_b)
    if len(lines) == 3:
        frames = (geometry.frames[joint.name, 0], geometry.frames[joint.name, 1])
        turn = relative_rotation(*frames)
        same = [[sp.Integer(i == j) for j in range(3)] for i in range(3)]
        for k, name in enumerate(NAMES[4:]):
            yield f"{name} of {joint.body_a}", tensor_unit(k, same), tensor_unit(k, turn)
    else:
        for u in lines:
            yield f"quadrupole along {u.words}", _square(u, 0), _square(u, 1)


def _square(s: Shared, side: int) -> Ten:
    return symmetric_product(s.on(side), s.on(side))


def without_effect(geometry: Geometry, body: str, constant: Constant) -> Iterator[tuple[str, Ten]]:
    """Yield distributions on one body that neither energy nor weight notice."""
    zero = zero_of(geometry)
    lines = _basis(geometry, body, constant.directions, zero)
    everything = [*_AXES, ("origin", _ORIGIN)]
    if len(lines) == 3:
        for k, name in enumerate(NAMES[4:]):
            same = [[sp.Integer(i == j) for j in range(3)] for i in range(3)]
            yield f"{name} (it does not turn)", tensor_unit(k, same)
        for name, u in _AXES:
            yield f"m{name} (it does not turn)", symmetric_product(u, _ORIGIN)
    else:
        for name, u in lines:
            for other, v in everything:
                words = f"product of {name} (at rest) with {other}"
                yield words, symmetric_product(u, v)
            a, b = _normals(geometry, u)
            yield f"difference of the second moments across {name}", _difference(geometry, a, b)
            yield f"product of second order across {name}", symmetric_product(a, b)
    if len(constant.at_rest) == len(constant.directions):
        return
    space = reduced([row[:4] for row in constant.at_rest], zero)
    fixed = _point_in(geometry, body, space, zero)
    if fixed is None:
        return
    name, p = fixed
    yield f"monopole at {name} (at rest)", symmetric_product(p, p)
    still = constant.directions  # their dipoles are among the products above
    for along, v in _basis(geometry, body, constant.level, zero):
        if still and contains(still, [geometry.balls(x) for x in v[:3]], zero):
            continue
        yield f"dipole along {along} (level) at {name} (at rest)", symmetric_product(p, v)


def _difference(geometry: Geometry, a: Rho, b: Rho) -> Ten:
    """Return the difference of the squares of two directions, taken as long as each other."""
    long_a, long_b = (sum((x * x for x in v[:3]), ZERO) for v in (a, b))
    if size(geometry.balls(long_a) - geometry.balls(long_b)) <= zero_of(geometry):
        long_a = long_b = ONE
    squares = zip(symmetric_product(a, a), symmetric_product(b, b), strict=True)
    return tuple(long_b * x - long_a * y for x, y in squares)


def _basis(geometry: Geometry, body: str, space: list[Row], zero: float) -> list[tuple[str, Rho]]:
    """Return a basis of unit vectors in symbols: body axes first, then axes of joints.

    A direction that no joint names is left out unless its numbers are recognised.
    """
    chosen: list[tuple[str, Rho]] = []
    rows: list[Row] = []
    candidates = [*_AXES]
    for joint, side in geometry.ends.get(body, []):
        for k in joint.kind.exact_axes[side][:1]:
            axis = geometry.frames[joint.name, side].axes[k]
            candidates.append((f"axis of {joint.name}", direction(axis)))
    for name, rho in candidates:
        row = [geometry.balls(x) for x in rho[:3]]
        if len(chosen) == len(space):
            break
        if contains(space, row, zero) and rank([*rows, row], zero) > len(rows):
            chosen.append((name, rho))
            rows.append(row)
    for row in space:  # directions that no joint names
        if len(chosen) < len(space) and rank([*rows, row], zero) > len(rows):
            x, y, z = normalised([recognise(float(c.mid()), 1e-15)[0] for c in row])
            if contains(space, [geometry.balls(t) for t in (x, y, z)], zero):
                words = f"({float(x):.4g}, {float(y):.4g}, {float(z):.4g})"
                chosen.append((words, (x, y, z, ZERO)))
                rows.append(row)
    return chosen


def _normals(geometry: Geometry, u: Rho) -> tuple[Rho, Rho]:
    """Return two directions across u, normal to each other; the first has unit length."""
    sizes = [size(geometry.balls(x)) for x in u[:3]]
    helper = sizes.index(min(sizes))
    e = [sp.Integer(k == helper) for k in range(3)]
    a = _cross(u[:3], e)
    length = sp.sqrt(sum(x * x for x in a))
    a = [x / length for x in a]
    return (*a, ZERO), (*_cross(u[:3], a), ZERO)


def _cross(a: Sequence[sp.Expr], b: Sequence[sp.Expr]) -> list[sp.Expr]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def _point_in(
    geometry: Geometry, body: str, space: list[Row], zero: float
) -> tuple[str, Rho] | None:
    """Return a point of a body in a space of homogeneous vectors: a joint's centre if one is."""
    for joint, side in geometry.ends.get(body, []):
        p = point(geometry.frames[joint.name, side].origin)
        if contains(space, [geometry.balls(x) for x in p], zero):
            return joint.name, p
    row = next((r for r in reversed(space) if size(r[3]) > zero), None)
    if row is None:
        return None
    x, y, z = (recognise(float((c / row[3]).mid()), 1e-15)[0] for c in row[:3])
    found = (x, y, z, ONE)
    inside = contains(space, [geometry.balls(t) for t in found], zero)
    return ("its fixed point", found) if inside else None


def _sliding(
    geometry: Geometry, rest: dict[str, Constant], numbers: dict[str, int]
) -> list[Transfer]:
    """Return what slides along a direction at rest leave without effect, or let move.

    A point o of the body only moves along d, which is fixed, and a direction e moves across:
    o eᵀ + e oᵀ has no energy, and no changing weight if the height of e is constant.
    """
    zero = zero_of(geometry)
    found: list[Transfer] = []
    for slide in sliding(geometry, rest):
        body, named = slide.body, _point_in(geometry, slide.body, slide.points, zero)
        if named is None:
            continue
        for along, e in _basis(geometry, body, slide.across, zero):
            words = f"dipole along {along} of {body} at {named[0]}, which moves across"
            entries = entries_of(numbers[body], symmetric_product(named[1], e))
            found.append(Transfer(words, body, GROUND, entries))
    for joint in geometry.mechanism.joints:
        if joint.kind.guide and GROUND not in (joint.body_a, joint.body_b):
            found += _along_slide(geometry, joint, rest, numbers)
    return found


def _along_slide(
    geometry: Geometry, joint: Joint, rest: dict[str, Constant], numbers: dict[str, int]
) -> Iterator[Transfer]:
    """Yield first moments across a slide whose direction is at rest.

    The slide adds ż u to the velocity of a point; directions across u, which the bodies share,
    move across.
    """
    zero = zero_of(geometry)
    a, b = geometry.frames[joint.name, 0], geometry.frames[joint.name, 1]
    still = rest[joint.body_a].directions
    if len(still) != 1 or not contains(still, [geometry.balls(x) for x in a.axes[2]], zero):
        return
    for k, name in enumerate("xy"):
        on_a = symmetric_product(point(a.origin), direction(a.axes[k]))
        on_b = symmetric_product(point(b.origin), direction(b.axes[k]))
        entries = (
            *entries_of(numbers[joint.body_a], on_a),
            *entries_of(numbers[joint.body_b], on_b, -1),
        )
        words = f"dipole along {name} of {joint.name} from {joint.body_a} to {joint.body_b}"
        yield Transfer(words, joint.body_a, joint.body_b, entries, joint.name)


def _threads(
    geometry: Geometry, rest: dict[str, Constant], numbers: dict[str, int], g: Vec3
) -> Iterator[Transfer]:
    """Yield masses against moments of inertia on threads cut into what is at rest.

    With the lead h (m/rad), a mass m on the axis has the energy of a moment of inertia m h².
    """
    zero = zero_of(geometry)
    for joint in geometry.mechanism.joints:
        ends = (joint.body_a, joint.body_b)
        held = [len(rest[name].at_rest) == 4 for name in ends]
        if not joint.kind.thread or True not in held or all(held):
            continue
        side = held.index(False)
        body = ends[side]
        frame, other = geometry.frames[joint.name, side], geometry.frames[joint.name, 1 - side]
        axis = image_at_rest(geometry, rest[ends[1 - side]], direction(other.axes[2]))
        along = sum((a * arb(x) for a, x in zip(axis, g, strict=True)), arb(0))
        if size(along) > zero:
            continue
        lead = recognise(joint.pitch)[0] / (2 * sp.pi)
        o, e = point(frame.origin), direction(frame.axes[0])
        mass, ring = symmetric_product(o, o), symmetric_product(e, e)
        ten = tuple(a - lead**2 * b for a, b in zip(mass, ring, strict=True))
        words = f"mass against moment of inertia on the thread {joint.name} of {body}"
        yield Transfer(words, body, GROUND, entries_of(numbers[body], ten))
