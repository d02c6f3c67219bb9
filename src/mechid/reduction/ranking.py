"""An order of the parameters, the one that matters most first; every rule returns one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.estimation.regression import Floats


@dataclass(frozen=True, eq=False)
class Ranking:
    """Parameters in the order in which they are kept.

    Attributes
    ----------
    rule : str
        In a word.
    order : tuple of str
        The last is eliminated first.
    score : array (b,)
        What the rule went by, in that order.
    natural : int, optional
        How many the rule itself would keep.
    complete : bool
        False if it was stopped; parameters that were not evaluated come first.
    """

    rule: str
    order: tuple[str, ...]
    score: Floats
    natural: int | None = None
    complete: bool = True


def largest_first(names: Sequence[str], score: Floats) -> list[int]:
    """Return places sorted by score, the largest first; ties by name, whatever the given order."""
    return sorted(range(len(names)), key=lambda i: (-score[i], names[i]))


def ranked(rule: str, names: Sequence[str], score: Floats) -> Ranking:
    """Return parameters by score, the largest first."""
    places = largest_first(names, score)
    return Ranking(rule, tuple(names[i] for i in places), np.asarray(score)[places])
