"""Tables of a run: parameters, prepared motions, courses of forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechid.estimation.estimate import Estimate
from mechid.runs.files import read_columns, write_columns
from mechid.runs.record import ForceCourse, MotionData, ParameterTable, Run

_COURSES = ("measured", "predicted", "sigma", "total", "cad")


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
    """Return values and deviations for all base parameters; nothing where one was left out."""
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
        names,
        units,
        text,
        latex,
        tuple(head["dependent"]),
        found["cad"],
        found["cad_sigma"],
        found.get("truth"),
    )


def write_motion(folder: Path, motion: MotionData, coordinates: Sequence[str]) -> None:
    """Write a prepared motion with its forces."""
    columns = {"time": motion.time}
    for ending, values in (("", motion.y), (".d", motion.yd), (".dd", motion.ydd)):
        columns |= {f"{n}{ending}": x for n, x in zip(coordinates, values.T, strict=True)}
    columns |= dict(zip(motion.forces, motion.tau.T, strict=True))
    write_columns(folder / "motions" / f"{motion.name}.parquet", columns)


def read_motion(folder: Path, entry: Mapping[str, Any], names: Sequence[str]) -> MotionData:
    """Read a prepared motion; `entry` is what run.json says of it."""
    columns = read_columns(folder / "motions" / f"{entry['name']}.parquet")
    forces = tuple(entry["forces"])
    y, yd, ydd = (
        np.column_stack([columns[f"{n}{ending}"] for n in names]) for ending in ("", ".d", ".dd")
    )
    tau = np.column_stack([columns[n] for n in forces])
    return MotionData(
        entry["name"], entry["source"], columns["time"], y, yd, ydd, forces, tau,
        entry["decimation"], tuple(entry["notes"]), tuple(entry["warnings"]),
    )  # fmt: skip


def write_course(folder: Path, course: ForceCourse) -> None:
    """Write measured and predicted forces of a motion."""
    columns = {"time": course.time}
    for kind in _COURSES:
        values = getattr(course, kind)
        columns |= {f"{n}.{kind}": x for n, x in zip(course.forces, values.T, strict=True)}
    write_columns(folder / "forces" / f"{course.name}.parquet", columns)


def read_course(folder: Path, entry: Mapping[str, Any]) -> ForceCourse:
    """Read forces of a motion; `entry` is what run.json says of it."""
    columns = read_columns(folder / "forces" / f"{entry['name']}.parquet")
    forces = tuple(entry["forces"])
    kinds = [np.column_stack([columns[f"{n}.{kind}"] for n in forces]) for kind in _COURSES]
    return ForceCourse(entry["name"], columns["time"], forces, *kinds)
