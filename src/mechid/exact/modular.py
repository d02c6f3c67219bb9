"""Linear algebra modulo a prime below 2³¹, on arrays of 64-bit integers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import nmod_mat

from mechid.errors import MechidError

Ints: TypeAlias = npt.NDArray[np.int64]


def echelon(A: Ints, p: int) -> tuple[Ints, list[int]]:
    """Return the reduced row echelon form without rows of zeros, and the pivot columns."""
    m, n = A.shape
    reduced, rank = nmod_mat(m, n, A.ravel().tolist(), p).rref()
    rows = np.array([int(t) for t in reduced.entries()[: rank * n]], dtype=np.int64)
    rows = rows.reshape(rank, n)
    return rows, [int(np.argmax(row != 0)) for row in rows]


def inverse(A: Ints, p: int) -> Ints:
    """Return the inverse of a square matrix."""
    n = len(A)
    try:
        found = nmod_mat(n, n, A.ravel().tolist(), p).inv()
    except ZeroDivisionError as error:
        raise MechidError("a matrix has no inverse", where=f"modulo {p}") from error
    return np.array([int(t) for t in found.entries()], dtype=np.int64).reshape(n, n)


def product(A: Ints, B: Ints, p: int) -> Ints:
    """Return A B, without overflow: A is split into two halves of 16 bits."""
    high, low = A >> 16, A & 0xFFFF
    # 2¹⁶ · 2³¹ · 2¹⁵ columns still fit into 63 bits.
    return np.asarray(((high @ B % p) * (1 << 16) % p + low @ B % p) % p)
