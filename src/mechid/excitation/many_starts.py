"""Random motions within limits, many at once: what `Starts.draw` does, step by step for all."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from mechid.excitation.starts import (
    CAREFUL,
    CLOSE,
    LEAST_CUT,
    MOST_CUT,
    TRIES,
    Starts,
)
from mechid.kinematics.tables import Floats

# Least slack of each limit, (n, limits), of x (n, n_x); rows of nan do not close.
Slacks: TypeAlias = Callable[[Floats], Floats]


def draw_many(starts: Starts, rng: np.random.Generator, n: int, slacks: Slacks) -> Floats:
    """Return x (m, n_x) of n random motions, those of them that keep the limits.

    With the same generator these are the motions that `Starts.draw` finds one after the other.
    """
    room = starts.room
    home, sizes = starts.problem.design.start, starts.problem.design.sizes
    if room is None:
        found = [x for x in (starts.draw(rng) for _ in range(n)) if x is not None]
        return np.array(found).reshape(len(found), len(home))
    x = np.array([starts.drawn(rng) for _ in range(n)])
    wide = np.flatnonzero(~_kept(slacks(x)))
    reduced = np.zeros((wide.size, len(home)))
    for a, b in pairwise(np.cumsum([0, *sizes])):
        if a < b:
            alone = np.zeros_like(reduced)
            alone[:, a:b] = x[wide, a:b] - home[a:b]
            reduced += _reach(home, room, alone, slacks)[:, None] * alone
    part = _reach(home, room, reduced, slacks)
    x[wide] = home + part[:, None] * reduced
    lost = wide[(part == 0) | ~reduced.any(axis=1)]
    return np.delete(x, lost, axis=0)


def _kept(slack: Floats) -> np.ndarray:
    return np.asarray((slack >= 0).all(axis=1))  # nan is not


def _reach(home: Floats, room: Floats, steps: Floats, slacks: Slacks) -> Floats:
    """Return which part of each step (0 to 1) can be taken from the start, nearly the largest."""
    n = len(steps)
    low, high, part = np.zeros(n), np.full(n, np.inf), np.ones(n)
    open_ = np.arange(n)
    for _ in range(TRIES):
        if not open_.size:
            break
        slack = slacks(home + part[open_, None] * steps[open_])
        kept = _kept(slack)
        low[open_[kept]] = part[open_[kept]]
        high[open_[~kept]] = part[open_[~kept]]
        going = ~(kept & (part[open_] == 1.0)) & ~(low[open_] >= CLOSE * high[open_])
        open_, slack = open_[going], slack[going]
        halved = (low[open_] > 0) | np.isnan(slack).any(axis=1)
        part[open_[halved]] = 0.5 * (low[open_[halved]] + high[open_[halved]])
        # as if slacks fell in proportion to the step
        rest, slack = open_[~halved], slack[~halved]
        broken = slack < 0
        met = np.where(broken, room / np.where(broken, room - slack, 1.0), np.inf).min(
            axis=1, initial=np.inf
        )
        part[rest] *= np.clip(CAREFUL * met, MOST_CUT, LEAST_CUT)
    return low
