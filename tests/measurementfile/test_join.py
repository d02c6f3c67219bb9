"""Several files of one log, and channels that are late."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.measurementfile import read_measurement
from mechid.runs.files import file_hash
from mechid.tables import write_table
from mechid.tasks.identify import identify
from mechid.tasks.measured import ChosenMappings, data_files, prepare

from .logs import FIVE_BAR

W = 2 * np.pi
FAST, SLOW = np.arange(0, 5, 0.002), np.arange(0.0313, 6, 0.01)


def positions(t: np.ndarray) -> dict[str, np.ndarray]:
    return {"q1": 0.3 * np.sin(W * t), "q2": 0.2 * np.cos(W * t)}


def forces(t: np.ndarray) -> dict[str, np.ndarray]:
    return {"M1": 2.0 * np.sin(3 * W * t), "M2": np.cos(2 * W * t)}


# A cubic spline of steps h: 5 h⁴/384 of the fourth derivative (6π)⁴ 2.
BOUND = 5 * 0.01**4 / 384 * (3 * W) ** 4 * 2


def files(folder: Path, **other: np.ndarray) -> str:
    write_table(folder / "pos.csv", {"time": FAST, **positions(FAST)})
    write_table(folder / "force.csv", {"time": SLOW, **forces(SLOW), **other})
    return f"{folder / 'pos.csv'}+{folder / 'force.csv'}"


def test_two_files_are_joined_on_time(tmp_path: Path) -> None:
    m = read_measurement(files(tmp_path), FIVE_BAR)
    assert (m.time[0], m.time[-1]) == pytest.approx((0.032, FAST[-1]))
    assert m.y == pytest.approx(np.stack(list(positions(m.time).values()), axis=1), abs=1e-12)
    inner = slice(20, -20)
    true = np.stack(list(forces(m.time).values()), axis=1)
    assert np.abs(m.tau - true)[inner].max() < BOUND
    assert (
        "joined on time: pos.csv 0 s to 4.998 s, force.csv 0.0313 s to 5.9913 s; "
        "0.0313 s to 4.998 s in common" in m.notes
    )
    assert "interpolated at the times of q1: M1, M2" in m.notes
    part = read_measurement(f"{files(tmp_path)}@1:2", FIVE_BAR)
    assert part.time[0] == pytest.approx(1.032)


def test_files_that_do_not_overlap_are_refused_and_shifted(tmp_path: Path) -> None:
    both = files(tmp_path)
    write_table(tmp_path / "force.csv", {"time": SLOW + 1e5, **forces(SLOW)})
    with pytest.raises(DataError) as refused:
        read_measurement(both, FIVE_BAR)
    assert (
        "the times of the files do not overlap: pos.csv 0 s to 4.998 s, force.csv 100000 s to "
        "100006 s; give the difference of the clocks in the mapping, files: [{}, {shift: S}]"
    ) in str(refused.value)
    mapping: dict[str, Any] = {
        "positions": {"q1": "q1", "q2": "q2"},
        "forces": {"M1": "M1", "M2": "M2"},
        "files": [{}, {"shift": -1e5}],
    }
    m = read_measurement(both, FIVE_BAR, mapping)
    true = np.stack(list(forces(m.time).values()), axis=1)
    assert np.abs(m.tau - true)[20:-20].max() < BOUND
    with pytest.raises(DataError, match="files: the mapping has 1 entries for files, the log has"):
        read_measurement(both, FIVE_BAR, mapping | {"files": [{}]})


def test_parts_of_a_log_that_was_cut_in_time_are_logs_of_their_own(tmp_path: Path) -> None:
    for name, start in (("part1.csv", 0.0), ("part2.csv", 5.0)):
        write_table(tmp_path / name, {"time": FAST + start, **positions(FAST), **forces(FAST)})
    with pytest.raises(DataError, match="times of the files do not overlap") as refused:
        read_measurement(f"{tmp_path / 'part1.csv'}+{tmp_path / 'part2.csv'}", FIVE_BAR)
    assert refused.value.remedy == (
        "files with the same channels, one after the other, are logs of their own: "
        "part1.csv part2.csv"
    )


def test_dates_in_one_file_and_seconds_in_the_other_do_not_overlap(tmp_path: Path) -> None:
    both = files(tmp_path)
    write_table(tmp_path / "force.csv", {"time": 1.77e9 + SLOW, **forces(SLOW)})
    with pytest.raises(DataError, match=r"do not overlap: pos.csv 0 s to .* 1\.77e\+09 s"):
        read_measurement(both, FIVE_BAR)
    # Both since 1970, one in ms: they do.
    write_table(tmp_path / "pos.csv", {"time": 1.77e12 + 1e3 * FAST, **positions(FAST)})
    m = read_measurement(both, FIVE_BAR)
    assert "pos.csv: time is in ms since 1970, by its size" in m.notes
    assert any(n.startswith("times count from 2026-02-02T") for n in m.notes)
    true = np.stack(list(forces(m.time).values()), axis=1)
    assert np.abs(m.tau - true)[20:-20].max() < BOUND + 1e-5


def test_clocks_and_tables_of_single_files(tmp_path: Path) -> None:
    """A bench without times, a second header in the other file, a name that both have."""
    write_table(tmp_path / "a.csv", {"x": positions(FAST)["q1"], "q2": positions(FAST)["q2"]})
    rows = [f"{1e3 * t};{a};{b}" for t, a, b in zip(SLOW, *forces(SLOW).values(), strict=True)]
    text = "\n".join(["clock;x;M2", "ms;N m;N m", *rows]).replace(".", ",")
    (tmp_path / "b.txt").write_text(text)
    mapping = {
        "positions": {"q1": "x@1", "q2": "q2"},
        "forces": {"M1": "x@2", "M2": "M2"},
        "files": [{"rate": 500}, {"time": "clock"}],
    }
    both = f"{tmp_path / 'a.csv'}+{tmp_path / 'b.txt'}"
    m = read_measurement(both, FIVE_BAR, mapping)
    assert "b.txt: clock is in ms, by the file" in m.notes
    assert "text: decimal comma, units in line 2" in m.notes
    true = np.stack(list(forces(m.time).values()), axis=1)
    assert np.abs(m.tau - true)[20:-20].max() < BOUND
    del mapping["files"]
    with pytest.raises(DataError, match=r"a\.csv: missing channel time; name the time channel of"):
        read_measurement(both, FIVE_BAR, mapping)
    with pytest.raises(DataError, match=r"c\.csv: there is no such file"):
        read_measurement(f"{tmp_path / 'a.csv'}+{tmp_path / 'c.csv'}", FIVE_BAR, mapping)


def test_pauses_in_the_other_file_are_not_bridged(tmp_path: Path) -> None:
    both = files(tmp_path)
    gone = (SLOW > 2.0) & (SLOW < 2.5)
    kept = SLOW[~gone]
    write_table(tmp_path / "force.csv", {"time": kept, **forces(kept)})
    m = read_measurement(both, FIVE_BAR)
    last, first = kept[kept <= 2.0][-1], kept[kept >= 2.5][0]
    inside = (m.time > last) & (m.time < first)
    assert not m.valid[inside].any()
    assert m.valid[~inside].all()
    write_table(tmp_path / "force.csv", {"time": kept[::-1], **forces(kept)})
    with pytest.raises(DataError, match=r"force\.csv: channel time, row 2: time does not increase"):
        read_measurement(both, FIVE_BAR)


def test_all_files_of_a_log_are_recorded_in_a_run(tmp_path: Path) -> None:
    run = identify("five_bar", files(tmp_path), estimator="weighted")
    recorded = {Path(f.name).name: f.sha256 for f in run.about.files}
    assert recorded == {n: file_hash(tmp_path / n) for n in ("pos.csv", "force.csv")}


def test_files_of_a_folder_are_recorded(tmp_path: Path) -> None:
    """A bag of ROS 2 is a folder."""
    (tmp_path / "bag").mkdir()
    for name in ("bag_0.db3", "metadata.yaml"):
        (tmp_path / "bag" / name).write_text(name)
    motion = prepare(read_measurement(files(tmp_path), FIVE_BAR), FIVE_BAR)
    found = data_files([replace(motion, source=str(tmp_path / "bag"))], ChosenMappings())
    assert [Path(f.name).name for f in found] == ["bag_0.db3", "metadata.yaml"]


def test_a_late_channel_is_shifted(tmp_path: Path) -> None:
    """M1 was recorded 7.3 ms late, q2 3 ms early."""
    late, early = 0.0073, -0.003
    t = np.arange(0, 5, 0.005)
    table = {"time": t, "q1": positions(t)["q1"], "q2": positions(t - early)["q2"],
             "M1": forces(t - late)["M1"], "M2": forces(t)["M2"]}  # fmt: skip
    write_table(tmp_path / "log.csv", table)
    mapping: dict[str, Any] = {
        "positions": {"q1": "q1", "q2": {"channel": "q2", "delay": early}},
        "forces": {"M1": {"channel": "M1", "delay": late}, "M2": "M2"},
    }
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR, mapping)
    assert "channel M1: late by 0.0073 s, shifted" in m.notes
    assert (m.time[0], m.time[-1]) == pytest.approx((0.005, 4.985))  # all channels have values
    inner = slice(10, -10)
    assert m.tau[inner, 0] == pytest.approx(forces(m.time)["M1"][inner], abs=BOUND / 16)
    assert m.y[inner, 1] == pytest.approx(positions(m.time)["q2"][inner], abs=1e-6)
    assert m.tau[:, 1] == pytest.approx(forces(m.time)["M2"], abs=1e-12)
    mapping["forces"]["M1"]["delay"] = 7
    with pytest.raises(DataError, match="a delay of 7 s is longer than the log; give delays in s"):
        read_measurement(tmp_path / "log.csv", FIVE_BAR, mapping)
