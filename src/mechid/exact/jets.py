"""Curves on the variety of closed poses, as power series over a prime field.

A body has twelve numbers, its origin and its rotation matrix; joints and orthonormality are
bilinear equations in them, F(x) = 0. From a closed pose x₀ with a Jacobian of full rank, a curve
x(t) through it follows coefficient by coefficient, with n_i random linear functions of x given as
series:

    J(x₀) x_k = -[tᵏ] F(x₀ + … + x_{k-1} tᵏ⁻¹),    and likewise for tangents, J(x(t)) V(t) = 0.

Such a curve stays on the branch of x₀, and is as good as a generic point of it: there is nothing
to solve but linear equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mechid.errors import MechidError
from mechid.exact.modular import Ints, echelon, inverse, product

Form: TypeAlias = dict[int, int]  # variable → coefficient
PER_BODY = 12


def multiply(a: Ints, b: Ints, p: int) -> Ints:
    """Return the product of series, coefficients along the last axis."""
    n = a.shape[-1]
    out = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.int64)
    for i in range(n):
        out[..., i:] = (out[..., i:] + a[..., i : i + 1] * b[..., : n - i]) % p
    return out


@dataclass(frozen=True, eq=False)
class Bilinear:
    """Equations Σ c x_a x_b, terms sorted by row; `one` is the number of the constant 1."""

    rows: Ints
    a: Ints
    b: Ints
    c: Ints
    count: int

    @classmethod
    def of(cls, products: Sequence[Sequence[tuple[Form, Form]]], p: int) -> Bilinear:
        """Write sums of products of linear forms as one list of terms."""
        terms: list[tuple[int, int, int, int]] = []
        for row, pairs in enumerate(products):
            found: dict[tuple[int, int], int] = {}
            for u, w in pairs:
                for i, x in u.items():
                    for j, y in w.items():
                        key = (min(i, j), max(i, j))
                        found[key] = (found.get(key, 0) + x * y) % p
            terms += [(row, i, j, c) for (i, j), c in found.items() if c]
        table = np.array(terms, dtype=np.int64).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1], table[:, 2], table[:, 3], len(products))

    def total(self, terms: Ints, p: int) -> Ints:
        """Add up terms by row; the first axis counts terms."""
        weight = self.c.reshape(-1, *([1] * (terms.ndim - 1)))
        out = np.zeros((self.count, *terms.shape[1:]), dtype=np.int64)
        np.add.at(out, self.rows, terms * weight % p)
        return out % p

    def closed(self, x0: Ints, p: int) -> bool:
        """Return whether all rows vanish at a point."""
        return not self.total(x0[self.a] * x0[self.b] % p, p).any()

    def values(self, x: Ints, p: int) -> Ints:
        """Return the series of all rows."""
        return self.total(multiply(x[self.a], x[self.b], p), p)

    def along(self, x: Ints, v: Ints, p: int) -> Ints:
        """Return the series of the derivatives along tangents v (variables, k, T)."""
        X = x[:, None, :]
        terms = multiply(X[self.a], v[self.b], p) + multiply(X[self.b], v[self.a], p)
        return self.total(terms % p, p)

    def jacobian(self, x0: Ints, p: int) -> Ints:
        """Return the Jacobian at a point, (rows, variables)."""
        J = np.zeros((self.count, len(x0)), dtype=np.int64)
        np.add.at(J, (self.rows, self.a), self.c * x0[self.b] % p)
        np.add.at(J, (self.rows, self.b), self.c * x0[self.a] % p)
        return J % p


@dataclass(frozen=True, eq=False)
class Curve:
    """x (variables, T) and tangents V (variables, k, T)."""

    x: Ints
    V: Ints


def unknowns(n_bodies: int) -> int:
    """Return the number of unknown variables: those of the bodies come first."""
    return PER_BODY * n_bodies


@dataclass(frozen=True, eq=False)
class Point:
    """A smooth point of the variety F = 0, from which curves start.

    Attributes
    ----------
    F : Bilinear
    x0 : array
        All variables; the first n are unknown, the others constant.
    J : array (rows, n)
        Jacobian.
    chosen : list of int
        Rows of J that are independent.
    back : array (n, n)
        Inverse of these rows with random ones below, which stand for the free motions.
    p : int
        The prime.
    """

    F: Bilinear
    x0: Ints
    J: Ints
    chosen: list[int]
    back: Ints
    p: int

    @property
    def dimension(self) -> int:
        """Number of free motions."""
        return len(self.back) - len(self.chosen)


def closed_point(F: Bilinear, x0: Ints, n: int, rng: np.random.Generator, p: int) -> Point:
    """Prepare a point for curves; reject one that is not closed."""
    if not F.closed(x0, p):
        raise MechidError("the reference pose is not closed in exact numbers", where="exact rank")
    J = F.jacobian(x0, p)[:, :n]
    chosen = echelon(J.T, p)[1]  # the first rows of full rank
    given = rng.integers(0, p, (n - len(chosen), n))
    return Point(F, x0, J, chosen, inverse(np.vstack([J[chosen], given]), p), p)


def lift(point: Point, order: int, tangents: int, rng: np.random.Generator) -> Curve:
    """Return a random curve through a point and random tangents along it.

    Parameters
    ----------
    point : Point
    order : int
        Number T of coefficients.
    tangents : int
        How many, at most the dimension of the variety.
    rng : Generator

    Raises
    ------
    MechidError
        If the variety is not smooth there: rows that seem redundant are not.
    """
    F, J, chosen, back, p = point.F, point.J, point.chosen, point.back, point.p
    n, free = len(back), point.dimension
    weights = rng.integers(0, p, (free, tangents))
    if tangents >= free:
        weights = np.eye(free, dtype=np.int64)
    x = np.zeros((len(point.x0), order), dtype=np.int64)
    x[:, 0] = point.x0
    V = np.zeros((len(point.x0), weights.shape[1], order), dtype=np.int64)
    V[:n, :, 0] = product(back[:, len(chosen) :], weights, p)
    for k in range(1, order):
        bent = _inner(F, x, k, p)
        right = np.concatenate([-bent[chosen] % p, rng.integers(0, p, free)])
        x[:n, k] = product(back, right[:, None], p)[:, 0]
        if ((bent + product(J, x[:n, k : k + 1], p)[:, 0]) % p).any():
            raise MechidError(
                "constraints that look redundant in the reference pose are not: it is singular",
                where="exact rank",
                remedy="give another reference pose, or use ball arithmetic",
            )
        moved = np.zeros((len(F.rows), V.shape[1]), dtype=np.int64)
        for i in range(1, k + 1):
            xa, xb = x[F.a, i][:, None], x[F.b, i][:, None]
            moved = (moved + xa * V[F.b, :, k - i] % p + xb * V[F.a, :, k - i]) % p
        V[:n, :, k] = -product(back[:, : len(chosen)], F.total(moved, p)[chosen], p) % p
    return Curve(x, V)


def _inner(F: Bilinear, x: Ints, k: int, p: int) -> Ints:
    """Return coefficient k of F with x_k still zero."""
    if k == 1:
        return np.zeros(F.count, dtype=np.int64)
    products = x[F.a, 1:k] * x[F.b, k - 1 : 0 : -1] % p
    return F.total(products.sum(axis=1) % p, p)
