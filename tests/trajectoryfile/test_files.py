"""Trajectory files: round trip, tables, and mistakes with their line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mechid.cli.app import app
from mechid.errors import DataError
from mechid.excitation.families import (
    BSpline,
    Chirp,
    Constant,
    Fourier,
    Function,
    Scaled,
    Sine,
    Sum,
    Tabulated,
)
from mechid.excitation.trajectory import Trajectory, sample
from mechid.modelfile import load
from mechid.tables import read_columns, read_motion, write_table
from mechid.trajectoryfile import (
    Expression,
    dumps_trajectory,
    load_trajectory,
    loads_trajectory,
    read_motion_file,
    save_trajectory,
    write_trajectory_table,
)
from mechid.trajectoryfile.document import FamilySpec, TrajectoryDocument, trajectory_schema

RNG = np.random.default_rng(7)


def row(n: int) -> tuple[float, ...]:
    return tuple((RNG.normal(size=n) * 10.0 ** RNG.integers(-20, 20, size=n)).tolist())


EVERYTHING = Trajectory.of(
    {
        "lift.r": Fourier(1 / 3, 0.1, row(5), row(5)),
        "rack": BSpline(7.1, row(9), 5, "rest"),
        "closed": BSpline(0.7, row(7), 4, "periodic"),
        "wheel": Sine(50.0, 0.4, 0.1, -0.2),
        "shaker": Chirp(0.001, 0.0, 50.0, 7.1, 0.3, 0.01),
        "held": Constant(1e-300),
        "spin": Expression("50*sin(pi*f*t)", (("f", 0.7),), 2 / 0.7),
        "given": Tabulated((0.0, 1.0, 7.1), (0.1, 0.2, 0.3), (0.0, 0.1, 0.2), (1.0, 2.0, 3.0)),
        "both": Sum((Scaled(Sine(1.0, 2.0), 0.3), Fourier.zeros(2.0, 1))),
    },
    7.1,
    rate=250.0,
    name="everything there is",
)

YAML = """\
trajectory: 1
name: T1
duration: 2/f
parameters: {f: 0.5, A: 20 deg}
coordinates:
  q1: {fourier: {frequency: f, offset: 90 deg, a: [0.2, 0.1], b: [0, A]}}
  q2:
    sum:
      - constant: 1.1
      - expression: A*sin(pi*f*t)
