"""Coefficients of the dependent parameters as exact rationals, from several prime fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp

from mechid.errors import MechidError
from mechid.exact.field import FieldProblem, exact_problem, field_rows
from mechid.exact.modular import Ints, echelon
from mechid.exact.reconstruct import chinese, rational
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism, Vec3

_PRIMES = 24


@dataclass(frozen=True, eq=False)
class FieldRegrouping:
    """W_d = W_b β with rational β.

    Attributes
    ----------
    base, dependent : tuples of str
        Columns of parameters without effect are dependent, with coefficients zero.
    beta : mapping
        (base parameter, dependent parameter) → coefficient, where it is not zero.
    primes : tuple of int
        Fields used; the last one only checks.
    turned : frozenset of str
        Bodies described in ground axes of the reference pose.
    """

    base: tuple[str, ...]
    dependent: tuple[str, ...]
    beta: dict[tuple[str, str], Fraction]
    primes: tuple[int, ...]
    turned: frozenset[str]

    def matrix(self) -> Floats:
        """Return β (b, d) in floats."""
        return np.array(
            [[float(self.beta.get((b, d), 0)) for d in self.dependent] for b in self.base]
        ).reshape(len(self.base), len(self.dependent))


def field_regrouping(
    mechanism: Mechanism,
    gravity: Vec3 | None = None,
    *,
    base_first: Sequence[str] = (),
    enough: int | None = None,
    seed: int = 0,
) -> FieldRegrouping:
    """Return the exact coefficients of a base set.

    Parameters
    ----------
    mechanism : Mechanism
        With rational geometry.
    gravity : Vec3, optional
        Weight per unit mass, if not that of the model.
    base_first : sequence of str
        Parameters that enter the base set first, as far as they are independent; then the others
        in their order.
    enough : int, optional
        The rank, if it is known.
    seed : int

    Raises
    ------
    MechidError
        If the geometry is not rational, or the coefficients are not found.
    """
    problem = exact_problem(mechanism, gravity)
    _refuse_roots(problem)
    names = problem.names
    order = [names.index(n) for n in base_first]
    order += [j for j in range(len(names)) if j not in set(order)]
    primes: list[int] = []
    images: list[Ints] = []
    base: list[int] | None = None
    for system in problem.systems():
        rows = field_rows(problem, system, seed, enough)[0][:, order]
        reduced, pivots = echelon(rows, system.p)
        if base is None or len(pivots) > len(base) or (len(pivots) == len(base) and pivots < base):
            base, primes, images = pivots, [], []  # all fields before were unlucky ones
        if pivots != base:
            continue
        primes.append(system.p)
        images.append(np.delete(reduced, pivots, axis=1))
        found = _reconstructed(images, primes)
        if found is not None:
            return _record(problem, order, base, found, primes)
        if len(primes) == _PRIMES:
            break
    raise MechidError(
        f"the coefficients have no rational form with less than {15 * _PRIMES} bits",
        where=f"exact base parameters of {mechanism.name}",
        remedy="use floats",
    )


def _reconstructed(images: list[Ints], primes: list[int]) -> list[list[Fraction]] | None:
    """Return rationals that all fields but the last give, if the last one agrees."""
    if len(primes) < 2:
        return None
    check = primes[-1]
    out = []
    for i in range(images[0].shape[0]):
        row = []
        for j in range(images[0].shape[1]):
            residues = [int(image[i, j]) for image in images]
            if not any(residues):
                row.append(Fraction(0))
                continue
            x = rational(*chinese(residues[:-1], primes[:-1]))
            if x is None or x.denominator % check == 0:
                return None
            if (x.numerator - x.denominator * residues[-1]) % check:
                return None
            row.append(x)
        out.append(row)
    return out


def _record(
    problem: FieldProblem,
    order: list[int],
    base: list[int],
    beta: list[list[Fraction]],
    primes: list[int],
) -> FieldRegrouping:
    names = [problem.names[j] for j in order]
    dependent = [n for j, n in enumerate(names) if j not in set(base)]
    chosen = [names[j] for j in base]
    return FieldRegrouping(
        base=tuple(chosen),
        dependent=tuple(dependent),
        beta={
            (b, d): x
            for b, row in zip(chosen, beta, strict=True)
            for d, x in zip(dependent, row, strict=True)
            if x
        },
        primes=tuple(primes),
        turned=problem.start.turned,
    )


def _refuse_roots(problem: FieldProblem) -> None:
    values = problem.start.values
    for x in problem.start.numbers():
        if not isinstance(sp.sympify(x).subs(values), sp.Rational):
            raise MechidError(
                f"{x} is not rational",
                where=f"exact base parameters of {problem.start.mechanism.name}",
                remedy="use floats",
            )
