"""Text tables as people have them: any separator, decimal sign, encoding and kind of header."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.measurementfile.channels import Channel, Found, arrow_channel
from mechid.measurementfile.document import TableSpec
from mechid.measurementfile.text_layout import MISSING, TextLayout, text_layout
from mechid.measurementfile.units import is_unit

_HEAD = 400  # lines from which the layout is read
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
          (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
_NAMED_UNIT = re.compile(r"(.*\S)\s*[\[(]\s*([^\])]+?)\s*[\])]")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")


def read_text(path: Path, given: TableSpec) -> Found:
    """Return the columns of a text table, and notes on how it was read.

    Raises
    ------
    DataError
        If it is not a table, or has two readings.
    """
    text, words = _decoded(path.read_bytes(), given.encoding)
    lines, rest = [], 0
    for _ in range(_HEAD):
        end = text.find("\n", rest)
        lines.append(text[rest : end if end >= 0 else None].rstrip("\r"))
        rest = end + 1
        if end < 0:
            break
    if not any(line.strip() for line in lines):
        raise DataError("the file is empty")
    layout = text_layout(lines, given)
    table = _parsed(text, layout)
    names, units = _named(layout)
    columns = list(zip(names, units, table.columns, strict=True))
    found = {
        name: _channel(column, name, unit, layout.decimal)
        for name, unit, column in columns
        if name or column.null_count < len(column)
    }
    words = [*words, *layout.words]
    return found, [f"text: {', '.join(words)}"] if words else []


def _decoded(raw: bytes, encoding: str | None) -> tuple[str, list[str]]:
    """Return the text of a file: as its mark says, else UTF-8, else Windows-1252."""
    if encoding is not None:
        try:
            text = raw.decode(encoding).removeprefix("\ufeff")
            text.encode()  # UTF-7 and others can stand for what is no character
            return text, [encoding]
        except (ValueError, LookupError) as error:
            raise DataError(
                f"the text is not {encoding}: {error}", where="table.encoding"
            ) from None
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, errors="replace"), (
                [] if name == "utf-8" else [name.upper()]
            )
    head = raw[:2000]
    for name, places in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if len(places) > 3 and places.count(0) > 0.8 * len(places):
            return raw.decode(name, errors="replace"), [name.upper()]
    if b"\0" in head:
        raise DataError("not a text table: it contains zero bytes")
    try:
        return raw.decode(), []
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace"), ["Windows-1252"]


def _parsed(text: str, layout: TextLayout) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pv

    body = _from_line(text, layout.first)
    if layout.separator == " ":
        body = "\n".join(" ".join(line.split()) for line in body.splitlines())
    raw = body.encode()

    def read(threads: bool) -> Any:
        return pv.read_csv(
            pa.BufferReader(raw),
            # Names are given later: they may occur twice.
            read_options=pv.ReadOptions(
                column_names=[str(k) for k in range(len(layout.names))], use_threads=threads
            ),
            parse_options=pv.ParseOptions(delimiter=layout.separator),
            # Numbers, dates or text, no truth values.
            convert_options=pv.ConvertOptions(
                decimal_point=layout.decimal,
                true_values=[],
                false_values=[],
                null_values=list(MISSING),
                strings_can_be_null=True,
            ),
        )

    try:
        return read(True)
    except ValueError:  # content that is no table: one thread knows the row
        try:
            return read(False)
        except ValueError as error:
            words = str(error).splitlines()[0].removeprefix("CSV parse error: ")
            raise DataError(
                f"not a text table: {words}", remedy="correct the row, or export the table again"
            ) from None


def _from_line(text: str, line: int) -> str:
    """Return the text from a line on, counted from 1."""
    at = 0
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    return text[at:]


def _named(layout: TextLayout) -> tuple[list[str], list[str]]:
    """Return names and units: those of a line of units, else at the end of a name, `F [kN]`."""
    names, units = [], []
    for name, unit in zip(layout.names, layout.units, strict=True):
        ends = _NAMED_UNIT.fullmatch(name)
        if ends and is_unit(ends[2]):
            name, unit = ends[1], unit or ends[2]
        names.append(name)
        units.append(unit)
    count = Counter(names)
    names = [n if count[n] == 1 else whole for n, whole in zip(names, layout.names, strict=True)]
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        raise DataError(f"duplicate column {twice[0]}", remedy="give each column its own name")
    return names, units


def _channel(column: Any, name: str, unit: str, decimal: str) -> Channel:
    import pyarrow as pa

    if decimal == "," and pa.types.is_string(column.type):
        for row, value in enumerate(column.to_pylist(), start=1):
            if value is not None and not _DECIMAL_COMMA.fullmatch(value.strip()):
                problem = DataError(
                    f'"{value[:40]}" is not a number with a decimal comma',
                    where=f"row {row}, column {name}",
                )
                return Channel(np.zeros(0), problem=problem)
    return arrow_channel(column, name, unit)
