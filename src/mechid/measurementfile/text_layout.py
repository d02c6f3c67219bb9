"""How a text table is written: its separator, decimal sign, and the lines of names and units.

Each is found by a rule that `docs/reference/measurements.md` states, and can be given in the
mapping; what has two readings is refused.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mechid.errors import DataError
from mechid.measurementfile.document import TableSpec
from mechid.measurementfile.units import is_unit

SEPARATORS = {"tab": "\t", "semicolon": ";", "comma": ",", "space": " "}
# What Arrow takes for a missing value.
MISSING = ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND",
           "1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null")  # fmt: skip
_COMMENT = re.compile(r"\s*(#|%|//|!)\s*")
_EXPONENT = r"([eE][+-]?\d+)?"
_POINT = re.compile(rf"[+-]?(\d+(\.\d*)?|\.\d+){_EXPONENT}")  # one way to read digits
_COMMA = re.compile(rf"[+-]?(\d+,\d*|,\d+){_EXPONENT}")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3}){2,}|[+-]?\d{1,3}(,\d{3})+\.\d*|"
                      r"[+-]?\d{1,3}(\.\d{3}){2,}|[+-]?\d{1,3}(\.\d{3})+,\d*")  # fmt: skip
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # 1,234: one and a bit, or over a thousand
_STAMP = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?|\d\d:\d\d:\d\d.*")
# A number in some spelling, or a date, or that there is none.
_VALUE = re.compile(
    "|".join([*map(re.escape, MISSING), *(p.pattern for p in (_POINT, _COMMA, _GROUPED, _STAMP))])
)
_RUN = 3  # rows in a row that are numbers: the data have begun
_HALF = 0.5  # of the cells of a row: a table may have columns of text


@dataclass(frozen=True)
class TextLayout:
    """Where the numbers of a text table are, and how they are written.

    Attributes
    ----------
    separator, decimal : str
    names, units : tuple of str
        Of the columns; a unit is empty where none is stated.
    first : int
        Line of the first row, counted from 1.
    words : tuple of str
        What differs from a plain table, for the notes.
    """

    separator: str
    decimal: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    first: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    line: int
    cells: tuple[str, ...]
    comment: bool

    @cached_property
    def filled(self) -> list[str]:
        return [cell for cell in self.cells if cell]

    @cached_property
    def is_data(self) -> bool:
        number = sum(_VALUE.fullmatch(cell) is not None for cell in self.filled)
        return not self.comment and number > 0 and number >= _HALF * len(self.filled)


def text_layout(lines: Sequence[str], given: TableSpec) -> TextLayout:
    """Return the layout of a table from its first lines.

    Raises
    ------
    DataError
        If there are no numbers or no names, or numbers have two readings.
    """
    separator, rows = _separated(lines, given)
    start = _start(rows, given)
    width = Counter(len(row.cells) for row in rows[start:]).most_common(1)[0][0]
    names, units, words = _heads(rows[:start], width, given, rows[start].line)
    decimal = given.decimal or _decimal([c for r in rows[start:] for c in r.filled], separator)
    if separator == " ":
        words = ["columns separated by blanks", *words]
    if decimal == ",":
        words = ["decimal comma", *words]
    return TextLayout(separator, decimal, names, units, rows[start].line, tuple(words))


def _split(lines: Sequence[str], separator: str) -> list[_Row]:
    rows = []
    for number, line in enumerate(lines, start=1):
        comment = _COMMENT.match(line)
        text = line[comment.end() :] if comment else line
        if not text.strip():
            continue
        if separator == " ":
            text = " ".join(text.split())
        try:
            cells = next(csv.reader([text], delimiter=separator, skipinitialspace=True))
        except csv.Error:  # a cell of many thousand characters
            cells = [text]
        rows.append(_Row(number, tuple(cell.strip() for cell in cells), comment is not None))
    return rows


def _separated(lines: Sequence[str], given: TableSpec) -> tuple[str, list[_Row]]:
    """Return the separator that turns most cells of the data into numbers, with the rows."""
    if given.separator is not None:
        separator = SEPARATORS.get(given.separator, given.separator)
        return separator, _split(lines, separator)
    best: tuple[float, int, str, list[_Row]] | None = None
    for separator in SEPARATORS.values():
        rows = _split(lines, separator)
        data = [row for row in rows if row.is_data]
        if not data:
            continue
        width, often = Counter(len(row.cells) for row in data).most_common(1)[0]
        filled = [cell for row in data for cell in row.filled]
        share = (
            sum(_VALUE.fullmatch(cell) is not None for cell in filled)
            / len(filled)
            * often
            / len(data)
        )
        if width > 1 and (best is None or (share, width) > best[:2]):
            best = share, width, separator, rows
    return (",", _split(lines, ",")) if best is None else best[2:]


def _start(rows: Sequence[_Row], given: TableSpec) -> int:
    """Return where the data begin: at the first of several rows of numbers of equal width.

    If there are none, because most columns are text, the stated lines of names and units decide.
    """
    for k in range(len(rows)):
        run = rows[k : k + _RUN]
        if all(r.is_data for r in run) and len({len(r.cells) for r in run}) == 1:
            return k
    after = [k for k, row in enumerate(rows) if row.line > max(given.header or 0, given.units or 0)]
    if given.header is not None and after:
        return after[0]
    raise DataError(
        "the table has no rows of numbers",
        remedy="state how it is written under table in the mapping: separator, decimal, header",
    )


def _heads(
    above: Sequence[_Row], width: int, given: TableSpec, first: int
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return names and units of the columns from the lines above the data."""
    if given.names is not None:
        if len(given.names) != width:
            raise DataError(
                f"{width} names are needed for {width} columns, got {len(given.names)}",
                where="table.names",
            )
        return tuple(given.names), ("",) * width, ["names as in the mapping"]
    by_line = {row.line: row for row in above}
    if given.header is not None:
        head = _wanted(by_line, given.header, width, "table.header")
    else:
        heads = [row for row in above if len(row.cells) == width and not row.is_data]
        plain = [row for row in heads if not row.comment]
        # A commented line of names, as some programs write it, has to be the one above the data.
        heads = plain or [row for row in heads if row is above[-1]]
        if not heads:
            raise DataError(
                f"the first line must contain the column names: there is no line of {width} names "
                f"above the numbers, which begin in line {first}",
                remedy="add it, or name the columns in the mapping, table: {names: [time, …]}",
            )
        head = next((row for row in reversed(heads) if not _are_units(row)), heads[-1])
    units = None
    if given.units is not None:
        units = _wanted(by_line, given.units, width, "table.units") if given.units else None
    else:
        beside = [row for row in above if len(row.cells) == width and row is not head]
        beside = [row for row in beside if _are_units(row)]
        if len(beside) > 1:
            raise DataError(
                f"lines {beside[0].line} and {beside[1].line} may both be the units",
                remedy="say which in the mapping, table: {units: LINE}",
            )
        units = beside[0] if beside else None
    last = max(head.line, 0 if units is None else units.line)
    _refuse_between([row for row in above if row.line > last], width, head.line, first)
    words = [] if head.line == 1 else [f"names in line {head.line}"]
    words += [] if units is None else [f"units in line {units.line}"]
    stated = tuple(map(_bare, units.cells)) if units is not None else ("",) * width
    return head.cells, stated, words


