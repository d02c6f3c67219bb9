"""Experiment `parameters`: values of the parameters of a reduced model, a row for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.base.expressions import text
from mechid.estimation.regression import Floats
from mechid.studies.experiment import Experiment, Row
from mechid.studies.fitted import fitted
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced, columns, contributions

_TERMS = 3  # of a sum, the largest
_NOTHING = 1e-9  # of the largest weight: rounding


def rows(s: Reduced) -> list[Row]:
    """Return the parameters of a model, the largest contribution first.

    Name, place and contribution (percent) by CAD values; true, CAD and identified values; relative
    standard deviation in percent. `meaning` is the sum of parameters that a parameter stands for:
    in symbols for a base set, its largest terms where singular values regrouped them.
    """
    f = fitted(s)
    found = contributions(s)
    place = {n: i for i, n in enumerate(found.ranking.order)}
    index = dict(zip(found.parameters, found.index.tolist(), strict=True))
    own = sorted(range(len(f.parameters)), key=lambda k: place[f.parameters[k]])
    base = columns(s).base
    return [
        {
            "place": place[name] + 1,
            "parameter": name,
            "meaning": _sum(f.weights[k], f.terms)
            if base is None or s.regrouped
            else text(base, name),
            "contribution": index[name],
            "true": float(f.true[k]),
            "cad": float(f.cad[k]),
            "identified": float(f.values[k]),
            "deviation": float(f.deviation[k]),
        }
        for k in own
        if (name := f.parameters[k])
    ]


def _sum(weights: Floats, names: Sequence[str]) -> str:
    """Return the terms of a sum with the largest factors, and how many there are."""
    shown = np.flatnonzero(np.abs(weights) > _NOTHING * np.abs(weights).max())
    order = shown[np.argsort(-np.abs(weights[shown]), kind="stable")]
    first = " ".join(f"{weights[k]:+.3g} {names[k]}" for k in order[:_TERMS])
    return first + (f" … ({len(shown)} terms)" if len(shown) > _TERMS else "")


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
