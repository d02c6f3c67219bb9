"""Tables on disk: what is written is read again, and what cannot be read is refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.tables.files import numbers, read_columns, write_table

COLUMNS = {
    "time": np.array([0.0, 0.1, 0.30000000000000004]),
    "rod.tip.x": np.array([1 / 3, -2e-300, 1.7976931348623157e308]),
    'odd, "name"': np.array([5e-324, -0.0, 123456789.123456789]),
}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "A.CSV"])
def test_written_numbers_are_read_to_the_last_digit(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_table(path, COLUMNS)
    read = read_columns(path)
    assert list(read) == list(COLUMNS)
    for column, values in COLUMNS.items():
        again = numbers(read[column], column, name)
        assert again.tobytes() == values.tobytes()


def test_csv_starts_with_plain_names(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", {"time": [0.0], "q1.dd": [2.5]})
    assert (tmp_path / "a.csv").read_text() == "time,q1.dd\n0,2.5\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_separators_blanks_and_byte_order_marks(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [["time", " q1 "], ["0", " 1.5"], ["1", "2"]]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    path.write_bytes("\ufeff".encode() + text.encode())
    read = read_columns(path)
    assert list(read) == ["time", "q1"]
    assert numbers(read["q1"], "q1", "a.csv").tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "\n1,2\n", "first line is empty"),
        ("a.csv", "0,1\n1,2\n", "must contain the column names"),
        ("a.csv", "time,q\n1\n", "Expected 2 columns, got 1"),
        ("a.csv", "time,q,q\n1,2,3\n", "duplicate column q"),
        ("a.parquet", "time,q\n", "not a .parquet table"),
        ("a.xlsx", "", r"file type .xlsx; use a .csv or a .parquet"),
        ("a", "", "unknown file type"),
    ],
)
def test_what_is_no_table_is_refused(name: str, text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=words) as caught:
        read_columns(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_columns(tmp_path / "a.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="cannot read the file: Is a directory"):
        read_columns(tmp_path / "folder.csv")
    for name in ("nowhere/a.csv", "nowhere/a.parquet"):
        with pytest.raises(DataError, match="cannot write the file"):
            write_table(tmp_path / name, COLUMNS)
    with pytest.raises(DataError, match=r"unknown file type \.txt"):
        write_table(tmp_path / "a.txt", COLUMNS)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["0", "x", "1"], r'row 2, column q: "x" is not a number'),
        (["0", "", "1"], r"row 2, column q: the value is missing; fill"),
        (["0", "nan", "nan"], r"row 2, column q: the value is missing \(and in 1 more row"),
        (["inf", "0", "1"], r"row 1, column q: the value is infinite"),
        (["0", "true", "1"], r'row 2, column q: "true" is not a number'),
        (["true", "true", "true"], r'row 1, column q: "true" is not a number'),
        (["", "", ""], r"row 1, column q: the value is missing"),
        (["2024-01-01", "2024-01-02", "2024-01-03"], r'row 1, column q: "2024-01-01'),
        (["y" * 99, "0", "0"], r'row 1, column q: "y{40}…" is not a number'),
    ],
)
def test_cells_that_are_no_numbers_are_named(values: list[str], words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,q\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    with pytest.raises(DataError, match=words):
        numbers(read_columns(path)["q"], "q", "a.csv")


def test_decimal_commas_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time;q\n0;0,5\n")
    with pytest.raises(DataError, match='"0,5" is not a number; write it with a decimal point'):
        numbers(read_columns(path)["q"], "q", "a.csv")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"]
)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    """What spreadsheets and loggers write, also with letters in the names."""
    (tmp_path / "a.csv").write_bytes("time;Kraft_ü\n0;1.5\n1;-2\n".encode(encoding))
    found = read_columns(tmp_path / "a.csv")
    assert list(found) == ["time", "Kraft_ü"]
    assert found["Kraft_ü"].to_pylist() == [1.5, -2.0]
