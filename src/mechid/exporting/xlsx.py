"""All parameters as a workbook, a sheet per table."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime

from mechid.errors import MechidError
from mechid.exporting.content import Content, Exported
from mechid.exporting.tables import COLUMNS, cells, grouped, missing

_NEVER = datetime(1980, 1, 1)

_MODIFIED = rb"(<dcterms:modified[^>]*>)[^<]*"


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
    book.properties.created = _NEVER
    out = io.BytesIO()
    book.save(out)
    return Exported("xlsx", _undated(out.getvalue()), missing(content))


def _undated(data: bytes) -> bytes:
    """Return a workbook without the time of writing, in the entries and in the properties."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, _NEVER.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, re.sub(_MODIFIED, rb"\g<1>1980-01-01T00:00:00Z", old.read(name)))
    return out.getvalue()
