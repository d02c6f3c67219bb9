"""How many base sets a mechanism has, and a ranking of some of them.

The parameters fall into independent parts; the numbers of their choices multiply. Within a part,
choices are counted by going through the parameters one by one, in an order that keeps little
between those behind and those ahead: all that matters of a partial choice is the space that it
spans among the rows ahead. Partial choices that agree in it are counted together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from mechid.base.baseset import BaseSet, base_set
from mechid.base.choose import at_random, first
from mechid.base.exchange import condition_number
from mechid.base.matroid import INDEPENDENT, scales
from mechid.base.nullspace import NullSpace
from mechid.kinematics.tables import Floats

MOST_STATES = 20_000  # partial choices kept apart at a time; beyond, the count is estimated
_SAME = 6  # decimals in which projections of one space agree
_SORTED = 120  # parameters of a part up to which a good order is searched for
_TRIALS = 4000


@dataclass(frozen=True)
class Count:
    """Number of valid choices.

    Attributes
    ----------
    exact : int or None
        The number, if it could be counted.
    log10 : float
        Its decimal logarithm, or an estimate of it.
    parts : tuple of (int, int)
        Parameters and dependent ones of each independent part with a choice.
    bound : int
        Ways to pick as many of the parameters with effect, valid or not.
    """

    exact: int | None
    log10: float
    parts: tuple[tuple[int, int], ...]
    bound: int


@dataclass(frozen=True)
class Ranked:
    """A base set with its condition number on a motion and its number of terms."""

    base_set: BaseSet
    condition: float
    terms: int


def count_choices(null_space: NullSpace, seed: int = 0) -> Count:
    """Count the valid choices of dependent parameters; estimate where that takes too long.

    An estimate multiplies the ways to pick as many parameters by the share of valid ones among
    random picks; a share too small to be seen counts as that of one valid pick.
    """
    total: int | None = 1
    log10 = 0.0
    shapes = []
    rng = np.random.default_rng(seed)
    parts = independent_parts(null_space)
    for rows in parts:
        n, r = rows.shape
        shapes.append((n, r))
        found = count_bases(rows)
        if found is None:
            total = None
            log10 += _estimate(rows, rng)
        else:
            total = None if total is None else total * found
            log10 += math.log10(found)
    n, r = (sum(shape[k] for shape in shapes) for k in (0, 1))
    return Count(total, log10, tuple(shapes), math.comb(n, r))


def count_bases(rows: Floats, most: int = MOST_STATES) -> int | None:
    """Return how many sets of r independent rows an n × r matrix of rank r has.

    None if more than `most` partial choices would have to be kept apart.
    """
    r = rows.shape[1]
    if r == 0:
        return 1
    Q = _unit_rows(rows)
    Q = Q[_order(Q)]
    n = len(Q)
    # Per dimension: bases of spaces among the rows ahead, in coordinates of `ahead`, and counts.
    ahead = _space(Q)
    states: dict[int, tuple[Floats, list[int]]] = {0: (np.zeros((1, ahead.shape[1], 0)), [1])}
    for i in range(n):
        after = _space(Q[i + 1 :]) if i + 1 < n else np.zeros((r, 0))
        into = after.T @ ahead  # coordinates ahead → coordinates after, for what lies in `after`
        lost = ahead - after @ into  # what does not
        e = ahead.T @ Q[i]
        grown: dict[int, dict[bytes, tuple[Floats, int]]] = {}
        for bases, counts in states.values():
            for taken in (False, True):
                _step(bases, counts, e if taken else None, into, lost, grown)
        states = {
            d: (np.array([b for b, _ in group.values()]), [c for _, c in group.values()])
            for d, group in grown.items()
        }
        if sum(len(counts) for _, counts in states.values()) > most:
            return None
        ahead = after
    return sum(sum(counts) for _, counts in states.values())


def _step(
    bases: Floats,
    counts: list[int],
    e: Floats | None,
    into: Floats,
    lost: Floats,
    grown: dict[int, dict[bytes, tuple[Floats, int]]],
) -> None:
    """Take or leave one row in all partial choices of a dimension, and look ahead past it."""
    if e is not None:
        left = e[None, :] - np.einsum("kij,klj,l->ki", bases, bases, e)
        lengths = np.linalg.norm(left, axis=1)
        free = lengths > INDEPENDENT
        bases, counts = bases[free], [c for c, f in zip(counts, free, strict=True) if f]
        column = left[free] / lengths[free][:, None]
        bases = np.concatenate([bases, column[:, :, None]], axis=2)
    if not len(bases):
        return
    d = bases.shape[2]
    gone = np.linalg.matrix_rank(lost, tol=INDEPENDENT) if lost.size else 0
    outside = lost @ bases if d else np.zeros((len(bases), lost.shape[0], 0))
    _, s, Vt = np.linalg.svd(outside) if d else (None, np.zeros((len(bases), 0)), None)
    ranks = np.sum(s > INDEPENDENT, axis=1)
    for k in range(len(bases)):
        # Rows ahead no longer reach what the choice has not reached either: no basis any more.
        if ranks[k] < gone:
            continue
        inside = bases[k] @ Vt[k][ranks[k] :].T if d and Vt is not None else bases[k]
        U = into @ inside
        if U.shape[1]:
            U, _ = np.linalg.qr(U)
        key = (np.round(U @ U.T, _SAME) + 0.0).tobytes()
        group = grown.setdefault(U.shape[1], {})
        known = group.get(key)
        group[key] = (U, counts[k]) if known is None else (known[0], known[1] + counts[k])


def sample_choices(
    null_space: NullSpace, n: int, seed: int = 0, stop: Callable[[], bool] = lambda: False
) -> list[tuple[str, ...]]:
    """Return up to `n` different valid choices, drawn at random, until `stop` says so."""
    found: dict[tuple[str, ...], None] = {}
    for k in range(2 * n):
        if len(found) == n or stop():
            break
        found[at_random(null_space, seed + k)] = None
    return list(found)


def ranked(
    null_space: NullSpace,
    choices: Iterable[tuple[str, ...]],
    W: Floats,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Ranked, ...]:
    """Return base sets in order of the condition number of W_b, then of their terms.

    Those that are left when `stop` says so are not compared.
    """
    found: list[Ranked] = []
    for choice in choices:
        if stop() and found:
            break
        chosen = base_set(null_space, choice)
        found.append(Ranked(chosen, condition_number(chosen, W), chosen.n_terms))
    return tuple(sorted(found, key=lambda x: (x.condition, x.terms)))


def independent_parts(null_space: NullSpace) -> list[Floats]:
    """Return the rows of the independent parts: parameters that can change places, directly or not.

    β of any choice tells: two parameters belong together if a chain of its nonzeros joins them.
    """
    chosen = base_set(null_space, first(null_space))
    scale = dict(zip(null_space.names, scales(null_space).tolist(), strict=True))
    beta = chosen.beta * np.array([scale[n] for n in chosen.base])[:, None]
    beta = beta / np.array([scale[n] for n in chosen.dependent])[None, :]
    left = set(range(beta.shape[1]))
    parts = []
    while left:
        columns = {left.pop()}
        rows: set[int] = set()
        while True:
            more_rows = set(np.flatnonzero(np.any(beta[:, sorted(columns)] != 0, axis=1)).tolist())
            more = set(np.flatnonzero(np.any(beta[sorted(more_rows)] != 0, axis=0)).tolist())
            if more_rows == rows and more == columns:
                break
            rows, columns = more_rows, more
        left -= columns
        block = beta[np.ix_(sorted(rows), sorted(columns))]
        parts.append(np.vstack([np.eye(len(columns)), -block]))
    return parts


def _order(Q: Floats) -> list[int]:
    """Return an order of the rows in which few dimensions join those behind to those ahead."""
    n, _ = Q.shape
    if n > _SORTED:
        return list(range(n))
    chosen: list[int] = []
    rest = list(range(n))
    behind, ahead = np.zeros((Q.shape[1],) * 2), Q.T @ Q
    while rest:
        # The row that is farthest inside what is behind, or without which least is lost ahead.
        best, cost = rest[0], math.inf
        for i in rest:
            more = np.outer(Q[i], Q[i])
            value = _rank(behind + more) + _rank(ahead - more)
            if value < cost:
                best, cost = i, value
        chosen.append(best)
        rest.remove(best)
        more = np.outer(Q[best], Q[best])
        behind, ahead = behind + more, ahead - more
    return chosen


def _unit_rows(rows: Floats) -> Floats:
    """Return rows of unit length with the same dependencies; rows of zeros are in no choice."""
    Q, _ = np.linalg.qr(rows)
    lengths = np.linalg.norm(Q, axis=1)
    used = lengths > INDEPENDENT
    return np.asarray(Q[used] / lengths[used][:, None])


def _rank(gram: Floats) -> int:
    # Squares of singular values: this only guides the order, a wrong rank does no harm.
    return int(np.sum(np.linalg.eigvalsh(gram) > 1e-10))


def _space(rows: Floats) -> Floats:
    """Return an orthonormal basis (as columns) of the span of rows."""
    _, s, Vt = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(Vt[: int(np.sum(s > INDEPENDENT))].T)


def _estimate(rows: Floats, rng: np.random.Generator) -> float:
    """Return log10 of the number of independent sets of r rows, from random picks."""
    r = rows.shape[1]
    Q = _unit_rows(rows)
    valid = 0
    for _ in range(_TRIALS):
        picked = Q[rng.permutation(len(Q))[:r]]
        valid += int(np.linalg.svd(picked, compute_uv=False)[-1] > INDEPENDENT)
    return math.log10(math.comb(len(Q), r)) + math.log10(max(valid, 1) / _TRIALS)
