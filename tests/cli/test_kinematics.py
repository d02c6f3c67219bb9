"""`mechid kinematics`: a motion in, the motion of anything out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mechid.tables import read_columns, write_table

if TYPE_CHECKING:
    from .conftest import Run

R, L, E = 0.045, 0.155, 0.012  # crank, rod and offset of the slider-crank of the zoo


@pytest.fixture
def motion(tmp_path: Path) -> str:
    t = np.linspace(0.0, 1.0, 201)
    write_table(tmp_path / "m.csv", {"time": t, "angle": 0.7 + 3 * t, "angle.d": 3 + 0 * t,
                                     "angle.dd": 0 * t})  # fmt: skip
    return "m.csv"


def read(path: Path) -> dict[str, np.ndarray]:
    return {name: column.to_numpy() for name, column in read_columns(path).items()}


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_slider_follows_its_closed_form(output: str, run: Run, motion: str, tmp_path: Path) -> None:
    done = run("kinematics", "slider_crank", motion, "-p", "slider.B", "-j", "guide", "-o", output)
    assert done.status == 0, done.err
    assert f"wrote {output} (16 columns)" in done.out
    out = read(tmp_path / output)
    angle = 0.7 + 3 * out["time"]
    # x = r cos a + sqrt(l² - (r sin a - e)²), differentiated by hand.
    h, h1 = R * np.sin(angle) - E, 3 * R * np.cos(angle)
    s = np.sqrt(L**2 - h**2)
    s1 = -h * h1 / s
    s2 = -(h1**2 - 9 * R * np.sin(angle) * h + s1**2) / s
    assert out["slider.B.x"] == pytest.approx(R * np.cos(angle) + s, abs=1e-14)
    assert out["slider.B.vx"] == pytest.approx(-3 * R * np.sin(angle) + s1, abs=1e-13)
    assert out["slider.B.ax"] == pytest.approx(-9 * R * np.cos(angle) + s2, abs=1e-12)
    assert out["guide.displacement"] == pytest.approx(out["slider.B.x"], abs=1e-14)
    assert out["guide.displacement.dd"] == pytest.approx(out["slider.B.ax"], abs=1e-12)
    assert np.abs(out["slider.B.vz"]).max() < 1e-15


def test_summary_and_json(run: Run, motion: str) -> None:
    text = run("kinematics", "slider_crank", motion).out
    assert "201, 0 s to 1 s" in text
    assert "smallest singularity margin" in text
    assert "nothing written: add -o" in text
    found = run("kinematics", "slider_crank", motion, "--margin", "--json").json
    assert found["samples"] == 201
    assert found["closure_residual"]["worst"] < 1e-15
    assert 0 < found["margin"]["smallest"] < 10
    assert found["columns"][-1] == "margin"
    assert found["output"] is None
    assert found["notes"] == []


def test_margin_of_each_sample(run: Run, motion: str, tmp_path: Path) -> None:
    found = run("kinematics", "slider_crank", motion, "--margin", "-o", "o.csv", "--json").json
    out = read(tmp_path / "o.csv")
    least = int(np.argmin(out["margin"]))
    assert out["margin"][least] == found["margin"]["smallest"]
    assert out["time"][least] == found["margin"]["time"]


def test_margin_without_loops(run: Run, tmp_path: Path) -> None:
    write_table(tmp_path / "m.csv", {"time": [0.0, 1.0], "angle": [0.0, 0.1]})
    assert "there are no loops" in run("kinematics", "pendulum", "m.csv").out
    assert run("kinematics", "pendulum", "m.csv", "--json").json["margin"]["smallest"] is None


def test_all_is_the_default_and_orientation_can_be_chosen(
    run: Run, motion: str, tmp_path: Path
) -> None:
    columns = run("kinematics", "slider_crank", motion, "--json").json["columns"]
    assert columns == run("kinematics", "slider_crank", motion, "--all", "--json").json["columns"]
    assert {"main.angle", "crank.qw", "rod.omega_y", "rod.alpha_y", "slider.ax"} <= set(columns)
    run("kinematics", "slider_crank", motion, "-b", "crank", "--rpy", "fixed", "-o", "o.csv")
    out = read(tmp_path / "o.csv")
    assert "crank.qw" not in out
    assert np.ptp(out["crank.pitch"]) > 0.5 or np.ptp(out["crank.roll"]) > 0.5


def test_limits_are_mentioned(run: Run, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 50)
    write_table(tmp_path / "m.csv", {"time": t, "q1": 0.7 * t, "q2": 0 * t})
    assert (
        "note: A1.angle leaves its limits by 0.1 rad (at t = 1 s)"
        in run("kinematics", "five_bar", "m.csv").out
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-p", "slidr.B"), "no body slidr; did you mean slider?"),
        (("-p", "slider.Q"), "slider has no point Q; choose one of: B"),
        (("-j", "gide"), "no joint gide; did you mean guide?"),
        (("-b", "cranck"), "no moving body cranck; did you mean crank?"),
        (("-o", "out.xlsx"), "out.xlsx: unknown file type .xlsx"),
        (("-o", "nowhere/out.csv"), "nowhere/out.csv: cannot write"),
    ],
)
def test_wrong_names(arguments: tuple[str, ...], words: str, run: Run, motion: str) -> None:
    done = run("kinematics", "slider_crank", motion, *arguments)
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_motions_that_cannot_be_done_name_file_and_time(run: Run, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 101)
    write_table(tmp_path / "m.csv", {"time": t, "q1": 1.0 + 2 * t})
    done = run("kinematics", "bricard", "m.csv")
    assert done.status == 2
    # The angle turns back at about 121 degrees.
    sample = int(done.err.split("sample ")[1].split()[0].rstrip(":"))
    assert done.err.startswith("error: m.csv: sample")
    assert np.radians(119) < 1.0 + 2 * t[sample] < np.radians(123)
    assert f"t = {t[sample]:g} s" in done.err
