"""A section of the page: a template and what fills it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mechid.runs.record import Run
from mechid.tables.forces import force_unit


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    key : str
        Its place in the page, and the name of its template.
    title : str
    values : mapping
        What the template shows.
    missing : str
        Why there is nothing to show; then the template is not used.
    """

    key: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""


MODELS = {"cad": "CAD values alone", "estimate": "all parameters", "reduced": "reduced model"}


def units_of(run: Run) -> dict[str, str]:
    """Return the unit of each force."""
    return {c.force: force_unit(c) for c in run.mechanism.coordinates}


def not_there(run: Run, stage: str) -> str:
    """Return a sentence: a stage of the run is missing."""
    last = run.stages[-1] if run.stages else ""
    return f"The run was stopped before the stage “{stage}”" + (
        f"; the last complete stage is “{last}”." if last else "."
    )
