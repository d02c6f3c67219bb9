"""The rank of the observation matrix over prime fields: exact, on the branch of the start pose.

A minor that does not vanish modulo p along a curve on the branch does not vanish over the numbers
of the model: the rank found is a lower bound of the true rank, without any tolerance. It falls
short of it only by accident, with a probability of about one over p, or because the series are too
short; several primes and longer series agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from mechid.dynamics.columns import element_terms
from mechid.dynamics.compile import dynamic_model
from mechid.errors import MechidError
from mechid.exact.energies import Curve, energy_rows, spring_ends
from mechid.exact.equations import FieldSystem, constraint_numbers, field_system
from mechid.exact.jets import Point, closed_point, lift, tangents
from mechid.exact.modular import Ints, echelon
from mechid.exact.residues import NoResidueError, good_primes
from mechid.exact.start import Start, constructed_start, recognised_starts
from mechid.kinematics.passive import PassivePart, passive_parts
from mechid.mechanism.element_laws import measure_parts
from mechid.mechanism.records import Mechanism, Vec3

_TANGENTS = 6
_CURVES = 12
_FAILED = 100  # fields in a row without a pose
_SPARE = 4  # coefficients beyond those that just suffice


@dataclass(frozen=True, eq=False)
class FieldRank:
    """Rank over prime fields.

    Attributes
    ----------
    rank : int
        Proven lower bound of the number of base parameters, on the branch of the reference pose.
    names : tuple of str
        The parameters, those of massless bodies left out.
    base : tuple of str
        Parameters whose columns are independent: each adds to those before it.
    primes : tuple of int
        Fields that were used, and
    ranks : tuple of int
        the rank in each.
    order, curves : int
        Coefficients of the series, and how many curves.
    turned : frozenset of str
        Bodies described in ground axes of the reference pose.
    rounded : tuple of str
        Numbers that were not recognised. If there are any, the rank is that of a mechanism nearby.
    """

    rank: int
    names: tuple[str, ...]
    base: tuple[str, ...]
    primes: tuple[int, ...]
    ranks: tuple[int, ...]
    order: int
    curves: int
    turned: frozenset[str]
    rounded: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether it is the rank of the model itself."""
        return not self.rounded


