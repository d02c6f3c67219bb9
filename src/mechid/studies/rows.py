"""Rows of cells as Arrow tables: chunks as they are computed, and the table of a part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.studies.experiment import Outcome, Row

if TYPE_CHECKING:
    import pyarrow as pa

CELL, REFUSED = "cell", "refused"


def chunk_table(done: Iterable[tuple[str, Outcome]]) -> pa.Table:
    """Return the rows of some cells: `cell`, `refused`, and the columns of the experiment.

    A cell that is refused has one row, and so has one without rows.

    Raises
    ------
    DataError
        If a column holds text and numbers.
    """
    import pyarrow as pa

    rows: list[Row] = []
    for key, outcome in done:
        if isinstance(outcome, MechidError):
            rows.append({CELL: key, REFUSED: str(outcome)})
        else:
            rows.extend({CELL: key, REFUSED: None, **row} for row in outcome or [{}])
    names = dict.fromkeys([CELL, REFUSED, *(name for row in rows for name in row)])
    columns = {name: _column(name, [_plain(row.get(name)) for row in rows]) for name in names}
    return pa.table(columns)


def part_table(
    grid: pa.Table, chunks: Sequence[pa.Table], *, complete: bool = True
) -> tuple[pa.Table, int]:
    """Return the table of a part, the same for any order and division of the chunks.

    Parameters
    ----------
    grid : table
        Columns of the axes and `cell`, in the order of the cells.
    chunks : tables
        Of `chunk_table`; what belongs to no cell of the grid is left out, what was computed twice
        is taken once.
    complete : bool
        Whether every cell must be there.

    Returns
    -------
    table, int
        And the number of cells that are missing.
    """
    import pyarrow as pa

    rows = _first_of_each(grid, chunks)
    keys = grid[CELL].to_pylist()
    have = rows[CELL].to_numpy(zero_copy_only=False) if len(rows) else np.array([], dtype=object)
    place: dict[str, tuple[int, int]] = {}
    starts = [n for n, key in enumerate(have) if n == 0 or key != have[n - 1]]
    for begin, end in pairwise([*starts, len(have)]):
        place[have[begin]] = (begin, end)
    missing = sum(key not in place for key in keys)
    if missing and complete:
        raise DataError(f"{missing} of {len(keys)} cells are missing", remedy="run the study again")
    spans = [(n, *place[key]) for n, key in enumerate(keys) if key in place]
    at = [n for n, begin, end in spans for _ in range(end - begin)]
    chosen = [k for _, begin, end in spans for k in range(begin, end)]
    rows = rows.take(pa.array(chosen, pa.int64()))
    left = grid.take(pa.array(at, pa.int64()))
    found = {name: left[name] for name in left.column_names}
    found |= {name: rows[name] for name in _order(rows)}
    return pa.table(found), missing


def _first_of_each(grid: pa.Table, chunks: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of the cells of a grid, of every cell from one chunk, together."""
    import pyarrow as pa

    wanted = set(grid[CELL].to_pylist())
    kept = []
    for chunk in chunks:
        keys = chunk[CELL].to_pylist()
        new = wanted.intersection(keys)
        wanted -= new
        kept.append(chunk.filter(pa.array([key in new for key in keys], pa.bool_())))
    empty = pa.table({CELL: pa.array([], pa.string()), REFUSED: pa.array([], pa.string())})
    try:
        return pa.concat_tables([empty, *kept], promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise DataError(f"columns hold text and numbers: {error}") from None


def _order(rows: pa.Table) -> list[str]:
    """Return `refused` and the columns of the experiment: those of the first row as they stand
    there, then others as they come first, so that no division into chunks changes the order."""
    first: dict[str, int] = {}
    for name in rows.column_names:
        there = rows[name].is_valid().to_numpy(zero_copy_only=False)
        first[name] = int(np.argmax(there)) if there.any() else len(there)
    own = [name for name in rows.column_names if name not in (CELL, REFUSED)]
    begin = [name for name in own if first[name] == 0]
    rest = sorted((name for name in own if first[name]), key=lambda name: (first[name], name))
    return [REFUSED, *begin, *rest]


def _column(name: str, values: list[Any]) -> pa.Array:
    import pyarrow as pa

    if name in (CELL, REFUSED):
        return pa.array(values, pa.string())
    kinds = {type(v) for v in values} - {type(None)}
    try:
        return pa.array(values, pa.float64()) if kinds == {int, float} else pa.array(values)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        raise DataError(
            f"column {name} holds values of several types",
            where=", ".join(sorted(kind.__name__ for kind in kinds)),
        ) from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def label_column(values: Sequence[Any]) -> pa.Array:
    """Return labels of an axis as a column: numbers if all are, else text as written."""
    import pyarrow as pa

    kinds = {type(v) for v in values} - {type(None)}
    if kinds <= {int} or kinds <= {bool} or kinds <= {str}:
        return pa.array(values) if kinds else pa.array(values, pa.string())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def grid_table(axes: Sequence[str], cells: Sequence[Any]) -> pa.Table:
    """Return the labels of every cell and its hash."""
    import pyarrow as pa

    columns: Mapping[str, Any] = {
        name: label_column([cell.labels[k] for cell in cells]) for k, name in enumerate(axes)
    }
    return pa.table({**columns, CELL: pa.array([cell.key for cell in cells], pa.string())})
