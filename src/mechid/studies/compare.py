"""Two results of a study side by side: which cells they share, and how these differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.shown import Shown
from mechid.studies.pivot import column, number_column
from mechid.studies.result import StudyResult, load_study_result
from mechid.studies.rows import CELL, REFUSED

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ColumnDifference:
    """How a column of numbers differs between two results.

    Attributes
    ----------
    part, column : str
    labels : tuple of str
        Of the group of rows.
    rows : int
        Rows that both have, with a number in both.
    equal : int
        Rows with the same number, to the bit.
    first, second : float
        Medians.
    largest : float
        Largest |second - first|.
    less : float
        Share of rows in which the second number is smaller.
    """

    part: str
    column: str
    labels: tuple[str, ...]
    rows: int
    equal: int
    first: float
    second: float
    largest: float
    less: float


@dataclass(frozen=True)
class PartComparison:
    """Points of the grids of a part in two results.

    Attributes
    ----------
    part : str
    shared, only_first, only_second : int
        Points that both have, and that one of them has alone.
    refused : int
        Shared points that one of them refused and the other did not.
    """

    part: str
    shared: int
    only_first: int
    only_second: int
    refused: int


@dataclass(frozen=True, repr=False)
class StudyComparison(Shown):
    """How two results differ.

    Attributes
    ----------
    parts : tuple of PartComparison
    columns : tuple of ColumnDifference
    """

    parts: tuple[PartComparison, ...]
    columns: tuple[ColumnDifference, ...]


def compare_studies(
    first: str | Path | StudyResult,
    second: str | Path | StudyResult,
    *,
    part: str | None = None,
    values: Sequence[str] = (),
    rows: Sequence[str] = (),
) -> StudyComparison:
    """Compare two results: of other versions or settings, or of the quick and the full size.

    Rows belong together that have the same labels on all axes that both studies have, and the same
    place among the rows of their cell.

    Parameters
    ----------
    first, second : str, Path or StudyResult
    part : str, optional
        By default all parts that both have.
    values : sequence of str
        Columns to compare; by default all columns of numbers.
    rows : sequence of str
        Columns by whose values the rows are grouped.

    Raises
    ------
    DataError
        If one of them is not a result, or there is no such part or column.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> text = "title: T\\nexperiment: identification\\nsettings: {model: pendulum}\\n"
    >>> _ = Path("s.yaml").write_text(text + "axes: {estimator: [cad, ols], seed: {count: 2}}")
    >>> first = mechid.run_study("s.yaml", "first", workers=0)
    >>> second = mechid.run_study("s.yaml", "second", workers=0)
    >>> found = mechid.compare_studies("first", "second")
    >>> found.parts[0].shared, found.columns[0].largest
    (4, 0.0)
    """
    import pyarrow as pa

    a, b = (r if isinstance(r, StudyResult) else load_study_result(r) for r in (first, second))
    names = [part] if part is not None else [name for name in a.parts if name in b.parts]
    found: list[ColumnDifference] = []
    parts: list[PartComparison] = []
    for name in names:
        tables = a.table(name), b.table(name)
        axes = [x for x in a.axes(name) if x in b.axes(name)]
        places = [_places(table, axes) for table in tables]
        points = [{key[:-1] for key in place} for place in places]
        both = [key for key in places[0] if key in places[1]]
        at = [[place[key] for key in both] for place in places]
        left, right = (
            table.take(pa.array(k, pa.int64())) for table, k in zip(tables, at, strict=True)
        )
        refused = [[x is not None for x in t[REFUSED].to_pylist()] for t in (left, right)]
        mixed = {key[:-1] for key, x, y in zip(both, *refused, strict=True) if x != y}
        one, two = points
        sizes = (len(one & two), len(one - two), len(two - one), len(mixed))
        parts.append(PartComparison(name, *sizes))
        for value in values or _numeric(left, right, axes):
            found += _differences(name, value, left, right, list(rows))
    return StudyComparison(tuple(parts), tuple(found))


def _places(table: pa.Table, axes: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """Return the row of each combination of labels and place in the cell."""
    labels = zip(*(column(table, name).to_pylist() for name in axes), strict=True)
    points = list(labels) if axes else [()] * len(table)
    seen: dict[tuple[Any, ...], int] = {}
    found: dict[tuple[Any, ...], int] = {}
    for k, point in enumerate(points):
        n = seen[point] = seen.get(point, -1) + 1
        found[(*point, n)] = k
    return found


def _numeric(left: pa.Table, right: pa.Table, axes: Sequence[str]) -> list[str]:
    import pyarrow as pa

    def number(table: pa.Table, name: str) -> bool:
        kind = table[name].type
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))

    own = [n for n in left.column_names if n not in (*axes, CELL, REFUSED)]
    return [n for n in own if n in right.column_names and number(left, n) and number(right, n)]


def _differences(
    part: str, value: str, left: pa.Table, right: pa.Table, rows: list[str]
) -> list[ColumnDifference]:
    labels = list(zip(*(column(left, name).to_pylist() for name in rows), strict=True))
    x, y = (number_column(table, value) for table in (left, right))
    found = []
    for label in dict.fromkeys(labels) if rows else [()]:
        chosen = np.array([own == label for own in labels]) if rows else np.ones(len(x), bool)
        u, v = x[chosen], y[chosen]
        good = np.isfinite(u) & np.isfinite(v)
        u, v = u[good], v[good]
        some = u.size > 0
        found.append(
            ColumnDifference(
                part,
                value,
                tuple(map(str, label)),
                int(u.size),
                int((u == v).sum()),
                float(np.median(u)) if some else np.nan,
                float(np.median(v)) if some else np.nan,
                float(np.abs(v - u).max()) if some else np.nan,
                float((v < u).mean()) if some else np.nan,
            )
        )
    return found
