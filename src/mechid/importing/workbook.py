"""Excel workbooks as bytes that depend on their content only."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime
from typing import Any

_NEVER = datetime(1980, 1, 1)
_MODIFIED = rb"(<dcterms:modified[^>]*>)[^<]*"


def workbook_bytes(book: Any) -> bytes:
    """Return a workbook of openpyxl without the time of writing, in entries and properties."""
    book.properties.created = _NEVER
    dated, out = io.BytesIO(), io.BytesIO()
    book.save(dated)
    with zipfile.ZipFile(dated) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, _NEVER.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, re.sub(_MODIFIED, rb"\g<1>1980-01-01T00:00:00Z", old.read(name)))
    return out.getvalue()