"""


def test_round_trip_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    save_trajectory(EVERYTHING, path)
    again = load_trajectory(path)
    assert again == EVERYTHING
    for a, b in zip(sample(again), sample(EVERYTHING), strict=True):
        np.testing.assert_array_equal(a, b)
    assert dumps_trajectory(again) == path.read_text()


def test_numbers_may_be_expressions_of_parameters() -> None:
    found = loads_trajectory(YAML)
    assert found.duration == 4.0
    assert found["q1"] == Fourier(0.5, np.pi / 2, (0.2, 0.1), (0.0, np.pi / 9))
    y = sample(found, times=np.array([1.0])).y[0, 1]
    assert y == pytest.approx(1.1 + np.pi / 9)


def test_lengths_default_to_the_duration() -> None:
    found = loads_trajectory(
        "trajectory: 1\nduration: 3\ncoordinates:\n"
        "  a: {bspline: {values: [0, 1, 2], ends: rest}}\n"
        "  b: {chirp: {amplitude: 1, start_frequency: 0, end_frequency: 50}}\n"
    )
    assert isinstance(found["a"], BSpline)
    assert isinstance(found["b"], Chirp)
    assert found["a"].length == found["b"].length == 3.0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_keep_every_digit(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_trajectory_table(path, EVERYTHING, rate=20.0)
    found = sample(EVERYTHING, rate=20.0)
    columns = read_columns(path)
    assert len(columns) == 1 + 3 * len(EVERYTHING.names)
    for j, name in enumerate(EVERYTHING.names):
        for ending, values in (("", found.y), (".d", found.yd), (".dd", found.ydd)):
            np.testing.assert_array_equal(columns[f"{name}{ending}"].to_numpy(), values[:, j])
    # The table is a trajectory itself.
    again = load_trajectory(path)
    assert set(again.names) == set(EVERYTHING.names)
    turned = again.ordered(EVERYTHING.names)
    back = sample(turned, times=found.time)
    for a, b in zip(back[1:], found[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * np.abs(b).max())


def test_a_shaker_takes_one_quantity(tmp_path: Path) -> None:
    path = tmp_path / "shaker.csv"
    write_trajectory_table(path, EVERYTHING, rate=10.0, quantities=("acceleration",))
    assert list(read_columns(path)) == ["time", *(f"{n}.dd" for n in EVERYTHING.names)]
    with pytest.raises(DataError, match="no quantity jerk"):
        write_trajectory_table(path, EVERYTHING, quantities=("jerk",))


def test_a_coordinate_from_a_table(tmp_path: Path) -> None:
    t = np.linspace(2.0, 4.0, 41)
    write_table(tmp_path / "road.csv", {"time": t, "z": np.sin(t)})
    (tmp_path / "t.yaml").write_text(
        "trajectory: 1\nduration: 2\ncoordinates:\n  a: {table: {file: road.csv, column: z}}\n"
    )
    found = load_trajectory(tmp_path / "t.yaml")
    x = np.array([0.33, 1.77])
    assert sample(found, times=x).yd[:, 0] == pytest.approx(np.cos(2 + x), abs=1e-5)


def test_motion_of_a_mechanism(tmp_path: Path) -> None:
    mechanism = load("five_bar")
    path = tmp_path / "t.yaml"
    path.write_text(YAML)
    table = read_motion_file(path, mechanism)
    assert table.notes == ("sampled at 20 Hz; set rate in the trajectory to change it",)
    assert table.y.shape == (81, 2)
    write_trajectory_table(tmp_path / "t.csv", loads_trajectory(YAML))
    again = read_motion_file(tmp_path / "t.csv", mechanism)
    np.testing.assert_array_equal(again.ydd, table.ydd)
    np.testing.assert_array_equal(read_motion(tmp_path / "t.csv", mechanism).y, table.y)
    with pytest.raises(DataError, match="no independent coordinate q2"):
        read_motion_file(path, load("four_bar"))


def test_commands_take_a_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(YAML.replace("name: T1", "rate: 50").replace("1.1", "90 deg"))
    out = tmp_path / "out.csv"
    result = CliRunner().invoke(app, ["kinematics", "five_bar", str(path), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "samples" in result.output
    assert "201, 0 s to 4 s" in result.output
    assert len(read_columns(out)["time"]) == 201


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("trajectory: 1", "trajectory: 2", r"t.yaml:1: trajectory: the .* has format 2, of a"),
        ("trajectory: 1", "mechid: 1", "model file"),
        ("trajectory: 1", "", "trajectory is missing; start the file with trajectory: 1"),
        ("duration: 2/f", "", "duration is missing"),
        ("duration: 2/f", "duration: 2/g", r"t.yaml:3: duration: there is no parameter g"),
        ("duration: 2/f", "duration: -1", "duration of a trajectory must be > 0 s, got -1"),
        ("duration: 2/f", "duration: 2/f\nrat: 3", r"t.yaml:4: rat: unknown key rat; did you mean"),
        ("frequency: f", "frequency: 0", r"t.yaml:6: coordinates.q1.fourier: the base frequency"),
        ("b: [0, A]", "b: [0]", "must have the same length, got 2 and 1"),
        ("b: [0, A]", "b: [0, {}]", r"t.yaml:6: coordinates.q1.fourier.b.1: expected a number"),
        ("A*sin(pi*f*t)", "B*sin(t)", r"t.yaml:10: coordinates.q2.sum.1.expression: .* B"),
        ("A*sin(pi*f*t)", "A*sin(", "cannot read"),
        ("constant: 1.1", "{}", r"one kind of motion, got nothing; choose one of: fourier"),
        ("- constant: 1.1", "- {constant: 1, sine: {amplitude: 1, frequency: 1}}", "and sine"),
        ("constant: 1.1", "constnt: 1.1", r"unknown key constnt; did you mean constant"),
        ("constant: 1.1", "table: {}", r"q2.sum.0.table: a table needs either file, or time"),
        ("constant: 1.1", "table: {file: no.csv}", r"t.yaml:9: .*no.csv: there is no such file"),
        ("constant: 1.1", "bspline: {values: [1, 2]}", r"needs 6 values, got 2"),
        ("constant: 1.1", "bspline: {values: [1, 2], ends: open}", r"expected 'periodic', 'rest'"),
        ("constant: 1.1", "chirp: {amplitude: 1, start_frequency: 0, end_frequency: 5, length: 1}",
         "q2 is not defined at t = 4 s"),
        ("f: 0.5", "t: 0.5", "t is reserved for time"),
        ("coordinates:", "coordinates: {}\nx:", "unknown key x"),
    ],
)  # fmt: skip
def test_mistakes_are_located(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "t.yaml"
    assert old in YAML
    path.write_text(YAML.replace(old, new))
    with pytest.raises(DataError, match=words):
        load_trajectory(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        load_trajectory(tmp_path / "t.yaml")
    with pytest.raises(DataError, match="unknown file type"):
        load_trajectory(tmp_path / "t.txt")
    with pytest.raises(DataError, match="start it with trajectory: 1"):
        loads_trajectory("")
    with pytest.raises(DataError, match="a trajectory file is a mapping"):
        loads_trajectory("- 1")
    with pytest.raises(DataError, match="not valid YAML"):
        loads_trajectory("a: [")
    with pytest.raises(DataError, match="lift: a Python function cannot be written"):
        dumps_trajectory(Trajectory.of({"lift": Function(lambda t: (t, t, t))}, 1.0))
    with pytest.raises(DataError, match="cannot write"):
        save_trajectory(EVERYTHING, tmp_path / "nowhere" / "t.yaml")


def test_schema_describes_the_document() -> None:
    schema = trajectory_schema()
    json.dumps(schema)
    assert set(schema["properties"]) == set(TrajectoryDocument.model_fields)
    assert schema["required"] == ["trajectory", "duration", "coordinates"]
    assert schema["additionalProperties"] is False
    assert set(schema["$defs"]["FamilySpec"]["properties"]) == set(FamilySpec.model_fields)
