"""Coefficients of kinetic energy, weight and forces along a curve, one row per power of t.

The forces of all motions vanish for a combination n of parameters if and only if it has no energy
and no work: Σ n_k M_k(y) = 0, Σ n_k ∂V_k/∂y = 0, and likewise for dampers and for friction, which
depend on the speeds in other ways. M, V and the measures are algebraic functions of the pose, so
every coefficient of their series along a curve is a row of a matrix with the null space of the
observation matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

import numpy as np
import sympy as sp

from mechid.dynamics.columns import ElementTerm, element_terms
from mechid.errors import MechidError
from mechid.exact.equations import FieldSystem, minus
from mechid.exact.jets import PER_BODY, Bilinear, Curve, Form, multiply
from mechid.exact.modular import Ints
from mechid.exact.numbers import recognise
from mechid.exact.quadrics import SpringEnds
from mechid.kinematics.reference_point.constraints import body_numbers
from mechid.mechanism.element_laws import (
    CONSTANT,
    DAMPER,
    FRICTION,
    INERTIA,
    SPRING,
    Measure,
    measure_parts,
)
from mechid.mechanism.records import Mechanism, Vec3


def spring_ends(mechanism: Mechanism) -> tuple[SpringEnds, ...]:
    """Return the ends of the springs whose coefficients are unknown."""
    return tuple(
        dict.fromkeys(
            (term.measure[1], term.measure[2])
            for term in element_terms(mechanism)
            if not term.known and term.measure[0] == "length"
        )
    )


def energy_rows(system: FieldSystem, curve: Curve, gravity: Vec3) -> Ints:
    """Return rows (·, p) along a curve; columns as in the observation matrix."""
    p = system.p
    terms = [t for t in element_terms(system.start.mechanism) if not t.known]
    measures = [_measure(system, curve, t) for t in terms]
    k = curve.V.shape[1]
    order = curve.x.shape[1]
    n_b = len(system.start.mechanism.bodies)
    width = 10 * n_b + len(terms)
    rows: list[Ints] = []

    def block(columns: Sequence[tuple[int, Ints]]) -> None:
        out = np.zeros((order, width), dtype=np.int64)
        for j, series in columns:
            out[:, j] = series
        if out.any():
            rows.append(out)

    V = curve.V[: system.n].reshape(n_b, PER_BODY, k, order)
    for i, j in combinations_with_replacement(range(k), 2):
        ten = _kinetic(V[:, :, i], V[:, :, j], p).transpose(2, 0, 1).reshape(order, -1)
        block(
            [(c, ten[:, c]) for c in range(10 * n_b)]
            + [
                (10 * n_b + c, multiply(m.partial[i], m.partial[j], p))
                for c, (t, m) in enumerate(zip(terms, measures, strict=True))
                if t.law == INERTIA
            ]
        )
        block(
            [
                (10 * n_b + c, multiply(m.partial[i], m.partial[j], p))
                for c, (t, m) in enumerate(zip(terms, measures, strict=True))
                if t.law == DAMPER
            ]
        )
    g = [system.residues(recognise(float(t))[0]) for t in gravity]
    for i in range(k):
        weight = _weight(V[:, :, i], g, p).transpose(2, 0, 1).reshape(order, -1)
        static = [
            (10 * n_b + c, multiply(m.force, m.partial[i], p))
            for c, m in enumerate(measures)
            if m.force is not None
        ]
        block([(c, weight[:, c]) for c in range(10 * n_b)] + static)
    for group in _groups(terms, measures, p):
        for i in range(k):
            block([(10 * n_b + c, measures[c].partial[i]) for c in group])
    return np.concatenate(rows) if rows else np.zeros((0, width), dtype=np.int64)


def _kinetic(a: Ints, b: Ints, p: int) -> Ints:
    """Return the ten coefficients of the kinetic energy of each body, (n_b, 10, T).

    Rows of the 12 numbers: rates of the origin, then of the rotation matrix (row-major).
    """

    def columns(v: Ints) -> list[Ints]:
        turn = v[:, 3:].reshape(len(v), 3, 3, -1)
        return [turn[:, :, 0], turn[:, :, 1], turn[:, :, 2], v[:, :3]]

    one, other = columns(a), columns(b)

    def pair(i: int, j: int) -> Ints:
        total = multiply(one[i], other[j], p) + multiply(one[j], other[i], p)
        return np.asarray(total.sum(axis=1) % p)

    half = pow(2, -1, p)
    xx, yy, zz = (pair(i, i) * half % p for i in range(3))
    return np.stack(
        [
            pair(3, 3) * half % p,
            pair(0, 3),
            pair(1, 3),
            pair(2, 3),
            (yy + zz - xx) * half % p,
            -pair(0, 1) % p,
            -pair(0, 2) % p,
            (xx + zz - yy) * half % p,
            -pair(1, 2) % p,
            (xx + yy - zz) * half % p,
        ],
        axis=1,
    )


def _weight(v: Ints, g: Sequence[int], p: int) -> Ints:
    """Return the ten coefficients of the rate of the potential of weight, (n_b, 10, T)."""
    down = np.array([-t % p for t in g], dtype=np.int64)[None, :, None]
    turn = v[:, 3:].reshape(len(v), 3, 3, -1)
    parts = [v[:, :3], turn[:, :, 0], turn[:, :, 1], turn[:, :, 2]]
    four = [(down * part % p).sum(axis=1) % p for part in parts]
    nothing = np.zeros_like(four[0])
    return np.stack([*four, *([nothing] * 6)], axis=1)


class _Measure:
    """∂s along the tangents (k, T), and the force that a static coefficient takes (T,)."""

    def __init__(self, partial: Ints, force: Ints | None) -> None:
        self.partial = partial
        self.force = force


def _measure(system: FieldSystem, curve: Curve, term: ElementTerm) -> _Measure:
    p, order = system.p, curve.x.shape[1]
    if not _algebraic(term):
        raise MechidError(
            f"the law of {term.column.name} is not algebraic",
            where="exact rank",
            remedy="use ball arithmetic: mechid base --certify",
        )
    partial: Ints = np.zeros((curve.V.shape[1], order), dtype=np.int64)
    value: Ints | None = np.zeros(order, dtype=np.int64)
    for measure, factor in measure_parts(term.measure):
        one, at = _plain(system, curve, measure)
        f = system.residues(recognise(float(factor))[0])
        partial = (partial + f * one) % p
        value = None if value is None or at is None else (value + f * at) % p
    if term.law == CONSTANT:
        return _Measure(partial, _constant(-1, order, p))
    if term.law != SPRING:
        return _Measure(partial, None)
    if value is None:
        raise MechidError(
            f"an angle times a stiffness ({term.column.name}) is not algebraic",
            where="exact rank",
            remedy="use ball arithmetic: mechid base --certify",
        )
    offset = system.residues(recognise(term.shape[0])[0])
    stretch = (value - _constant(offset, order, p)) % p
    force = stretch
    for _ in range(int(term.shape[1]) - 1):
        force = multiply(force, stretch, p)
    return _Measure(partial, force)


def _algebraic(term: ElementTerm) -> bool:
    """Say whether a law is a polynomial in the measure, or one that `energy_rows` sets apart."""
    if term.law == FRICTION:
        return not any(term.shape)
    return term.law in (CONSTANT, SPRING, INERTIA) or (term.law == DAMPER and term.shape[1] == 1)


def _plain(system: FieldSystem, curve: Curve, measure: Measure) -> tuple[Ints, Ints | None]:
    """Return the rate of a measure along the tangents, and its value if algebraic."""
    match measure:
        case ("length", a, b):
            return _length(system, curve, (a, b))
        case ("joint", name, index):
            return _coordinate(system, curve, name, index)
        case ("slide", name, k):
            return _slide(system, curve, name, k)
        case ("dot", name, i, j):
            return _dot(system, curve, name, i, j)
    raise MechidError(
        "a force to be identified is not supported",
        where="exact rank",
        remedy="use ball arithmetic: mechid base --certify",
    )


def _length(system: FieldSystem, curve: Curve, ends: SpringEnds) -> tuple[Ints, Ints]:
    """s = √(d · d): s ∂s is half the derivative of its square."""
    p, start = system.p, system.start
    numbers = body_numbers(start.mechanism)
    places = []
    for point in ends:
        local = [system.residues(t) for t in start.points[point]]
        places.append(system.placed(numbers[point.body], local))
    d = minus(places[1], places[0], p)
    square = Bilinear.of([list(zip(d, d, strict=True))], p)
    s2 = square.values(curve.x, p)[0]
    s = _square_root(s2, system.lengths[ends], p)
    half_slope = square.along(curve.x, curve.V, p)[0] * pow(2, -1, p) % p
    return multiply(half_slope, _inverse(s, p)[None], p), s


def _slide(system: FieldSystem, curve: Curve, name: str, k: int) -> tuple[Ints, Ints]:
    """Displacement of frame b along axis k of frame a."""
    p = system.p
    a, b = _ends(system, name)
    on_a, on_b = (system.start.joints[name, side] for side in (0, 1))
    apart = minus(
        system.placed(b, [system.residues(t) for t in on_b.origin]),
        system.placed(a, [system.residues(t) for t in on_a.origin]),
        p,
    )
    return _product(system, curve, _axis(system, a, on_a.axes[k]), apart, on_a.axes[k])


def _dot(system: FieldSystem, curve: Curve, name: str, i: int, j: int) -> tuple[Ints, Ints]:
    """Axis i of frame a times axis j of frame b."""
    a, b = _ends(system, name)
    x, z = system.start.joints[name, 0].axes[i], system.start.joints[name, 1].axes[j]
    return _product(system, curve, _axis(system, a, x), _axis(system, b, z), x, z)


def _ends(system: FieldSystem, name: str) -> tuple[int, int]:
    joint = system.start.mechanism.joint(name)
    numbers = body_numbers(system.start.mechanism)
    return numbers[joint.body_a], numbers[joint.body_b]


def _axis(system: FieldSystem, body: int, axis: Sequence[sp.Expr]) -> list[Form]:
    return system.turned(body, [system.residues(t) for t in axis])


def _product(
    system: FieldSystem, curve: Curve, u: list[Form], w: list[Form], *axes: Sequence[sp.Expr]
) -> tuple[Ints, Ints]:
    """Return u · w over the lengths of the axes in it: rate along the tangents, and value."""
    p = system.p
    product = Bilinear.of([list(zip(u, w, strict=True))], p)
    unit = 1
    for axis in axes:
        unit = unit * pow(system.residues(length(axis)), -1, p) % p
    value = product.values(curve.x, p)[0] * unit % p
    return product.along(curve.x, curve.V, p)[0] * unit % p, value


def _coordinate(
    system: FieldSystem, curve: Curve, name: str, index: int
) -> tuple[Ints, Ints | None]:
    """Return the rate of a joint coordinate along the tangents, and its value if algebraic."""
    joint = system.start.mechanism.joint(name)
    a, b = _ends(system, name)
    on_a, on_b = (system.start.joints[name, side] for side in (0, 1))
    p = system.p
    step = joint.kind.step(index)
    if step.motion == "slide" and step.axis in joint.kind.exact_axes[0]:
        return _slide(system, curve, name, step.axis)
    axis = (on_a, on_b)[step.on].axes[step.axis]
    if step.motion != "turn":
        raise MechidError(
            f"coordinate {index} of the {joint.type} joint {name} is not supported",
            where="exact rank",
            remedy="use ball arithmetic: mechid base --certify",
        )
    spin = (_spin(system, curve, b) - _spin(system, curve, a)) % p
    u_forms = system.turned((a, b)[step.on], [system.residues(t) for t in axis])
    along = np.stack([_linear(form, curve.x, p) for form in u_forms])
    unit = pow(system.residues(length(axis)), -1, p)
    rate = multiply(spin, along[:, None, :], p).sum(axis=0) % p
    return rate * unit % p, None


def length(axis: Sequence[sp.Expr]) -> sp.Expr:
    """Return the length of an axis."""
    return sp.sqrt(sp.expand(sum(x * x for x in axis)))


def _spin(system: FieldSystem, curve: Curve, body: int) -> Ints:
    """Return the angular velocity along the tangents, (3, k, T), from Ṙ Rᵀ."""
    k, order = curve.V.shape[1:]
    if PER_BODY * body == system.n:
        return np.zeros((3, k, order), dtype=np.int64)
    p = system.p
    first = PER_BODY * body + 3
    R = curve.x[first : first + 9].reshape(3, 3, 1, order)
    rate = curve.V[first : first + 9].reshape(3, 3, k, order)

    def entry(i: int, j: int) -> Ints:
        return np.asarray(multiply(rate[i], R[j], p).sum(axis=0) % p)

    return np.stack([entry(2, 1), entry(0, 2), entry(1, 0)])


def _linear(form: Form, x: Ints, p: int) -> Ints:
    total = np.zeros(x.shape[1], dtype=np.int64)
    for i, c in form.items():
        total = (total + c * x[i]) % p
    return total


def _groups(terms: Sequence[ElementTerm], measures: Sequence[_Measure], p: int) -> list[list[int]]:
    """Group Coulomb coefficients whose measures stand still together.

    Each group's force jumps where its speed changes sign, and no other group's does: groups are
    independent of each other and of all else. Signs within a group do not change the rank.
    """
    groups: list[list[int]] = []
    for c, (term, measure) in enumerate(zip(terms, measures, strict=True)):
        if term.law != FRICTION:
            continue
        for group in groups:
            if _proportional(measures[group[0]].partial, measure.partial, p):
                group.append(c)
                break
        else:
            groups.append([c])
    return groups


def _proportional(a: Ints, b: Ints, p: int) -> bool:
    k = len(a)
    return not any(
        ((multiply(a[i], b[j], p) - multiply(a[j], b[i], p)) % p).any()
        for i in range(k)
        for j in range(i)
    )


def _constant(c: int, order: int, p: int) -> Ints:
    out = np.zeros(order, dtype=np.int64)
    out[0] = c % p
    return out


def _inverse(s: Ints, p: int) -> Ints:
    """Return 1/s."""
    first = pow(int(s[0]), -1, p)
    return _by_coefficient(
        len(s),
        first,
        lambda out, k: -first * int((s[1 : k + 1] * out[:k][::-1] % p).sum() % p),
        p,
    )


def _square_root(s2: Ints, first: int, p: int) -> Ints:
    """Return s with s² given and its first coefficient."""
    if first == 0:
        raise MechidError("a spring has no length in the reference pose", where="exact rank")
    half = pow(2 * first, -1, p)
    return _by_coefficient(
        len(s2),
        first,
        lambda out, k: half * (int(s2[k]) - int((out[1:k] * out[k - 1 : 0 : -1] % p).sum() % p)),
        p,
    )


def _by_coefficient(order: int, first: int, rule: Callable[[Ints, int], int], p: int) -> Ints:
    out = np.zeros(order, dtype=np.int64)
    out[0] = first % p
    for k in range(1, order):
        out[k] = rule(out, k) % p
    return out
