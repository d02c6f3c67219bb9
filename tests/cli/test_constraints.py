"""Couplings and distance constraints on the command line."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.tables import read_columns

GEARS = """
mechid: 1
name: gears
bodies:
  one: {mass: 1, center: [0, 0, 0], inertia: {xx: 0.02, yy: 0.02, zz: 0.02}}
  two: {frame: {origin: [1, 0, 0]}, mass: 1, center: [0, 0, 0],
    inertia: {xx: 0.05, yy: 0.05, zz: 0.05}}
joints:
  q1: {type: revolute, between: [ground, one], at: [0, 0, 0], axis: z}
  q2: {type: revolute, between: [ground, two], at: [1, 0, 0], axis: z}
constraints:
  mesh: {type: coupling, between: [q2, q1], ratio: -2}
coordinates:
  q1: {joint: q1}
"""


def test_check_lists_constraints(run):
    found = run("check", "geared_gripper", "--json").json
    assert found["constraints"] == ["segments", "inner_mesh", "outer_mesh"]
    assert (found["dof"], found["grubler"], found["redundant_constraints"]) == (1, -5, 6)
    text = run("check", "rssr_linkage").out
    assert "couplings, distances" in text


def test_simulate_and_back_with_multipliers(run, tmp_path, monkeypatch):
    """M = (J_1 + 4 J_2) q̈; the teeth transmit -2 J_2 q̈ to the second gear."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gears.yaml").write_text(GEARS, encoding="utf-8")
    done = run("simulate", "gears.yaml", "--t-end", "1", "--rate", "10", "-o", "motion.csv",
               "--apply", "M_q1=0.44", "--reactions", "--json")  # fmt: skip
    assert done.status == 0
    mesh = done.json["constraints"]["mesh"]
    assert mesh["unit"] == "N m"
    assert (mesh["min"], mesh["max"]) == pytest.approx((-0.2, -0.2), abs=1e-9)
    assert run("inverse", "gears.yaml", "motion.csv", "--reactions", "-o", "f.csv").status == 0
    columns = read_columns("f.csv")
    np.testing.assert_allclose(columns["M_q1"].to_numpy(), 0.44, atol=1e-8)
    np.testing.assert_allclose(columns["mesh.multiplier"].to_numpy(), -0.2, atol=1e-8)
    np.testing.assert_allclose(columns["q1.mz"].to_numpy(), -0.4, atol=1e-8)


def test_a_wrong_constraint_is_one_message(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.yaml").write_text(GEARS.replace("[q2, q1]", "[q2, q3]"), encoding="utf-8")
    done = run("check", "wrong.yaml")
    assert done.status != 0
    assert "constraints.mesh.between" in done.err
    assert "there is no joint q3" in done.err
    assert "Traceback" not in done.err
