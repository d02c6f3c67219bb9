"""Reduction: error and condition number against the number of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.estimation.regression import Floats
from mechid.report.plot import listed
from mechid.report.section import Section, not_there
from mechid.runs.record import Run

_KEY, _TITLE = "reduction", "Reduction"
_LOOKS = ("predicted", "cad", "residual")


def section(run: Run) -> Section:
    """Return the section with the curves and the chosen size."""
    found = run.reduction
    if found is None:
        why = "The model was not reduced: all base parameters are in use."
        if "reduction" not in run.stages:
            why = not_there(run, "reduction")
        return Section(_KEY, _TITLE, missing=why)
    curves, size = found.curves, found.size.size
    n = curves.identification.shape[1]  # forces
    errors = [("identification", curves.identification_total / n)]
    errors += [
        (motion.name, values / n)
        # Motions that were added by a later validation took no part in the reduction.
        for motion, values in zip(run.others, curves.validation_total.T, strict=False)
    ]
    if curves.blocks.shape[1]:
        errors.append(("cross-validation", curves.cross / n))
    charts = [
        _chart("Prediction error Eₚ, mean over the forces", "%", size, curves.sizes,
               [(name, 100.0 * values) for name, values in errors]),
        _chart("Condition number", "", size, curves.sizes,
               [("columns of unit length", curves.condition), ("SI units", curves.raw_condition)]),
    ]  # fmt: skip
    values = {
        "charts": charts,
        "size": size,
        "of": len(run.parameters.names),
        "why": found.size.why,
        "rule": found.ranking.rule,
        "rest": found.rest,
        "complete": found.complete,
        "chosen": found.chosen,
    }
    return Section(_KEY, _TITLE, values)


def _chart(
    title: str, unit: str, size: int, sizes: Any, curves: list[tuple[str, Floats]]
) -> dict[str, Any]:
    return {
        "title": title,
        "group": "",
        "x": {
            "name": "parameters",
            "unit": "",
            "label": "number of parameters",
            "values": listed(np.asarray(sizes, dtype=float)),
        },
        "y": {"unit": unit, "log": True},
        "marks": [{"x": size, "label": f"{size} parameters"}],
        "series": [
            {"name": name, "look": _LOOKS[k % len(_LOOKS)], "values": listed(values)}
            for k, (name, values) in enumerate(curves)
        ],
    }
