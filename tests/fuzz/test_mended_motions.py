"""The smallest inputs that showed what fuzzing found: motions, forces and trajectories."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.errors import DataError
from mechid.excitation.families.tabulated import Tabulated
from mechid.excitation.trajectory import sample
from mechid.measurementfile.timebase import check_increasing
from mechid.signals.filters import edge
from mechid.tables.forces import read_forces

from . import fixtures, forms
from .fixtures import SEEDS


@pytest.mark.parametrize(("column", "factor"), [("time", 1e-300), ("time", 1e200), ("q1", 1e200)])
def test_motions_without_derivatives(tmp_path: Path, column: str, factor: float) -> None:
    columns = fixtures.log_columns()
    path = tmp_path / "motion.csv"
    path.write_bytes(forms.csv_text(columns | {column: factor * columns[column]}))
    with pytest.raises(DataError, match=f"column {column}"):
        mechid.read_motion(path, mechid.load("five_bar"))


def test_motions_with_two_samples_at_almost_the_same_time(tmp_path: Path) -> None:
    """Steps of 0.05 s on average, but for one."""
    columns = fixtures.log_columns()
    path = tmp_path / "motion.csv"
    columns["time"][1] = 3e-312
    path.write_bytes(forms.csv_text(columns))
    with pytest.raises(DataError, match=r"row 2, column time: samples .* got 3e-312 s"):
        mechid.read_motion(path, mechid.load("five_bar"))
    columns["time"][1] = 2e-15
    path.write_bytes(forms.csv_text(columns))
    mechid.read_motion(path, mechid.load("five_bar"))


def test_a_cut_off_that_rounding_hides() -> None:
    assert edge(1e-50) > 1e9
    assert edge(0.0) > 1e9  # 5e-324 Hz at 20 Hz
    assert edge(0.1) < 100


@pytest.mark.parametrize("column", ["time", "M1"])
def test_tables_of_forces_and_motions_out_of_range(tmp_path: Path, column: str) -> None:
    columns = fixtures.log_columns()
    path = tmp_path / "table.csv"
    path.write_bytes(forms.csv_text(columns | {column: 1e299 * columns[column]}))
    with pytest.raises(DataError, match=rf"row 2, column {column}: .*e\+29\d is out of range"):
        read_forces(path, mechid.load("five_bar"))
    with pytest.raises(DataError, match=rf"row 2, column {column}: .*e\+29\d is out of range"):
        mechid.load_trajectory(path)


def test_forces_without_a_spline() -> None:
    time = np.array([0.0, 5e-324, 1.0, 2.0])
    with np.errstate(all="ignore"), pytest.raises(DataError, match="no finite slopes"):
        mechid.table_forces(time, np.array([[0.0], [1e10], [0.0], [1.0]]), "cubic")


def test_motions_of_too_many_samples() -> None:
    """A rate in the wrong unit: neither gigabytes of samples nor a crash."""
    motion = mechid.load_trajectory(SEEDS / "motion.yaml")
    with pytest.raises(DataError, match=r"too many samples: 1\.2e\+07 of 2 coord"):
        sample(motion, rate=6e6)
    with pytest.raises(DataError, match="too many samples: 2 s at 1e"):
        sample(motion, rate=1e10)


def test_times_that_rounding_hides() -> None:
    with pytest.raises(DataError, match="time does not increase"):
        Tabulated((0.0, 5e-324, 4.0), (1.0, 2.0, 1.0), (0.0,) * 3, (0.0,) * 3)


def test_long_motions_are_sampled_in_parts() -> None:
    """Samples at both sides of the parts, against the same times one by one."""
    motion = mechid.load_trajectory(SEEDS / "motion.yaml")
    found = sample(motion, rate=10_000.0)
    assert len(found.time) == 20_001
    some = np.array([0, 8_191, 8_192, 16_384, 20_000])
    for values, wanted in zip(found, sample(motion, times=found.time[some]), strict=True):
        np.testing.assert_allclose(values[some], wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("step", [5e-302, 1e-13])
def test_samples_that_follow_each_other_too_fast(step: float) -> None:
    with pytest.raises(DataError, match=r"at least 1e-12 s apart, got .* check the unit"):
        check_increasing(step * np.arange(41), "log.csv")
    with pytest.raises(DataError, match=r"row 2: samples must be at least 1e-12 s apart"):
        check_increasing(np.array([0.0, step, 0.1, 0.2]), "log.csv")
    check_increasing(2e-12 * np.arange(41), "log.csv")


@pytest.mark.parametrize("step", [1e-194, 1e-127, 1e-300, 3e-312])
def test_splines_through_forces_at_almost_the_same_time(step: float) -> None:
    """Once, among steps of 0.05 s; a table whose steps are all so short is refused, too."""
    columns = fixtures.log_columns()
    values = np.column_stack([columns["M1"], columns["M2"]])
    near = columns["time"].copy()
    near[1] = step
    for times in (near, 20 * step * columns["time"]):
        with pytest.raises(DataError, match="no finite slopes"):
            mechid.table_forces(times, values, "cubic")
    mechid.table_forces(columns["time"], values, "cubic")
