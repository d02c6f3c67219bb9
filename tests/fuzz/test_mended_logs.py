"""The smallest inputs that showed what fuzzing found: logs and their mappings."""

from __future__ import annotations

import logging
import re
import warnings
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import mechid
from mechid.errors import DataError
from mechid.measurementfile.channels import read_channels
from mechid.measurementfile.clock import find_clock
from mechid.runs.files import read_columns
from mechid.studies.folder import read_table
from mechid.tables import files as tables
from mechid.tables.blocks import table_blocks, table_names
from mechid.textfile.quiet import quiet

from . import fixtures, forms
from .fixtures import SEEDS


def test_names_of_columns_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "motion.parquet"
    path.write_bytes(forms.parquet(fixtures.log_columns()).replace(b"time", b"t\xe9me"))
    with pytest.raises(DataError, match=r"not a \.parquet table"):
        mechid.read_motion(path, mechid.load("five_bar"))
    with pytest.raises(DataError, match="not a Parquet table"):
        read_columns(path)


def test_times_beyond_all_calendars(tmp_path: Path) -> None:
    columns = fixtures.log_columns()
    path = tmp_path / "log.parquet"
    path.write_bytes(forms.parquet(columns | {"time": 2**60 + 10**9 * np.arange(41)}))
    with pytest.raises(DataError, match="between the years"):
        mechid.read_measurement(path, "five_bar", {
            "time": {"channel": "time", "unit": "s"}, "positions": {"q1": "q1", "q2": "q2"},
        })  # fmt: skip


@pytest.mark.parametrize(("kind", "bits"), [("<u8", 0x7FF0 << 48 | 1), ("<u4", 0x7F80 << 16 | 1)])
def test_numbers_that_signal(tmp_path: Path, kind: str, bits: int) -> None:
    signalling = np.full(9, bits, kind).view(kind.replace("u", "f"))
    time = (np.arange(9.0) / 64).astype(signalling.dtype)
    savemat(tmp_path / "log.mat", {"time": np.concatenate([time, signalling]), "q1": signalling})
    found = read_channels(tmp_path / "log.mat")
    clock = find_clock(found, None)
    assert clock is not None
    assert np.array_equal(clock.time, [*time, *[np.nan] * 9], equal_nan=True)
    assert np.isnan(2.0 * found.get("q1").values).all()


@pytest.mark.slow
def test_an_hdf5_file_that_its_library_never_returns_from(tmp_path: Path) -> None:
    path = tmp_path / "log.h5"
    path.write_bytes((SEEDS / "endless.h5").read_bytes())
    with pytest.raises(DataError, match=r"log\.h5: the file is damaged"):
        read_channels(path)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"0.1,x,0,0,0", r'row 3, column q1: "x" is not a number'),
        (b"0.1,,0,0,0", "row 3, column q1: the value is missing"),
        (b"0.1,1e200,0,0,0", r"row 3, column q1: 1e\+200 is out of range"),
    ],
)
def test_streamed_logs_whose_cells_are_wrong(tmp_path: Path, row: bytes, words: str) -> None:
    path = tmp_path / "log.csv"
    lines = forms.csv_text(fixtures.log_columns()).splitlines()
    path.write_bytes(b"\n".join([*lines[:3], row, *lines[4:]]))
    for size in (2, 50):
        with pytest.raises(DataError, match=rf"log\.csv: {words}"):
            list(table_blocks(path, ["time", "q1"], size))
    with pytest.raises(DataError, match=rf"log\.csv: {words}"):
        mechid.identify_streamed("five_bar", path)


def test_streamed_logs_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    columns = fixtures.log_columns()
    columns["q1"] = np.ma.masked_greater(columns["q1"], 0.2).filled(np.nan)
    path.write_bytes(forms.parquet(columns))
    with pytest.raises(DataError, match="column q1: the value is missing"):
        list(table_blocks(path, ["time", "q1"]))
    data = bytearray(forms.parquet(fixtures.log_columns()))
    data[4:40] = bytes(36)  # head of the first page
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"log\.parquet: (not a \.parquet table|.*damaged)"):
        list(table_blocks(path, ["time", "q1"]))
    twice = path.with_suffix(".csv")
    twice.write_text("time,q1,q1\n0,1,2\n")
    with pytest.raises(DataError, match="duplicate column q1"):
        table_names(twice)


def test_libraries_are_silenced(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet():
        warnings.warn("of a library", stacklevel=1)
        logging.getLogger("library").error("of a library")
        assert np.isnan(np.float64(np.inf) - np.float64(np.inf))
    assert capfd.readouterr() == ("", "")
    assert logging.root.manager.disable == 0


@pytest.mark.slow
def test_matlab_files_that_crash_the_library(tmp_path: Path) -> None:
    """A type of numbers that there is not: the library looks for it beyond its table."""
    path = tmp_path / "log.mat"
    savemat(path, fixtures.log_columns())
    data = bytearray(path.read_bytes())
    at = data.index(b"time") + 4  # name of the first variable, then the tag of its numbers
    assert data[at] == 9  # double
    for kind in (0xFF, 0xFFFF, 0x7FFF):
        data[at : at + 4] = kind.to_bytes(4, "little")
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"log\.mat: (the file is damaged|not a MAT file)"):
            read_channels(path)


