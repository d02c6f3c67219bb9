"""A closed pose by linear equations and square roots, as on paper with ruler and compass.

Some unknowns are declared free, as many as the mechanism has degrees of freedom, so that all others
follow one after the other (`exact.triangular`), near the reference pose. What was done is written
down (`exact.program`) and can be done again in a prime field.

Every step is a consequence of the joints, and no divisor vanishes in the real pose. So the poses
near it are among those that the program gives, with some signs of the roots. Modulo a prime there
are no signs; but if no root is a number of the field that the free values and the roots before it
generate, the numbers of all signs are conjugates, and what holds for one holds for all. That is so
if each root is missing for some values in some prime field where the roots before it exist: squares
have roots everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
import sympy as sp
from flint import arb, ctx

from mechid.errors import KinematicsError, MechidError
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import PRECISION
from mechid.exact.poses import enclose, exact_system
from mechid.exact.program import Program, Recorder
from mechid.exact.quadrics import SpringEnds, Writer
from mechid.exact.residues import Residues, good_primes
from mechid.exact.stack import reference_poses
from mechid.exact.triangular import Solved, Solver
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import GROUND

_NEAR = 0.02  # rad or m from the reference pose
_HALVED = 12
_PRIMES = 40


@dataclass(frozen=True, eq=False)
class Construction:
    """A closed pose as a program.

    Attributes
    ----------
    program : Program
        Its results are the numbers of all bodies, 12 each, then the lengths of the springs.
    springs : tuple
        Ends of the springs.
    """

    program: Program
    springs: tuple[SpringEnds, ...]

    def modulo(self, residues: Residues) -> tuple[tuple[int, ...], dict[SpringEnds, int]] | None:
        """Return a random pose in a prime field and the lengths of the springs there, if any."""
        found = self.program.modulo(residues, np.random.default_rng(residues.p)).results
        if found is None:
            return None
        n = len(found) - len(self.springs)
        return found[:n], dict(zip(self.springs, found[n:], strict=True))


def construction(geometry: Geometry, springs: tuple[SpringEnds, ...] = ()) -> Construction:
    """Find a construction of the poses near the reference pose.

    Parameters
    ----------
    geometry : Geometry
        Exact.
    springs : tuple
        Ends of springs whose lengths are needed.

    Raises
    ------
    MechidError
        If the pose is not reached by square roots, or if roots are not independent.
    """
    with ctx.workprec(PRECISION):
        what = "no construction of a closed pose by square roots was found"
        for program in _programs(geometry, springs):
            if _independent(program, geometry.values):
                return Construction(program, springs)
            what = "the square roots of the closed pose are dependent: branches may be confused"
    raise MechidError(what, where=f"exact pose of {geometry.mechanism.name}")


def _programs(geometry: Geometry, springs: tuple[SpringEnds, ...]) -> Iterator[Program]:
    """Yield constructions for one choice of free unknowns after the other."""
    recorder = Recorder()
    writer = Writer(geometry, recorder, springs)
    one, other = (writer.values(pose) for pose in _poses(geometry))
    linear = writer.linear() + writer.facts(one, other)
    whole = Solved(writer.unknowns(), linear, frozenset(range(writer.count)))
    zero = writer.number(sp.Integer(0))
    for first, by_size in product((_busy(geometry), _near_ground(geometry)), (False, True)):
        rank = [first.get(body, 0) for body in writer.owners()]
        solver = Solver(recorder, one, rank)
        try:
            points = solver.solve(whole)
            start = replace(points, left=[p for p in writer.quadratic(points.x) if p])
            found = solver.choose(start, len(geometry.mechanism.coordinates), by_size=by_size)
        except MechidError:  # too many digits were lost
            continue
        if found is not None:
            yield recorder.program([found.x[i].get((), zero) for i in writer.wanted()])


def _busy(geometry: Geometry) -> dict[str, int]:
    """Rank bodies by their joints: where many legs carry one body, it should be placed first."""
    return {body: len(ends) for body, ends in geometry.ends.items()}


def _near_ground(geometry: Geometry) -> dict[str, int]:
    """Rank bodies by their distance from the ground, the nearest highest."""
    rank = {GROUND: len(geometry.ends)}
    waiting = [GROUND]
    for body in waiting:
        for joint, side in geometry.ends[body]:
            other = (joint.body_a, joint.body_b)[1 - side]
            if other not in rank:
                rank[other] = rank[body] - 1
                waiting.append(other)
    return rank


def _poses(geometry: Geometry) -> tuple[list[arb], list[arb]]:
    """Return two poses of the branch in balls, near the reference pose but without its symmetry."""
    motion = _moved(geometry)
    x = reference_poses(geometry, motion)
    system = exact_system(geometry, x[0])
    one, other = (enclose(system, x[k], motion.y[k].tolist()).x for k in range(2))
    return one, other


def _moved(geometry: Geometry) -> Motion:
    model = kinematic_model(geometry.mechanism)
    away = np.random.default_rng(0).uniform(-_NEAR, _NEAR, (2, len(model.home_y)))
    for halved in range(_HALVED):
        try:
            return solve_motion(model, model.home_y + away / 2**halved)
        except KinematicsError as error:
            failed = error
    raise failed


def _independent(program: Program, values: dict[sp.Symbol, sp.Expr]) -> bool:
    """Return whether each root was found missing where all before it exist."""
    missed: frozenset[int] = frozenset()
    for residues in islice(good_primes(program.constants, values), _PRIMES):
        missed |= program.modulo(residues, np.random.default_rng(residues.p)).missed
        if missed == program.roots:
            return True
    return False
