"""Tables of a run: parameters, prepared motions, forces over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from mechid.estimation.estimate import Estimate
from mechid.runs.files import floats, read_columns, write_columns
from mechid.runs.record import ForceHistory, ParameterTable, Run
from mechid.signals.record import Noise, PreparedMeasurement

_COLUMNS = ("time", "y", "yd", "ydd", "tau")
_KINDS = ("measured", "predicted", "sigma", "total", "cad")


def write_parameters(folder: Path, run: Run) -> None:
    """Write names, expressions, CAD values, truth, and what was identified so far."""
    table = run.parameters
    columns: dict[str, Any] = {
        "name": table.names,
        "unit": table.units,
        "expression": table.text,
        "latex": table.latex,
        "cad": table.cad,
        "cad_sigma": table.cad_sigma,
    }
    if table.truth is not None:
        columns["truth"] = table.truth
    for stem, estimate in (("", run.estimate), ("reduced_", run.reduced)):
        if estimate is not None:
            columns |= {f"{stem}{n}": x for n, x in _spread(table.names, estimate).items()}
    write_columns(folder / "parameters.parquet", columns)


def _spread(names: tuple[str, ...], estimate: Estimate) -> Mapping[str, Any]:
    """Return values and standard deviations for all base parameters; nothing where one was left
    out."""
    at = [names.index(name) for name in estimate.parameters]
    found = {}
    for name, values in (
        ("value", estimate.values),
        ("sigma", estimate.sigma),
        ("sigma_percent", estimate.relative),
    ):
        found[name] = np.full(len(names), np.nan)
        found[name][at] = values
    return found


def read_parameters(folder: Path, head: Mapping[str, Any]) -> ParameterTable:
    """Read what is known of the base parameters; estimates have files of their own."""
    found = read_columns(folder / "parameters.parquet")
    words = ("name", "unit", "expression", "latex")
    names, units, text, latex = (tuple(str(x) for x in found[word]) for word in words)
    return ParameterTable(
        names=names,
        units=units,
        text=text,
        latex=latex,
        dependent=tuple(head["dependent"]),
        cad=found["cad"],
        cad_sigma=found["cad_sigma"],
        truth=found.get("truth"),
    )


def motion_entry(motion: PreparedMeasurement) -> dict[str, Any]:
    """Return what run.json says of a prepared motion; its columns have a file of their own."""
    kept = {f.name: getattr(motion, f.name) for f in fields(motion) if f.name not in _COLUMNS}
    return kept | {"noise": None if motion.noise is None else asdict(motion.noise)}


def write_motion(folder: Path, motion: PreparedMeasurement, coordinates: Sequence[str]) -> None:
    """Write a prepared motion with its forces."""
    columns = {"time": motion.time}
    for ending, values in (("", motion.y), (".d", motion.yd), (".dd", motion.ydd)):
        columns |= {f"{n}{ending}": x for n, x in zip(coordinates, values.T, strict=True)}
    columns |= dict(zip(motion.forces, motion.tau.T, strict=True))
    write_columns(folder / "motions" / f"{motion.name}.parquet", columns)


def read_motion(
    folder: Path, entry: Mapping[str, Any], names: Sequence[str]
) -> PreparedMeasurement:
    """Read a prepared motion; `entry` is what run.json says of it."""
    columns = read_columns(folder / "motions" / f"{entry['name']}.parquet")
    y, yd, ydd = (
        np.column_stack([columns[f"{n}{ending}"] for n in names]) for ending in ("", ".d", ".dd")
    )
    if not np.all(np.diff(columns["time"]) > 0):
        raise ValueError(f"motions/{entry['name']}.parquet: the times do not increase")
    forces, noise = tuple(entry["forces"]), entry["noise"]
    words: dict[str, Any] = dict(entry) | {
        "noise": None if noise is None else Noise(**{k: floats(x) for k, x in noise.items()})
    }
    words |= {key: tuple(entry[key]) for key in ("forces", "notes", "warnings")}
    return PreparedMeasurement(
        time=columns["time"],
        y=y,
        yd=yd,
        ydd=ydd,
        tau=np.column_stack([columns[n] for n in forces]),
        **words,
    )


def write_forces(folder: Path, history: ForceHistory) -> None:
    """Write measured and predicted forces of a motion."""
    columns = {"time": history.time}
    for kind in _KINDS:
        values = getattr(history, kind)
        columns |= {f"{n}.{kind}": x for n, x in zip(history.forces, values.T, strict=True)}
    write_columns(folder / "forces" / f"{history.name}.parquet", columns)


def read_forces(folder: Path, entry: Mapping[str, Any]) -> ForceHistory:
    """Read forces of a motion; `entry` is what run.json says of it."""
    columns = read_columns(folder / "forces" / f"{entry['name']}.parquet")
    forces = tuple(entry["forces"])
    kinds: dict[str, Any] = {
        kind: np.column_stack([columns[f"{n}.{kind}"] for n in forces]) for kind in _KINDS
    }
    return ForceHistory(name=entry["name"], time=columns["time"], forces=forces, **kinds)
