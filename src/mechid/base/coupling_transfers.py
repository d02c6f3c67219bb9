"""Transfers between what couplings tie together: gears, racks, drums, their rotors and friction.

Some parameters have an energy that is the square of a sum of joint speeds: the moment of inertia of
a body about a direction at rest, ½ I (Σ ±q̇)²; the mass of what slides on the ground, with a weight
that is linear in the coordinate; the inertia of a rotor. Springs, dampers and friction on joint
coordinates are such squares, linear functions or absolute values too. Couplings express these sums
by fewer coordinates z, q = B z + q0. Combinations of parameters whose squares and linear functions
of z cancel change no force: two gears, Izz_1 - (n_1/n_2)² Izz_2 …, and also four shafts of a train
with two degrees of freedom, whose four squares are functions of three products. First moments of
bodies hinged to the ground weigh as cosine and sine of their angles, which gears of equal size
share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import sympy as sp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sympy.polys.matrices import DomainMatrix

from mechid.base.constant import Constant, constants, image_at_rest, zero_of
from mechid.base.homogeneous import ONE, ZERO, direction, point, symmetric_product
from mechid.base.spaces import Row, size
from mechid.base.transfers import Transfer, entries_of
from mechid.dynamics.columns import element_terms
from mechid.exact.constraint_numbers import exact_constant, exact_factors
from mechid.exact.geometry import Geometry, dot
from mechid.exact.numbers import recognise
from mechid.mechanism.element_laws import law_functions, measure_parts
from mechid.mechanism.joint_kinds import Z
from mechid.mechanism.records import GROUND, Joint, Vec3

Place: TypeAlias = tuple[str, int]  # joint, number of the coordinate
Form: TypeAlias = Mapping[Place, sp.Expr]  # a sum of coordinates

_LARGEST = 12  # pivots of an elimination in symbols; beyond it numbers are quicker
_INERTIA = {("a",): ONE}
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class _Part:
    """A direction of parameters whose forces are functions of a sum s of joint coordinates."""

    entries: tuple[tuple[str, sp.Expr], ...]
    owner: str
    form: Form
    functions: Mapping[tuple[Any, ...], Any]  # of s, as `law_functions` names them
    weight: Form = field(default_factory=dict)  # potential energy besides
    waves: tuple[sp.Expr, sp.Expr] = (ZERO, ZERO)  # factors of cos s and sin s in it


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
            *_hinged(geometry, gravity),
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
        if joint.kind.n_turns == 1:
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
                    yield _Part(entries_of(numbers[body], ten), body, speeds[body], _INERTIA)
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
                place = (joint.name, _number(joint, turning=True))
                sign = senses[joint.name] * (1 if side == 0 else -1)
                found[other] = {**found[body], place: sp.Integer(sign)}
            elif joint.kind.n_turns == 0:
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
            form,
            _INERTIA,
            weight={place: falls * x for place, x in form.items()},
        )


def _slide(joint: Joint) -> Form | None:
    """Return the displacement along z of a joint that holds its axis, as a sum of coordinates."""
    kind = joint.kind
    if kind.line != Z or kind.n_turns > 1:
        return None
    if kind.thread:
        return {(joint.name, 0): recognise(joint.pitch)[0] / (2 * sp.pi)}
    return {(joint.name, _number(joint, turning=False)): ONE}


def _number(joint: Joint, *, turning: bool) -> int:
    """Return the number of the coordinate that is the turn, or the displacement, about z."""
    return next(i for i, step in joint.kind.numbered if (step.motion != "slide") == turning)


def _hinged(geometry: Geometry, gravity: Vec3) -> Iterator[_Part]:
    """Yield first moments across the axes of bodies that are hinged to the ground.

    They have no energy, and the potential energy -g · R(q) e.
    """
    g = tuple(recognise(x)[0] for x in gravity)
    numbers = {body.name: i for i, body in enumerate(geometry.mechanism.bodies, start=1)}
    for joint in geometry.mechanism.joints:
        ends = (joint.body_a, joint.body_b)
        if not joint.kind.hinge or GROUND not in ends:
            continue
        side = 1 - ends.index(GROUND)
        own, ground = (geometry.frames[joint.name, s] for s in (side, 1 - side))
        sign = 1 if side == 1 else -1  # of the turn of the body against the ground
        across, along = dot(g, ground.axes[0]), dot(g, ground.axes[1])
        for k, waves in ((0, (-across, -sign * along)), (1, (-along, sign * across))):
            ten = symmetric_product(point(own.origin), direction(own.axes[k]))
            entries = entries_of(numbers[ends[side]], ten)
            form = {(joint.name, 0): ONE}
            yield _Part(entries, ends[side], form, {}, waves=waves)


def _elements(geometry: Geometry) -> Iterator[_Part]:
    """Yield the coefficients of elements that act on joint coordinates."""
    for term in element_terms(geometry.mechanism):
        parts = measure_parts(term.measure)
        if term.known or any(key[0] != "joint" for key, _ in parts):
            continue
        form = {(key[1], key[2]): recognise(factor)[0] for key, factor in parts}
        functions = law_functions(term.law, term.shape, lambda x: recognise(x)[0])
        yield _Part(((term.column.name, ONE),), term.column.owner, form, functions)


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
    pattern = csr_array([[int(x != 0) for x in matrix.row(i)] for i in range(len(rows))])
    _, label = connected_components(pattern.T @ pattern, directed=False)
    found = []
    for group in range(label.max() + 1):
        chosen = [int(j) for j in np.flatnonzero(label == group)]
        for vector in _null_vectors(geometry, matrix[:, chosen]):
            weights = [ZERO] * len(parts)
            for j, x in zip(chosen, vector, strict=True):
                weights[j] = x
            found.append(weights)
    return found


def _null_vectors(geometry: Geometry, matrix: sp.Matrix) -> list[list[sp.Expr]]:
    """Return the null space of a matrix: which rows and columns count is told by its numbers."""
    numbers = _values(geometry, matrix)
    _, pivots = _echelon(numbers)
    free = [j for j in range(matrix.cols) if j not in pivots]
    if not free:
        return []
    rows = list(_echelon(numbers[:, pivots].T)[1]) if pivots else []
    if len(pivots) > _LARGEST:
        matrix = numbers
    solved = -matrix[rows, pivots].LUsolve(matrix[rows, free]) if pivots else sp.zeros(0, len(free))
    vectors = []
    for k, j in enumerate(free):
        vector = [ZERO] * matrix.cols
        vector[j] = ONE
        for i, p in enumerate(pivots):
            vector[p] = sp.cancel(solved[i, k])
        vectors.append(vector)
    return vectors


def _values(geometry: Geometry, matrix: sp.Matrix) -> sp.Matrix:
    """Return a matrix with the exact values of the named parameters."""
    return matrix.applyfunc(lambda x: sp.sympify(x).subs(geometry.values))


def _echelon(matrix: sp.Matrix) -> tuple[sp.Matrix, tuple[int, ...]]:
    """Return the reduced row echelon form of a matrix of exact numbers, and its pivots."""
    echelon, pivots = DomainMatrix.from_Matrix(matrix, extension=True).to_field().rref()
    return echelon.to_Matrix(), pivots


def _reduced(geometry: Geometry, places: list[Place]) -> tuple[sp.Matrix, sp.Matrix]:
    """Return B and q0 of q = B z + q0, which solves the couplings for all z."""
    couplings = geometry.mechanism.couplings
    n = len(places)
    whole = sp.zeros(len(couplings), n + 1)
    for i, c in enumerate(couplings):
        for (name, k, _), factor in zip(c.terms, exact_factors(c), strict=True):
            whole[i, places.index((name, k))] += factor
        whole[i, n] = exact_constant(geometry.mechanism, c)[0]
    numbers = _values(geometry, whole)
    pivots = [p for p in _echelon(numbers)[1] if p < n]
    rows = list(_echelon(numbers[:, pivots].T)[1])
    free = [j for j in range(n) if j not in pivots]
    if len(pivots) > _LARGEST:
        whole = numbers
    solved = whole[rows, pivots].LUsolve(whole[rows, [*free, n]]).applyfunc(sp.cancel)
    basis, start = sp.zeros(n, len(free)), sp.zeros(n, 1)
    for column, j in enumerate(free):
        basis[j, column] = ONE
    for i, p in enumerate(pivots):
        basis[p, :] = -solved[i, :-1]
        start[p] = solved[i, -1]
    return basis, start


def _features(
    geometry: Geometry,
    part: _Part,
    places: list[Place],
    basis: sp.Matrix,
    start: sp.Matrix,
) -> dict[tuple[object, ...], sp.Expr]:
    """Return the coefficients of independent functions of z in what a part adds."""

    def along(form: Form) -> list[sp.Expr]:
        row = sp.Matrix([[form.get(place, ZERO) for place in places]])
        return [sp.cancel(x) for x in row * basis]

    a = along(part.form)
    value = sum((part.form[p] * start[places.index(p)] for p in part.form), ZERO)
    out: dict[tuple[object, ...], sp.Expr] = {}

    def add(found: Mapping[tuple[object, ...], sp.Expr], factor: sp.Expr = ONE) -> None:
        for key, x in found.items():
            out[key] = out.get(key, ZERO) + factor * x

    for key, factor in part.functions.items():
        if key == ("a",) or key == ("v", 1):
            add(_square(key[0], a), factor)
        elif key[0] == "s" and len(key) == 2:
            add(_power(a, value, key[1]), factor)
        else:
            add(_along_one(geometry, key, a, value), factor)
    add({("s", _unit(len(a), i)): x for i, x in enumerate(along(part.weight))})
    add(_waves(geometry, a, value, part.waves))
    return {key: x for key, x in out.items() if sp.expand(x) != 0}


def _square(letter: str, a: list[sp.Expr]) -> dict[tuple[object, ...], sp.Expr]:
    """Return the products in (a ż)², of an energy or of the power that a damper takes."""
    pairs = ((i, j) for i in range(len(a)) for j in range(i, len(a)))
    return {(letter, i, j): a[i] * a[j] for i, j in pairs}


def _unit(n: int, i: int) -> tuple[int, ...]:
    return tuple(int(k == i) for k in range(n))


def _power(a: list[sp.Expr], value: sp.Expr, n: int) -> dict[tuple[object, ...], sp.Expr]:
    """Return the monomials of the potential energy sⁿ⁺¹/(n+1), s = a z + value."""
    if not a:
        return {}
    z = [sp.Dummy(f"z{i}") for i in range(len(a))]
    total = sum((x * y for x, y in zip(a, z, strict=True)), value)
    poly = sp.Poly(sp.expand(total ** (n + 1) / (n + 1)), *z)
    return {("s", monomial): x for monomial, x in poly.terms() if any(monomial)}


def _direction(
    geometry: Geometry, a: list[sp.Expr]
) -> tuple[tuple[sp.Expr, ...], sp.Expr, int] | None:
    """Return a form with a leading 1, the length of a in it, and the sense; None if a is zero."""
    lead = next((x for x in a if x != 0), None)
    if lead is None:
        return None
    sign = 1 if float(geometry.balls(lead).mid()) > 0 else -1
    return tuple(sp.cancel(x / lead) for x in a), sign * lead, sign


def _along_one(
    geometry: Geometry, key: tuple[Any, ...], a: list[sp.Expr], value: sp.Expr
) -> dict[tuple[object, ...], sp.Expr]:
    """Return a function that others share only along the same form: friction, bent laws.

    With s = ± l k z + value, a force f(s) acts on z as l f k.
    """
    found = _direction(geometry, a)
    if found is None:
        return {}
    k, length, sign = found
    if key[0] == "v" and len(key) == 2:  # |ṡ|ⁿ⁻¹ ṡ
        return {("v", key[1], *k): length ** (key[1] + 1)}
    if key[0] == "dry":
        _, side, width, speed, exponent = key
        scaled = (sp.cancel(recognise(x)[0] / length) for x in (width, speed))
        return {("dry", sign * side, *scaled, exponent, *k): length}
    if key[1] != "beyond":  # of a law that nothing is known of: equal only where all is equal
        return {(*key, *a, sp.cancel(value)): ONE}
    letter, _, beyond = key
    place = sp.cancel((beyond - (value if letter == "s" else ZERO)) / length)
    return {(letter, "beyond", sign, place, *k): length**2}


def _waves(
    geometry: Geometry, a: list[sp.Expr], value: sp.Expr, waves: tuple[sp.Expr, sp.Expr]
) -> dict[tuple[object, ...], sp.Expr]:
    """Return c cos s + d sin s, s = a z + value, by cosine and sine of a z with a leading plus."""
    found = _direction(geometry, a)
    if found is None:
        return {}
    sign = found[2]
    key = tuple(sp.cancel(sign * x) for x in a)
    (c, d), cosine, sine = waves, sp.cos(value), sp.sin(value)
    return {
        ("cosine", *key): sp.expand(c * cosine + d * sine),
        ("sine", *key): sp.expand(sign * (d * cosine - c * sine)),
    }
