"""Files with limits: what they say, and mistakes with file, line and entry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mechid.errors import DataError
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.modelfile import load
from mechid.trajectoryfile.limits import read_limits

GOOD = """\
position: {z_r: [0.12, 0.22]}
speed: {z_r: 1.5}
acceleration: {z_r: 3e1}
joint: {slider_r: [0.39, 0.49], N_r.angle_1: [null, 0.5]}
distance:
  ground.N_r-strut_bottom_r.L_r: [0.39, null]
force: {F_z_r: 2000}
margin: 1e-2
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "limits.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_quantity(tmp_path: Path) -> None:
    found = read_limits(written(tmp_path, GOOD))
    assert found == (
        MotionLimit("position", "z_r", 0.12, 0.22),
        MotionLimit("speed", "z_r", -1.5, 1.5),
        MotionLimit("acceleration", "z_r", -30.0, 30.0),
        MotionLimit("joint", "slider_r", 0.39, 0.49),
        MotionLimit("joint", "N_r.angle_1", None, 0.5),
        MotionLimit("distance", "ground.N_r-strut_bottom_r.L_r", 0.39, None),
        MotionLimit("force", "F_z_r", -2000.0, 2000.0),
        MotionLimit("margin", "", 0.01, None),
    )
    check_limits(found, load("sla_suspension"))


def test_names_that_yaml_1_1_takes_for_something_else(tmp_path: Path) -> None:
    found = read_limits(written(tmp_path, "position: {y: 1, on: 2, N: 3, 1: 4}\n"))
    assert [limit.name for limit in found] == ["y", "on", "N", "1"]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "", "the file is empty"),
        ("[1, 2]", ":1", "a file of limits is a mapping"),
        ("position: {q1: [1, 2}", ":1", "not valid YAML"),
        ("speeds: {q1: 1}", ":1: speeds", "there is no quantity speeds; choose one of: position"),
        ("margin: 0.1\nposition: 3", ":2: position", "expected names with bounds"),
        ("position:\n  q1: [1]", ":2: position.q1", "expected [lower, upper]"),
        ("position:\n  q1: [1, 2, 3]", ":2: position.q1", "expected [lower, upper]"),
        ("position:\n  q1: [1, a]", ":2: position.q1", 'expected a number, got "a"'),
        (
            "position:\n  q1: [2, 1]",
            ":2: position.q1",
            "the lower bound must be below the upper bound, got 2",
        ),
        ("position:\n  q1: [null, null]", ":2: position.q1", "at least one bound must be given"),
        ("position:\n  q1: [0, .inf]", ":2: position.q1", "expected a number, got inf"),
        ("position:\n  q1: .nan", ":2: position.q1", "expected a number, got nan"),
        ("position:\n  q1: true", ":2: position.q1", "expected a number, got true"),
        ("position:\n  q1:", ":2: position.q1", "expected a number, got nothing"),
        ("force: {M1: -3}", ":1: force.M1", "a single number bounds both sides"),
        ("force: {M1: 0}", ":1: force.M1", "a single number bounds both sides"),
        ("margin: much", ":1: margin", 'expected a number, got "much"'),
        ("margin: -1", ":1: margin", "a margin must be > 0"),
        ("margin: 1\nmargin: 2", ":2: margin", "margin is defined twice"),
    ],
)
def test_wrong_entries(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=re.escape(f"{path}{place}: {message}")) as caught:
        read_limits(path)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(DataError, match=re.escape(f"{path}: cannot read the file")):
            read_limits(path)
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"position: {\xe4: 1}")
    with pytest.raises(DataError, match="not UTF-8"):
        read_limits(path)
