"""Contribution of each parameter to the forces."""

from __future__ import annotations

import numpy as np

from mechid.report.section import Section, not_there
from mechid.runs.record import Run

_KEY, _TITLE = "contribution", "Contribution to the forces"
_LEAST = 0.01  # percent; bars of less cannot be seen


def section(run: Run) -> Section:
    """Return the section with a bar per parameter, the largest first."""
    found = run.contribution
    if found is None:
        why = "Contributions need CAD values of all parameters, and the model does not give them."
        return Section(
            _KEY, _TITLE, missing=not_there(run, "estimate") if run.estimate is None else why
        )
    index = found.index
    kept = None if run.reduction is None else set(run.reduction.chosen)
    order = np.argsort(-index, kind="stable")
    top = float(index.max()) or 1.0
    bars = [
        {
            "name": found.parameters[i],
            "index": float(index[i]),
            "width": 100.0 * float(index[i]) / top,
            "out": kept is not None and found.parameters[i] not in kept,
        }
        for i in order
        if index[i] >= _LEAST
    ]
    values = {
        "bars": bars,
        "least": _LEAST,
        "less": len(index) - len(bars),
        "motions": len(found.motions),
        "marked": kept is not None,
    }
    return Section(_KEY, _TITLE, values)
