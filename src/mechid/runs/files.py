"""Files of a run: written whole or not at all, read with clear messages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.outputs import write_bytes, write_text


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole; numbers that JSON does not know become null."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """Return JSON as files hold it."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n"


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises
    ------
    DataError
        If there is no such file, or it is no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_int=_integer)
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not a JSON file: {error}", where=str(path)) from None


def _integer(text: str) -> int | float:
    """Return an integer; one that no float can hold is infinite."""
    return int(text) if len(text) < 300 else float(text)


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of numbers or text to a Parquet file, whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: _column(values) for name, values in columns.items()})
    data = pa.BufferOutputStream()  # Arrow cannot open files whose name is not UTF-8
    pq.write_table(table, data)
    write_bytes(path, data.getvalue().to_pybytes())


def read_columns(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read the columns of a Parquet file: floats, or objects for text.

    Raises
    ------
    DataError
        If there is no such file, or it is no table.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.exists():
        raise DataError("there is no such file", where=str(path))
    try:
        # Small: six times as quick as a dataset of one file.
        with pq.ParquetFile(pa.BufferReader(path.read_bytes())) as file:
            table = file.read(use_threads=False)
        names = table.column_names
        return {
            name: np.array(column.to_pylist(), dtype=object)
            if pa.types.is_string(column.type)
            else np.asarray(column.to_numpy(), dtype=float)
            for name, column in zip(names, table.columns, strict=True)
        }
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DataError(
            f"not a Parquet table: {str(error).splitlines()[0]}", where=str(path)
        ) from None


def file_hash(path: str | Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", where=str(path)) from None


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: arrays as lists, numbers that are none as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value


def floats(values: Any, *shape: int) -> npt.NDArray[np.float64]:
    """Return numbers read from JSON as an array; null is NaN.

    Raises
    ------
    ValueError
        If a shape is given and they have another one.
    """
    found = np.array(values, dtype=float)  # None becomes nan
    if shape and found.shape != shape:
        raise ValueError(f"expected {shape} numbers, got {found.shape}")
    return found


def _column(values: Any) -> Any:
    array = np.asarray(values)
    return [str(x) for x in array.tolist()] if array.dtype.kind in "UO" else array.astype(float)
