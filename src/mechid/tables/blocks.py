"""Columns of a long table, in blocks of rows: what is read does not have to fit in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.tables.files import Floats, csv_options, table_suffix, usable_numbers


@dataclass(frozen=True)
class _Table:
    """A table whose columns can be read in batches, several times.

    Attributes
    ----------
    path : Path
    stored : dict
        Names of the columns as they are stored, by the names without blanks around them.
    rows : int or None
        How many there must be, if the file says so.
    batches : callable
        Gives batches of some columns as numbers, or as text.
    """

    path: Path
    stored: dict[str, str]
    rows: int | None
    batches: Callable[[list[str], bool], Iterator[Any]]


def table_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file."""
    return list(_opened(path, 1).stored)


def table_blocks(path: Path, columns: Sequence[str], size: int = 1 << 16) -> Iterator[Floats]:
    """Yield some columns of a CSV or Parquet file as (k, len(columns)), k about `size` at most.

    Raises
    ------
    DataError
        If a value is missing, not a number, or out of range, with its row.
    """
    table = _opened(path, size)
    try:
        yield from _numbers(table, columns, size)
    except (OSError, ValueError, NotImplementedError) as error:  # Arrow's errors of content
        # It has not said in which row a text stands, where there should be a number.
        with suppress(OSError, ValueError, NotImplementedError):
            for _ in _numbers(table, columns, size, text=True):
                pass
        raise _wrong(path, error) from None


def _numbers(
    table: _Table, columns: Sequence[str], size: int, text: bool = False
) -> Iterator[Floats]:
    import pyarrow as pa

    first, where = 0, str(table.path)
    for batch in table.batches([table.stored[name] for name in columns], text):
        n = batch.num_rows
        for start in range(0, n, size):
            part = batch.slice(start, min(size, n - start))
            row = first + start
            stored = (pa.chunked_array([part.column(table.stored[c])]) for c in columns)
            found = [
                usable_numbers(x, c, where, first=row) for x, c in zip(stored, columns, strict=True)
            ]
            yield np.column_stack(found)
        first += n
    if table.rows is not None and first != table.rows:
        raise DataError(
            f"the file is damaged: there are {first} rows, not {table.rows}",
            where=where,
            remedy="export it again",
        )


def _opened(path: Path, size: int) -> _Table:
    import pyarrow as pa
    import pyarrow.csv as pv
    import pyarrow.parquet as pq

    suffix = table_suffix(path)
    if not path.exists():
        raise DataError("there is no such file", where=str(path))
    try:
        if suffix == ".parquet":
            # Buffered before, all of the file would be held.
            file = pq.ParquetFile(path, pre_buffer=False)
            names, rows = file.schema_arrow.names, file.metadata.num_rows

            def batches(columns: list[str], text: bool) -> Iterator[Any]:
                return iter(file.iter_batches(batch_size=size, columns=columns))
        else:
            read, parse, convert = csv_options(path)
            names, rows = pv.open_csv(path, read, parse, convert).schema.names, None

            def batches(columns: list[str], text: bool) -> Iterator[Any]:
                convert.include_columns = columns
                # Not by the first rows alone: a whole number may be followed by others.
                kind = pa.string() if text else pa.float64()
                convert.column_types = dict.fromkeys(columns, kind)
                return iter(pv.open_csv(path, read, parse, convert))
    except (OSError, ValueError, NotImplementedError) as error:
        raise _wrong(path, error) from None
    twice = [name for name, count in Counter(x.strip() for x in names).items() if count > 1]
    if twice:
        raise DataError(f"duplicate column {twice[0] or 'without a name'}", where=str(path))
    return _Table(path, {name.strip(): name for name in names}, rows, batches)


def _wrong(path: Path, error: Exception) -> DataError:
    words = str(error).splitlines()[0].removeprefix("CSV parse error: ")
    return DataError(f"not a {table_suffix(path)} table: {words}", where=str(path))
