"""Coefficients of kinetic energy, weight and forces along a curve, one row per power of t.

The forces of all motions vanish for a combination n of parameters if and only if it has no energy
and no work: Σ n_k M_k(y) = 0, Σ n_k ∂V_k/∂y = 0, and likewise for dampers and for friction, which
depend on the speeds in other ways. M, V and the measures are functions of the pose, and every
coefficient of their series along a curve is a row of a matrix with the null space of the
observation matrix.

Where coordinates are held, the curve stays where they are, and fewer motions are made than forces
seen. Forces on a motion w are then wᵀ𝓜 ẍ, with the constant mass matrix 𝓜 of all numbers x of the
bodies: rows are those of 𝓜 between w and motions that are made, and between w and d²x/dt².
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
import sympy as sp

from mechid.dynamics.columns import ElementTerm, element_terms
from mechid.errors import MechidError
from mechid.exact.equations import FieldSystem
from mechid.exact.jets import PER_BODY, Bilinear, Form, integral, multiply, slope
from mechid.exact.modular import Ints
from mechid.exact.numbers import recognise
from mechid.exact.quadrics import SpringEnds
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


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve with tangents, as series.

    Attributes
    ----------
    x : array (variables, T)
    V : array (variables, k, T)
        Tangents: motions that are made, then others, whose forces are seen all the same.
    made : int
        How many of them are made; all, unless coordinates are held.
    """

    x: Ints
    V: Ints
    made: int


def energy_rows(system: FieldSystem, curve: Curve, gravity: Vec3) -> Ints:
    """Return rows along a curve; columns as in the observation matrix.

    Further columns are constant moments: the stiffness columns before them may contain these, by
    angles in the start pose that have no exact value.
    """
    p = system.p
    terms = [t for t in element_terms(system.start.mechanism) if not t.known]
    # Rates along the curve come last.
    along = np.concatenate([curve.V, slope(curve.x, p)[:, None]], axis=1)
    measures = [_measure(system, replace(curve, V=along), t) for t in terms]
    k, order = curve.V.shape[1:]
    n_b = system.n_bodies
    preloads = [t.measure for t in terms if t.law == CONSTANT]
    doubtful = [m for t, m in zip(terms, measures, strict=True)
                if m.doubtful and t.measure not in preloads]  # fmt: skip
    width = 10 * n_b + len(terms) + len(doubtful)
    rows: list[Ints] = []

    def block(
        bodies: Ints | None, columns: Mapping[int, Ints] | None = None, valid: int = order
    ) -> None:
        out = np.zeros((order, width), dtype=np.int64)
        if bodies is not None:
            out[:, : 10 * n_b] = bodies.transpose(2, 0, 1).reshape(order, -1)
        for c, series in (columns or {}).items():
            out[:, 10 * n_b + c] = series
        if out[:valid].any():
            rows.append(out[:valid])

    def terms_of(law: int) -> list[tuple[int, _Measure]]:
        return [(c, m) for c, m in enumerate(measures) if terms[c].law == law]

    moving = curve.V[: PER_BODY * n_b].reshape(n_b, PER_BODY, k, order)
    for i, j in combinations_with_replacement(range(k), 2):
        if i >= curve.made:  # neither is made
            continue
        both = {
            law: {c: multiply(m.partial[i], m.partial[j], p) for c, m in terms_of(law)}
            for law in (INERTIA, DAMPER)
        }
        block(_kinetic(moving[:, :, i], moving[:, :, j], p), both[INERTIA])
        block(None, both[DAMPER])
    g = [system.residues(recognise(float(t))[0]) for t in gravity]
    bent = slope(slope(curve.x, p), p)[: PER_BODY * n_b].reshape(n_b, PER_BODY, order)
    for i in range(k):
        static = {c: multiply(m.force, m.partial[i], p) for c, m in enumerate(measures)
                  if m.force is not None}  # fmt: skip
        static |= {len(terms) + c: m.partial[i] for c, m in enumerate(doubtful)}
        block(_weight(moving[:, :, i], g, p), static)
        if curve.made < k:  # else the energies tell the rest
            faster = {c: multiply(m.partial[i], m.bent, p) for c, m in terms_of(INERTIA)}
            block(_kinetic(moving[:, :, i], bent, p), faster, order - 2)
    for group in _groups(terms, measures, curve.made, p):
        for i in range(k):
            block(None, {c: measures[c].partial[i] for c in group})
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


@dataclass(frozen=True, eq=False)
class _Measure:
    """∂s along the tangents (k, T), s̈ along the curve, and the force of a static coefficient.

    It is doubtful if it may contain a constant besides.
    """

    partial: Ints
    bent: Ints
    force: Ints | None = None
    doubtful: bool = False