@pytest.mark.parametrize("column", ["q1", "M1"])
def test_measured_values_out_of_range(tmp_path: Path, column: str) -> None:
    columns = fixtures.log_columns()
    columns[column][3] = 1e200
    path = tmp_path / "log.parquet"
    path.write_bytes(forms.parquet(columns))
    with pytest.raises(DataError, match=rf"channel {column}, row 4: 1e\+200 is out of range"):
        mechid.read_measurement(path, "five_bar")


def test_units_in_a_log_are_said_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    text = forms.csv_text(fixtures.log_columns())
    path.write_bytes(text.replace(b"\n", b"\ns,rad,rad,N m,kN\n", 1))
    with pytest.raises(DataError, match=r'log\.csv: forces\.M2: the unit "kN" does not match'):
        mechid.read_measurement(path, "five_bar")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("0,1\n1\n2,2\n3,3\n4,4\n", "line 2 has 2 cells, line 3 has 1; remove"),
        ("0,1\n# note\n2,2\n3,3\n4,4\n", "line 3 is not a row of numbers; correct or remove it"),
        ("1,2,3\n0,1\n2,2\n3,3\n4,4\n", "line 2 has 3 cells, line 3 has 2; remove"),
    ],
)
def test_the_row_that_is_unlike_the_others_is_named(tmp_path: Path, rows: str, words: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"time,q1\n{rows}")
    with pytest.raises(DataError, match=words):
        read_channels(path)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"gaps": -3}, "gaps: must be ≥ 0, got -3"),
        ({"rate": 5e-324}, "rate: 4.94066e-324 is out of range; check it"),
        ({"prepare": {"decimation": -7}}, "prepare.decimation: must be ≥ 1, got -7"),
        ({"name": ["a"]}, "name: expected text, got a list of 1; write one text, or omit the key"),
        ({"name": 3}, "name: expected text, got 3; put it in quotes"),
        ({"prepare": 1.5}, "prepare: expected a mapping, got 1.5; write {key: value, …}"),
        ({"time": 1.5}, r"time: expected a mapping, got 1.5; write {channel: …}"),
        ({"": 1}, 'unknown key ""; choose one of: '),
        ({"gaps": "9" * 400}, "gaps: expected an integer, got .9{60}…"),
    ],
)
def test_wrong_entries_of_mappings(entry: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words):
        mechid.read_measurement("none.csv", "five_bar", {"positions": {"q1": "q1"}, **entry})


def test_long_rows_of_digits_in_text_tables(tmp_path: Path) -> None:
    """Read in time that grows as their length, not as its square (minutes, then)."""
    path = tmp_path / "log.csv"
    path.write_text(f"time,q1\n0,1\n1,{'3' * 100_000}x\n2,2\n3,3\n4,4\n")
    with pytest.raises(DataError, match=r"log\.csv"):
        mechid.read_measurement(path, "five_bar")


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "utf-7", "\0x"])
def test_encodings_that_no_text_has(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(fixtures.log_columns()) + b"+2AA-\n")  # half a character
    mapping = {"positions": {"q1": "q1", "q2": "q2"}, "table": {"encoding": encoding}}
    with pytest.raises(DataError, match=r"table\.encoding: the text is not"):
        mechid.read_measurement(path, mechid.load(fixtures.MODEL), mapping)


@pytest.mark.parametrize(
    "read",
    [
        read_columns,
        read_table,
        tables.read_columns,
        lambda path: [*table_blocks(path, table_names(path))],
    ],
)
def test_parquet_tables_of_types_that_nobody_has(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    """Integers of 24 bits: wherever the schema of Arrow in the file says 8, it says 24."""
    raw = forms.parquet({"q1": np.arange(5, dtype=np.int8)})
    found = re.search(rb"/{5}[A-Za-z0-9+/=]{99,}", raw)
    assert found is not None
    schema, eight = b64decode(found[0]), (8).to_bytes(4, "little")
    path = tmp_path / "log.parquet"
    said = []
    for at in [k for k in range(len(schema)) if schema[k : k + 4] == eight]:
        wrong = schema[:at] + b"\x18" + schema[at + 1 :]
        path.write_bytes(raw.replace(found[0], b64encode(wrong)))
        try:
            read(path)
        except DataError as error:
            said.append(str(error))
    assert any("cstdint" in words for words in said)


def test_pauses_longer_than_integers_count(tmp_path: Path) -> None:
    columns = fixtures.log_columns()
    columns["time"][-1] = 1e30
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(columns))
    with pytest.raises(DataError, match=r"no samples between .* s and 1e\+30 s"):
        mechid.read_measurement(path, mechid.load(fixtures.MODEL))


def test_streamed_logs_whose_time_stands_still(tmp_path: Path) -> None:
    columns = fixtures.log_columns()
    columns["time"] = np.zeros_like(columns["time"])
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(columns))
    with pytest.raises(DataError, match=r"row 2.*occurs twice"):
        mechid.identify_streamed(fixtures.MODEL, path)
