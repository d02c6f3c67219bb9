"""Tables of points, parameters and bodies: sections that begin with a row of titles.

The first title says what a section has: `point`, `parameter` or `body`. Titles may carry a unit in
brackets, `x [mm]`; otherwise each row has it in a column of units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from mechid.errors import DataError
from mechid.importing.spreadsheet import Cell, Row, check_decimals, read_cells
from mechid.modelfile.units import Units, UnitsSpec

Dimension: TypeAlias = Literal["length", "mass", "angle", "inertia"]
SI_UNIT: dict[Dimension, str] = {"length": "m", "mass": "kg", "angle": "rad", "inertia": "kg m²"}
UNITS: dict[Dimension, tuple[str, ...]] = {
    dimension: get_args(UnitsSpec.model_fields[dimension].annotation)
    for dimension in ("length", "mass", "angle")
}
_INERTIA = re.compile(
    rf"({'|'.join(UNITS['mass'])})[\s·.*]*({'|'.join(UNITS['length'])})\s*(?:²|\*\*2|\^?2)"
)


def known_units(dimension: Dimension) -> str:
    """Return what to write for a unit."""
    if dimension == "inertia":
        return "a unit of mass and one of length squared, e.g. kg m^2 or t mm^2"
    return "one of: " + ", ".join(UNITS[dimension])


def units_of(text: str, dimension: Dimension) -> Units | None:
    """Return the units in which a cell is given, None if the text is not a unit of that kind."""
    if dimension == "inertia":
        match = _INERTIA.fullmatch(text)
        return Units(mass=match[1], length=match[2]) if match else None
    return Units(**{dimension: text}) if text in UNITS[dimension] else None


def dimension_of(text: str) -> Dimension | None:
    """Return what a unit measures, None if it is not known."""
    return next((d for d in SI_UNIT if units_of(text, d) is not None), None)


Section: TypeAlias = Literal["point", "parameter", "body"]
AXES = ("x", "y", "z")
CENTRE = ("cx", "cy", "cz")
SIX = ("xx", "yy", "zz", "xy", "xz", "yz")
WHAT = "what it is"
TITLES: Mapping[Section, tuple[str, ...]] = {
    "point": (*AXES, "unit", WHAT),
    "parameter": ("value", "unit", WHAT),
    "body": (
        "mass",
        "mass unit",
        *CENTRE,
        "centre unit",
        "centre in",
        *(f"I{k}" for k in SIX),
        "inertia unit",
        "about",
        "axes",
        "mass uncertainty",
        "centre uncertainty",
        "inertia uncertainty",
        WHAT,
    ),
}
_ONE: Mapping[str, Section] = {
    "point": "point",
    "points": "point",
    "hardpoint": "point",
    "hardpoints": "point",
    "parameter": "parameter",
    "parameters": "parameter",
    "body": "body",
    "bodies": "body",
}
_BRACKETS = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]")


@dataclass(frozen=True)
class TableRow:
    """A row of a section: its name, and its cells by title."""

    file: str
    name: str
    first: Cell
    cells: Mapping[str, Cell]
    units: Mapping[str, str] = field(default_factory=dict)  # from the titles

    def cell(self, title: str) -> Cell:
        """Return the cell of a column; an empty one if the section has no such column."""
        return self.cells.get(title, Cell(None, self.first.row, self.first.column))

    def text(self, title: str) -> str:
        """Return the text of a cell, "" if it is empty."""
        return self.cell(title).usable(self.file, title).text

    def place(self, title: str = "") -> str:
        """Return where a cell is: file, sheet, row and column."""
        return self.cells.get(title, self.first).place(self.file, title)

    def blank(self, titles: tuple[str, ...]) -> bool:
        """Return whether none of these cells has a value."""
        return all(self.cell(title).blank for title in titles)

    def number(self, title: str) -> float:
        """Return the number of a cell, which must have one."""
        if title not in self.cells:
            raise DataError(
                f"column {title} is missing", where=self.place(), remedy="add it to the titles"
            )
        return self.cells[title].number(self.file, title)

    def unit(self, title: str, over: tuple[str, ...] = ()) -> str:
        """Return the text of a unit, of its column or of the titles of the columns `over`."""
        given = [*([self.text(title)] if self.text(title) else ())]
        given += [self.units[t] for t in over if t in self.units]
        if len(set(given)) > 1:
            raise DataError(
                f"different units, {' and '.join(dict.fromkeys(given))}",
                where=self.place(title),
                remedy="give one unit, in the title or in the row",
            )
        return given[0] if given else ""

    def read_units(self, title: str, dimension: Dimension, over: tuple[str, ...]) -> Units:
        """Return the units of the columns `over`."""
        text = self.unit(title, over)
        found = units_of(text, dimension)
        if found is None:
            raise DataError(
                f'"{text}" is not a unit of {dimension}' if text else "the unit is missing",
                where=self.place(title),
                remedy=f"write {known_units(dimension)}",
            )
        return found


@dataclass(frozen=True)
class HardpointTable:
    """The rows of a table by section and name, and what was passed over."""

    file: str
    rows: Mapping[Section, Mapping[str, TableRow]]
    notes: tuple[str, ...]


def read_hardpoints(path: str | Path) -> HardpointTable:
    """Return the sections of a table (.csv, .xlsx).

    Raises
    ------
    DataError
        With the place, if there is no section, a title or name is missing, or comes twice.
    """
    file = str(path)
    found: dict[Section, dict[str, TableRow]] = {"point": {}, "parameter": {}, "body": {}}
    notes: dict[str, None] = {}
    header: _Header | None = None
    for row in read_cells(Path(path)):
        first = next((cell for cell in row if cell.text), None)
        if first is None:
            continue
        if header is not None and first.sheet != header.first.sheet:
            header = None
        if (section := _ONE.get(first.text.lower())) is not None:
            header = _Header(file, section, first, row)
            notes |= dict.fromkeys(header.notes())
        elif header is not None and not first.text.startswith("#"):
            read = header.row(row)
            if (other := found[header.section].get(read.name)) is not None:
                raise DataError(
                    f"{header.section} {read.name} is given twice (first in row {other.first.row})",
                    where=read.place(),
                    remedy="remove one of the rows",
                )
            found[header.section][read.name] = read
    rows = [row for section in found.values() for row in section.values()]
    cells = (cell for row in rows for title, cell in row.cells.items() if title != WHAT)
    check_decimals(cells, file)
    if not rows:
        raise DataError(
            "the table has no points, parameters or bodies",
            where=file,
            remedy="begin a section with a row of titles: point, x, y, z, unit",
        )
    return HardpointTable(file, found, tuple(notes))


class _Header:
    """The titles of a section."""

    def __init__(self, file: str, section: Section, first: Cell, row: Row) -> None:
        self.file, self.section, self.first = file, section, first
        self.columns: dict[int, str] = {}
        self.units: dict[str, str] = {}
        self.unknown: list[Cell] = []
        known = {_plain(title): title for title in TITLES[section]}
        for cell in row:
            if cell.blank or cell.column <= first.column:
                continue
            match = _BRACKETS.fullmatch(cell.text)
            title = known.get(_plain(match[1] if match else cell.text))
            if title is None:
                self.unknown.append(cell)
                continue
            if title in self.columns.values():
                raise DataError(
                    f"there are two columns {title}",
                    where=cell.place(file),
                    remedy="rename or remove one of them",
                )
            self.columns[cell.column] = title
            if match:
                self.units[title] = match[2]

    def notes(self) -> Iterator[str]:
        """Yield what is not used."""
        for cell in self.unknown:
            yield f"{cell.place(self.file)}: column {cell.text} is not used"

    def row(self, row: Row) -> TableRow:
        """Return a row under these titles."""
        names = [cell for cell in row if cell.column == self.first.column]
        known = {cell.column for cell in self.unknown} | self.columns.keys()
        others = [cell for cell in row if cell.text and cell.column > self.first.column]
        if not names or not names[0].usable(self.file, self.section).text:
            raise DataError(
                "the name is missing",
                where=(names or others)[0].place(self.file, self.section),
                remedy=f"write the name of the {self.section} first",
            )
        if extra := [cell for cell in others if cell.column not in known]:
            raise DataError(
                f'"{extra[0].text}" stands under no title',
                where=extra[0].place(self.file),
                remedy="remove it; where decimals have commas, separate cells by semicolons",
            )
        cells = {self.columns[c.column]: c for c in row if c.column in self.columns}
        return TableRow(self.file, names[0].text, names[0], cells, self.units)


def _plain(title: str) -> str:
    """Return a title as it is compared: other spellings of the same word are one."""
    text = " ".join(title.lower().replace("_", " ").split()).replace("center", "centre")
    return {"description": WHAT, "length unit": "centre unit"}.get(text, text)
