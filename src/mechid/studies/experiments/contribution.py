"""Experiment `contribution`: how much each parameter contributes, and its place in the order.

Both are given with the true values and with CAD values that have errors.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mechid.studies.experiment import Experiment, Row
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced, contributions, truth

STEADY = 3  # places, as the source counts them


def rows(s: Reduced) -> list[Row]:
    """Return a row per parameter: contribution by the true values and by CAD values, percent.

    `place` and `place_cad` are places (from 1) among the parameters whose true contribution is not
    zero: those that are zero get any value from errors, and would move all others. `steady` is
    whether a parameter moved no more than three places.
    """
    true, guess = contributions(s, truth(s)), contributions(s)
    there = {n for n, x in zip(true.parameters, true.index, strict=True) if x > 0}
    by_true, by_cad = (_places(c.ranking.order, there) for c in (true, guess))
    return [
        {
            "parameter": name,
            "contribution": float(true.index[i]),
            "contribution_cad": float(guess.index[i]),
            "place": by_true.get(name),
            "place_cad": by_cad.get(name),
            "steady": abs(by_cad[name] - by_true[name]) <= STEADY if name in there else None,
        }
        for i, name in enumerate(true.parameters)
    ]


def _places(order: Sequence[str], some: Collection[str]) -> dict[str, int]:
    return {n: i + 1 for i, n in enumerate(n for n in order if n in some)}


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
