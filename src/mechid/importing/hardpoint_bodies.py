"""Mass properties of bodies, from and to the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mechid.errors import DataError
from mechid.importing.hardpoint_checks import GYRATION, OFFSET, BodyChange
from mechid.importing.hardpoint_table import CENTRE, SI_UNIT, SIX, Dimension, TableRow
from mechid.importing.hardpoint_targets import Data, constant
from mechid.modelfile.units import SI, Units
from mechid.textfile.yamlio import Key

INERTIA = tuple(f"I{k}" for k in SIX)
MOMENTS = INERTIA[:3]


@dataclass(frozen=True)
class FilledBody:
    """The entry of a body with the numbers of a row; what is missing, and the cells by path."""

    spec: Data
    change: BodyChange
    missing: str
    cells: Mapping[Key, str]


def fill_body(spec: Data, row: TableRow, units: Units) -> FilledBody | None:
    """Return the entry of a body with the numbers of a row; None if the row has none.

    Mass, centre and inertia are given each as a whole, or left empty and kept.
    """
    groups = {"mass": ("mass",), "centre": CENTRE, "inertia": INERTIA}
    if row.blank((*groups["mass"], *CENTRE, *INERTIA, *(title for _, title, *_ in _SPREADS))):
        return None
    given = {what for what, titles in groups.items() if not row.blank(titles)}
    new = dict(spec)
    cells: dict[Key, str] = {}
    sizes: dict[str, tuple[float, str]] = {}
    mass = None
    if "mass" in given:
        new["mass"], mass = _mass(row, units)
        new.pop("massless", None)
        cells[("mass",)] = row.place("mass")
        sizes["mass"] = mass, row.place("mass")
    if "centre" in given:
        pairs = [_converted(row, t, "centre unit", "length", CENTRE, units) for t in CENTRE]
        place = [value for value, _ in pairs]
        ground = _in_ground(row, spec)
        new["center"] = {"ground": place} if ground else place
        cells[("center",)] = row.place("cx")
        if not ground:
            sizes[OFFSET] = math.hypot(*(si for _, si in pairs)), row.place("cx")
    if "inertia" in given:
        new["inertia"], trace = _inertia(row, spec, units)
        cells[("inertia",)] = row.place("Ixx")
        if mass is not None and trace > 0:
            sizes[GYRATION] = math.sqrt(trace / 2 / mass), row.place("Ixx")
    _uncertainty(row, new, units, cells)
    missing = [what for what in groups if what not in given]
    words = f"{' and '.join(missing)} of {row.name} not given: the model keeps its own"
    old = constant(spec.get("mass"))
    old_mass = None if old is None else units.into(old, "kg", SI)
    change = BodyChange(f"body {row.name}", old_mass, sizes)
    return FilledBody(new, change, f"{row.place()}: {words}" if missing else "", cells)


def _mass(row: TableRow, units: Units) -> tuple[float, float]:
    value, mass = _converted(row, "mass", "mass unit", "mass", ("mass",), units)
    if mass <= 0:
        raise DataError(
            f"the mass must be > 0, got {row.number('mass'):g}",
            where=row.place("mass"),
            remedy="give the mass; a body without mass is declared in the model file "
            "(massless: true), and has no row here",
        )
    return value, mass


def _converted(
    row: TableRow, title: str, unit: str, dimension: Dimension, over: tuple[str, ...], units: Units
) -> tuple[float, float]:
    """Return the number of a cell in units of the file, and in SI."""
    value, given = row.number(title), row.read_units(unit, dimension, over)
    return given.into(value, SI_UNIT[dimension], units), given.into(value, SI_UNIT[dimension], SI)


def _in_ground(row: TableRow, spec: Data) -> bool:
    """Return whether the centre is in ground coordinates; by default as the model has it."""
    text = row.text("centre in")
    if text not in ("", "body", "ground"):
        raise DataError(
            f'"{text}" is not a frame', where=row.place("centre in"), remedy="write body or ground"
        )
    return text == "ground" or (not text and isinstance(spec.get("center"), dict))


def _inertia(row: TableRow, spec: Data, units: Units) -> tuple[Data, float]:
    """Return the entry of the inertia, and the trace of the tensor in kg m²."""
    old = spec.get("inertia")
    new = dict(old) if isinstance(old, dict) else {}
    new.pop("allow_nonphysical", None)
    trace = 0.0
    for key, title in zip(SIX, INERTIA, strict=True):
        if title not in MOMENTS and row.cell(title).blank:
            new[key] = 0  # products may be left empty
        else:
            new[key], si = _converted(row, title, "inertia unit", "inertia", INERTIA, units)
            trace += si if title in MOMENTS else 0.0
    if about := row.text("about"):
        new["about"] = "center" if about.lower() in ("centre", "center") else about
    if axes := row.text("axes"):
        new.pop("axes", None)
        if axes != "body":
            new["axes"] = axes
    return new, trace


_SPREADS: tuple[tuple[str, str, Dimension, str, tuple[str, ...]], ...] = (
    ("mass", "mass uncertainty", "mass", "mass unit", ("mass",)),
    ("center", "centre uncertainty", "length", "centre unit", CENTRE),
    ("inertia", "inertia uncertainty", "inertia", "inertia unit", INERTIA),
)


def _uncertainty(row: TableRow, new: Data, units: Units, cells: dict[Key, str]) -> None:
    """Set standard deviations: shares as they are, others converted."""
    for key, title, dimension, unit, over in _SPREADS:
        cell = row.cell(title)
        if cell.blank:
            continue
        if cell.text.endswith("%"):
            value: Any = f"{replace(cell, value=cell.text[:-1]).number(row.file, title)!r} %"
        else:
            value = _converted(row, title, unit, dimension, over, units)[0]
        new["uncertainty"] = {**(new.get("uncertainty") or {}), key: value}
        cells[("uncertainty", key)] = row.place(title)


def constants(spec: Data) -> dict[str, Any] | None:
    """Return the mass properties of a body by the titles of a table, None if they are computed.

    Numbers are those of the model file, in its units; what a table cannot say is left out and kept.
    """
    inertia = spec.get("inertia")
    if not isinstance(inertia, dict) or spec.get("point_masses"):
        return None
    place = spec.get("center") or [0, 0, 0]
    center = place["ground"] if isinstance(place, dict) else place
    numbers = {"mass": spec.get("mass")}
    numbers |= dict(zip(CENTRE, center, strict=True))
    numbers |= {title: inertia.get(key, 0) for key, title in zip(SIX, INERTIA, strict=True)}
    found: dict[str, Any] = {title: constant(value) for title, value in numbers.items()}
    if None in found.values():
        return None
    found["centre in"] = "ground" if isinstance(place, dict) else "body"
    about, axes = inertia.get("about", "center"), inertia.get("axes", "body")
    found |= {"about": about} if isinstance(about, str) else {}
    found |= {"axes": axes} if isinstance(axes, str) else {}
    spread = spec.get("uncertainty") or {}
    for key, title, *_ in _SPREADS:
        value = spread.get(key)
        if isinstance(value, str) and value.strip().endswith("%"):
            found[title] = value
        elif (number := constant(value)) is not None:
            found[title] = number
    return found
