"""Which parameters can be dependent together: independent rows of the null space N.

A set of parameters can be expressed by the others exactly if its rows of N are independent. The
question is asked of an orthonormal basis of the span of N with lengths in units of L, block by
block (bodies that exchange nothing stand in different blocks), and of rows of unit length, so that
one tolerance fits all.

Parameters of massless bodies are zero. They are no unknowns, so only the vectors of the span of N
that leave them zero count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mechid.base.nullspace import RANK_TOLERANCE, NullSpace
from mechid.dynamics.columns import Column
from mechid.kinematics.tables import Floats
from mechid.mechanism.size import characteristic_size

# Of a row of unit length: what rounding leaves of dependent rows is far below, lengths of a
# thousandth of L keep second moments far above.
INDEPENDENT = 1e-8
_LENGTHS = {"kg": 0, "kg m": 1, "kg m²": 2}


@dataclass(frozen=True, eq=False)
class Block:
    """Parameters that exchange inertia with each other only.

    Attributes
    ----------
    names : tuple of str
    rows : array (n, r)
        One row of unit length (or of zeros) per parameter; r is the rank.
    scale : array (n,)
        Rows of N were multiplied by these, to be free of units.
    """

    names: tuple[str, ...]
    rows: Floats
    scale: Floats

    @property
    def rank(self) -> int:
        """Number of dependent parameters of this block."""
        return int(self.rows.shape[1])


@dataclass(frozen=True, eq=False)
class Matroid:
    """The blocks of a null space; parameters in no block exchange nothing.

    Attributes
    ----------
    names : tuple of str
        All parameters that are not known to be zero, in the order of the observation matrix.
    blocks : tuple of Block
    """

    names: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def rank(self) -> int:
        """Number of dependent parameters, those without effect included."""
        return sum(block.rank for block in self.blocks)


def matroid(null_space: NullSpace, keep_zeros: bool = False) -> Matroid:
    """Return the rows of N in blocks, without parameters that are zero (unless they are kept)."""
    names = null_space.names
    zeros = frozenset() if keep_zeros else null_space.zeros
    scale = scales(null_space)
    N = null_space.matrix * scale[:, None]
    lengths = np.linalg.norm(N, axis=0)
    N = N / np.where(lengths > 0, lengths, 1.0)
    blocks = []
    for rows, columns in _connected(N):
        Q = _basis(N[np.ix_(rows, columns)])
        zero = np.array([names[i] in zeros for i in rows])
        if zero.any():
            Q = Q[~zero] @ _null(Q[zero])
        kept = [i for i, z in zip(rows, zero, strict=True) if not z]
        if kept and Q.shape[1]:
            unit = _unit(_basis(Q))
            blocks.append(Block(tuple(names[i] for i in kept), unit, scale[kept]))
    free = tuple(name for name in names if name not in zeros)
    return Matroid(free, tuple(blocks))


def scales(null_space: NullSpace) -> Floats:
    """Return factors that make the rows of N free of units of length."""
    L = characteristic_size(null_space.geometry.mechanism)
    return np.array([_scale(column, L) for column in null_space.columns])


def _scale(column: Column, L: float) -> float:
    return float(L ** -_LENGTHS.get(column.unit, 0))


class Growing:
    """Independent rows of a block, orthonormal, that grow one by one."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self._basis = np.zeros((0, rank))

    @property
    def complete(self) -> bool:
        """Whether no further row can be independent."""
        return len(self._basis) == self.rank

    def left(self, row: Floats) -> Floats:
        """Return the part of a row that the rows so far do not explain."""
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            row = row - self._basis.T @ (self._basis @ row)
        return row

    def add(self, row: Floats) -> bool:
        """Add a row if it is independent; return whether it was."""
        if self.complete:
            return False
        left = self.left(row)
        length = float(np.linalg.norm(left))
        if length < INDEPENDENT:
            return False
        self._basis = np.vstack([self._basis, left / length])
        return True


