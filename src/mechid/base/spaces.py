"""Small linear algebra over balls: reduced bases, intersections. Rows are lists of `arb`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from flint import arb

Row: TypeAlias = list[arb]


def size(x: arb) -> float:
    """Return |x| as a float (the midpoint's)."""
    return abs(float(x.mid()))


def reduced(rows: Sequence[Row], tolerance: float) -> list[Row]:
    """Return the reduced row echelon form, without rows that vanish to the tolerance."""
    return _eliminate(rows, tolerance)[0]


def left_null(rows: Sequence[Row], tolerance: float) -> list[Row]:
    """Return a basis of all x with x · rows = 0."""
    n = len(rows)
    if not n:
        return []
    width = len(rows[0])
    extended = [[*row, *(arb(int(i == j)) for j in range(n))] for i, row in enumerate(rows)]
    left = _eliminate(extended, tolerance, width)[1]
    return [row[width:] for row in left]


def rank(rows: Sequence[Row], tolerance: float) -> int:
    """Return the number of independent rows."""
    return len(reduced(rows, tolerance))


def contains(basis: Sequence[Row], row: Row, tolerance: float) -> bool:
    """Return whether a row lies in the span of a basis in reduced form."""
    left = list(row)
    for b in basis:
        pivot = next(k for k, x in enumerate(b) if size(x) > tolerance)
        factor = left[pivot] / b[pivot]
        left = [x - factor * y for x, y in zip(left, b, strict=True)]
    return all(size(x) <= tolerance for x in left)


def _eliminate(
    rows: Sequence[Row], tolerance: float, width: int | None = None
) -> tuple[list[Row], list[Row]]:
    """Gauss-Jordan with the largest pivot of each column; also returns the rows left over."""
    left = [list(row) for row in rows]
    done: list[Row] = []
    for k in range(width if width is not None else (len(left[0]) if left else 0)):
        if not left:
            break
        best = max(range(len(left)), key=lambda i: size(left[i][k]))
        if size(left[best][k]) <= tolerance:
            continue
        pivot = left.pop(best)
        head = pivot[k]
        pivot = [x / head for x in pivot]
        left = [_minus(row, row[k], pivot) for row in left]
        done = [_minus(row, row[k], pivot) for row in done]
        done.append(pivot)
    return done, left


def _minus(row: Row, factor: arb, pivot: Row) -> Row:
    if factor == 0:
        return row
    return [x - factor * y for x, y in zip(row, pivot, strict=True)]
