"""Experiment `contribution`: how much each parameter contributes, and its place in the order.

Both are given with the true values and with CAD values that have errors.
"""

from __future__ import annotations

from mechid.studies.experiment import Experiment, Row
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced, contributions, truth


def rows(s: Reduced) -> list[Row]:
    """Return a row per parameter: contribution (percent) and place (from 1), by the true values
    and by CAD values, and whether it moved no more than three places."""
    true, guess = contributions(s, truth(s)), contributions(s)
    places = [{n: i + 1 for i, n in enumerate(c.ranking.order)} for c in (true, guess)]
    return [
        {
            "parameter": name,
            "contribution": float(true.index[i]),
            "contribution_cad": float(guess.index[i]),
            "place": places[0][name],
            "place_cad": places[1][name],
            "steady": abs(places[1][name] - places[0][name]) <= 3,
        }
        for i, name in enumerate(true.parameters)
    ]


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
