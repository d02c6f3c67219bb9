"""Validation: errors of all models on all motions."""

from __future__ import annotations

from mechid.report.section import MODELS, Section, not_there, units_of
from mechid.runs.record import Run, ValidationRow
from mechid.runs.verdict_trust import less_noise

_KEY, _TITLE = "validation", "Validation"


def section(run: Run) -> Section:
    """Return the section with a table per motion; of several logs also each without itself."""
    if not run.validation:
        return Section(_KEY, _TITLE, missing=not_there(run, "validation"))
    motions: dict[str, list[tuple[str, ValidationRow]]] = {}
    for row in run.validation:
        motions.setdefault(row.motion, []).append((MODELS.get(row.model, row.model), row))
    for row in run.left_out:
        name = f"{row.motion}, predicted from the other logs"
        label = "identified without it" if row.model == "estimate" else MODELS[row.model]
        motions.setdefault(name, []).append((label, row))
    values = {
        "motions": motions,
        "units": units_of(run),
        "own": [motion.name for motion in run.logs],
        "alone": len(run.motions) == 1,
        "spread": run.spread,
        "silent": {
            (row.motion, force)
            for row in run.validation
            for force, e in row.forces.items()
            if e.white is not None and less_noise(run, e, force)
        },
    }
    return Section(_KEY, _TITLE, values)
