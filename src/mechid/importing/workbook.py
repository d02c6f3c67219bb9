"""Excel workbooks as bytes that depend on their content only."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from datetime import datetime
from typing import Any

from mechid.errors import DataError

_NEVER = datetime(1980, 1, 1)
_MODIFIED = rb"(<dcterms:modified[^>]*>)[^<]*"


def workbook_bytes(book: Any) -> bytes:
    """Return a workbook of openpyxl without the time of writing, in entries and properties.

    Raises
    ------
    DataError
        If the sheets cannot be written to the temporary folder.
    """
    book.properties.created = _NEVER
    dated, out = io.BytesIO(), io.BytesIO()
    try:
        book.save(dated)
    except Exception as error:  # lxml, if it is there, has errors of its own for a full disk
        raise DataError(
            f"cannot write the sheets of the workbook: {error}",
            where=tempfile.gettempdir(),
            remedy="make room there, or set TMPDIR to another folder",
        ) from None
    with zipfile.ZipFile(dated) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, _NEVER.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, re.sub(_MODIFIED, rb"\g<1>1980-01-01T00:00:00Z", old.read(name)))
    return out.getvalue()
