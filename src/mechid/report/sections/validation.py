"""Validation: errors of all models on all motions."""

from __future__ import annotations

from mechid.report.section import Section
from mechid.report.words import MODELS, not_there, units_of
from mechid.runs.record import Run, ValidationRow

_KEY, _TITLE = "validation", "Validation"


def section(run: Run) -> Section:
    """Return the section with a table per motion."""
    if not run.validation:
        return Section(_KEY, _TITLE, missing=not_there(run, "validation"))
    motions: dict[str, list[tuple[str, ValidationRow]]] = {}
    for row in run.validation:
        motions.setdefault(row.motion, []).append((MODELS.get(row.model, row.model), row))
    own = run.motions[0].name
    return Section(
        _KEY,
        _TITLE,
        {"motions": motions, "units": units_of(run), "own": own, "alone": len(run.motions) == 1},
    )