def _refuse_between(between: Sequence[_Row], width: int, head: int, first: int) -> None:
    """Reject rows of numbers that are parted from the others by a row that is unlike them."""
    if not any(row.is_data or (not row.comment and len(row.cells) != width) for row in between):
        return
    remedy = f"remove what is between the names (line {head}) and the numbers"
    cells = {row.line: len(row.cells) for row in between if not row.comment} | {first: width}
    odd = next((line for line, n in cells.items() if n != width), None)
    if odd is not None:
        like = next(line for line, n in cells.items() if n == width)
        a, b = sorted((odd, like))
        raise DataError(
            f"the rows are not alike: line {a} has {cells[a]} cells, line {b} has {cells[b]}",
            remedy=remedy,
        )
    wrong = next((row.line for row in between if not row.is_data), between[0].line)
    raise DataError(
        f"line {wrong} is not a row of numbers", remedy=f"correct or remove it, or {remedy}"
    )


def _wanted(rows: dict[int, _Row], line: int, width: int, where: str) -> _Row:
    row = rows.get(line)
    if row is None or len(row.cells) != width:
        has = "no such line" if row is None else f"{len(row.cells)} cells"
        raise DataError(
            f"line {line} must have {width} cells as the data have, got {has}", where=where
        )
    return row


def _are_units(row: _Row) -> bool:
    """Tell whether a line has units: one that is known at least, and nothing as long as a name."""
    cells = [_bare(cell) for cell in row.filled]
    known = [cell for cell in cells if cell not in ("-", "") and is_unit(cell)]
    rest = [cell for cell in cells if cell not in known]
    # "t;m": could be names. Most of the cells have to be units.
    return len(known) > len(rest) and all(len(cell) <= 6 for cell in rest)


def _bare(cell: str) -> str:
    """Return a unit without brackets; "-" states that there is no unit."""
    text = cell.strip()
    if len(text) > 1 and text[0] + text[-1] in ("[]", "()"):
        text = text[1:-1].strip()
    return "" if text in ("-", "–") else text


def _decimal(cells: Sequence[str], separator: str) -> str:
    """Return the decimal sign of the numbers."""
    if grouped := next((c for c in cells if _GROUPED.fullmatch(c)), ""):
        raise DataError(
            f'the digits of "{grouped}" are grouped', remedy="export numbers without grouping"
        )
    if separator == ",":
        return "."
    comma = [c for c in cells if _COMMA.fullmatch(c)]
    point = next((c for c in cells if "." in c and _POINT.fullmatch(c)), "")
    state = "state it in the mapping, table: {decimal: ','} or table: {decimal: .}"
    if not comma:
        return "."
    if point:
        raise DataError(
            f'the decimal sign is not clear: there are "{comma[0]}" and "{point}"',
            remedy="export the table with one decimal sign",
        )
    if all(_EITHER.fullmatch(c) for c in comma):
        raise DataError(f'"{comma[0]}" may be a decimal or a grouped number', remedy=state)
    return ","
