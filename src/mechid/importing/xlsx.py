"""Cells of Excel workbooks, read with the care that files of others need."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from contextlib import redirect_stdout
from typing import Any

from mechid.errors import DataError
from mechid.importing.spreadsheet import Cell, Row, check_size
from mechid.textfile.quiet import quiet

_MOST_UNPACKED = 50_000_000  # bytes of all parts of a workbook
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*ref\s*=\s*["\']([A-Z]+)(\d+):([A-Z]+)(\d+)["\']')
_SAVE = "open the file in a spreadsheet program, and save it again"


def openpyxl(where: str) -> Any:
    """Return the package that reads and writes workbooks."""
    try:
        import openpyxl as package
    except ImportError:
        raise DataError(
            "Excel workbooks need the package openpyxl",
            where=where,
            remedy='install it with: pip install "mechid[xlsx]", or use CSV',
        ) from None
    return package


def read_xlsx(content: bytes, file: str) -> list[Row]:
    """Return the rows of all visible sheets of a workbook, one after the other.

    Raises
    ------
    DataError
        If it is no workbook, or unpacks to more than a table can be.
    """
    package = openpyxl(file)
    _check_parts(content, file)
    try:
        # Of drawings, styles and the like; some of it is printed.
        with quiet(), redirect_stdout(io.StringIO()):
            # Values as the spreadsheet program stored them, and the formulas behind them.
            values = package.load_workbook(io.BytesIO(content), data_only=True, keep_links=False)
            formulas = package.load_workbook(io.BytesIO(content), keep_links=False)
    except Exception as error:  # openpyxl raises what its parsers raise
        raise DataError(
            f"not an Excel workbook: {type(error).__name__} while reading it",
            where=file,
            remedy=_SAVE,
        ) from None
    rows: list[Row] = []
    for sheet in values.worksheets:
        if sheet.sheet_state == "visible":
            check_size(sheet.max_row, sheet.max_column, f"{file}: sheet {sheet.title}")
            rows += _rows(sheet, formulas[sheet.title])
    return rows


def _check_parts(content: bytes, file: str) -> None:
    """Refuse archives that unpack to very much, and entities, which no workbook has."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            if sum(part.file_size for part in parts) > _MOST_UNPACKED:
                raise DataError(
                    f"the workbook unpacks to more than {_MOST_UNPACKED / 1e6:g} MB",
                    where=file,
                    remedy="copy the sheets with points and bodies into a file of their own",
                )
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    _check_part(archive.read(part), f"{file}: {part.filename}")
    except DataError:
        raise
    except Exception:  # of the archive, of the decompressors
        raise DataError(
            "not an Excel workbook (.xlsx)", where=file, remedy=_SAVE + " as .xlsx"
        ) from None


def _check_part(text: bytes, where: str) -> None:
    if b"<!DOCTYPE" in text or b"\0" in text:  # UTF-16 could hide one
        raise DataError("entities are not allowed in a workbook", where=where, remedy=_SAVE)
    for left, top, right, bottom in _MERGED.findall(text):
        check_size(int(bottom) - int(top), _index(right) - _index(left), f"{where}: merged cells")


def _index(letters: bytes) -> int:
    """Return the number of a column from its letters, A is 1."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _rows(sheet: Any, formulas: Any) -> list[Row]:
    covered = {
        (row, column): f"merged with {area.coord.partition(':')[0]}"
        for area in sheet.merged_cells.ranges
        for row in range(area.min_row, area.max_row + 1)
        for column in range(area.min_col, area.max_col + 1)
        if (row, column) != (area.min_row, area.min_col)
    }

    def cell(found: Any, written: Any) -> Cell:
        problem = remedy = ""
        value = found.value
        if merged := covered.get((found.row, found.column)):
            problem, remedy = f"the cell is {merged}", "write every value in a cell of its own"
        elif value is None and written.value is not None:
            value = written.value
            problem, remedy = "the value of the formula is not in the file", _SAVE
        elif isinstance(value, datetime.date | datetime.time | datetime.timedelta):
            problem = f"the cell has a date or time ({value}), not a number"
            remedy = "format the cell as a number, and write the value again"
        elif isinstance(value, int | float) and "%" in str(found.number_format):
            value = f"{float(f'{100 * value:.12g}')!r} %"  # a cell that shows 5 % has 0.05
        return Cell(value, found.row, found.column - 1, sheet.title, problem, remedy)

    pairs = zip(sheet.iter_rows(), formulas.iter_rows(), strict=True)
    return [
        tuple(cell(a, b) for a, b in zip(found, written, strict=True)) for found, written in pairs
    ]
