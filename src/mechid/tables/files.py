"""Tables on disk: named columns of numbers, as CSV or Parquet."""

from __future__ import annotations

import csv
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.outputs import write_whole
from mechid.textfile.expressions import LARGEST

Floats = npt.NDArray[np.float64]
SUFFIXES = (".csv", ".parquet")


def read_columns(path: str | Path) -> dict[str, Any]:
    """Return the columns of a table as they are stored, by name, in the order of the file.

    The columns are Arrow arrays; `numbers` turns one into floats. A CSV file may separate its
    columns by commas, semicolons or tabs.

    Raises
    ------
    DataError
        If there is no such file, or it is not a table, or two columns have the same name.
    """
    path = Path(path)
    suffix = table_suffix(path)
    try:
        if not path.exists():
            raise DataError("there is no such file", where=str(path))
        table = _read_csv(path) if suffix == ".csv" else _read_parquet(path)
        table.validate(full=True)  # also that texts are UTF-8
        names = [name.strip() for name in table.column_names]
    except OSError as error:
        words = " ".join(str(error.strerror or error).split())
        raise DataError(f"cannot read the file: {words}", where=str(path)) from None
    except (ValueError, NotImplementedError) as error:  # Arrow's errors of content
        words = str(error).splitlines()[0].removeprefix("CSV parse error: ")
        raise DataError(f"not a {suffix} table: {words}", where=str(path)) from None
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"duplicate column {twice[0] or 'without a name'}", where=str(path))
    return dict(zip(names, table.columns, strict=True))


def numbers(column: Any, name: str, where: str, *, gaps: bool = False, first: int = 0) -> Floats:
    """Return an Arrow column as floats; text is rejected with its row, and so are gaps.

    Rows are counted from 1, without the line of names, after the `first` rows of a table that is
    read in parts. With `gaps`, rows without a value are nan.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        values = np.asarray(column.to_numpy(), dtype=float)
    else:
        values = np.array(
            [_number(v, row, name, where) for row, v in _rows(column, first)], dtype=float
        )
    bad = np.flatnonzero(np.isinf(values) if gaps else ~np.isfinite(values))
    if bad.size:
        empty = bool(np.isnan(values[bad[0]]))
        raise DataError(
            ("the value is missing" if empty else "the value is infinite")
            + (f" (and in {bad.size - 1} more rows)" if empty and bad.size > 1 else ""),
            where=f"{where}: row {first + bad[0] + 1}, column {name}",
            remedy="fill the gap or remove the row",
        )
    return values


def usable_numbers(column: Any, name: str, where: str, *, first: int = 0) -> Floats:
    """Return an Arrow column as floats, as `numbers` does; huge ones are rejected with their row.

    Squares and derivatives of what is left are finite.
    """
    values = numbers(column, name, where, first=first)
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if huge.size:
        raise DataError(
            f"{values[huge[0]]:.4g} is out of range",
            where=f"{where}: row {first + huge[0] + 1}, column {name}",
            remedy="check the value and its unit",
        )
    return values


def _rows(column: Any, first: int) -> Iterator[tuple[int, object]]:
    return enumerate(column.to_pylist(), start=first + 1)


def _number(value: object, row: int, name: str, where: str) -> float:
    if value is None:
        return float("nan")
    if _is_number(value):
        return float(str(value))
    text = str(value)
    comma = _is_number(text.replace(",", "."))
    raise DataError(
        f'"{text if len(text) <= 40 else text[:40] + "…"}" is not a number',
        where=f"{where}: row {row}, column {name}",
        remedy="write it with a decimal point" if comma else "write a number in SI units",
    )


def write_table(path: str | Path, columns: Mapping[str, npt.ArrayLike]) -> None:
    """Write columns of numbers to a CSV or Parquet file, by its ending, without losing a digit.

    Parameters
    ----------
    path : str or Path
        .csv or .parquet.
    columns : mapping from name to array (N,)

    Raises
    ------
    DataError
        If the file cannot be written.
    ValueError
        If the columns are not of equal length.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> mechid.write_table("forces.csv", {"time": [0.0, 0.1], "M_hinge": [1.5, 2.5]})
    >>> Path("forces.csv").read_text().splitlines()
    ['time,M_hinge', '0,1.5', '0.1,2.5']
    """
    write_whole(path, table_writer(path, columns))


def table_writer(path: str | Path, columns: Mapping[str, npt.ArrayLike]) -> Callable[[Path], None]:
    """Return what writes columns to a file in the format that the ending of `path` says."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    suffix = table_suffix(Path(path))
    table = pa.table({name: np.asarray(values, dtype=float) for name, values in columns.items()})

    def write(beside: Path) -> None:
        with beside.open("wb") as file:
            if suffix == ".parquet":
                pyarrow.parquet.write_table(table, file)
                return
            file.write((",".join(_quoted(name) for name in columns) + "\n").encode())
            pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(include_header=False))

    return write


def table_suffix(path: Path) -> str:
    """Return the ending that says how the table is stored, or reject it."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(
            f"unknown file type {path.suffix or '(no extension)'}",
            where=str(path),
            remedy="use a .csv or a .parquet file",
        )
    return suffix


def _read_csv(path: Path) -> Any:
    import pyarrow.csv as pv

    return pv.read_csv(path, *csv_options(path))


def csv_options(path: Path) -> tuple[Any, Any, Any]:
    """Return how Arrow reads, parses and converts a CSV file, by its first line."""
    import pyarrow.csv as pv

    encoding = _encoding(path)
    with path.open(encoding=encoding, newline="") as file:
        head = file.readline().removeprefix("\ufeff")
    if not head.strip():
        raise ValueError("the file is empty" if not head else "the first line is empty")
    delimiter = max(",;\t", key=head.count)
    names = [name.strip() for name in next(csv.reader([head], delimiter=delimiter))]
    if all(_is_number(name) for name in names):
        raise ValueError("the first line must contain the column names")
    return (
        pv.ReadOptions(encoding=encoding),
        pv.ParseOptions(delimiter=delimiter),
        # Numbers or text, no truth values.
        pv.ConvertOptions(true_values=[], false_values=[]),
    )


def _encoding(path: Path) -> str:
    """Return how the text of a file is written: UTF-8, UTF-16, or what Windows writes."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in start[:2]:
        return "utf-16-le" if start[1:2] == b"\0" else "utf-16-be"
    try:
        getincrementaldecoder("utf-8")().decode(start)  # its end may lie within a letter
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return not isinstance(value, bool)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r;') else name
