"""All parameters as one table, a row per number, and as a workbook."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict

from mechid.errors import MechidError
from mechid.exporting.content import Content, Exported, Quantity
from mechid.importing.workbook import workbook_bytes

COLUMNS = ("table", "owner", "name", "unit", "value", "sigma", "cad", "cad_sigma", "source",
           "expression")  # fmt: skip


def csv_table(content: Content, allow_loss: bool = False) -> Exported:
    """Return a CSV file with base parameters, bodies and force elements."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(cells(quantity, COLUMNS) for quantity in content.quantities)
    return Exported("tables", out.getvalue().encode(), missing(content))


def cells(quantity: Quantity, columns: tuple[str, ...]) -> list[str | float | None]:
    """Return the row of a number."""
    entries = asdict(quantity)
    return [entries[column] for column in columns]


def grouped(content: Content) -> Iterator[tuple[str, tuple[Quantity, ...]]]:
    """Yield the name of each table with its rows."""
    for table in dict.fromkeys(q.table for q in content.quantities):
        yield table, tuple(q for q in content.quantities if q.table == table)


def missing(content: Content) -> tuple[str, ...]:
    """Return a note about values that are missing."""
    return (content.lacking,) if content.lacking else ()


def xlsx(content: Content, allow_loss: bool = False) -> Exported:
    """Return an XLSX file.

    Raises
    ------
    MechidError
        If openpyxl is not installed.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Font
    except ImportError:
        raise MechidError(
            "XLSX files need openpyxl, which is not installed", remedy="pip install 'mechid[xlsx]'"
        ) from None
    book = Workbook()
    about = book.active
    about.title = "about"
    notes = (*content.notes, *missing(content))
    for line in (content.mechanism.name, content.origin, *notes, "SI units"):
        about.append([line])
    for table, quantities in grouped(content):
        sheet = book.create_sheet(table)
        columns = tuple(c for c in COLUMNS[1:] if any(cells(q, (c,))[0] for q in quantities))
        sheet.append(columns)
        for quantity in quantities:
            sheet.append(cells(quantity, columns))
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        sheet.freeze_panes = "A2"
    return Exported("xlsx", workbook_bytes(book), missing(content))