def greedy(matroid: Matroid, order: Iterable[str]) -> tuple[str, ...]:
    """Return the dependent parameters that an order of preference leads to.

    A parameter becomes dependent if it still can when its turn comes. Parameters that the order
    does not name come last, as they stand.
    """
    place = {name: k for k, name in enumerate(dict.fromkeys([*order, *matroid.names]))}
    chosen: list[str] = []
    for block in matroid.blocks:
        growing = Growing(block.rank)
        for i in sorted(range(len(block.names)), key=lambda i: place[block.names[i]]):
            if growing.add(block.rows[i]):
                chosen.append(block.names[i])
    at = {name: k for k, name in enumerate(matroid.names)}
    return tuple(sorted(chosen, key=at.__getitem__))


def without_effect(matroid: Matroid) -> set[str]:
    """Return the parameters that every choice has to hold: nothing replaces their rows."""
    found = set()
    for block in matroid.blocks:
        # With orthonormal columns the length of a row is one exactly if it stands alone.
        Q, _ = np.linalg.qr(block.rows)
        outside = np.linalg.norm(np.eye(len(Q)) - Q @ Q.T, axis=1)
        found |= {n for n, x in zip(block.names, outside, strict=True) if x < INDEPENDENT}
    return found


def independent_zeros(null_space: NullSpace) -> tuple[str, ...]:
    """Return parameters of massless bodies whose rows of N are independent, and span the others."""
    if not null_space.zeros:
        return ()
    first = [name for name in null_space.names if name in null_space.zeros]
    chosen = greedy(matroid(null_space, keep_zeros=True), first)
    return tuple(name for name in chosen if name in null_space.zeros)


def independent_columns(null_space: NullSpace) -> tuple[int, ...]:
    """Return numbers of independent transfers, those with few entries first."""
    N = null_space.matrix * scales(null_space)[:, None]
    lengths = np.linalg.norm(N, axis=0)
    entries = [sum(x.count_ops() + 1 for _, x in t.entries) for t in null_space.transfers]
    chosen: list[int] = []
    for rows, columns in _connected(N):
        growing = Growing(len(rows))
        for k in sorted(columns, key=lambda k: (entries[k], k)):
            if growing.add(N[rows, k] / lengths[k]):
                chosen.append(k)
    return tuple(sorted(chosen))


def circuit(block: Block, names: Sequence[str], name: str) -> dict[str, float]:
    """Return the relation by which a row follows from others: row(name) = Σ c_k row(k)."""
    at = {n: k for k, n in enumerate(block.names)}
    A = block.rows[[at[n] for n in names]].T
    c = np.linalg.lstsq(A, block.rows[at[name]], rcond=None)[0]
    return {n: float(x) for n, x in zip(names, c, strict=True) if abs(x) > INDEPENDENT}


def _connected(N: Floats) -> list[tuple[list[int], list[int]]]:
    """Return rows and columns of the connected parts of a matrix."""
    label = list(range(N.shape[0]))

    def root(i: int) -> int:
        while label[i] != i:
            label[i] = label[label[i]]
            i = label[i]
        return i

    used = [np.flatnonzero(N[:, k]) for k in range(N.shape[1])]
    for rows in used:
        for i in rows[1:]:
            label[root(int(i))] = root(int(rows[0]))
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for i in np.flatnonzero(np.any(N != 0, axis=1)):
        parts.setdefault(root(int(i)), ([], []))[0].append(int(i))
    for k, rows in enumerate(used):
        if len(rows):
            parts[root(int(rows[0]))][1].append(k)
    return list(parts.values())


def _basis(A: Floats) -> Floats:
    """Return an orthonormal basis of the columns."""
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, : int(np.sum(s > RANK_TOLERANCE * s[0]))])


def _null(A: Floats) -> Floats:
    _, s, Vt = np.linalg.svd(A)
    return np.asarray(Vt[int(np.sum(s > RANK_TOLERANCE)) :].T)


def _unit(Q: Floats) -> Floats:
    lengths = np.linalg.norm(Q, axis=1, keepdims=True)
    return np.where(lengths > INDEPENDENT, Q / np.where(lengths > 0, lengths, 1.0), 0.0)
