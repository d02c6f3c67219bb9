"""Statistics over columns, against NumPy on the same numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from mechid.errors import DataError
from mechid.studies.pivot import pivot

TABLE = pa.table(
    {
        "base": ["T2", "T2", "T1", "T1", "T1", "T3"],
        "n": [1, 2, 1, 1, 2, 1],
        "refused": [None, None, None, None, None, "no"],
        "force": ["F", "G", "F", "G", "F", None],
        "e": [1.0, 2.0, 3.0, 5.0, np.nan, None],
        "ok": [True, False, True, True, True, None],
    }
)


def test_rows_and_columns_come_in_the_order_of_the_table() -> None:
    found = pivot(TABLE, rows=["base"], columns=["n"], value="e", statistic="mean")
    assert found.rows == (("T2",), ("T1",), ("T3",))
    assert found.columns == ((1,), (2,))
    np.testing.assert_array_equal(found.values, [[1, 2], [4, np.nan], [np.nan, np.nan]])


def test_a_refused_cell_makes_no_label() -> None:
    found = pivot(TABLE, columns=["force"], value="e", statistic="count")
    assert found.columns == (("F",), ("G",))
    np.testing.assert_array_equal(found.values, [[2, 2]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("median", 2.5),
        ("mean", 2.75),
        ("sd", np.std([1, 2, 3, 5], ddof=1)),
        ("rms", np.sqrt(39 / 4)),
        ("min", 1),
        ("max", 5),
        ("sum", 11),
        ("count", 4),
        ("p90", np.quantile([1, 2, 3, 5], 0.9)),
    ],
)
def test_statistics(name: str, expected: float) -> None:
    assert pivot(TABLE, value="e", statistic=name).values[0, 0] == pytest.approx(expected)


def test_conditions_compare_numbers_as_numbers() -> None:
    for one in (1, 1.0, "1", ["1", "7"]):
        assert pivot(TABLE, value="e", statistic="count", where={"n": one}).values[0, 0] == 3
    assert pivot(TABLE, value="ok", statistic="mean").values[0, 0] == 0.8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"value": "ee"}, "there is no column ee; did you mean e?"),
        ({"value": "base"}, "column base holds text"),
        ({"value": "e", "rows": ["x"]}, "there is no column x"),
        ({"value": "e", "statistic": "medain"}, "did you mean median?"),
        (
            {"value": "e", "where": {"base": "T4"}},
            "no row has base = T4; choose one of: T2, T1, T3",
        ),
    ],
)
def test_mistakes(words: dict[str, object], message: str) -> None:
    with pytest.raises(DataError) as caught:
        pivot(TABLE, **words)  # type: ignore[arg-type]
    assert message in str(caught.value)
