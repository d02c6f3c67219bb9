"""Rules that compare choices: the best conditioned on a motion, few terms, moderate factors.

A base parameter i and a dependent one j can change places if β_ij is not zero; then β changes by
one pivot of a Gauss elimination. All rules start from a valid choice and exchange as long as that
helps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mechid.base.baseset import BaseSet, base_set
from mechid.base.choose import in_order
from mechid.base.matroid import matroid, scales
from mechid.base.nullspace import NullSpace
from mechid.errors import MechidError
from mechid.kinematics.tables import Floats

Bools: TypeAlias = npt.NDArray[np.bool_]

_GAIN = 1.05  # an exchange must enlarge the volume of W_b by this factor
_ZERO = 1e-9  # of β without units; smaller entries are what rounding left
_BEST_FIRST = 8  # starts of the search for few terms
_MODERATE = 3.0  # factors between bodies up to this size are as good as one
_PER_DECADE = 4.0  # terms that a factor ten times as large is worth
_LARGE = 10.0  # a larger factor between bodies is avoided

# Of |β| without units, and whether both parameters belong to bodies; both (n, m).
Cost: TypeAlias = Callable[[Floats, Bools], Floats]


@dataclass(frozen=True, eq=False)
class Tableau:
    """β of a choice, with rows and columns scaled so that entries compare.

    Attributes
    ----------
    base, dependent : tuples of str
    beta : array (n_base, n_dependent)
        Scaled: β_ij times scale_i / scale_j.
    """

    base: tuple[str, ...]
    dependent: tuple[str, ...]
    beta: Floats

    def exchanged(self, i: int, j: int) -> Tableau:
        """Return the choice in which base parameter i and dependent parameter j change places."""
        base, dependent = list(self.base), list(self.dependent)
        base[i], dependent[j] = dependent[j], base[i]
        return Tableau(tuple(base), tuple(dependent), _pivot(self.beta, i, j))

    def among(self, names: Collection[str]) -> tuple[Bools, Bools]:
        """Return which base and which dependent parameters are among some."""
        base, dependent = ([x in names for x in group] for group in (self.base, self.dependent))
        return np.array(base, dtype=bool), np.array(dependent, dtype=bool)

    def part(self, names: Collection[str]) -> Tableau:
        """Return the rows and columns of some parameters."""
        rows, columns = (np.flatnonzero(chosen) for chosen in self.among(names))
        return Tableau(
            tuple(self.base[i] for i in rows),
            tuple(self.dependent[j] for j in columns),
            self.beta[np.ix_(rows, columns)],
        )


def tableau(chosen: BaseSet, scale: dict[str, float]) -> Tableau:
    """Return β between parameters divided by their scales."""
    rows = np.array([scale[name] for name in chosen.base])
    columns = np.array([scale[name] for name in chosen.dependent])
    beta = chosen.beta * rows[:, None] / columns[None, :]
    return Tableau(chosen.base, chosen.dependent, beta)


def best_conditioned(null_space: NullSpace, W: Floats) -> tuple[str, ...]:
    """Return a choice whose observation matrix is well conditioned on a motion.

    The columns of W_b, scaled to unit length, are made to span a large volume: exchanging i and j
    multiplies it by |β_ij| ‖W_i‖ / ‖W_j‖. When no exchange enlarges it any more, by a factor f, the
    smallest singular value of W_b is at least that of all columns together divided by
    √(1 + f² r (p - r)), as in a strong rank-revealing QR factorisation (Gu and Eisenstat 1996). W
    needs no numerical rank for this, only the lengths of its columns.

    Parameters
    ----------
    null_space : NullSpace
    W : array (…, p)
        Observation matrix; rows are stacked. Divide rows by the noise of their force beforehand.
    """
    stacked = _stacked(null_space, W)
    lengths = np.linalg.norm(stacked, axis=0)
    names = null_space.names
    # Columns of pure rounding noise belong to parameters without effect, which never come here.
    scale = {n: float(x) if x > 0 else 1.0 for n, x in zip(names, lengths, strict=True)}
    # Long columns first into the base, short ones become dependent.
    start = base_set(null_space, in_order(null_space, sorted(names, key=scale.__getitem__)))
    found = tableau(start, scale)
    while found.beta.size:
        i, j = np.unravel_index(int(np.argmax(np.abs(found.beta))), found.beta.shape)
        if abs(found.beta[i, j]) < _GAIN:
            break
        found = found.exchanged(int(i), int(j))
    return _in_order(null_space, found.dependent)


def most_readable(null_space: NullSpace, seed: int = 0) -> tuple[str, ...]:
    """Return a choice whose base parameters hold few terms.

    The first, the last and some random choices are improved by exchanges until none makes fewer
    terms; the best of them is returned. There may be better ones.
    """
    rng = np.random.default_rng(seed)
    names = null_space.names
    orders = [rng.permutation(names).tolist() for _ in range(_BEST_FIRST - 2)]
    found = [
        _cheapest(*_start(null_space, order), lambda x, _: np.sign(x))
        for order in (names, names[::-1], *orders)
    ]
    best, _ = min(found, key=lambda pair: pair[1])
    return _in_order(null_space, best.dependent)


def balanced(null_space: NullSpace) -> tuple[str, ...]:
    """Return the last parameters that can be dependent, but others where factors would be large.

    With lengths in units of L, factors between parameters of bodies are usually about one. A factor
    far above stems from a short length by which much is divided: the base parameter would be a
    difference of large numbers. In a part of the mechanism with a factor above 10, parameters are
    exchanged as long as that saves terms, where a factor above 3 costs as much as four terms per
    power of ten. Factors of force elements are what they are, as the square of a gear ratio.
    """
    whole, bodies = _start(null_space, null_space.names[::-1])

    def cost(x: Floats, inside: Bools) -> Floats:
        excess = np.log10(np.maximum(x, _MODERATE) / _MODERATE)
        return np.where(x > 0, 1.0 + _PER_DECADE * inside * excess, 0.0)

    dependent: list[str] = []
    for block in matroid(null_space).blocks:
        part = whole.part(block.names)
        sizes = _sizes(part.beta) * np.outer(*part.among(bodies))
        if np.max(sizes, initial=0.0) > _LARGE:
            part, _ = _cheapest(part, bodies, cost)
        dependent += part.dependent
    return _in_order(null_space, dependent)


def condition_number(chosen: BaseSet, W: Floats) -> float:
    """Return the condition number of W_b with columns of unit length.

    In double precision values above about 1e16 cannot be distinguished.
    """
    Wb = chosen.observation(_stacked(chosen.null_space, W))
    lengths = np.linalg.norm(Wb, axis=0)
    s = np.linalg.svd(Wb / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0 else float("inf")


def _start(null_space: NullSpace, order: Sequence[str]) -> tuple[Tableau, set[str]]:
    """Return the choice by an order of preference, and the parameters of bodies."""
    scale = dict(zip(null_space.names, scales(null_space).tolist(), strict=True))
    bodies = set(null_space.names[: 10 * len(null_space.geometry.mechanism.bodies)])
    return tableau(base_set(null_space, in_order(null_space, order)), scale), bodies


def _cheapest(found: Tableau, bodies: set[str], cost: Cost) -> tuple[Tableau, float]:
    """Exchange as long as that lowers the cost; return the choice and its cost."""
    gains = np.full(found.beta.shape, -np.inf)
    touched = np.abs(found.beta) > _ZERO
    while True:
        base, dependent = found.among(bodies)
        for i, j in np.argwhere(touched):
            gains[i, j] = _gain(found.beta, base, dependent, cost, int(i), int(j))
        if np.max(gains, initial=0.0) <= _ZERO:
            return found, float(np.sum(cost(_sizes(found.beta), np.outer(base, dependent))))
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(gains)), gains.shape))
        # The gain of an exchange changes only if it shares rows and columns with this one.
        before = found.beta != 0
        found = found.exchanged(i, j)
        after = before | (found.beta != 0)
        touched = np.outer(np.any(after[:, after[i]], axis=1), np.any(after[after[:, j]], axis=0))
        candidates = np.abs(found.beta) > _ZERO
        gains[touched | ~candidates] = -np.inf
        touched &= candidates


def _gain(beta: Floats, base: Bools, dependent: Bools, cost: Cost, i: int, j: int) -> float:
    """Return by how much an exchange lowers the cost: what a pivot touches changes."""
    rows, columns = np.flatnonzero(beta[:, j]), np.flatnonzero(beta[i])
    old, first, second = beta[np.ix_(rows, columns)], base[rows], dependent[columns]
    before = np.sum(cost(_sizes(old), np.outer(first, second)))
    k, m = int(np.searchsorted(rows, i)), int(np.searchsorted(columns, j))
    first[k], second[m] = second[m], first[k]
    return float(before - np.sum(cost(_sizes(_pivot(old, k, m)), np.outer(first, second))))


def _sizes(beta: Floats) -> Floats:
    sizes = np.abs(beta)
    return np.where(sizes > _ZERO, sizes, 0.0)


def _pivot(beta: Floats, i: int, j: int) -> Floats:
    head = beta[i, j]
    new = beta - np.outer(beta[:, j], beta[i] / head)
    new[i] = beta[i] / head
    new[:, j] = -beta[:, j] / head
    new[i, j] = 1 / head
    return np.where(np.abs(new) > _ZERO * _ZERO, new, 0.0)


def _stacked(null_space: NullSpace, W: Floats) -> Floats:
    p = len(null_space.names)
    W = np.asarray(W, dtype=float)
    if W.shape[-1] != p:
        raise MechidError(f"W must have {p} columns, got {W.shape[-1]}")
    return W.reshape(-1, p)


def _in_order(null_space: NullSpace, names: Sequence[str]) -> tuple[str, ...]:
    at = {name: i for i, name in enumerate(null_space.names)}
    return tuple(sorted(names, key=at.__getitem__))