@dataclass(frozen=True, eq=False)
class FieldProblem:
    """A mechanism with an exact closed pose, and what is needed to go to a prime field."""

    start: Start
    spins: tuple[PassivePart, ...]
    gravity: Vec3

    @cached_property
    def n_columns(self) -> int:
        """Number of columns of the observation matrix."""
        return len(dynamic_model(self.start.mechanism).columns)

    @cached_property
    def columns(self) -> list[int]:
        """Columns of the observation matrix, those of massless bodies left out."""
        bodies = self.start.mechanism.bodies
        return [
            j
            for j in range(self.n_columns)
            if j >= 10 * len(bodies) or not bodies[j // 10].massless
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        columns = dynamic_model(self.start.mechanism).columns
        return tuple(columns[j].name for j in self.columns)

    @property
    def n_independent(self) -> int:
        """Number of independent coordinates."""
        return len(self.start.mechanism.coordinates)

    def systems(self, first: int = 0) -> Iterator[FieldSystem]:
        """Yield the equations in one field after the other."""
        failed = 0
        for residues in good_primes(_numbers(self.start), self.start.values, first):
            try:
                system = field_system(self.start, residues, self.spins)
            except NoResidueError:
                failed += 1
                if failed == _FAILED:
                    raise
                continue
            failed = 0
            yield system


def field_rank(
    mechanism: Mechanism,
    gravity: Vec3 | None = None,
    *,
    primes: int = 2,
    enough: int | None = None,
    nearby: bool = False,
    seed: int = 0,
) -> FieldRank:
    """Return the rank of the observation matrix over prime fields.

    Parameters
    ----------
    mechanism : Mechanism
    gravity : Vec3, optional
        Weight per unit mass, if not that of the model.
    primes : int
        How many fields.
    enough : int, optional
        An upper bound of the rank, known otherwise: no more rows are added when it is reached.
    nearby : bool
        Whether to take the hardpoints of the reference pose as they are where no closed pose is
        known in exact numbers. The rank is then that of a mechanism nearby, and `rounded` says
        why.
    seed : int
        Of curves and tangents.

    Raises
    ------
    MechidError
        If no closed pose in exact numbers is known, or if a law is not a polynomial.
    """
    problem = exact_problem(mechanism, gravity, nearby=nearby)
    ranks, used, found, order, curves = [], [], None, 0, 0
    for system in islice(problem.systems(), primes):
        pivots, order, curves = field_pivots(problem, system, seed, enough)
        ranks.append(len(pivots))
        used.append(system.p)
        if found is None or len(pivots) > len(found):
            found = pivots
    assert found is not None
    return FieldRank(
        rank=max(ranks),
        names=problem.names,
        base=tuple(problem.names[j] for j in found),
        primes=tuple(used),
        ranks=tuple(ranks),
        order=order,
        curves=curves,
        turned=problem.start.turned,
        rounded=problem.start.rounded,
    )


def exact_problem(
    mechanism: Mechanism, gravity: Vec3 | None = None, *, nearby: bool = False
) -> FieldProblem:
    """Find a reading of the model with a closed pose in exact numbers."""
    g = mechanism.gravity if gravity is None else gravity
    spins = passive_parts(mechanism)
    springs = spring_ends(mechanism)
    first: Start | None = None
    failed = ""
    for start in recognised_starts(mechanism, springs):
        first = first or start
        if not start.rounded:
            problem = FieldProblem(start, spins, g)
            try:
                _probe(problem)
            except MechidError as error:
                failed = f"{error.what}; "
                continue
            return problem
    try:
        problem = FieldProblem(constructed_start(mechanism, springs), spins, g)
        _probe(problem)
    except MechidError as error:
        if not nearby:
            raise MechidError(
                f"no closed pose in exact numbers: {failed}{error.what}",
                where=f"exact rank of {mechanism.name}",
                remedy="use ball arithmetic (mechid base --certify), or nearby=True for a "
                "mechanism with rounded numbers",
            ) from error
        assert first is not None
        problem = FieldProblem(first, spins, g)
        _probe(problem)
    return problem


def _probe(problem: FieldProblem) -> None:
    """Look a few coefficients ahead: is the pose closed and smooth?"""
    rng = np.random.default_rng(0)
    lift(start_points(problem, next(problem.systems()), rng)[0], 3, rng)


def start_points(
    problem: FieldProblem, system: FieldSystem, rng: np.random.Generator
) -> list[Point]:
    """Return the start pose with the motions that are made, and, if fewer, with all motions.

    Reject a pose that has other motions than the model.
    """
    if problem.start.opened:
        raise MechidError(
            f"{problem.start.opened} does not hold in the reference pose",
            where="exact rank",
            remedy="give a reference pose that is closed",
        )
    held = sum(c.held for c in problem.start.mechanism.coordinates)
    found = []
    for rates, n in (
        (system.rates.beside(system.still), problem.n_independent - held),
        (system.rates, problem.n_independent),
    ):
        point = closed_point(system.F, rates, system.x0, system.n, rng, system.p)
        if point.dimension != n:
            raise MechidError(
                f"the reference pose has {point.dimension} motions, the model {n}",
                where="exact rank",
                remedy="give a reference pose that is not singular",
            )
        found.append(point)
    return found if held else found[:1]


def field_pivots(
    problem: FieldProblem, system: FieldSystem, seed: int, enough: int | None = None
) -> tuple[list[int], int, int]:
    """Return independent columns of W, the order of the series, and the number of curves.

    All curves pass through the same point, so that functions of one coordinate only tell as many
    rows as a series has coefficients: series are made longer until the rank grows no more.
    """
    rng = np.random.default_rng(seed)
    points = start_points(problem, system, rng)
    k = min(points[0].dimension, _TANGENTS)
    width = len(problem.names)
    order = -(-width // max(k * (k + 1) // 2 + k, 1)) + _SPARE
    rows: Ints | None = None
    pivots: list[int] = []
    before, curves = -1, 0
    while len(pivots) > before and curves < _CURVES:
        before = len(pivots)
        if curves:
            order *= 2
        x = lift(points[0], order, rng)
        sets = [tangents(point, x, _TANGENTS, rng) for point in points]
        curve = Curve(x, np.concatenate(sets, axis=1), sets[0].shape[1])
        more = energy_rows(system, curve, problem.gravity)
        # Constants that columns may contain come first: what depends on them does not count.
        doubtful = range(problem.n_columns, more.shape[1])
        more = more[:, [*doubtful, *problem.columns]]
        rows, every = echelon(more if rows is None else np.concatenate([rows, more]), system.p)
        pivots = [j - len(doubtful) for j in every if j >= len(doubtful)]
        curves += 1
        if enough is not None and len(pivots) >= enough:
            break
    return pivots, order, curves


def _numbers(start: Start) -> list[object]:
    """Return all numbers that need a residue: geometry, and lengths that force elements take."""
    numbers: list[object] = [*start.residual(), *constraint_numbers(start)]
    for term in element_terms(start.mechanism):
        if term.known:
            continue
        for measure, _ in measure_parts(term.measure):
            if measure[0] in ("joint", "slide", "dot"):
                a, b = (start.joints[measure[1], side].axes for side in (0, 1))
                used = (a[2], b[0]) if measure[0] == "joint" else (*a, *b)
                numbers += [start.length(axis) for axis in used]
    return numbers
