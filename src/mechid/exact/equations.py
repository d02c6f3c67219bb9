"""Joints and constraints over a prime field, bilinear in positions and rotation matrices.

Besides the twelve numbers of each body, cosine and sine of every angle that a thread or a coupling
takes are unknowns, in units of the axes that they are products of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from mechid.errors import MechidError
from mechid.exact.constraint_numbers import exact_factors
from mechid.exact.jets import PER_BODY, Bilinear, Form
from mechid.exact.modular import Ints
from mechid.exact.numbers import recognise
from mechid.exact.quadrics import SpringEnds
from mechid.exact.residues import NoResidueError, Residues
from mechid.exact.start import Start, ratios
from mechid.kinematics.passive import PassivePart
from mechid.kinematics.reference_point.constraints import Product, body_numbers, constraint_rows
from mechid.mechanism.records import (
    DistanceCoordinate,
    Frame,
    Joint,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
)


@dataclass(frozen=True, eq=False)
class FieldSystem:
    """Equations and a closed pose modulo p.

    Attributes
    ----------
    residues : Residues
    start : Start
    F : Bilinear
        Joints, distances, held spins, orthonormal axes, cosines and sines: products that vanish.
    rates : Bilinear
        The rates of these, and those of threads and couplings.
    still : Bilinear
        The rates of held coordinates.
    x0 : array
        Numbers of all bodies, cosines and sines, then 1.
    lengths : mapping
        Ends of a spring → its length in the pose.
    """

    residues: Residues
    start: Start
    F: Bilinear
    rates: Bilinear
    still: Bilinear
    x0: Ints
    lengths: dict[SpringEnds, int]

    @property
    def p(self) -> int:
        """The prime."""
        return self.residues.p

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.x0) - 1

    @property
    def one(self) -> int:
        """Number of the variable that is 1."""
        return self.n

    @property
    def n_bodies(self) -> int:
        """Number of bodies, which is the number of the ground."""
        return len(self.start.mechanism.bodies)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Numbers of the bodies."""
        return body_numbers(self.start.mechanism)

    def value(self, pairs: list[tuple[Form, Form]]) -> int:
        """Return a sum of products in the start pose."""

        def at(form: Form) -> int:
            return sum(c * int(self.x0[i]) for i, c in form.items())

        return sum(at(u) * at(w) for u, w in pairs) % self.p

    def turned(self, body: int, local: Sequence[int]) -> list[Form]:
        """Return the three components of a direction fixed in a body, as linear forms."""
        if body == self.n_bodies:
            return [{self.one: int(t)} for t in local]
        first = PER_BODY * body + 3
        return [{first + 3 * k + c: int(local[c]) for c in range(3) if local[c]} for k in range(3)]

    def placed(self, body: int, local: Sequence[int]) -> list[Form]:
        """Return the three coordinates of a point fixed in a body."""
        forms = self.turned(body, local)
        if body < self.n_bodies:
            for k in range(3):
                forms[k][PER_BODY * body + k] = 1
        return forms

    def axis(self, name: str, side: int, k: int) -> list[Form]:
        """Return axis k of a joint frame."""
        joint = self.start.mechanism.joint(name)
        body = self.numbers[(joint.body_a, joint.body_b)[side]]
        return self.turned(body, [self.residues(t) for t in self.start.joints[name, side].axes[k]])

    def slide(self, name: str, k: int) -> list[tuple[Form, Form]]:
        """Return axis k of frame a times the vector to frame b, as products of forms."""
        joint = self.start.mechanism.joint(name)
        places = [
            self.placed(self.numbers[body], [self.residues(t) for t in frame.origin])
            for body, frame in (
                (joint.body_a, self.start.joints[name, 0]),
                (joint.body_b, self.start.joints[name, 1]),
            )
        ]
        return _multiplied((self.axis(name, 0, k), minus(places[1], places[0], self.p)))

    def apart(self, a: Point, b: Point) -> list[Form]:
        """Return the vector from one point to another."""
        places = [
            self.placed(
                self.numbers[point.body], [self.residues(t) for t in self.start.points[point]]
            )
            for point in (a, b)
        ]
        return minus(places[1], places[0], self.p)


