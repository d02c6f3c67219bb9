"""All parameters as a workbook, a sheet per table."""

from __future__ import annotations

from mechid.errors import MechidError
from mechid.exporting.content import Content, Exported
from mechid.exporting.tables import COLUMNS, cells, grouped, missing
from mechid.importing.workbook import workbook_bytes


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
