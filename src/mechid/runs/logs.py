"""Errors of motions and the comparison of several logs, as JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from mechid.options import from_words, to_words
from mechid.runs.files import floats, read_json, write_json
from mechid.runs.record import Run, ValidationRow
from mechid.validation.logs import LogSpread

NAME = "logs.json"


def validation_rows(rows: Any, where: str) -> tuple[ValidationRow, ...]:
    """Return errors of motions that were read from JSON; `where` is for messages."""
    for row in rows:
        # A force of zero has no relative error, and JSON has no word for that.
        row["total"] = math.nan if row["total"] is None else row["total"]
        overall = row.get("overall", {})
        row["overall"] = {unit: math.nan if x is None else x for unit, x in overall.items()}
        for force in row["forces"].values():
            force |= {k: math.nan for k in ("E_p", "rms", "absolute", "r2") if force[k] is None}
    return from_words(tuple[ValidationRow, ...], rows, where)


def write_logs(folder: Path, run: Run) -> None:
    """Write what several logs say of each other."""
    words = {"left_out": to_words(run.left_out), "spread": spread_words(run.spread)}
    write_json(folder / NAME, words)


def read_logs(folder: Path) -> dict[str, Any]:
    """Return the fields of a run that `write_logs` wrote."""
    found = read_json(folder / NAME)
    spread = found["spread"]
    if spread is not None:
        arrays = {name: floats(spread[name]) for name in ("values", "sigma", "z")}
        whitened = math.nan if spread["whitened"] is None else spread["whitened"]
        spread = LogSpread(tuple(spread["parameters"]), **arrays, whitened=whitened)
    rows = validation_rows(found["left_out"], f"{folder / NAME}: left_out")
    return {"left_out": rows, "spread": spread}


def spread_words(spread: LogSpread | None) -> dict[str, Any] | None:
    """Return the differences of estimates from single logs, ready for JSON."""
    if spread is None:
        return None
    return {
        "rms": spread.rms,
        "whitened": spread.whitened,
        "determined": len(spread.determined),
        "largest": spread.largest,
        "parameters": spread.parameters,
        "values": spread.values,
        "sigma": spread.sigma,
        "z": spread.z,
    }
