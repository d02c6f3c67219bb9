"""Columns of a long table, in blocks of rows: what is read does not have to fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.tables.files import Floats, csv_options, numbers, table_suffix


def table_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file."""
    return [name.strip() for name in _opened(path, None)[0]]


def table_blocks(path: Path, columns: Sequence[str], size: int = 1 << 16) -> Iterator[Floats]:
    """Yield some columns of a CSV or Parquet file as (k, len(columns)), k about `size` at most.

    Raises
    ------
    DataError
        If a value is missing or not a number, with its row.
    """
    names, batches = _opened(path, size)
    stored = {name.strip(): name for name in names}
    first = 0
    for batch in batches(columns=[stored[name] for name in columns]):
        n = batch.num_rows
        for start in range(0, n, size):
            part = batch.slice(start, min(size, n - start))
            where = f"{path}, after row {first + start}"
            yield np.column_stack([numbers(part.column(stored[c]), c, where) for c in columns])
        first += n


def _opened(path: Path, size: int | None) -> tuple[list[str], Any]:
    """Return the names of the columns, and a function that gives batches of some of them."""
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

            def batches(columns: list[str]) -> Iterator[Any]:
                return iter(file.iter_batches(batch_size=size or 1, columns=columns))

            return list(file.schema_arrow.names), batches
        read, parse, convert = csv_options(path)

        def chunks(columns: list[str]) -> Iterator[Any]:
            convert.include_columns = columns
            # Not by the first rows alone: a whole number may be followed by others.
            convert.column_types = dict.fromkeys(columns, pa.float64())
            return iter(pv.open_csv(path, read, parse, convert))

        return list(pv.open_csv(path, read, parse, convert).schema.names), chunks
    except (OSError, ValueError) as error:
        words = str(error).splitlines()[0]
        raise DataError(f"not a {suffix} table: {words}", where=str(path)) from None
