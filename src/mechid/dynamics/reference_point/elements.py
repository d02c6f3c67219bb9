"""Force elements in reference-point coordinates.

Every element but a load acts on a measure s, a function of the pose: the distance of two points, a
joint coordinate, a sum of joint coordinates. It is a row of the same kind as constraints and
drivers, so value, rate, second rate and gradient come from the same three functions:

    s = Φ(q),    ṡ = Φ_q q̇,    s̈ = Φ_q q̈ - γ.

The virtual work of the element's force f on s is f δs, so it acts on the bodies as f Φ_qᵀ. The
columns of the observation matrix are minus the forces of the bodies' surroundings, per unit of the
coefficient: s, -1, ṡ, sign ṡ or s̈, times Φ_qᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.columns import ElementTerm, Measure, element_terms
from mechid.dynamics.tables import COULOMB, DAMPING, INERTIA, PRELOAD, STIFFNESS
from mechid.kinematics.reference_point.constraints import (
    GROUND_AXES,
    Product,
    Row,
    angle_products,
    axis,
    body_numbers,
    separation,
)
from mechid.kinematics.reference_point.drivers import joint_coordinate_row
from mechid.kinematics.reference_point.evaluate import (
    Equations,
    compile_rows,
    gamma,
    jacobian,
    screw_angle,
    values,
)
from mechid.mechanism.records import GROUND, JointCoordinate, Load, Mechanism, Point
from mechid.spatial.rotations import Array


@dataclass(frozen=True, eq=False)
class Elements:
    """What the force elements of a mechanism measure, and its loads.

    Attributes
    ----------
    rows : Equations
        Distances and joint coordinates that elements measure.
    combine : (n_terms, n_rows) array
        Each term's measure as a sum of these.
    terms : tuple of ElementTerm
        Coefficients: what each takes of its measure, known or to be identified.
    loads : tuple of Load
    declared : (n_rows,) array of int
        Number of the independent coordinate that a row is, or -1.
    threads : Equations
        Screw rows of helical joints whose angle is measured, and
    threaded : (n_threads,) array of int
        the measured rows they belong to.
    numbers : dict
        Numbers of the bodies, the ground last.
    """

    rows: Equations
    combine: Array
    terms: tuple[ElementTerm, ...]
    loads: tuple[Load, ...]
    declared: np.ndarray
    threads: Equations
    threaded: np.ndarray
    numbers: dict[str, int]

    def near(self, before: Array, y: Array | None, q: Array) -> Array:
        """Return near which values angles are to be sought, (n_rows,).

        An independent coordinate has its value y; the turns of a helical joint show in its
        displacement; other angles are followed from the sample before.
        """
        out = before.copy()
        if y is not None:
            is_declared = self.declared >= 0
            out[is_declared] = y[self.declared[is_declared]]
        for i, row in enumerate(self.threaded):
            out[row] = screw_angle(self.threads, q, i, None)
        return out


@dataclass(frozen=True, eq=False)
class Readings:
    """Measures of all terms: s, ṡ, s̈ and γ of s̈, (n_terms,); gradients, (n_terms, 7 n_b)."""

    value: Array
    rate: Array
    second: Array
    convective: Array
    gradient: Array


def compile_elements(mechanism: Mechanism) -> Elements:
    """Collect the measures of all force elements."""
    numbers = body_numbers(mechanism)
    terms = tuple(element_terms(mechanism))
    keys: dict[Measure, int] = {}
    parts = [measure_parts(term.measure) for term in terms]
    for part in parts:
        for key, _ in part:
            keys.setdefault(key, len(keys))
    combine = np.zeros((len(terms), len(keys)))
    for i, part in enumerate(parts):
        for key, factor in part:
            combine[i, keys[key]] += factor
    n = len(mechanism.bodies)
    helical = [
        (i, _thread(mechanism, key[1], numbers))
        for key, i in keys.items()
        if key[0] == "joint" and mechanism.joint(key[1]).kind.thread
    ]
    return Elements(
        rows=compile_rows(tuple(measure_row(mechanism, key, numbers) for key in keys), n),
        combine=combine,
        terms=terms,
        loads=tuple(e for e in mechanism.elements if isinstance(e, Load)),
        declared=np.array([_declared(mechanism, key) for key in keys], dtype=int),
        threads=compile_rows(tuple(row for _, row in helical), n),
        threaded=np.array([i for i, _ in helical], dtype=int),
        numbers=numbers,
    )


def read(elements: Elements, q: Array, qd: Array, qdd: Array, near: Array | None) -> Readings:
    """Measure the elements in a state; q, qd, qdd (7 n_b,)."""
    rows, A = elements.rows, elements.combine
    if near is None:
        near = elements.near(np.zeros(len(rows.rows)), None, q)
    J = jacobian(rows, q)
    bent = gamma(rows, q, qd)
    return Readings(
        value=A @ values(rows, q, near),
        rate=A @ J @ qd,
        second=A @ (J @ qdd - bent),
        convective=A @ bent,
        gradient=A @ J,
    )


def factors(elements: Elements, readings: Readings) -> Array:
    """Return what each term takes of its measure, (n_terms,); times the gradient it is a column."""
    out = np.empty(len(elements.terms))
    for i, term in enumerate(elements.terms):
        match term.takes:
            case x if x == STIFFNESS:
                out[i] = readings.value[i] - term.offset
            case x if x == PRELOAD:
                out[i] = -1.0
            case x if x == DAMPING:
                out[i] = readings.rate[i]
            case x if x == COULOMB:
                out[i] = np.sign(readings.rate[i])
            case x if x == INERTIA:
                out[i] = readings.second[i]
            case _:
                raise AssertionError(term)
    return out


def load_wrenches(elements: Elements, rotation: Array) -> Array:
    """Return the loads as forces and moments about the frame origins, (n_b, 6), N and N m."""
    n = len(rotation)
    turn = np.concatenate([rotation, np.eye(3)[None]])  # the ground last
    out = np.zeros((n + 1, 6))
    for load in elements.loads:
        vector = turn[elements.numbers[load.axes_of]] @ np.array(load.vector)
        k = elements.numbers[load.body]
        if load.kind == "moment":
            out[k, 3:] += vector
            continue
        out[k, :3] += vector
        if load.point is not None:
            out[k, 3:] += np.cross(turn[k] @ np.array(load.point.local), vector)
    return out[:-1]


def measure_parts(measure: Measure) -> list[tuple[Measure, float]]:
    """Return a measure as a sum of plain ones with factors."""
    if measure[0] == "sum":
        return [(key, float(factor)) for key, factor in measure[1:] if factor]
    return [(measure, 1.0)]


def measure_row(mechanism: Mechanism, key: Measure, numbers: dict[str, int]) -> Row:
    """Return the row of a distance or of a joint coordinate."""
    if key[0] == "joint":
        _, name, index = key
        return joint_coordinate_row(name, mechanism.joint(name), index, numbers)
    a, b = key[1], key[2]
    assert isinstance(a, Point)
    assert isinstance(b, Point)
    ground = numbers[GROUND]
    apart = tuple(
        Product(ground, e, numbers[a.body], a.local, numbers[b.body], b.local, True)
        for e in GROUND_AXES
    )
    return Row(f"{a.name}-{b.name}", "", "driver", "distance", "m", apart)


def _thread(mechanism: Mechanism, name: str, numbers: dict[str, int]) -> Row:
    joint = mechanism.joint(name)
    slide = separation(joint, numbers, axis(joint.frame_a, 2), numbers[joint.body_a])
    products = (slide, *angle_products(joint, numbers))
    lead = joint.pitch / (2 * np.pi)
    return Row(name, name, "screw", "screw", "m", products, coefficient=lead)


def _declared(mechanism: Mechanism, key: Measure) -> int:
    for i, c in enumerate(mechanism.coordinates):
        if isinstance(c, JointCoordinate) and key == ("joint", c.joint, c.index):
            return i
    return -1
