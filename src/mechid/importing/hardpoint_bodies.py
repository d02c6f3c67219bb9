"""Mass properties of bodies, from and to the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.importing.hardpoint_checks import Change
from mechid.importing.hardpoint_table import CENTRE, SIX, TableRow
from mechid.importing.hardpoint_targets import Data, constant
from mechid.importing.hardpoint_units import SI_UNIT, Dimension
from mechid.modelfile.units import SI, Units
from mechid.textfile.yamlio import Key

INERTIA = tuple(f"I{k}" for k in SIX)
MOMENTS = INERTIA[:3]


@dataclass
class BodyChange:
    """What a row changes: numbers for the checks, and what it leaves out (title, words)."""

    changes: list[Change] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)


def fill_body(
    spec: Data, row: TableRow, units: Units
) -> tuple[Data, BodyChange, dict[Key, str]] | None:
    """Return the entry of a body with the numbers of a row, what changed, and the cells by path.

    Mass, centre and inertia are given each as a whole, or left empty and kept. None if the row is
    empty.
    """
    if row.blank(("mass", *CENTRE, *INERTIA)):
        return None
    new, change = dict(spec), BodyChange()
    cells: dict[Key, str] = {}
    given = {"mass": not row.blank(("mass",)), "centre": not row.blank(CENTRE)}
    given["inertia"] = not row.blank(INERTIA)
    mass = center = six = None
    if given["mass"]:
        new["mass"], mass = _converted(row, "mass", "mass unit", "mass", ("mass",), units)
        if mass <= 0:
            raise DataError(
                f"the mass must be > 0, got {row.number('mass'):g}",
                where=row.place("mass"),
                remedy="give the mass; a body without mass is declared in the model file "
                "(massless: true), and has no row here",
            )
        new.pop("massless", None)
        cells[("mass",)] = row.place("mass")
    if given["centre"]:
        pairs = [_converted(row, t, "centre unit", "length", CENTRE, units) for t in CENTRE]
        center = np.array([si for _, si in pairs])
        ground = _where(row, spec)
        new["center"] = {"ground": [v for v, _ in pairs]} if ground else [v for v, _ in pairs]
        cells[("center",)] = row.place("cx")
        center = None if ground else center
    if given["inertia"]:
        new["inertia"], six = _inertia(row, spec, units)
        cells[("inertia",)] = row.place("Ixx")
    _uncertainty(row, new, units, cells)
    for what, title in (("mass", "mass"), ("centre", "cx"), ("inertia", "Ixx")):
        if not given[what]:
            change.missing.append(
                (title, f"{what} of {row.name} is missing: the model keeps its own")
            )
    change.changes.append(_change(row, spec, units, mass, center, six))
    return new, change, cells


def _change(row: TableRow, spec: Data, units: Units, mass: Any, center: Any, six: Any) -> Change:
    old = constant(spec.get("mass"))
    radius = None
    if mass is not None and six is not None:
        radius = float(np.sqrt(max(float(np.sum(six[:3])), 0.0) / 2 / mass))
    return Change(
        f"body {row.name}",
        row.place("mass"),
        old_mass=None if old is None else float(units.into(old, "kg", SI)),
        mass=mass,
        gyration=radius,
        offset=None if center is None else float(np.linalg.norm(center)),
        places={"gyration": row.place("Ixx"), "offset": row.place("cx")},
    )


def _converted(
    row: TableRow, title: str, unit: str, dimension: Dimension, over: tuple[str, ...], units: Units
) -> tuple[float, float]:
    """Return the number of a cell in units of the file, and in SI."""
    value, given = row.number(title), row.read_units(unit, dimension, over)
    return given.into(value, SI_UNIT[dimension], units), given.into(value, SI_UNIT[dimension], SI)


def _where(row: TableRow, spec: Data) -> bool:
    """Return whether the centre is in ground coordinates; by default as the model has it."""
    text = row.text("centre in")
    if text not in ("", "body", "ground"):
        raise DataError(
            f'"{text}" is not a frame', where=row.place("centre in"), remedy="write body or ground"
        )
    return text == "ground" or (not text and isinstance(spec.get("center"), dict))


def _inertia(row: TableRow, spec: Data, units: Units) -> tuple[Data, Any]:
    old = spec.get("inertia")
    new = dict(old) if isinstance(old, dict) else {}
    new.pop("allow_nonphysical", None)
    six = []
    for key, title in zip(SIX, INERTIA, strict=True):
        if title not in MOMENTS and row.cell(title).blank:
            new[key], si = 0, 0.0  # products may be left empty
        else:
            new[key], si = _converted(row, title, "inertia unit", "inertia", INERTIA, units)
        six.append(si)
    if about := row.text("about"):
        new["about"] = "center" if about.lower() in ("centre", "center") else about
    if axes := row.text("axes"):
        new.pop("axes", None)
        if axes != "body":
            new["axes"] = axes
    return new, np.array(six)


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
            value: Any = cell.text
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
