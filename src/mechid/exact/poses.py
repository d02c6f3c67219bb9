"""Poses enclosed in balls: Newton's method from a float pose, then a proof that a solution is near.

With an approximate inverse C of the Jacobian, the map x - C F(x) contracts a ball of radius r about
x̃ into itself if |C F(x̃)| + ‖1 - C J(X)‖ r ≤ r. Then exactly one solution lies in it: on the
physical branch, because x̃ was reached there by continuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx
from scipy.linalg import qr

from mechid.errors import KinematicsError
from mechid.exact.geometry import Geometry
from mechid.exact.rows import (
    Configuration,
    Near,
    closure_rows,
    exact_mechanism,
    jacobian,
    value,
)
from mechid.exact.turns import known_coordinates, turns_of
from mechid.kinematics.reference_point.constraints import Row
from mechid.kinematics.reference_point.drivers import driver_rows
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

_STEPS = 40
_NEAR = 1e-6  # a float pose is far nearer to a closed one, unless it is singular
_LOW = 64  # bits for bounds that need no digits


@dataclass(frozen=True, eq=False)
class ExactSystem:
    """Rows in balls: those solved for, those set aside as redundant, and the drivers."""

    geometry: Geometry
    exact: Mechanism
    rows: tuple[Row, ...]
    aside: tuple[Row, ...]
    drivers: tuple[Row, ...]

    @property
    def n(self) -> int:
        """Number of unknowns, 7 per body."""
        return 7 * len(self.exact.bodies)


def exact_system(geometry: Geometry, x: Floats) -> ExactSystem:
    """Write the equations, and set redundant rows aside.

    Parameters
    ----------
    geometry : Geometry
    x : array (7 n_b,)
        A closed pose, where it is decided which rows are redundant.
    """
    exact = exact_mechanism(geometry)
    closure, drivers = closure_rows(geometry, exact), driver_rows(exact)
    n = 7 * len(exact.bodies)
    J = float_jacobian((*closure, *drivers), x)
    wanted = n - len(drivers)
    order = independent_rows(J, len(closure), wanted)
    rows = tuple(closure[i] for i in sorted(order))
    aside = tuple(row for i, row in enumerate(closure) if i not in set(order))
    return ExactSystem(geometry, exact, rows, aside, drivers)


def float_jacobian(rows: Sequence[Row], x: Floats) -> Floats:
    """Return the Jacobian at a float pose."""
    with ctx.workprec(53):
        J = jacobian(Configuration.of([arb(float(t)) for t in x]), rows)
    flat = [float(t.mid()) for t in J.entries()]
    return np.array(flat).reshape(len(rows), len(x))


def independent_rows(J: Floats, n_closure: int, wanted: int) -> list[int]:
    """Choose as many closure rows as the drivers leave unknowns, the best conditioned ones."""
    if n_closure < wanted:
        raise KinematicsError("the closure equations do not determine all motions")
    if n_closure == wanted:
        return list(range(wanted))
    D = J[n_closure:]
    # Rows are compared on what the drivers leave free.
    free = np.linalg.svd(D)[2][len(D) :].T if len(D) else np.eye(J.shape[1])
    projected = (J[:n_closure] @ free) / np.linalg.norm(J[:n_closure], axis=1)[:, None]
    pivots = qr(projected.T, mode="r", pivoting=True)[-1]
    return [int(i) for i in pivots[:wanted]]


@dataclass(frozen=True, eq=False)
class Enclosure:
    """A pose in balls, the Jacobian there, and the largest radius."""

    x: list[arb]
    configuration: Configuration
    J: arb_mat
    radius: float


def turns(
    system: ExactSystem, rows: Sequence[Row], pose: Configuration, y: Sequence[float]
) -> list[Near]:
    """Return near which angles the rows are to be taken in a closed pose."""
    known = known_coordinates(system.geometry.mechanism, y)
    return [turns_of(pose, row, known) for row in rows]


def enclose(system: ExactSystem, x: Floats, y: Sequence[float]) -> Enclosure:
    """Return balls that hold exactly one pose with the coordinates `y`, near the float pose `x`.

    Raises
    ------
    KinematicsError
        If no such balls are found: the pose is singular, or not closed.
    """
    rows = (*system.rows, *system.drivers)
    try:
        inverse = np.asarray(np.linalg.inv(float_jacobian(rows, x)), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise KinematicsError("the pose cannot be enclosed: it is singular") from error
    start = Configuration.of([arb(float(t)) for t in x])
    near = [*turns(system, system.rows, start, y), *(float(t) for t in y)]
    target = [arb(0)] * len(system.rows) + [arb(float(t)) for t in y]
    guess = [arb(float(t)) for t in x]
    small = 2.0 ** (20 - ctx.prec)
    step = np.inf
    for _ in range(_STEPS):
        c = Configuration.of(guess)
        left = [value(c, row, n) - t for row, n, t in zip(rows, near, target, strict=True)]
        delta = inverse @ np.array([float(f.mid()) for f in left])
        size = float(np.max(np.abs(delta)))
        if not np.isfinite(size) or size > 0.1:
            break
        guess = [(g - arb(float(d))).mid() for g, d in zip(guess, delta, strict=True)]
        step = size
        if size < small:
            break
    if step >= small:
        raise KinematicsError("the pose cannot be closed to full precision")
    moved = np.array([float((g - arb(float(t))).mid()) for g, t in zip(guess, x, strict=True)])
    if np.max(np.abs(moved)) > _NEAR * max(1.0, float(np.max(np.abs(x)))):
        raise KinematicsError("the pose is not closed: the nearest closed pose is too far away")
    return _proved(rows, near, target, guess, inverse)


def _proved(
    rows: Sequence[Row],
    near: Sequence[Near],
    target: Sequence[arb],
    guess: list[arb],
    inverse: Floats,
) -> Enclosure:
    c = Configuration.of(guess)
    left = [value(c, row, n) - t for row, n, t in zip(rows, near, target, strict=True)]
    C = arb_mat(inverse.tolist())
    moved = C * arb_mat([[f] for f in left])
    first = max(float(t.abs_upper()) for t in moved.entries())
    radius = max(4 * first, 2.0 ** (4 - ctx.prec))
    x = [arb(g, radius) for g in guess]
    configuration = Configuration.of(x)
    J = jacobian(configuration, rows)
    with ctx.workprec(_LOW):
        product = C * J
        worst = 0.0
        for i in range(len(rows)):
            total = sum(
                float(abs(product[i, j] - int(i == j)).abs_upper()) for j in range(len(rows))
            )
            worst = max(worst, total)
    if not first + worst * radius <= radius:
        raise KinematicsError("the pose cannot be enclosed: it is singular or nearly so")
    return Enclosure(x, configuration, J, radius)
