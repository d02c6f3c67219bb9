"""Pivoted triangular factorisation of W in multiprecision.

WᵀW = P Rᵀ R Pᵀ by Cholesky's method with pivoting is the R of W P = Q R with pivoting. It squares
the range of the numbers, which costs digits: with hundreds of bits there are enough, and a matrix
of p × p instead of M × p numbers is left to work on. The arithmetic is `arb`'s, of which only the
mid-points count here; nothing is proved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat

from mechid.kinematics.tables import Floats


@dataclass(frozen=True, eq=False)
class Factors:
    """The rows of R as far as pivots are positive, columns in the order of `order`."""

    R: np.ndarray
    order: tuple[int, ...]
    diagonal: Floats


def factorise(W: arb_mat) -> Factors:
    """Factorise a matrix whose columns are of about equal length, at the context's precision."""
    gram = W.transpose() * W
    p = W.ncols()
    A = np.array([x.mid() for x in gram.entries()], dtype=object).reshape(p, p)
    order = np.arange(p)
    R = np.full((p, p), arb(0), dtype=object)
    diagonal = []
    for k in range(p):
        j = k + int(np.argmax([float(A[i, i].mid()) for i in range(k, p)]))
        for M in (A, R):
            M[:, [k, j]] = M[:, [j, k]]
        A[[k, j]] = A[[j, k]]
        order[[k, j]] = order[[j, k]]
        pivot = A[k, k].mid()
        if not pivot > 0:
            break
        root = pivot.sqrt().mid()
        row = np.array([x.mid() for x in A[k, k + 1 :] / root], dtype=object)
        R[k, k], R[k, k + 1 :] = root, row
        diagonal.append(float(root))
        live = np.flatnonzero([x != 0 for x in row])
        if len(live):
            block = np.ix_(k + 1 + live, k + 1 + live)
            A[block] = _mid(A[block] - np.outer(row[live], row[live]))
    n = len(diagonal)
    return Factors(R[:n], tuple(int(i) for i in order), np.array(diagonal))


def null_basis(factors: Factors, rank: int) -> Floats:
    """Return Z (p, p - rank) with W Z = 0 to the precision of the rank, rounded to floats.

    With R = (R1 R2) of the given rank, Z = (-R1⁻¹ R2; 1) in the order of the pivots.
    """
    p = len(factors.order)
    Z = np.zeros((p, p - rank))
    Z[list(factors.order[rank:])] = np.eye(p - rank)
    if 0 < rank < p:
        R1 = arb_mat([list(row[:rank]) for row in factors.R[:rank]])
        R2 = arb_mat([list(row[rank:]) for row in factors.R[:rank]])
        X = R1.solve(R2, algorithm="approx").entries()
        values = np.array([float(x.mid()) for x in X]).reshape(rank, p - rank)
        Z[list(factors.order[:rank])] = -values
    return Z


def _mid(A: np.ndarray) -> np.ndarray:
    return np.array([x.mid() for x in A.ravel()], dtype=object).reshape(A.shape)
