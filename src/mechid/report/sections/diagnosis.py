"""Diagnosis: what is wrong with the measured forces and with the model."""

from __future__ import annotations

from mechid.report.section import Section, not_there
from mechid.runs.record import Run

_KEY, _TITLE = "diagnosis", "Diagnosis"


def section(run: Run) -> Section:
    """Return the section."""
    if "validation" not in run.stages:
        return Section(_KEY, _TITLE, missing=not_there(run, "validation"))
    return Section(_KEY, _TITLE, {"findings": run.diagnosis, "added": run.added})
