"""Small tables that people fill in: the cells of CSV and XLSX files, each with its place.

A cell that has no usable value (a formula that was never computed, a part of merged cells) is kept
with its problem, which is an error only where the cell is used.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mechid.errors import DataError
from mechid.textfile.words import kind

MOST_BYTES = 10_000_000  # of a file; tables of points have some 10 kB
MOST_ROWS, MOST_COLUMNS = 10_000, 256
_LARGEST = 1e30  # of numbers; in any unit they stay in the range of model files
_DOT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Cell:
    """The value of a cell (None if it is empty), its place, and why it cannot be used."""

    value: object
    row: int  # from 1
    column: int  # from 0
    sheet: str = ""
    problem: str = ""
    remedy: str = ""

    @property
    def text(self) -> str:
        """The value as text without spaces around it; "" if the cell is empty."""
        return "" if self.value is None else str(self.value).strip()

    @property
    def blank(self) -> bool:
        """Whether nothing is in the cell."""
        return not self.text and not self.problem

    def place(self, file: str, title: str = "") -> str:
        """Return file, sheet, row and column; `title` is the heading of the column."""
        sheet = f"sheet {self.sheet}, " if self.sheet else ""
        name = f"column {column_name(self.column)}" + (f" ({title})" if title else "")
        return f"{file}: {sheet}row {self.row}, {name}"

    def usable(self, file: str, title: str = "") -> Cell:
        """Return the cell, or say why it cannot be used."""
        if self.problem:
            raise DataError(self.problem, where=self.place(file, title), remedy=self.remedy)
        return self

    def number(self, file: str, title: str = "") -> float:
        """Return the number in the cell.

        Raises
        ------
        DataError
            With the place of the cell, if it has none.
        """
        value, where = self.usable(file, title).value, self.place(file, title)
        number = None
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = value
        elif _DOT.fullmatch(self.text):
            number = float(self.text)
        elif _COMMA.fullmatch(self.text):
            number = float(self.text.replace(",", "."))
        if number is not None and abs(number) < _LARGEST:
            return float(number)
        if self.blank:
            raise DataError("the value is missing", where=where, remedy="write a number")
        long = len(self.text) > 40
        shown = kind(self.text[:40] + "…" if long else self.text)
        both = "," in self.text and "." in self.text
        raise DataError(
            f"{shown} is not a number",
            where=where,
            remedy="write it without separators of thousands"
            if both and _DOT.fullmatch(self.text.replace(",", ""))
            else "write a plain number; units have their own column",
        )


Row: TypeAlias = tuple[Cell, ...]


def column_name(index: int) -> str:
    """Return A, B, …, Z, AA, … of a column counted from 0."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def read_cells(path: Path) -> list[Row]:
    """Return the rows of a CSV or XLSX file, those of all sheets one after the other.

    Raises
    ------
    DataError
        If the file cannot be read, or is much larger than such a table can be.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise DataError(
                f"the file has {size / 1e6:.3g} MB, a table may have {MOST_BYTES / 1e6:g} MB",
                where=str(path),
                remedy="copy the sheets with points and bodies into a file of their own",
            )
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", where=str(path)) from None
    match path.suffix.lower():
        case ".csv":
            rows = _csv(content, path)
        case ".xlsx" | ".xlsm":
            from mechid.importing.xlsx import read_xlsx

            rows = read_xlsx(content, str(path))
        case other:
            raise DataError(
                f"a table is .csv or .xlsx, got {other or 'a name without ending'}",
                where=str(path),
                remedy="save it as CSV or as an Excel workbook (.xlsx)",
            )
    return rows


def _csv(content: bytes, path: Path) -> list[Row]:
    if b"\0" in content:
        raise DataError(
            "the file is not CSV text", where=str(path), remedy="save it as CSV (UTF-8)"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")  # what spreadsheets call CSV
    # The delimiter is the one that most lines have; decimals, texts and comments may have others.
    lines = [line for line in text.splitlines() if not line.lstrip('"').startswith("#")]
    delimiter = max(";\t,", key=lambda mark: sum(mark in line for line in lines))
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"not a CSV file: {error}", where=str(path)) from None
    check_size(len(found), max((len(row) for row in found), default=0), str(path))
    return [
        tuple(Cell(value, i, k) for k, value in enumerate(row))
        for i, row in enumerate(found, start=1)
    ]


def check_size(rows: int, columns: int, where: str) -> None:
    """Refuse a table that is much larger than one of points and bodies."""
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        raise DataError(
            f"the table has {rows} rows and {columns} columns, it may have {MOST_ROWS} and "
            f"{MOST_COLUMNS}",
            where=where,
            remedy="delete empty rows and columns, and what is not a point or a body",
        )


def check_decimals(cells: Iterable[Cell], file: str) -> None:
    """Refuse decimal points and decimal commas in one table: one of them may group thousands."""
    texts = [cell for cell in cells if isinstance(cell.value, str)]
    comma = next((cell for cell in texts if _COMMA.fullmatch(cell.text)), None)
    dot = next((c for c in texts if "." in c.text and _DOT.fullmatch(c.text)), None)
    if comma is not None and dot is not None:
        raise DataError(
            f'"{comma.text}" has a decimal comma, but "{dot.text}" in row {dot.row} a decimal '
            "point",
            where=comma.place(file),
            remedy="use one of them in the whole table",
        )