def _measure(system: FieldSystem, curve: Curve, term: ElementTerm) -> _Measure:
    p, order = system.p, curve.x.shape[1]
    if not _algebraic(term):
        raise MechidError(
            f"the law of {term.column.name} is not algebraic",
            where="exact rank",
            remedy="use ball arithmetic: mechid base --certify",
        )
    rates: Ints = np.zeros((curve.V.shape[1], order), dtype=np.int64)
    home: int | None = 0
    for measure, factor in measure_parts(term.measure):
        one, at = _plain(system, curve, measure)
        f = system.residues(recognise(float(factor))[0])
        rates = (rates + f * one) % p
        home = None if home is None or at is None else (home + f * at) % p
    bent, force = slope(rates[-1], p), None
    if term.law == CONSTANT:
        force = _constant(-1, order, p)
    if term.law == SPRING:
        if home is None and term.shape[1] > 1:
            raise MechidError(
                f"the angle on which {term.column.name} acts has no exact value in the pose",
                where="exact rank",
                remedy="use ball arithmetic: mechid base --certify",
            )
        offset = system.residues(recognise(term.shape[0])[0])
        stretch = (integral(rates[-1], p) + _constant((home or 0) - offset, order, p)) % p
        force = stretch
        for _ in range(int(term.shape[1]) - 1):
            force = multiply(force, stretch, p)
    return _Measure(rates[:-1], bent, force, term.law == SPRING and home is None)


def _algebraic(term: ElementTerm) -> bool:
    """Say whether a law is a polynomial in the measure, or one that `energy_rows` sets apart."""
    if term.law == FRICTION:
        return not any(term.shape)
    return term.law in (CONSTANT, SPRING, INERTIA) or (term.law == DAMPER and term.shape[1] == 1)


def _plain(system: FieldSystem, curve: Curve, measure: Measure) -> tuple[Ints, int | None]:
    """Return the rates of a measure along the tangents, and its value in the start pose."""
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


def _length(system: FieldSystem, curve: Curve, ends: SpringEnds) -> tuple[Ints, int]:
    """s = √(d · d): s ∂s is half the derivative of its square."""
    p = system.p
    d = system.apart(*ends)
    square = Bilinear.of([list(zip(d, d, strict=True))], p)
    s2 = square.values(curve.x, p)[0]
    s = _square_root(s2, system.lengths[ends], p)
    half_slope = square.rates.along(curve.x, curve.V, p)[0] * pow(2, -1, p) % p
    return multiply(half_slope, _inverse(s, p)[None], p), int(s[0])


def _slide(system: FieldSystem, curve: Curve, name: str, k: int) -> tuple[Ints, int]:
    """Displacement of frame b along axis k of frame a."""
    return _product(system, curve, system.slide(name, k), system.start.joints[name, 0].axes[k])


def _dot(system: FieldSystem, curve: Curve, name: str, i: int, j: int) -> tuple[Ints, int]:
    """Axis i of frame a times axis j of frame b."""
    x, z = system.start.joints[name, 0].axes[i], system.start.joints[name, 1].axes[j]
    pairs = list(zip(system.axis(name, 0, i), system.axis(name, 1, j), strict=True))
    return _product(system, curve, pairs, x, z)


def _product(
    system: FieldSystem, curve: Curve, pairs: list[tuple[Form, Form]], *axes: Sequence[sp.Expr]
) -> tuple[Ints, int]:
    """Return a product over the lengths of the axes in it: its rates, and its value."""
    p = system.p
    unit = pow(system.residues(system.start.length(*axes)), -1, p)
    rates = Bilinear.of([pairs], p).rates.along(curve.x, curve.V, p)[0]
    return rates * unit % p, system.value(pairs) * unit % p


def _coordinate(
    system: FieldSystem, curve: Curve, name: str, index: int
) -> tuple[Ints, int | None]:
    """Return the rates of a joint coordinate along the tangents, and its value if it is known."""
    joint = system.start.mechanism.joint(name)
    step = joint.kind.step(index)
    if step.motion == "slide":
        return _slide(system, curve, name, step.axis)
    p = system.p
    a, b = system.numbers[joint.body_a], system.numbers[joint.body_b]
    spin = (_spin(system, curve, b) - _spin(system, curve, a)) % p
    along = [_linear(form, curve.x, p) for form in system.axis(name, step.on, step.axis)]
    rates = multiply(spin, np.stack(along)[:, None, :], p).sum(axis=0) % p
    axis = system.start.joints[name, step.on].axes[step.axis]
    unit = pow(system.residues(system.start.length(axis)), -1, p)
    home = system.start.angle(name, index)
    return rates * unit % p, None if home is None else system.residues(home)


def _spin(system: FieldSystem, curve: Curve, body: int) -> Ints:
    """Return the angular velocity along the tangents, (3, k, T), from Ṙ Rᵀ."""
    k, order = curve.V.shape[1:]
    if body == system.n_bodies:
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


def _groups(
    terms: Sequence[ElementTerm], measures: Sequence[_Measure], made: int, p: int
) -> list[list[int]]:
    """Group Coulomb coefficients whose measures stand still together.

    Each group's force jumps where its speed changes sign, and no other group's does: groups are
    independent of each other and of all else. Signs within a group do not change the rank.
    """
    groups: list[list[int]] = []
    for c, (term, measure) in enumerate(zip(terms, measures, strict=True)):
        if term.law != FRICTION or not measure.partial[:made].any():
            continue
        for group in groups:
            if _proportional(measures[group[0]].partial[:made], measure.partial[:made], p):
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
