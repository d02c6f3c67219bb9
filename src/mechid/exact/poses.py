"""Poses enclosed in balls: Newton's method from a float pose, then a proof that a solution is near.

With an approximate inverse C of the Jacobian, the map x - C F(x) contracts a box of radii r about
x̃ into itself if |C F(x̃)| + |1 - C J(X)| r ≤ r. Then exactly one solution lies in it, for each of
the values of the coordinates that F takes: which branch it is on, see `branch.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

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
    products_of,
    screw_turn,
    value,
)
from mechid.kinematics.couplings import coupling_constant
from mechid.kinematics.reference_point.constraints import Row
from mechid.kinematics.reference_point.drivers import driver_rows
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import JointCoordinate, Mechanism
from mechid.mechanism.size import characteristic_size

_CLOSED = 1e-7  # rad, or m: a coupling at a float pose, if its angles have the right turns
_TURNS = 12  # turns that are tried for angles that follow from nothing else


def known_coordinates(mechanism: Mechanism, y: Sequence[float]) -> dict[tuple[str, int], float]:
    """Return joint coordinates that follow from the independent ones through couplings alone."""
    known = {
        (c.joint, c.index): float(value)
        for c, value in zip(mechanism.coordinates, y, strict=True)
        if isinstance(c, JointCoordinate)
    }
    waiting = list(mechanism.couplings)
    while waiting:
        solved = [c for c in waiting if sum((n, k) not in known for n, k, _ in c.terms) <= 1]
        if not solved:
            break
        for c in solved:
            waiting.remove(c)
            open_terms = [(n, k, f) for n, k, f in c.terms if (n, k) not in known]
            if open_terms:
                (name, index, factor) = open_terms[0]
                rest = sum(f * known[n, k] for n, k, f in c.terms if (n, k) in known)
                known[name, index] = (coupling_constant(mechanism, c) - rest) / factor
    return known


def turns_of(c: Configuration, row: Row, known: Mapping[tuple[str, int], float]) -> Near:
    """Return near which angles the value of a row is to be taken, at a closed float pose.

    Angles of a coupling that follow from nothing else get the turns with which it closes; if
    several do, any of them, as the equation then says the same.
    """
    if row.form == "screw":
        return screw_turn(c, row)
    if row.form != "coupling":
        return 0.0
    near: list[float] = []
    free: list[tuple[int, float]] = []
    total = -float(arb(row.coefficient).mid())
    for (term, factor), values in zip(row.terms, products_of(c, row), strict=True):
        f = float(arb(factor).mid())
        if term.form != "angle":
            total += f * float(values[0].mid())
            continue
        angle = float(arb.atan2(values[0], values[1]).mid())
        place = (term.joint, term.index)
        if place in known:
            angle += 2 * np.pi * round((known[place] - angle) / (2 * np.pi))
        else:
            free.append((len(near), f))
        total += f * angle
        near.append(angle)
    for turns in _trials(len(free)):
        left = total + 2 * np.pi * sum(f * n for (_, f), n in zip(free[1:], turns, strict=True))
        first = 0 if not free else round(-left / (2 * np.pi * free[0][1]))
        if abs(left + (2 * np.pi * free[0][1] * first if free else 0.0)) < _CLOSED:
            for (i, _), n in zip(free, (first, *turns), strict=False):
                near[i] += 2 * np.pi * n
            break
    return near


def _trials(n_free: int) -> list[tuple[int, ...]]:
    """Return turns of all free angles but the first, the smallest first."""
    trials = product(range(-_TURNS, _TURNS + 1), repeat=min(max(n_free - 1, 0), 2))
    return sorted(trials, key=lambda turns: sum(map(abs, turns)))


# Steps of Newton's method, and boxes, in which equations are no longer nearly linear (Euler
# parameters, or parts of the size).
_FAR = 0.1
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

    @property
    def scale(self) -> Floats:
        """What unknowns are compared with: the size of the mechanism, and 1."""
        L = characteristic_size(self.geometry.mechanism)
        return np.tile([L, L, L, 1.0, 1.0, 1.0, 1.0], len(self.exact.bodies))


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
    """A pose in balls, the Jacobian there, and the radii."""

    x: list[arb]
    configuration: Configuration
    J: arb_mat
    radii: Floats

    @property
    def radius(self) -> float:
        """The largest radius."""
        return float(self.radii.max())


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
    near_pose = Nearby.of(system, x, y)
    guess = near_pose.closed([arb(float(t)) for t in x], [arb(float(t)) for t in y])
    if guess is None:
        raise KinematicsError("the pose cannot be closed to full precision")
    moved = np.array([float((g - arb(float(t))).mid()) for g, t in zip(guess, x, strict=True)])
    if np.any(np.abs(moved) > _NEAR * system.scale):
        raise KinematicsError("the pose is not closed: the nearest closed pose is too far away")
    found = near_pose.enclosed(guess, [arb(float(t)) for t in y])
    if found is None:
        raise KinematicsError("the pose cannot be enclosed: it is singular or nearly so")
    return found


@dataclass(frozen=True, eq=False)
class Nearby:
    """The equations near a pose: which turns angles are in, and an inverse of their Jacobian.

    `scale` is what unknowns are compared with: 1, or the size of the mechanism.
    """

    scale: Floats
    rows: tuple[Row, ...]
    n_closure: int
    near: list[Near]
    inverse: Floats

    @classmethod
    def of(cls, system: ExactSystem, x: Floats, y: Sequence[float]) -> Nearby:
        """Linearise at a float pose.

        Raises
        ------
        KinematicsError
            If the pose is singular.
        """
        rows = (*system.rows, *system.drivers)
        try:
            inverse = np.asarray(np.linalg.inv(float_jacobian(rows, x)), dtype=np.float64)
        except np.linalg.LinAlgError as error:
            raise KinematicsError("the pose cannot be enclosed: it is singular") from error
        start = Configuration.of([arb(float(t)) for t in x])
        near = [*turns(system, system.rows, start, y), *(float(t) for t in y)]
        return cls(system.scale, rows, len(system.rows), near, inverse)

    def _left(self, c: Configuration, y: Sequence[arb]) -> list[arb]:
        target = [arb(0)] * self.n_closure + list(y)
        triples = zip(self.rows, self.near, target, strict=True)
        return [value(c, row, n) - t for row, n, t in triples]

    def closed(self, guess: list[arb], y: Sequence[arb]) -> list[arb] | None:
        """Return midpoints of a pose that is closed to the digits of the context, if one is near.

        Euler parameters that vanish would be a pose of no rotation at all.
        """
        size, small = _FAR, 2.0 ** (20 - ctx.prec)
        while size >= small:
            left = self._left(Configuration.of(guess), y)
            delta = self.inverse @ np.array([float(f.mid()) for f in left])
            before, size = size, float(np.max(np.abs(delta) / self.scale))
            if not size < before / 2:  # slower: too far away, or singular
                return None
            guess = [(g - arb(float(d))).mid() for g, d in zip(guess, delta, strict=True)]
        return guess

    def enclosed(self, guess: list[arb], y: Sequence[arb]) -> Enclosure | None:
        """Return balls around a pose with exactly one pose for each of the coordinates in `y`."""
        left = self._left(Configuration.of(guess), y)
        C = arb_mat(self.inverse.tolist())
        moved = C * arb_mat([[f] for f in left])
        first = np.array([float(t.abs_upper()) for t in moved.entries()])
        share = (first / self.scale).max() / 4 + 2.0 ** (4 - ctx.prec)
        radius = 2 * first + share * self.scale
        if not np.all(radius < _FAR * self.scale):
            return None
        x = [arb(g, float(r)) for g, r in zip(guess, radius, strict=True)]
        configuration = Configuration.of(x)
        J = jacobian(configuration, self.rows)
        n = len(x)
        with ctx.workprec(_LOW):
            product = C * J - arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
            bent = np.array([float(t.abs_upper()) for t in product.entries()]).reshape(n, n)
        # The sum is one of floats: a little more than its rounding is kept free.
        if not np.all((first + bent @ radius) * (1 + 1e-12) <= radius):
            return None
        return Enclosure(x, configuration, J, radius)
