"""Base parameters: their formulas, and whether their number is proved."""

from __future__ import annotations

from mechid.base.analyse import base_parameters
from mechid.report.section import Section
from mechid.runs.record import Run


def section(run: Run, *, certify: bool = False) -> Section:
    """Return the section; with `certify` the number of base parameters is proved for it."""
    table = run.parameters
    return Section(
        "base",
        "Base parameters",
        {
            "rows": list(zip(table.names, table.latex, table.units, strict=True)),
            "dependent": table.dependent,
            "certificate": _certificate(run) if certify else None,
        },
    )


def _certificate(run: Run) -> dict[str, object]:
    found = base_parameters(run.mechanism, certify=True)
    assert found.bounds is not None
    return {
        "certified": found.certified,
        "lower": found.bounds.lower,
        "upper": found.bounds.upper,
        "parameters": found.bounds.parameters,
        "open": found.bounds.open_questions,
    }
