"""Curves on the variety of closed poses, as power series over a prime field.

A body has twelve numbers, its origin and its rotation matrix; joints and orthonormality are
bilinear equations in them, F(x) = 0. Angles occur in couplings and threads, which say that rates of
displacements and of angles, with factors, add up to zero. The rate of an angle with cosine c and
sine s is c ds - s dc: again bilinear. So all equations together are A(x) dx = 0, where A is linear
in x. From a closed pose x₀ with A(x₀) of full rank, a curve x(t) through it follows coefficient by
coefficient, with n_i random linear functions of x given as series:

    k A(x₀) x_k = -[tᵏ⁻¹] A(x) (x₁ + … + (k - 1) x_{k-1} tᵏ⁻²),    and likewise for tangents,
    A(x(t)) V(t) = 0.

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
    """Sums of terms c x_a x_b, or of terms c x_a dx_b; `rows` says to which sum a term belongs."""

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
                        found[i, j] = (found.get((i, j), 0) + x * y) % p
            terms += [(row, i, j, c) for (i, j), c in found.items() if c]
        table = np.array(terms, dtype=np.int64).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1], table[:, 2], table[:, 3], len(products))

    @property
    def rates(self) -> Bilinear:
        """Terms x_a dx_b of the derivatives of these sums."""
        a, b = np.concatenate([self.a, self.b]), np.concatenate([self.b, self.a])
        return Bilinear(np.tile(self.rows, 2), a, b, np.tile(self.c, 2), self.count)

    def beside(self, other: Bilinear) -> Bilinear:
        """Return these sums and others."""
        rows = np.concatenate([self.rows, self.count + other.rows])
        a, b, c = (np.concatenate(t) for t in zip((self.a, self.b, self.c),
                   (other.a, other.b, other.c), strict=True))  # fmt: skip
        return Bilinear(rows, a, b, c, self.count + other.count)

    def total(self, terms: Ints, p: int) -> Ints:
        """Add up terms by row; the first axis counts terms."""
        weight = self.c.reshape(-1, *([1] * (terms.ndim - 1)))
        out = np.zeros((self.count, *terms.shape[1:]), dtype=np.int64)
        np.add.at(out, self.rows, terms * weight % p)
        return out % p

    def closed(self, x0: Ints, p: int) -> bool:
        """Return whether all products vanish at a point."""
        return not self.total(x0[self.a] * x0[self.b] % p, p).any()

    def values(self, x: Ints, p: int) -> Ints:
        """Return the series of all products."""
        return self.total(multiply(x[self.a], x[self.b], p), p)

    def along(self, x: Ints, v: Ints, p: int) -> Ints:
        """Return the series of all rates along tangents v (variables, k, T)."""
        return self.total(multiply(x[self.a][:, None], v[self.b], p), p)

    def matrix(self, x0: Ints, p: int) -> Ints:
        """Return what multiplies the rates at a point, (rows, variables)."""
        A = np.zeros((self.count, len(x0)), dtype=np.int64)
        np.add.at(A, (self.rows, self.b), self.c * x0[self.a] % p)
        return A % p


@dataclass(frozen=True, eq=False)
class Point:
    """A smooth point of the variety, from which curves start.

    Attributes
    ----------
    rates : Bilinear
        All equations, A(x) dx = 0.
    x0 : array
        All variables; the first n are unknown, the others constant.
    A : array (rows, n)
        At the point.
    chosen : list of int
        Rows of A that are independent.
    back : array (n, n)
        Inverse of these rows with random ones below, which stand for the free motions.
    p : int
        The prime.
    """

    rates: Bilinear
    x0: Ints
    A: Ints
    chosen: list[int]
    back: Ints
    p: int

    @property
    def dimension(self) -> int:
        """Number of free motions."""
        return len(self.back) - len(self.chosen)


def closed_point(
    F: Bilinear, rates: Bilinear, x0: Ints, n: int, rng: np.random.Generator, p: int
) -> Point:
    """Prepare a point for curves; reject one that is not closed, F(x₀) ≠ 0."""
    if not F.closed(x0, p):
        raise MechidError("the reference pose is not closed in exact numbers", where="exact rank")
    A = rates.matrix(x0, p)[:, :n]
    chosen = echelon(A.T, p)[1]  # the first rows of full rank
    given = rng.integers(0, p, (n - len(chosen), n))
    return Point(rates, x0, A, chosen, inverse(np.vstack([A[chosen], given]), p), p)


def lift(point: Point, order: int, rng: np.random.Generator) -> Ints:
    """Return a random curve through a point, (variables, T).

    Parameters
    ----------
    point : Point
    order : int
        Number T of coefficients.
    rng : Generator

    Raises
    ------
    MechidError
        If the variety is not smooth there: rows that seem redundant are not.
    """
    F, chosen, p = point.rates, point.chosen, point.p
    n = len(point.back)
    x = np.zeros((len(point.x0), order), dtype=np.int64)
    x[:, 0] = point.x0
    for k in range(1, order):
        bent = _inner(F, x, k, p)
        right = np.concatenate([-bent[chosen] % p, rng.integers(0, p, point.dimension)])
        x[:n, k] = product(point.back, right[:, None], p)[:, 0]
        if ((bent + product(point.A, x[:n, k : k + 1], p)[:, 0]) % p).any():
            raise MechidError(
                "constraints that look redundant in the reference pose are not: it is singular",
                where="exact rank",
                remedy="give another reference pose, or use ball arithmetic",
            )
    return x


def tangents(point: Point, x: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Return random tangents along a curve, (variables, k, T), k = `count` if so many differ."""
    F, chosen, back, p = point.rates, point.chosen, point.back, point.p
    n, free = len(back), point.dimension
    weights = rng.integers(0, p, (free, count))
    if count >= free:
        weights = np.eye(free, dtype=np.int64)
    V = np.zeros((len(x), weights.shape[1], x.shape[1]), dtype=np.int64)
    V[:n, :, 0] = product(back[:, len(chosen) :], weights, p)
    for k in range(1, x.shape[1]):
        moved = np.zeros((len(F.rows), V.shape[1]), dtype=np.int64)
        for i in range(1, k + 1):
            moved = (moved + x[F.a, i][:, None] * V[F.b, :, k - i]) % p
        V[:n, :, k] = -product(back[:, : len(chosen)], F.total(moved, p)[chosen], p) % p
    return V


def slope(x: Ints, p: int) -> Ints:
    """Return the derivative of series; the last coefficient is left at zero."""
    out = np.zeros_like(x)
    out[..., :-1] = x[..., 1:] * np.arange(1, x.shape[-1]) % p
    return out


def integral(x: Ints, p: int) -> Ints:
    """Return the series that have these as derivative and start at zero."""
    out = np.zeros_like(x)
    over = [pow(k, -1, p) for k in range(1, x.shape[-1])]
    out[..., 1:] = x[..., :-1] * np.array(over, dtype=np.int64) % p
    return out


def _inner(F: Bilinear, x: Ints, k: int, p: int) -> Ints:
    """Return coefficient k - 1 of A(x) dx/dt with x_k still zero, divided by k."""
    if k == 1:
        return np.zeros(F.count, dtype=np.int64)
    rate = x[:, 1:k] * np.arange(1, k) % p
    products = x[F.a, k - 1 : 0 : -1] * rate[F.b] % p
    return F.total(products.sum(axis=1) % p, p) * pow(k, -1, p) % p
