"""All parameters as a file of a run: `full.json`."""

from __future__ import annotations

from pathlib import Path

from mechid.runs.files import floats, read_json, write_json
from mechid.runs.record import FullSet
from mechid.runs.schemas import FullWords, checked

NAME = "full.json"


def write_full(folder: Path, full: FullSet) -> None:
    """Write all parameters by name, and how far they are from the base values."""
    write_json(
        folder / NAME,
        {
            "parameters": dict(zip(full.parameters, full.values.tolist(), strict=True)),
            "difference": full.difference,
            "distance": full.distance,
            "border": full.border,
            "missed": dict(full.missed),
            "covariance": full.covariance,
        },
    )


def read_full(folder: Path) -> FullSet:
    """Read what `write_full` wrote."""
    found = checked(read_json(folder / NAME), FullWords)
    values, covariance = found["parameters"], found.get("covariance", {})
    return FullSet(
        parameters=tuple(values),
        values=floats(list(values.values())),
        difference=found["difference"],
        distance=found["distance"],
        border=tuple(found["border"]),
        missed=found.get("missed", {}),
        covariance={body: floats(rows, 10, 10) for body, rows in covariance.items()},
    )
