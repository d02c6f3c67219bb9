"""Transfers between what couplings tie together: gears, racks, drums, their rotors and friction.

Some parameters have an energy that is the square of a sum of joint speeds: the moment of inertia of
a body about a direction at rest, ½ I (Σ ±q̇)²; the mass of what slides on the ground, with a weight
that is linear in the coordinate; the inertia of a rotor. Springs, dampers and friction on joint
coordinates are such squares, linear functions or absolute values too. Couplings express these sums
by fewer coordinates z, q = B z + q0. Combinations of parameters whose squares and linear functions
of z cancel change no force: two gears, Izz_1 - (n_1/n_2)² Izz_2 …, and also four shafts of a train
with two degrees of freedom, whose four squares are functions of three products.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from mechid.base.constant import Constant, constants, image_at_rest, zero_of
from mechid.base.moments import symmetric_product
from mechid.base.shared import ONE, ZERO, direction, point
from mechid.base.spaces import Row, size
from mechid.base.transfers import Transfer, entries_of
from mechid.dynamics.columns import element_terms
from mechid.dynamics.reference_point.elements import measure_parts
from mechid.dynamics.tables import COULOMB, DAMPING, INERTIA, PRELOAD, STIFFNESS
from mechid.exact.constraint_numbers import exact_constant, exact_factors
from mechid.exact.geometry import Geometry, dot
from mechid.exact.numbers import recognise
from mechid.mechanism.records import GROUND, Joint, Vec3

Place: TypeAlias = tuple[str, int]  # joint, number of the coordinate
Form: TypeAlias = Mapping[Place, sp.Expr]  # a sum of coordinates

# Joints that turn about z of frame a, and the number of that coordinate.
_TURNING = {"revolute": 0, "helical": 0, "cylindrical": 0, "planar": 2}
_NOT_TURNING = ("prismatic", "fixed")
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class _Part:
    """A direction of parameters that takes a square or a linear function of a sum s."""

    entries: tuple[tuple[str, sp.Expr], ...]
    owner: str
    takes: int
    form: Form
    offset: sp.Expr = ZERO  # STIFFNESS: ½ (s - offset)²
    weight: Form = field(default_factory=dict)  # INERTIA: potential energy besides ½ ṡ²


def coupling_transfers(geometry: Geometry, gravity: Vec3) -> tuple[Transfer, ...]:
    """Return the transfers that couplings add; they may depend on others."""
    mechanism = geometry.mechanism
    if not mechanism.couplings:
        return ()
    coupled = {(name, k) for c in mechanism.couplings for name, k, _ in c.terms}
    rest = constants(geometry, gravity)
    parts = [
        part
        for part in (
            *_turning(geometry, rest),
            *_sliding(geometry, gravity),
            *_elements(geometry),
        )
        if coupled & part.form.keys()
    ]
    if len(parts) < 2:
        return ()
    return tuple(_transfer(parts, weights) for weights in _cancelling(geometry, parts))


def _transfer(parts: Sequence[_Part], weights: Sequence[sp.Expr]) -> Transfer:
    total: dict[str, sp.Expr] = {}
    used = [part for part, w in zip(parts, weights, strict=True) if w != 0]
    for part, w in zip(parts, weights, strict=True):
        for name, x in part.entries:
            total[name] = sp.expand(total.get(name, ZERO) + w * x)
    owners = tuple(dict.fromkeys(part.owner for part in used))
    words = f"what {', '.join(owners)} have in common by couplings"
    entries = tuple((name, x) for name, x in total.items() if x != 0)
    return Transfer(words, owners[0], owners[-1], entries)


# ---------------------------------------------------------------------- parts


def _turning(geometry: Geometry, rest: dict[str, Constant]) -> Iterator[_Part]:
    """Yield moments of inertia about directions at rest, with the speed about them."""
    mechanism = geometry.mechanism
    numbers = {body.name: i for i, body in enumerate(mechanism.bodies, start=1)}
    axes: dict[str, Row] = {}
    for joint in mechanism.joints:
        if joint.type in _TURNING:
            axis = direction(geometry.frames[joint.name, 0].axes[2])
            if found := image_at_rest(geometry, rest[joint.body_a], axis):
                axes[joint.name] = found
    waiting = dict(axes)
    while waiting:
        d = next(iter(waiting.values()))
        senses = {name: s for name, e in waiting.items() if (s := _sense(geometry, d, e))}
        waiting = {name: e for name, e in waiting.items() if name not in senses}
        speeds = _speeds(geometry, senses)
        for joint in mechanism.joints:
            if joint.name not in senses:
                continue
            for side, body in enumerate((joint.body_a, joint.body_b)):
                if body in speeds and body != GROUND and speeds[body]:
                    u = geometry.frames[joint.name, side].axes[2]
                    ten = (ZERO,) * 4 + tuple(u[i] * u[j] for i, j in _UPPER)
                    yield _Part(entries_of(numbers[body], ten), body, INERTIA, speeds[body])
                    speeds[body] = {}  # once is enough


def _sense(geometry: Geometry, d: Row, e: Row) -> int:
    """Return +1 or -1 if two unit vectors are parallel, otherwise 0."""
    for sign in (1, -1):
        if all(size(x - sign * y) <= zero_of(geometry) for x, y in zip(d, e, strict=True)):
            return sign
    return 0


def _speeds(geometry: Geometry, senses: Mapping[str, int]) -> dict[str, Form]:
    """Return the angular velocity about a direction at rest, as a sum of joint speeds.

    From the ground along joints that turn about that direction (with their senses), or not at all.
    """
    found: dict[str, Form] = {GROUND: {}}
    waiting = [GROUND]
    while waiting:
        body = waiting.pop(0)
        for joint, side in geometry.ends.get(body, []):
            other = (joint.body_b, joint.body_a)[side]
            if other in found:
                continue
            if joint.name in senses:
                place = (joint.name, _TURNING[joint.type])
                sign = senses[joint.name] * (1 if side == 0 else -1)
                found[other] = {**found[body], place: sp.Integer(sign)}
            elif joint.type in _NOT_TURNING:
                found[other] = found[body]
            else:
                continue
            waiting.append(other)
    return found


def _sliding(geometry: Geometry, gravity: Vec3) -> Iterator[_Part]:
    """Yield masses on the axes of joints that slide on the ground."""
    g = tuple(recognise(x)[0] for x in gravity)
    numbers = {body.name: i for i, body in enumerate(geometry.mechanism.bodies, start=1)}
    for joint in geometry.mechanism.joints:
        form = _slide(joint)
        ends = (joint.body_a, joint.body_b)
        if form is None or GROUND not in ends:
            continue
        side = 1 - ends.index(GROUND)
        own, ground = (geometry.frames[joint.name, s] for s in (side, 1 - side))
        p = point(own.origin)
        falls = -dot(g, ground.axes[2]) * (1 if side == 1 else -1)
        yield _Part(
            entries_of(numbers[ends[side]], symmetric_product(p, p)),
            ends[side],
            INERTIA,
            form,
            weight={place: falls * x for place, x in form.items()},
        )


def _slide(joint: Joint) -> Form | None:
    match joint.type:
        case "prismatic":
            return {(joint.name, 0): ONE}
        case "cylindrical":
            return {(joint.name, 1): ONE}
        case "helical":
            return {(joint.name, 0): recognise(joint.pitch)[0] / (2 * sp.pi)}
    return None


def _elements(geometry: Geometry) -> Iterator[_Part]:
    """Yield the coefficients of elements that act on joint coordinates."""
    for term in element_terms(geometry.mechanism):
        parts = measure_parts(term.measure)
        if term.known or any(key[0] != "joint" for key, _ in parts):
            continue
        form = {(key[1], key[2]): recognise(factor)[0] for key, factor in parts}
        entries = ((term.column.name, ONE),)
        offset = recognise(term.offset)[0]
        yield _Part(entries, term.column.owner, term.takes, form, offset)


# ---------------------------------------------------------------------- combinations


def _cancelling(geometry: Geometry, parts: Sequence[_Part]) -> list[list[sp.Expr]]:
    """Return weights of the parts with which their squares and linear functions cancel."""
    places = list(dict.fromkeys(place for part in parts for place in part.form))
    places += [
        (name, k)
        for c in geometry.mechanism.couplings
        for name, k, _ in c.terms
        if (name, k) not in places
    ]
    places = list(dict.fromkeys(places))
    basis, start = _reduced(geometry, places)
    columns = [_features(geometry, part, places, basis, start) for part in parts]
    rows = list(dict.fromkeys(key for column in columns for key in column))
    matrix = sp.Matrix(len(rows), len(parts), lambda i, j: columns[j].get(rows[i], ZERO))
    null = DomainMatrix.from_Matrix(matrix, extension=True).to_field().nullspace()
    return [list(null.to_Matrix().row(i)) for i in range(null.shape[0])]


def _reduced(geometry: Geometry, places: list[Place]) -> tuple[sp.Matrix, sp.Matrix]:
    """Return B and q0 of q = B z + q0, which solves the couplings for all z."""
    couplings = geometry.mechanism.couplings
    n = len(places)
    whole = sp.zeros(len(couplings), n + 1)
    for i, c in enumerate(couplings):
        for (name, k, _), factor in zip(c.terms, exact_factors(c), strict=True):
            whole[i, places.index((name, k))] += factor
        whole[i, n] = exact_constant(geometry.mechanism, c)[0]
    echelon, pivots = DomainMatrix.from_Matrix(whole, extension=True).to_field().rref()
    solved = echelon.to_Matrix()
    free = [j for j in range(n) if j not in pivots]
    basis, start = sp.zeros(n, len(free)), sp.zeros(n, 1)
    for column, j in enumerate(free):
        basis[j, column] = ONE
        for i, p in enumerate(pivots):
            if p < n:
                basis[p, column] = -solved[i, j]
    for i, p in enumerate(pivots):
        if p < n:
            start[p] = solved[i, n]
    return basis, start


def _features(
    geometry: Geometry,
    part: _Part,
    places: list[Place],
    basis: sp.Matrix,
    start: sp.Matrix,
) -> dict[tuple[object, ...], sp.Expr]:
    """Return the coefficients of products of z, and of z, in what a part adds to energies."""

    def along(form: Form) -> list[sp.Expr]:
        row = sp.Matrix([[form.get(place, ZERO) for place in places]])
        return [sp.cancel(x) for x in row * basis]

    a = along(part.form)
    if part.takes == COULOMB:
        return _friction(geometry, a)
    out: dict[tuple[object, ...], sp.Expr] = {}
    if part.takes in (INERTIA, DAMPING, STIFFNESS):
        for i, x in enumerate(a):
            for j in range(i, len(a)):
                out[part.takes, i, j] = x * a[j]
    linear = [ZERO] * len(a)
    if part.takes == STIFFNESS:
        value = sum((part.form[p] * start[places.index(p)] for p in part.form), ZERO)
        linear = [(value - part.offset) * x for x in a]
    elif part.takes == PRELOAD:
        linear = [-x for x in a]
    elif part.takes == INERTIA:
        linear = along(part.weight)
    out |= {("linear", i): x for i, x in enumerate(linear)}
    return {key: x for key, x in out.items() if x != 0}


def _friction(geometry: Geometry, a: list[sp.Expr]) -> dict[tuple[object, ...], sp.Expr]:
    """Return |s| as a multiple of the absolute value of a form with a leading 1."""
    lead = next((x for x in a if x != 0), None)
    if lead is None:
        return {}
    key = tuple(sp.cancel(x / lead) for x in a)
    return {("coulomb", *key): lead if float(geometry.balls(lead).mid()) > 0 else -lead}
