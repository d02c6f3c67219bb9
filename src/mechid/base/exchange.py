"""Rules that compare choices: the best conditioned on a motion, the one with the fewest terms.

A base parameter i and a dependent one j can change places if β_ij is not zero; then β changes by
one pivot of a Gauss elimination. Both rules start from a valid choice and exchange as long as that
helps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.base.baseset import BaseSet, base_set
from mechid.base.choose import in_order
from mechid.base.matroid import scales
from mechid.base.nullspace import NullSpace
from mechid.errors import MechidError
from mechid.kinematics.tables import Floats

_GAIN = 1.05  # an exchange must enlarge the volume of W_b by this factor
_ZERO = 1e-9  # of β without units; smaller entries are what rounding left
_BEST_FIRST = 8  # starts of the search for few terms


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
    scale = dict(zip(null_space.names, scales(null_space).tolist(), strict=True))
    rng = np.random.default_rng(seed)
    orders: list[Sequence[str]] = [null_space.names, tuple(reversed(null_space.names))]
    orders += [rng.permutation(null_space.names).tolist() for _ in range(_BEST_FIRST - 2)]
    best: Tableau | None = None
    for order in orders:
        found = _fewer_terms(tableau(base_set(null_space, in_order(null_space, order)), scale))
        if best is None or _terms(found.beta) < _terms(best.beta):
            best = found
    assert best is not None
    return _in_order(null_space, best.dependent)


def condition_number(chosen: BaseSet, W: Floats) -> float:
    """Return the condition number of W_b with columns of unit length.

    In double precision values above about 1e16 cannot be distinguished.
    """
    Wb = chosen.observation(_stacked(chosen.null_space, W))
    lengths = np.linalg.norm(Wb, axis=0)
    s = np.linalg.svd(Wb / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0 else float("inf")


def _fewer_terms(found: Tableau) -> Tableau:
    current = _terms(found.beta)
    while True:
        candidates = np.argwhere(np.abs(found.beta) > _ZERO)
        counts = [_terms(_pivot(found.beta, int(i), int(j))) for i, j in candidates]
        if not counts or min(counts) >= current:
            return found
        i, j = candidates[int(np.argmin(counts))]
        found = found.exchanged(int(i), int(j))
        current = min(counts)


def _terms(beta: Floats) -> int:
    return int(np.count_nonzero(np.abs(beta) > _ZERO))


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
