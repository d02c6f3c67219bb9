"""`mechid check`: published counts, what is said beside them, and models that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mechid.modelfile import zoo_path

if TYPE_CHECKING:
    from .conftest import Run

# Bodies, Grübler's count, degrees of freedom and redundant constraints as published.
COUNTS = {
    "sla_suspension": (15, 5, 5, 0),
    "pushrod_suspension": (22, 4, 4, 0),
    "four_bar": (3, -2, 1, 3),
    "planar_3rrr": (7, -3, 3, 6),
    "quarter_vehicle": (6, -1, 2, 3),
    "bricard": (5, 0, 1, 1),
}


@pytest.mark.parametrize("name", COUNTS)
def test_published_counts(name: str, run: Run) -> None:
    found = run("check", name, "--json").json
    counts = tuple(found[key] for key in ("bodies", "grubler", "dof", "redundant_constraints"))
    assert counts == COUNTS[name]
    assert found["name"] == name
    assert len(found["redundant"]) == found["redundant_constraints"]
    assert len(found["coordinates"]) == found["dof"] - found["passive_dof"]
    assert found["closure_residual"] < 1e-14 * found["size"]
    assert found["rank_gap"] > 1e6
    assert found["warnings"] == []


def test_joints_are_counted_by_letter(run: Run) -> None:
    found = run("check", "sla_suspension", "--json").json
    assert found["joints"] == {"R": 6, "P": 3, "U": 4, "S": 8}
    freedoms = {"R": 5, "P": 5, "U": 4, "S": 3}
    constraints = sum(n * freedoms[letter] for letter, n in found["joints"].items())
    assert found["grubler"] == 6 * found["bodies"] - constraints
    assert found["coordinates"][2] == {
        "name": "rack",
        "unit": "m",
        "force": "F_rack",
        "assembled": 0.0,
    }
    # Two corners of 3.5 + 1.8 + 6.5 + 0.9 + 2.2 + 3.4 + 20 kg, and the rack.
    assert found["mass"] == pytest.approx(2 * 38.3 + 3.0)


def test_passive_motions_are_told(run: Run) -> None:
    found = run("check", "delta", "--json").json
    assert (found["dof"], found["passive_dof"], len(found["passive"])) == (9, 6, 6)
    assert "rod_a_1 spins about the line" in run("check", "delta").out


def test_the_table_says_the_same(run: Run) -> None:
    lines = run("check", "four_bar").out.splitlines()
    assert lines[0] == "four_bar: Four-bar linkage, 1 degree of freedom"
    words = [" ".join(line.split()) for line in lines]
    for line in (
        "moving bodies 3",
        "joints 4 (4 R)",
        "Grübler count -2",
        "degrees of freedom 1",
        "redundant constraints 3",
        "joint q4: translation along z",
        "cut joints 1 (q4)",
        "mass 4.5 kg",
        "q1 rad 0.785 M_1",
    ):
        assert line in words


def changed(path: Path, name: str, *replacements: tuple[str, str]) -> str:
    """Write a model of the zoo with some text replaced; return its path."""
    text = zoo_path(name).read_text(encoding="utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return path.name


def test_too_many_coordinates(run: Run, tmp_path: Path) -> None:
    name = changed(
        tmp_path / "m.yaml",
        "four_bar",
        ("q1: {joint: q1, force: M_1}", "q1: {joint: q1, force: M_1}\n  q3: {joint: q3}"),
    )
    done = run("check", name, "--json")
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("error: m.yaml: coordinates")
    assert "q3" in done.err


def test_too_few_coordinates(run: Run, tmp_path: Path) -> None:
    name = changed(tmp_path / "m.yaml", "five_bar", ("  q2: {joint: A2, force: M2}\n", ""))
    done = run("check", name)
    assert done.status == 2
    assert "m.yaml: coordinates: " in done.err
    assert "2 degrees of freedom" in done.err


def test_loops_that_cannot_be_closed(run: Run, tmp_path: Path) -> None:
    name = changed(tmp_path / "m.yaml", "four_bar", ("l2: {value: 3,", "l2: {value: 9,"))
    done = run("check", name)
    assert done.status == 2
    assert done.err.startswith("error: m.yaml: ")
    assert "cannot be closed" in done.err


def test_warnings(run: Run, tmp_path: Path) -> None:
    changed(
        tmp_path / "m.yaml",
        "five_bar",
        ("at: A1, axis: y, limits: [-0.6, 0.6]", "at: A1, axis: y, limits: [0.1, 0.6]"),
    )
    assert run("check", "m.yaml", "--json").json["warnings"] == [
        "A1.angle leaves its limits by 0.1 rad at the start"
    ]
    assert "warning: A1.angle leaves its limits" in run("check", "m.yaml").out
    (tmp_path / "bare.yaml").write_text(
        "mechid: 1\nname: bare\nbodies: {bob: {}}\n"
        "joints: {hinge: {type: R, between: [ground, bob], at: [0, 0, 0], axis: y}}\n"
        "coordinates: {angle: {joint: hinge}}\n"
        "start: {positions: {angle: 1.0}}\n"
    )
    assert run("check", "bare.yaml", "--json").json["warnings"] == ["no inertia is given for bob"]


def test_a_start_out_of_reach_is_a_warning(run: Run, tmp_path: Path) -> None:
    changed(
        tmp_path / "m.yaml", "bricard", ("bodies:\n", "start: {positions: {q1: 3.0}}\nbodies:\n")
    )
    (warning,) = run("check", "m.yaml", "--json").json["warnings"]
    assert warning.startswith("the start of the model cannot be reached: ")


NONPHYSICAL = """mechid: 1
name: m
points: {A: [0, 0, 0], B: {in: b, at: [465, 0, 0]}}
bodies:
  b: {mass: 2000, inertia: {xx: 1, yy: 1, zz: 3, allow_nonphysical: true}}
joints: {j: {type: R, between: [ground, b], at: A, axis: y}}
coordinates: {q: {joint: j}}
"""


def test_numbers_that_are_hardly_meant(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(NONPHYSICAL)
    found = run("check", "m.yaml")
    assert found.status == 0
    assert "warning: the mechanism is 465 m in size: are the lengths in mm?" in found.out
    assert (
        "warning: the inertia of b is not physically consistent (allow_nonphysical): " in found.out
    )


ROUNDED = """
mechid: 1
name: planar
points: {O: [0, 0, 0], A: [0.5, 0.8, 0], B: [3, 1.6, 0], C: [3, 0, 0]}
bodies: {crank: {}, coupler: {}, rocker: {}}
coordinates: {q: {joint: a}}
joints:
  a: {type: revolute, between: [ground, crank], at: O, axis: z}
  b: {type: revolute, between: [crank, coupler], at: A, axis: [1e-7, 0, 1]}
  c: {type: revolute, between: [coupler, rocker], at: B, axis: z}
  d: {type: revolute, between: [rocker, ground], at: C, axis: z}
"""


def test_align(run: Run) -> None:
    """Rounded axes are refused with a way out, which is taken."""
    Path("cad.yaml").write_text(ROUNDED)
    refused = run("check", "cad.yaml")
    assert refused.status == 2
    assert "joints.b: the axes of the planar loop" in refused.err
    assert "--align and --output go together" in run("check", "cad.yaml", "--align").err
    done = run("check", "cad.yaml", "--align", "-o", "straight.yaml")
    assert done.status == 0, done.err
    assert "the axis of b was off by 1e-07 rad, now parallel\nwrote straight.yaml" in done.out
    assert run("check", "straight.yaml", "--json").json["dof"] == 1
