"""Times in other units, since other starts, and as dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mechid.errors import DataError
from mechid.measurementfile import read_measurement
from mechid.tables import write_table

from .logs import FIVE_BAR, T, truth

START = datetime(2026, 3, 1, 12, 30, 15, 250000, tzinfo=UTC)
SINCE = "times count from 2026-03-01T12:30:15.250000+00:00"
NANO = (int(START.timestamp() * 1000) * 10**6 + np.rint(T * 1e9).astype(np.int64)).tolist()


def written(folder: Path, name: str, cells: list[str]) -> Path:
    columns = [truth()[n] for n in ("q1", "q2", "M1")]
    lines = [f"{name};q1;q2;M1"]
    lines += [f"{cell};{a};{b};{c}" for cell, a, b, c in zip(cells, *columns, strict=True)]
    (folder / "log.csv").write_text("\n".join(lines))
    return folder / "log.csv"


@pytest.mark.parametrize(
    ("name", "per_second", "note"),
    [
        ("time", 1.0, ""),
        ("time_s", 1.0, ""),
        ("t_ms", 1e3, "t_ms is in ms, by its name"),
        ("timestamp_us", 1e6, "timestamp_us is in us, by its name"),
        ("Time.ns", 1e9, "Time.ns is in ns, by its name"),
        ("time [ms]", 1e3, "time is in ms, by the file"),
        ("t [µs]", 1e6, "t is in µs, by the file"),
    ],
)
def test_units_by_name_and_file(name: str, per_second: float, note: str, tmp_path: Path) -> None:
    m = read_measurement(
        written(tmp_path, name, [repr(float(x)) for x in per_second * T]), FIVE_BAR
    )
    assert m.time == pytest.approx(T, abs=1e-12)
    assert [n for n in m.notes if " is in " in n] == ([note] if note else [])


@pytest.mark.parametrize(
    ("unit", "divide"), [("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)]
)
def test_counts_since_1970(unit: str, divide: int, tmp_path: Path) -> None:
    cells = [f"{x // divide}" if x % divide == 0 else f"{x / divide:.9f}" for x in NANO]
    m = read_measurement(written(tmp_path, "time", cells), FIVE_BAR)
    assert m.time == pytest.approx(T, abs=5e-7)
    assert f"time is in {unit} since 1970, by its size" in m.notes
    assert SINCE in m.notes


def dates(form: str) -> list[str]:
    times = [START + timedelta(seconds=float(t)) for t in T]
    return [t.strftime(form) for t in times]


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%dT%H:%M:%S.%fZ",
        "%Y-%m-%d %H:%M:%S.%f",
        "%Y-%m-%dT%H:%M:%S.%f+00:00",
    ],
)
def test_dates(form: str, tmp_path: Path) -> None:
    m = read_measurement(written(tmp_path, "timestamp", dates(form)), FIVE_BAR)
    assert m.time == pytest.approx(T + 0.25, abs=1e-9)
    assert "times count from 2026-03-01T12:30:15+00:00" in m.notes


def test_dates_and_large_integers_of_other_formats_keep_their_digits(tmp_path: Path) -> None:
    true = truth()
    columns = {n: true[n] for n in ("q1", "q2", "M1")}
    stamps = pa.array(NANO, pa.timestamp("ns"))
    pq.write_table(pa.table({"time": stamps, **columns}), tmp_path / "log.parquet")
    m = read_measurement(tmp_path / "log.parquet", FIVE_BAR)
    assert m.time - m.time[0] == pytest.approx(T, abs=1e-9)
    with h5py.File(tmp_path / "log.h5", "w") as file:
        file["stamp"] = np.array(NANO)
        for name, values in columns.items():
            file[name] = values
    m = read_measurement(tmp_path / "log.h5", FIVE_BAR)
    assert m.time == pytest.approx(T, abs=1e-9)  # a float would round to 256 ns
    assert "stamp is in ns since 1970, by its size" in m.notes


def refusal(path: Path, mapping: Any = None) -> str:
    with pytest.raises(DataError) as refused:
        read_measurement(path, FIVE_BAR, mapping)
    return str(refused.value)


def test_steps_that_are_too_long_for_seconds_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "time", [repr(float(x)) for x in 1e3 * T])
    said = refusal(path)
    assert (
        "channel time: the unit of the times is not stated, and steps of 5 s are too long" in said
    )
    assert "time: {channel: time, unit: ms}" in said
    columns = {"positions": {"q1": "q1", "q2": "q2"}}
    for time, factor in (("ms", 1.0), ("s", 1000.0), ("us", 1e-3)):
        m = read_measurement(path, FIVE_BAR, columns | {"time": {"channel": "time", "unit": time}})
        assert m.time == pytest.approx(factor * T, rel=1e-9)
    assert "not a unit of time" in refusal(path, columns | {"time": {"channel": "time",
                                                                     "unit": "mm"}})  # fmt: skip


def test_a_clock_of_the_computer_since_its_start_is_no_date(tmp_path: Path) -> None:
    """Nanoseconds since a computer was switched on: no date between 2000 and 2100."""
    path = written(tmp_path, "time", [f"{int(5e12 + x)}" for x in 1e9 * T])
    assert "the unit of the times is not stated, and steps of 5e+06 s are too long" in refusal(path)


def test_missing_dates_and_several_times(tmp_path: Path) -> None:
    cells = dates("%Y-%m-%dT%H:%M:%S.%fZ")
    cells[7] = ""
    assert "row 8, column time: the date is missing" in refusal(written(tmp_path, "time", cells))
    write_table(tmp_path / "log.csv", {"t_ms": 1e3 * T, "t_us": 1e6 * T, **truth()})
    assert "there are several channels of time, t_ms, t_us" in refusal(tmp_path / "log.csv")
    write_table(tmp_path / "log.csv", {"stamp": T, "time": 2 * T, **truth()})
    assert read_measurement(tmp_path / "log.csv", FIVE_BAR).time == pytest.approx(2 * T)


def test_a_time_channel_in_another_unit_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "time [mm]", [repr(float(x)) for x in T])
    assert 'channel time: "mm" is not a unit of time' in refusal(path)


def test_a_force_called_T_is_no_time(tmp_path: Path) -> None:
    """Of several channels that could be times by their names, the one that increases is."""
    columns = {"T": truth()["M1"], **truth()}
    for name, per_second in (("t", 1.0), ("time_ms", 1e3), ("stamp", 1.0)):
        write_table(tmp_path / "log.csv", {name: per_second * T, **columns})
        assert read_measurement(tmp_path / "log.csv", FIVE_BAR).time == pytest.approx(T)
    write_table(tmp_path / "log.csv", {"t": T[::-1], **columns})
    assert "there are several channels of time, t, T" in refusal(tmp_path / "log.csv")
