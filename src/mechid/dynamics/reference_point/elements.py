"""Force elements in reference-point coordinates.

Every element but a load acts on a measure s, a function of the pose: the distance of two points, a
joint coordinate, a sum of such. It is a row of the same kind as constraints and drivers, so value,
rate, second rate and gradient come from the same three functions:

    s = Φ(q),    ṡ = Φ_q q̇,    s̈ = Φ_q q̈ - γ.

The virtual work of the element's force f on s is f δs, so it acts on the bodies as f Φ_qᵀ. The
columns of the observation matrix are minus the forces of the bodies' surroundings, per unit of the
coefficient: the law of the term, times Φ_qᵀ. A load is a wrench; the place of Φ_q q̇ is taken by its
power.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.columns import ElementTerm, element_terms
from mechid.kinematics.reference_point.constraints import (
    GROUND_AXES,
    Product,
    Row,
    angle_products,
    axis,
    body_numbers,
    dot,
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
from mechid.kinematics.reference_point.system import quaternion_rates
from mechid.mechanism.element_laws import LOADS, Measure, law_value, measure_parts
from mechid.mechanism.records import GROUND, JointCoordinate, Mechanism, Point
from mechid.spatial.rotations import Array, matrix_from_quaternion


@dataclass(frozen=True, eq=False)
class Elements:
    """What the force elements of a mechanism measure.

    Attributes
    ----------
    rows : Equations
        Distances and joint coordinates that elements measure.
    combine : (n_terms, n_rows) array
        Each term's measure as a sum of these.
    terms : tuple of ElementTerm
        Coefficients: what each takes of its measure, known or to be identified.
    loads : dict
        The measures of terms (by number) that are loads.
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
    loads: dict[int, Measure]
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
    loads = {i: t.measure for i, t in enumerate(terms) if t.measure[0] in LOADS}
    parts = [[] if i in loads else measure_parts(t.measure) for i, t in enumerate(terms)]
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
        loads=loads,
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
    gradient = A @ J
    for i, load in elements.loads.items():
        gradient[i] = _power(load, elements.numbers, q)
    return Readings(
        value=A @ values(rows, q, near),
        rate=gradient @ qd,
        second=A @ (J @ qdd - bent),
        convective=A @ bent,
        gradient=gradient,
    )


def factors(elements: Elements, readings: Readings) -> Array:
    """Return what each term takes of its measure, (n_terms,); times the gradient it is a column."""
    taken = np.stack([readings.value, readings.rate, readings.second], axis=1)
    pairs = zip(elements.terms, taken, strict=True)
    return np.array([law_value(t.law, float(x[t.order]), *t.shape) for t, x in pairs], dtype=float)


def _power(load: Measure, numbers: dict[str, int], q: Array) -> Array:
    """Return the power of a load per unit of q̇, (7 n_b,); ω = 2 E ė."""
    kind, at, vector, axes_of = load
    bodies = q.reshape(-1, 7)
    turn = np.concatenate([matrix_from_quaternion(bodies[:, 3:]), np.eye(3)[None]])
    k = numbers[at.body if kind == "force" else at]
    f = turn[numbers[axes_of]] @ np.array(vector)
    out = np.zeros((len(turn), 7))
    moment = f
    if kind == "force":
        out[k, :3] = f
        moment = np.cross(turn[k] @ np.array(at.local), f)
    if k < len(bodies):
        out[k, 3:] = 2 * moment @ quaternion_rates(bodies[k, 3:])
    return out[:-1].ravel()


def measure_row(mechanism: Mechanism, key: Measure, numbers: dict[str, int]) -> Row:
    """Return the row of a plain measure."""
    if key[0] != "length":
        name = key[1]
        joint = mechanism.joint(name)
        if key[0] == "joint":
            return joint_coordinate_row(name, joint, key[2], numbers)
        if key[0] == "slide":
            slide = separation(joint, numbers, axis(joint.frame_a, key[2]), numbers[joint.body_a])
            return Row(name, name, "driver", "value", "m", (slide,))
        return Row(name, name, "driver", "value", "-", (dot(joint, numbers, key[2], key[3]),))
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