def field_system(start: Start, residues: Residues, spins: tuple[PassivePart, ...]) -> FieldSystem:
    """Write the equations of a mechanism modulo a prime.

    Raises
    ------
    NoResidueError
        If the pose has no image in this field.
    """
    mechanism = start.mechanism
    bodies, lengths = _values(start, residues)
    angles = {place: len(bodies) + 2 * i for i, place in enumerate(_angles(mechanism))}
    x0 = np.array([*bodies, *([0] * 2 * len(angles)), 1], dtype=np.int64)
    system = FieldSystem(residues, start, _NONE, _NONE, _NONE, x0, lengths)
    rows = [
        _multiplied(_pair(system, row.products[0]))
        for row in constraint_rows(_residual(start, residues))
        if row.form != "screw"
    ]
    for distance in mechanism.distances:
        d = system.apart(distance.point_a, distance.point_b)
        rows.append(_kept(system, _multiplied((d, d))))
    rows += [_held(system, part) for part in spins]
    for body in range(len(mechanism.bodies)):
        rows += _orthonormal(system, body)
    for (name, index), first in angles.items():
        for variable, (i, j) in enumerate(
            _CIRCLE[mechanism.joint(name).kind.step(index).on], first
        ):
            pairs = _dot(system, name, i, j)
            x0[variable] = system.value(pairs)
            rows.append([*pairs, ({system.one: 1}, {variable: system.p - 1})])
    products = Bilinear.of(rows, residues.p)
    constrained = [
        [pair for place, factor in terms for pair in _rate(system, angles, *place, factor)]
        for terms in _sums(start)
    ]
    rates = products.rates.beside(Bilinear.of(constrained, residues.p))
    still = Bilinear.of(list(_held_rates(system, angles)), residues.p)
    return replace(system, F=products, rates=rates, still=still)


_NONE = Bilinear.of([], 2)
Place: TypeAlias = tuple[str, int]  # joint and number of the coordinate; -1: along the thread
# Cosine and sine of a turn about z of frame a, or about x of frame b, as products of two axes.
_CIRCLE = (((0, 0), (1, 0)), ((2, 2), (2, 1)))


def _sums(start: Start) -> Iterator[list[tuple[Place, sp.Expr]]]:
    """Yield coordinates with factors whose rates add up to zero: threads and couplings."""
    for joint in start.mechanism.joints:
        if joint.kind.thread:
            lead = recognise(joint.pitch)[0] / (2 * sp.pi)
            yield [((joint.name, -1), sp.Integer(-1)), ((joint.name, 0), lead)]
    for coupling in start.mechanism.couplings:
        factors = exact_factors(coupling)
        yield [((n, k), f) for (n, k, _), f in zip(coupling.terms, factors, strict=True)]


def _held_rates(system: FieldSystem, angles: dict[Place, int]) -> Iterator[list[tuple[Form, Form]]]:
    """Yield the rates of held coordinates."""
    mechanism = system.start.mechanism
    for c in mechanism.coordinates:
        match c:
            case JointCoordinate(held=True) if c.index < mechanism.joint(c.joint).kind.n_scalars:
                yield _rate(system, angles, c.joint, c.index, sp.Integer(1))
            case JointCoordinate(held=True):
                _refuse_a_part(mechanism, c)
                for i, j in product(range(3), range(3)):
                    yield _both(_dot(system, c.joint, i, j))
            case PointCoordinate(held=True):
                place = system.placed(
                    system.numbers[c.point.body],
                    [system.residues(t) for t in system.start.points[c.point]],
                )
                along = [system.residues(recognise(t)[0]) for t in ratios(c.direction)]
                yield [({system.one: t}, form) for t, form in zip(along, place, strict=True)]
            case DistanceCoordinate(held=True):
                d = system.apart(c.point_a, c.point_b)
                yield _both(_multiplied((d, d)))


def _refuse_a_part(mechanism: Mechanism, held: JointCoordinate) -> None:
    """Reject an orientation of which only some angles are held."""
    joint = mechanism.joint(held.joint)
    angles = {c.index for c in mechanism.coordinates
              if isinstance(c, JointCoordinate) and c.held and c.joint == held.joint}  # fmt: skip
    if not angles >= set(range(joint.kind.n_scalars, joint.kind.n_speeds)):
        raise MechidError(
            f"{held.name} is held, but not the whole orientation of {joint.name}",
            where="exact rank",
            remedy="use ball arithmetic: mechid base --certify",
        )


def _angles(mechanism: Mechanism) -> tuple[Place, ...]:
    """Return the angles in threads, couplings and held coordinates."""
    places = [(joint.name, 0) for joint in mechanism.joints if joint.kind.thread]
    places += [(name, index) for c in mechanism.couplings for name, index, _ in c.terms]
    places += [(c.joint, c.index) for c in mechanism.coordinates
               if isinstance(c, JointCoordinate) and c.held]  # fmt: skip
    return tuple(
        (name, index)
        for name, index in dict.fromkeys(places)
        if mechanism.joint(name).kind.step(index).motion in ("turn", "screw")
    )


def constraint_numbers(start: Start) -> Iterator[sp.Expr]:
    """Yield the numbers of threads, couplings and held coordinates."""
    for terms in _sums(start):
        for place, factor in terms:
            yield factor / _unit(start, *place)
    for place in _angles(start.mechanism):
        yield _unit(start, *place)


def _unit(start: Start, name: str, index: int) -> sp.Expr:
    """Return in what a coordinate is measured when axes have any length."""
    on_a, on_b = (start.joints[name, side].axes for side in (0, 1))
    step = start.mechanism.joint(name).kind.step(index)
    if index < 0:
        return start.length(on_a[2])
    if step.motion == "slide":
        return start.length(on_a[step.axis])
    return start.length(*(axis for i, j in _CIRCLE[step.on] for axis in (on_a[i], on_b[j])))


