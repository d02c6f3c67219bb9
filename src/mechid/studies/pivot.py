"""Statistics of a tidy table over two of its columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.shown import Shown
from mechid.studies.experiment import Value
from mechid.studies.rows import REFUSED
from mechid.textfile.words import hint

if TYPE_CHECKING:
    import pyarrow as pa

STATISTICS: Mapping[str, Callable[[Floats], float]] = {
    "median": lambda x: float(np.median(x)),
    "mean": lambda x: float(np.mean(x)),
    "sd": lambda x: float(np.std(x, ddof=1)) if len(x) > 1 else float("nan"),
    "rms": lambda x: float(np.sqrt(np.mean(x**2))),
    "min": lambda x: float(np.min(x)),
    "max": lambda x: float(np.max(x)),
    "sum": lambda x: float(np.sum(x)),
    "count": lambda x: float(len(x)),
}
_QUANTILE = re.compile(r"p(\d{1,2})")


@dataclass(frozen=True, eq=False)
class Pivot(Shown):
    """A statistic of one column over others.

    Attributes
    ----------
    rows, columns : tuple of tuples
        Labels of the rows and of the columns, in the order in which they come in the table.
    values : array (n_rows, n_columns)
        nan where there is nothing.
    """

    rows: tuple[tuple[Value, ...], ...]
    columns: tuple[tuple[Value, ...], ...]
    values: Floats


def statistic_of(name: str) -> Callable[[Floats], float]:
    """Return a statistic by its name: median, mean, …, or a quantile p10, p90.

    Raises
    ------
    DataError
        If there is no such statistic.
    """
    if match := _QUANTILE.fullmatch(name):
        share = int(match[1]) / 100
        return lambda x: float(np.quantile(x, share))
    if name not in STATISTICS:
        raise DataError(f"there is no statistic {name}", remedy=hint(name, [*STATISTICS, "p10"]))
    return STATISTICS[name]


def pivot(
    table: pa.Table,
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    value: str,
    statistic: str = "median",
    where: Mapping[str, Any] | None = None,
) -> Pivot:
    """Return a statistic of a column for each combination of labels of others.

    Rows without a value (refused cells) and values that are not finite count for nothing.

    Parameters
    ----------
    table : table of Arrow
    rows, columns : sequences of str
        Columns of the table whose values are the rows and columns of the result.
    value : str
        Column of numbers.
    statistic : str
        As `statistic_of` has them.
    where : mapping column → value or list of values
        Only rows with these.

    Raises
    ------
    DataError
        If there is no such column, value or statistic.
    """
    take = statistic_of(statistic)
    table = chosen(table, where or {})
    numbers = number_column(table, value)
    row_labels, row_of = _labels(table, rows)
    column_labels, column_of = _labels(table, columns)
    values = np.full((len(row_labels), len(column_labels)), np.nan)
    place = row_of * max(len(column_labels), 1) + column_of
    good = np.isfinite(numbers) & (row_of >= 0) & (column_of >= 0)
    order = np.argsort(place[good], kind="stable")
    sorted_place, sorted_numbers = place[good][order], numbers[good][order]
    starts = np.flatnonzero(np.r_[True, sorted_place[1:] != sorted_place[:-1]])
    for some in np.split(np.arange(len(sorted_place)), starts[1:]) if len(sorted_place) else ():
        values.flat[sorted_place[some[0]]] = take(sorted_numbers[some])
    return Pivot(tuple(row_labels), tuple(column_labels), values)


def chosen(table: pa.Table, where: Mapping[str, Any]) -> pa.Table:
    """Return the rows of a table that have given values.

    Raises
    ------
    DataError
        If there is no such column, or no such value in it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, wanted in where.items():
        have = column(table, name)
        several = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
        texts = {_text(w) for w in several}
        known = {value: _text(value) for value in have.unique().to_pylist()}
        kept = [value for value, text in known.items() if text in texts]
        if not kept:
            raise DataError(
                f"no row has {name} = {', '.join(sorted(texts))}",
                remedy=hint(sorted(texts)[0] if texts else "", list(dict.fromkeys(known.values()))),
            )
        table = table.filter(pc.is_in(have, value_set=pa.array(kept, have.type)))
    return table


def column(table: pa.Table, name: str) -> Any:
    """Return a column of a table, or say which there are."""
    if name not in table.column_names:
        raise DataError(f"there is no column {name}", remedy=hint(name, table.column_names))
    return table[name]


def number_column(table: pa.Table, name: str) -> Floats:
    """Return a column as numbers; nan where there is none.

    Raises
    ------
    DataError
        If it holds text.
    """
    import pyarrow as pa

    found = column(table, name)
    kind = found.type
    if pa.types.is_boolean(kind):
        found = found.cast(pa.int8())
    elif not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise DataError(f"column {name} holds text", remedy="choose a column of numbers")
    return np.asarray(found.cast(pa.float64()).to_numpy(), dtype=float)


def _labels(
    table: pa.Table, names: Sequence[str]
) -> tuple[list[tuple[Value, ...]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Return combinations of values in the order in which they come, and that of each row."""
    if not names:
        return [()], np.zeros(len(table), dtype=np.int64)
    parts = [column(table, name).to_pylist() for name in names]
    refused = column(table, REFUSED).to_pylist() if REFUSED in table.column_names else []
    place: dict[tuple[Value, ...], int] = {}
    each = np.full(len(table), -1, dtype=np.int64)
    for n, key in enumerate(zip(*parts, strict=True)):
        # A refused cell has its axes only: no label is made of what it lacks.
        if None not in key or not (refused and refused[n]):
            each[n] = place.setdefault(key, len(place))
    return list(place), each


def _text(value: Any) -> str:
    """Return a value as text, so that 5 and 5.0 and "5" are the same."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.12g}"
    try:
        return f"{float(value):.12g}"
    except (TypeError, ValueError):
        return str(value)
