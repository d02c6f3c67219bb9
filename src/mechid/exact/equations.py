"""Joints as bilinear equations over a prime field, in positions and rotation matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from mechid.errors import MechidError
from mechid.exact.jets import PER_BODY, Bilinear, Form
from mechid.exact.modular import Ints
from mechid.exact.quadrics import SpringEnds
from mechid.exact.residues import NoResidueError, Residues
from mechid.exact.start import Start
from mechid.kinematics.passive import PassivePart
from mechid.kinematics.reference_point.constraints import Product, body_numbers, constraint_rows
from mechid.mechanism.records import Frame, Joint, Mechanism


@dataclass(frozen=True, eq=False)
class FieldSystem:
    """Equations and a closed pose modulo p.

    Attributes
    ----------
    residues : Residues
    start : Start
    F : Bilinear
        Joints, held spins, orthonormal axes.
    x0 : array
        Numbers of all bodies, then of the ground, then 1.
    n : int
        Number of unknowns, 12 per body.
    lengths : mapping
        Ends of a spring → its length in the pose.
    """

    residues: Residues
    start: Start
    F: Bilinear
    x0: Ints
    n: int
    lengths: dict[SpringEnds, int]

    @property
    def p(self) -> int:
        """The prime."""
        return self.residues.p

    @property
    def one(self) -> int:
        """Number of the variable that is 1."""
        return len(self.x0) - 1

    def turned(self, body: int, local: Sequence[int]) -> list[Form]:
        """Return the three components of a direction fixed in a body, as linear forms."""
        if self.n == PER_BODY * body:
            return [{self.one: int(t)} for t in local]
        first = PER_BODY * body + 3
        return [{first + 3 * k + c: int(local[c]) for c in range(3) if local[c]} for k in range(3)]

    def placed(self, body: int, local: Sequence[int]) -> list[Form]:
        """Return the three coordinates of a point fixed in a body."""
        forms = self.turned(body, local)
        if self.n > PER_BODY * body:
            for k in range(3):
                forms[k][PER_BODY * body + k] = 1
        return forms


def field_system(start: Start, residues: Residues, spins: tuple[PassivePart, ...]) -> FieldSystem:
    """Write the equations of a mechanism modulo a prime.

    Raises
    ------
    NoResidueError
        If the pose has no image in this field.
    """
    n_b = len(start.mechanism.bodies)
    x0, lengths = _values(start, residues)
    system = FieldSystem(residues, start, _NONE, x0, PER_BODY * n_b, lengths)
    rows = [
        _multiplied(_pair(system, row.products[0]))
        for row in constraint_rows(_residual(start, residues))
    ]
    rows += [_held(system, part) for part in spins]
    for body in range(n_b):
        rows += _orthonormal(system, body)
    return replace(system, F=Bilinear.of(rows, residues.p))


_NONE = Bilinear.of([], 2)


def _values(start: Start, residues: Residues) -> tuple[Ints, dict[SpringEnds, int]]:
    """Return the pose and the lengths of the springs in it."""
    if start.construction is not None:
        found = start.construction.modulo(residues)
        if found is None:
            raise NoResidueError(f"the pose has no residues modulo {residues.p}")
        return np.array([*found[0], 1], dtype=np.int64), found[1]
    out: list[int] = []
    for body in start.mechanism.bodies:
        origin, rows = start.poses[body.name]
        out += [residues(t) for t in origin] + [residues(t) for row in rows for t in row]
    lengths = {ends: residues(start.length(ends)) for ends in start.springs}
    return np.array([*out, 1], dtype=np.int64), lengths


def _residual(start: Start, residues: Residues) -> Mechanism:
    """Return the mechanism with residues in its joint frames: rows only copy numbers."""

    def frame(joint: Joint, side: int) -> Frame:
        found = start.joints[joint.name, side]
        columns = [[residues(t) for t in axis] for axis in found.axes]
        rotation: Any = tuple(tuple(columns[k][i] for k in range(3)) for i in range(3))
        origin: Any = tuple(residues(t) for t in found.origin)
        return Frame(origin, rotation)

    joints = []
    for joint in start.mechanism.joints:
        if joint.kind.thread:
            raise MechidError(
                f"the thread of {joint.name} is not algebraic",
                where="exact rank",
                remedy="use ball arithmetic: mechid base --certify",
            )
        joints.append(replace(joint, frame_a=frame(joint, 0), frame_b=frame(joint, 1)))
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


def _held(system: FieldSystem, part: PassivePart) -> list[tuple[Form, Form]]:
    """Hold a spin: the product of two directions keeps the value it has in the start pose.

    The directions are a convention, chosen in floats: their binary values count.
    """
    numbers = body_numbers(system.start.mechanism)
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
        ends.append(system.turned(numbers[name], residues))
    x0, p = system.x0, system.p
    value = 0
    for u, w in zip(*ends, strict=True):
        left = sum(c * int(x0[i]) for i, c in u.items())
        value += left * sum(c * int(x0[i]) for i, c in w.items())
    rows = _multiplied((ends[0], ends[1]))
    rows.append(({system.one: 1}, {system.one: -value % p}))
    return rows


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
