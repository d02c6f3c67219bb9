"""`mechid measurement`: a log in, a motion with forces out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.kinematics.motion import solve_motion
from mechid.measurementfile import json_schema
from mechid.modelfile import load
from mechid.tables import read_columns, write_table

if TYPE_CHECKING:
    from .conftest import Run

MAPPING = """\
measurement: 1
time: {channel: t, unit: ms}
positions:
  q1: {channel: enc1, unit: deg}
  q2: {channel: enc2, unit: deg}
forces:
  M1: {channel: load1, unit: N mm, sign: -1}
"""


@pytest.fixture
def log(tmp_path: Path) -> np.ndarray:
    """A log with noise; returns the exact motion (3, N, 2)."""
    mechanism = load("five_bar")
    t = np.arange(4000) / 500.0
    w, rng = np.pi, np.random.default_rng(2)
    a, phase = np.array([0.3, 0.2]), np.array([0.0, 1.0])
    x = w * t[:, None] + phase
    y, yd, ydd = a * np.sin(x), a * w * np.cos(x), -a * w**2 * np.sin(x)
    tau = inverse_dynamics(solve_motion(mechanism, y, yd, ydd, time=t)).tau
    angle = np.rad2deg(y) + 0.01 * rng.standard_normal(y.shape)
    load1 = -1000 * tau[:, 0] + 2 * rng.standard_normal(len(t))
    columns = {"t": 1000 * t, "enc1": angle[:, 0], "enc2": angle[:, 1], "load1": load1}
    write_table(tmp_path / "log.csv", columns)
    (tmp_path / "log.yaml").write_text(MAPPING)
    (tmp_path / "plain.yaml").write_text(MAPPING.replace(", unit: deg", ""))
    return np.stack([y, yd, ydd])


def test_report_and_table(run: Run, log: np.ndarray, tmp_path: Path) -> None:
    done = run("measurement", "five_bar", "log.csv", "--map", "log.yaml", "-o", "out.parquet")
    assert done.status == 0, done.err
    assert "4000, 0 s to 7.998 s, 500 Hz" in done.out
    assert "low-pass, cut-off" in done.out
    assert done.out.endswith("wrote out.parquet\n")
    columns = read_columns(tmp_path / "out.parquet")
    assert list(columns) == ["time", "q1", "q1.d", "q1.dd", "q2", "q2.d", "q2.dd", "M1"]
    first = round(columns["time"].to_numpy()[0] * 500)
    exact = log[:, first : first + len(columns["time"])]
    for i, name in enumerate(("q1", "q2")):
        for k, suffix in enumerate(("", ".d", ".dd")):
            found = columns[name + suffix].to_numpy()
            size = np.abs(exact[k, :, i]).max()
            assert found == pytest.approx(exact[k, :, i], abs=0.015 * size)
    # What was written is a motion for every other command.
    assert run("inverse", "five_bar", "out.parquet", "-o", "forces.csv").status == 0
    forces = read_columns(tmp_path / "forces.csv")["M1"].to_numpy()
    measured = columns["M1"].to_numpy()
    assert np.std(measured - forces) == pytest.approx(2e-3, rel=0.1)


def test_json(run: Run, log: np.ndarray) -> None:
    done = run("measurement", "five_bar", "log.csv", "-m", "log.yaml", "--period", "2", "--json")
    found = done.json
    assert found["method"] == "fourier"
    assert found["prepared_samples"] == 1000
    assert found["coordinates"]["q1"]["noise"] == pytest.approx(np.deg2rad(0.01), rel=0.05)
    assert found["forces"]["M1"]["noise"] == pytest.approx(2e-3 / 2, rel=0.05)  # of four periods
    assert 0 < found["forces"]["M1"]["error_by_position_noise"] < 1e-3
    assert found["warnings"] == []


def test_what_the_command_line_says_goes_over_the_mapping(run: Run, log: np.ndarray) -> None:
    arguments = ("--method", "low-pass", "--cutoff", "8", "--decimation", "10", "--json")
    found = run("measurement", "five_bar", "log.csv", "-m", "log.yaml", *arguments).json
    assert (found["cutoff"], found["decimation"]) == (8.0, 10)
    assert found["decimated_samples"] == pytest.approx(found["prepared_samples"] / 10, abs=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("log.csv",), "error: log.csv: there is no channel q1; the file has t, enc1, enc2"),
        (("log.csv", "-m", "no.yaml"), "error: no.yaml: cannot read the file"),
        (("no.csv",), "error: no.csv: there is no such file"),
        (("log.csv", "-m", "log.yaml", "--cutoff", "-1"), "error: cutoff must be > 0, got -1"),
        (("log.csv", "-m", "log.yaml", "--method", "given"), "error: log.csv: speeds and acc"),
        (("log.csv", "-m", "log.yaml", "-o", "out.xls"), "error: out.xls: unknown file type .xls"),
        (("log.csv", "-m", "plain.yaml"), "error: log.csv: sample"),  # degrees as radians
    ],
)
def test_mistakes(arguments: tuple[str, ...], said: str, run: Run, log: np.ndarray) -> None:
    done = run("measurement", "five_bar", *arguments)
    assert done.status == 2
    assert done.err.startswith(said)
    assert done.err.count("\n") == 1


def test_schema_of_mapping_files(run: Run) -> None:
    assert run("schema", "measurement").json == json_schema()