def _rate(
    system: FieldSystem, angles: dict[Place, int], name: str, index: int, factor: sp.Expr
) -> list[tuple[Form, Form]]:
    """Return the rate of a coordinate times a factor, as a sum of products u dw."""
    f = system.residues(factor / _unit(system.start, name, index))
    if (name, index) in angles:
        c = angles[name, index]
        return [({c: 1}, {c + 1: f}), ({c + 1: 1}, {c: -f % system.p})]
    axis = 2 if index < 0 else system.start.mechanism.joint(name).kind.step(index).axis
    pairs = [({i: f * t % system.p for i, t in u.items()}, w)
             for u, w in system.slide(name, axis)]  # fmt: skip
    return _both(pairs)


def _values(start: Start, residues: Residues) -> tuple[list[int], dict[SpringEnds, int]]:
    """Return the numbers of the bodies in the pose, and the lengths of the springs in it."""
    if start.construction is not None:
        found = start.construction.modulo(residues)
        if found is None:
            raise NoResidueError(f"the pose has no residues modulo {residues.p}")
        return list(found[0]), found[1]
    out: list[int] = []
    for body in start.mechanism.bodies:
        origin, rows = start.poses[body.name]
        out += [residues(t) for t in origin] + [residues(t) for row in rows for t in row]
    lengths = {ends: residues(start.distance(ends)) for ends in start.springs}
    return out, lengths


def _residual(start: Start, residues: Residues) -> Mechanism:
    """Return the mechanism with residues in its joint frames: rows only copy numbers."""

    def frame(joint: Joint, side: int) -> Frame:
        found = start.joints[joint.name, side]
        columns = [[residues(t) for t in axis] for axis in found.axes]
        rotation: Any = tuple(tuple(columns[k][i] for k in range(3)) for i in range(3))
        origin: Any = tuple(residues(t) for t in found.origin)
        return Frame(origin, rotation)

    joints = [
        replace(joint, frame_a=frame(joint, 0), frame_b=frame(joint, 1))
        for joint in start.mechanism.joints
    ]
    return replace(start.mechanism, joints=tuple(joints))


def _pair(system: FieldSystem, t: Product) -> tuple[list[Form], list[Form]]:
    direction = [system.residues(x) for x in t.direction]
    local_b = [system.residues(x) for x in t.local_b]
    u = system.turned(t.of, direction)
    if not t.points:
        return u, system.turned(t.b, local_b)
    local_a = [system.residues(x) for x in t.local_a]
    return u, minus(system.placed(t.b, local_b), system.placed(t.a, local_a), system.p)


def minus(a: list[Form], b: list[Form], p: int) -> list[Form]:
    """Return a - b for vectors of linear forms."""
    out = []
    for u, w in zip(a, b, strict=True):
        form = dict(u)
        for i, c in w.items():
            form[i] = (form.get(i, 0) - c) % p
        out.append(form)
    return out


def _multiplied(pair: tuple[list[Form], list[Form]]) -> list[tuple[Form, Form]]:
    return list(zip(*pair, strict=True))


def _both(pairs: list[tuple[Form, Form]]) -> list[tuple[Form, Form]]:
    """Return the rate of a sum of products."""
    return [*pairs, *((w, u) for u, w in pairs)]


def _held(system: FieldSystem, part: PassivePart) -> list[tuple[Form, Form]]:
    """Hold a spin: the product of two directions keeps the value it has in the start pose.

    The directions are a convention, chosen in floats: their binary values count.
    """
    ends = []
    for name, local in (
        (part.outside, part.direction_outside),
        (part.inside, part.direction_inside),
    ):
        body = system.start.mechanism.body(name)
        v = np.array(local)
        if name in system.start.turned:
            v = np.array(body.frame.rotation) @ v
        residues = [system.residues(sp.Rational(float(t))) for t in v]
        ends.append(system.turned(system.numbers[name], residues))
    return _kept(system, _multiplied((ends[0], ends[1])))


def _dot(system: FieldSystem, name: str, i: int, j: int) -> list[tuple[Form, Form]]:
    """Return the product of axis i of frame a and axis j of frame b."""
    return _multiplied((system.axis(name, 0, i), system.axis(name, 1, j)))


def _kept(system: FieldSystem, pairs: list[tuple[Form, Form]]) -> list[tuple[Form, Form]]:
    """Say that a sum of products keeps the value that it has in the start pose."""
    return [*pairs, ({system.one: 1}, {system.one: -system.value(pairs) % system.p})]


def _orthonormal(system: FieldSystem, body: int) -> list[list[tuple[Form, Form]]]:
    rows = []
    for i in range(3):
        for j in range(i, 3):
            pairs: list[tuple[Form, Form]] = []
            for k in range(3):
                first = PER_BODY * body + 3 + 3 * k
                pairs.append(({first + i: 1}, {first + j: 1}))
            if i == j:
                pairs.append(({system.one: 1}, {system.one: system.p - 1}))
            rows.append(pairs)
    return rows
