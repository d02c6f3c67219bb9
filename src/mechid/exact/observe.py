"""The observation matrix in balls, at an enclosed pose, for given speeds and accelerations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flint import arb, arb_mat

from mechid.dynamics.columns import ElementTerm, element_terms
from mechid.dynamics.reference_point.elements import measure_row
from mechid.exact.numbers import Balls, recognise
from mechid.exact.poses import Enclosure, ExactSystem, known_coordinates
from mechid.exact.rows import (
    Configuration,
    apply,
    gamma,
    gradient,
    load_gradient,
    screw_turn,
    value,
)
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.reference_point.constraints import Row, body_numbers
from mechid.mechanism.element_laws import FRICTION, LOADS, Measure, law_value, measure_parts
from mechid.mechanism.records import Mechanism

ZERO = arb(0)


@dataclass(frozen=True, eq=False)
class Measures:
    """Rows that force elements measure, and the terms that take them (known ones left out).

    Attributes
    ----------
    rows : tuple of Row or Measure
        A load has no row: its measure itself.
    terms : tuple
        Each term with what its measure is a sum of: (number of the row, factor).
    mechanism : Mechanism
    keys : tuple of Measure
        What each row measures.
    threads : tuple of (Row or None)
        The thread of the helical joint whose angle a row is.
    home : tuple of float
        Angles in the home pose, whose turn the other angles have.
    numbers : mapping
        Numbers of the bodies, the ground last.
    """

    rows: tuple[Row | Measure, ...]
    terms: tuple[tuple[ElementTerm, tuple[tuple[int, arb], ...]], ...]
    mechanism: Mechanism
    keys: tuple[Measure, ...] = ()
    threads: tuple[Row | None, ...] = ()
    home: tuple[float, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)

    def near(self, pose: Enclosure, y: Sequence[float]) -> list[float]:
        """Return values near which angles are to be sought: each has many, a turn apart."""
        out = list(self.home)
        known = known_coordinates(self.mechanism, y)
        for i, (key, thread) in enumerate(zip(self.keys, self.threads, strict=True)):
            if key[1:] in known:
                out[i] = known[key[1:]]
            elif thread is not None:
                out[i] = screw_turn(pose.configuration, thread)
        return out


def measures(system: ExactSystem) -> Measures:
    """Collect what the unknown coefficients of force elements measure."""
    numbers = body_numbers(system.exact)
    keys: dict[Measure, int] = {}
    rows: list[Row | Measure] = []
    terms = []
    plain = element_terms(system.geometry.mechanism)  # balls cannot be keys
    for term, key_term in zip(element_terms(system.exact), plain, strict=True):
        if term.known:
            continue
        taken = []
        pairs = zip(measure_parts(term.measure), measure_parts(key_term.measure), strict=True)
        for (measure, factor), (key, _) in pairs:
            if key not in keys:
                keys[key] = len(rows)
                rows.append(
                    measure if measure[0] in LOADS else measure_row(system.exact, measure, numbers)
                )
            taken.append((keys[key], system.geometry.balls(recognise(factor)[0])))
        terms.append((term, tuple(taken)))
    threads = tuple(_thread(system, key) for key in keys)
    home = _home(system, tuple(keys))
    mechanism = system.geometry.mechanism
    return Measures(tuple(rows), tuple(terms), mechanism, tuple(keys), threads, home, numbers)


def _thread(system: ExactSystem, key: Measure) -> Row | None:
    if key[0] != "joint":
        return None
    rows = (*system.rows, *system.aside)
    return next((r for r in rows if r.kind == "screw" and r.joint == key[1]), None)


def _home(system: ExactSystem, keys: tuple[Measure, ...]) -> tuple[float, ...]:
    if not any(key[0] == "joint" for key in keys):
        return (0.0,) * len(keys)
    model = kinematic_model(system.geometry.mechanism)
    home = solve_motion(model, model.home_y[None])
    return tuple(
        float(joint_motion(home, key[1]).coordinates[0, key[2]]) if key[0] == "joint" else 0.0
        for key in keys
    )


def exact_gravity(system: ExactSystem, gravity: Sequence[float]) -> list[arb]:
    """Return weight per unit mass as the decimals it was written with, as transfers take it."""
    return [system.geometry.balls(recognise(x)[0]) for x in gravity]


def observe(
    system: ExactSystem,
    found: Measures,
    pose: Enclosure,
    yd: Sequence[float],
    ydd: Sequence[float],
    gravity: Sequence[arb],
    y: Sequence[float],
) -> arb_mat:
    """Return W (n_i, p) in balls.

    Parameters
    ----------
    y : floats
        Independent coordinates, to pick the turn of angles.
    """
    n_rows, n_i = len(system.rows), len(system.drivers)
    n = system.n
    right = arb_mat(n, n_i)
    for j in range(n_i):
        right[n_rows + j, j] = arb(1)
    inverse = pose.J.inv()
    R = inverse * right
    xd = R * arb_mat([[arb(float(t))] for t in yd])
    c = pose.configuration
    d = Configuration.of(xd.entries())
    bent = [gamma(c, d, row) for row in (*system.rows, *system.drivers)]
    for j in range(n_i):
        bent[n_rows + j] = bent[n_rows + j] + arb(float(ydd[j]))
    xdd = inverse * arb_mat([[b] for b in bent])
    blocks = _bodies(c, R, xd, xdd, gravity)
    columns = [*blocks, *_elements(found, c, d, R, xd, xdd, found.near(pose, y))]
    return arb_mat([[column[j] for column in columns] for j in range(n_i)])


def _bodies(
    c: Configuration, R: arb_mat, xd: arb_mat, xdd: arb_mat, gravity: Sequence[arb]
) -> list[list[arb]]:
    """Return the ten columns of every body, each with n_i entries."""
    columns = []
    n_i = R.ncols()
    for i in range(len(c.p) - 1):
        first = 7 * i
        E = _quaternion_rates(c.e[i])
        a = [xdd[first + k, 0] - gravity[k] for k in range(3)]
        ed = [xd[first + 3 + k, 0] for k in range(4)]
        edd = [xdd[first + 3 + k, 0] for k in range(4)]
        turn = c.turns[i].R
        back = [list(row) for row in zip(*turn, strict=True)]
        w, alpha = _twice(E, ed), _twice(E, edd)
        Y = _regressor(turn, back, w, alpha, a)
        partial = arb_mat(n_i, 6)
        for j in range(n_i):
            for k in range(3):
                partial[j, k] = R[first + k, j]
            spin = _twice(E, [R[first + 3 + k, j] for k in range(4)])
            for k in range(3):
                partial[j, 3 + k] = spin[k]
        block = partial * Y
        columns += [[block[j, k] for j in range(n_i)] for k in range(10)]
    return columns


def _quaternion_rates(e: Sequence[arb]) -> list[list[arb]]:
    w, x, y, z = e
    return [[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]


def _twice(E: list[list[arb]], v: Sequence[arb]) -> list[arb]:
    return [2 * sum((a * b for a, b in zip(row, v, strict=True)), ZERO) for row in E]


def _cross_matrix(v: Sequence[arb]) -> arb_mat:
    return arb_mat([[ZERO, -v[2], v[1]], [v[2], ZERO, -v[0]], [-v[1], v[0], ZERO]])


def _inertia_product(w: Sequence[arb]) -> arb_mat:
    x, y, z = w
    return arb_mat([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])


def _regressor(
    turn: list[list[arb]],
    back: list[list[arb]],
    w: list[arb],
    alpha: list[arb],
    a: list[arb],
) -> arb_mat:
    """Return the 6×10 Newton-Euler regressor (see `dynamics.reference_point.body_matrix`)."""
    R = arb_mat(turn)
    spin = _cross_matrix(w)
    moment = (_cross_matrix(alpha) + spin * spin) * R
    lever = -_cross_matrix(a) * R
    local_w, local_alpha = apply(back, w), apply(back, alpha)
    turning = R * (
        _inertia_product(local_alpha) + _cross_matrix(local_w) * _inertia_product(local_w)
    )
    Y = arb_mat(6, 10)
    for k in range(3):
        Y[k, 0] = a[k]
        for j in range(3):
            Y[k, 1 + j] = moment[k, j]
            Y[3 + k, 1 + j] = lever[k, j]
        for j in range(6):
            Y[3 + k, 4 + j] = turning[k, j]
    return Y


def _elements(
    found: Measures,
    c: Configuration,
    d: Configuration,
    R: arb_mat,
    xd: arb_mat,
    xdd: arb_mat,
    near: Sequence[float],
) -> list[list[arb]]:
    """Return one column per unknown coefficient: what it takes of its measure, times ∂s/∂y."""
    n_i = R.ncols()
    read: list[tuple[list[arb], list[arb]]] = []
    for row, guess in zip(found.rows, near, strict=True):
        slope = gradient(c, row) if isinstance(row, Row) else load_gradient(c, row, found.numbers)
        partial = [sum((g * R[k, j] for k, g in slope.items()), ZERO) for j in range(n_i)]
        rate = sum((g * xd[k, 0] for k, g in slope.items()), ZERO)
        if not isinstance(row, Row):
            read.append(([ZERO, rate, ZERO], partial))
            continue
        second = sum((g * xdd[k, 0] for k, g in slope.items()), ZERO) - gamma(c, d, row)
        read.append(([value(c, row, guess), rate, second], partial))
    columns = []
    for term, parts in found.terms:
        total = [sum((f * read[k][0][m] for k, f in parts), ZERO) for m in range(3)]
        partial = [sum((f * read[k][1][j] for k, f in parts), ZERO) for j in range(n_i)]
        factor = _factor(term, total[term.order])
        columns.append([factor * p for p in partial])
    return columns


def _factor(term: ElementTerm, x: arb) -> arb:
    if term.law == FRICTION and not (x > 0 or x < 0):
        return arb(0, 1)  # the sign is open
    offset = Balls({})(recognise(term.shape[0])[0])
    return arb(law_value(term.law, x, offset, *term.shape[1:]))
