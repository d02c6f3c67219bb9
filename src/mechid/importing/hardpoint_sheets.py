"""The table of a model to fill in: rows of its points, parameters and bodies, as CSV and XLSX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from mechid.importing.hardpoint_bodies import constants
from mechid.importing.hardpoint_table import AXES, CENTRE, SIX, TITLES, WHAT, Section
from mechid.importing.hardpoint_targets import Data, ParameterTarget, constant, targets
from mechid.importing.workbook import workbook_bytes
from mechid.importing.xlsx import openpyxl
from mechid.modelfile.units import Units

Meaning: TypeAlias = Mapping[str, Mapping[str, str]]
Sheets: TypeAlias = dict[str, list[list[Any]]]
NOTES = (
    "Overwrite the numbers, and the units where yours are others. Each row has its own units.",
    "Points are in the frame of the ground, in one pose of the mechanism.",
    "A row that is removed, or whose numbers are, keeps the numbers of the model file.",
    "Inertia is the tensor, Ixy = -∫xy dm. About: centre, origin (of the frame of the body), or "
    "the name of a point. Centre in, axes: body or ground.",
    "Uncertainties are standard deviations: a number in the unit of the row, or 5 %.",
)


def sheets(data: Data, units: Units, table: Units, meaning: Meaning) -> Sheets:
    """Return the rows of each section of the table of a model, by name; titles come first.

    `units` are those of the model file, `table` those that the table is to have.
    """
    found = targets(data)
    parts: dict[str, tuple[Section, list[dict[str, Any]]]] = {
        "points": ("point", [
            {"point": name, "unit": table.length, WHAT: meaning.get("points", {}).get(name)}
            | {k: units.into(v, "m", table) for k, v in zip(AXES, target.now, strict=True)}
            for name, target in found.points.items()
        ]),
        "parameters": ("parameter", [
            {"parameter": name, WHAT: meaning.get("parameters", {}).get(name)}
            | _parameter(target, units, table)
            for name, target in found.parameters.items()
        ]),
        "bodies": ("body", [
            {"body": name, WHAT: meaning.get("bodies", {}).get(name)} | _body(row, units, table)
            for name, target in found.bodies.items()
            if (row := constants(target.spec)) is not None
        ]),
    }  # fmt: skip
    return {
        name: [
            [section, *TITLES[section]],
            *([row.get(title) for title in (section, *TITLES[section])] for row in rows),
        ]
        for name, (section, rows) in parts.items()
        if rows
    }


def _parameter(target: ParameterTarget, units: Units, table: Units) -> dict[str, Any]:
    value, unit = target.now, target.unit
    if isinstance(value, str) and (words := value.rsplit(maxsplit=1))[-1] in ("deg", "rad"):
        value, unit = words[0], words[-1]
    number = constant(value)
    assert number is not None
    if unit in ("m", units.length):
        number, unit = units.into(number, "m", table), table.length
    return {"value": number, "unit": unit}


def _body(row: dict[str, Any], units: Units, table: Units) -> dict[str, Any]:
    kinds = {"mass": "kg", "mass uncertainty": "kg", "centre uncertainty": "m"}
    kinds |= dict.fromkeys(CENTRE, "m") | {f"I{k}": "kg m²" for k in SIX}
    kinds |= {"inertia uncertainty": "kg m²"}
    # Moments of inertia in kg mm² have seven digits: m² is kept for them.
    inertia = Units(mass=table.mass)
    numbers = {
        title: units.into(value, kinds[title], inertia if kinds[title] == "kg m²" else table)
        for title, value in row.items()
        if title in kinds and not isinstance(value, str)
    }
    return row | numbers | {
        "about": "centre" if row.get("about") == "center" else row.get("about"),
        "mass unit": table.mass,
        "centre unit": table.length,
        "inertia unit": f"{table.mass} m^2",
    }  # fmt: skip


def as_csv(found: Sheets, title: str) -> str:
    """Return the sections one below the other, as CSV text."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([f"# {note}"] for note in (title, *NOTES))
    for rows in found.values():
        writer.writerow([])
        writer.writerows(["" if v is None else v for v in row] for row in rows)
    return text.getvalue()


def as_xlsx(found: Sheets, title: str, where: str) -> bytes:
    """Return the sections as sheets of a workbook."""
    package = openpyxl(where)
    book = package.Workbook()
    front = book.active
    front.title = "read me"
    for line in (title, *NOTES):
        front.append([f"# {line}"])
    for name, rows in found.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = package.styles.Font(bold=True)
        for column, width in _widths(rows):
            sheet.column_dimensions[package.utils.get_column_letter(column)].width = width
        sheet.freeze_panes = "B2"
    book.active = min(1, len(found))
    return workbook_bytes(book)


def _widths(rows: list[list[Any]]) -> Iterator[tuple[int, int]]:
    for k, column in enumerate(zip(*rows, strict=True), start=1):
        yield k, min(max(len(str(v)) for v in column if v is not None) + 2, 70)
