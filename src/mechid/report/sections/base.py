"""Base parameters: their formulas, and whether their number is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechid.report.section import Section
from mechid.runs.parameter_meanings import base_meaning, meanings, symbols
from mechid.runs.record import Run

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet
    from mechid.base.bounds import Bounds


def section(run: Run, *, certify: bool = False) -> Section:
    """Return the section; with `certify` the number of base parameters is proved for it."""
    table, bounds, known = run.parameters, None, meanings(run.mechanism)
    if certify:
        from mechid.base.analyse import base_parameters

        bounds = base_parameters(run.mechanism, certify=True).bounds
    return Section(
        "base",
        "Base parameters",
        {
            "rows": [
                (name, latex, unit, base_meaning(name, text, known))
                for name, latex, unit, text in zip(
                    table.names, table.latex, table.units, table.text, strict=True
                )
            ],
            "symbols": symbols(run.mechanism, table.text),
            "bodies": [(k, body.name) for k, body in enumerate(run.mechanism.bodies, start=1)],
            "dependent": table.dependent,
            "certificate": None if bounds is None else _certificate(bounds),
            "hint": "mechid report --certify",
        },
    )


def base_section(chosen: BaseSet, bounds: Bounds | None = None) -> Section:
    """Return the section of a base set, without a run."""
    from mechid.base.expressions import readable

    words = readable(chosen)
    units = {column.name: column.unit for column in chosen.null_space.columns}
    return Section(
        "base",
        "Base parameters",
        {
            "rows": [(name, words[name][1], units[name], "") for name in chosen.base],
            "symbols": [],
            "bodies": [],
            "dependent": chosen.dependent,
            "certificate": None if bounds is None else _certificate(bounds),
            "hint": "mechid.base_parameters(…, certify=True)",
        },
    )


def _certificate(bounds: Bounds) -> dict[str, object]:
    return {
        "certified": bounds.certified,
        "lower": bounds.lower,
        "upper": bounds.upper,
        "parameters": bounds.parameters,
        "open": bounds.open_questions,
    }
