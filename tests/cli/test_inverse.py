"""`mechid inverse`, as a user sees it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechid.tables import read_columns


@pytest.fixture
def motion(run) -> str:
    """A simulated motion of the quarter vehicle under known forces, as a table."""
    done = run("simulate", "quarter_vehicle", "--t-end", "0.3", "--rate", "50", "-o", "motion.csv",
               "--apply", "F_z=400", "--apply", "M_spin=-3")  # fmt: skip
    assert done.status == 0
    return "motion.csv"


def test_forces_of_a_simulation_come_back(run, motion):
    found = run("inverse", "quarter_vehicle", motion, "-o", "forces.csv", "--json").json
    assert found["samples"] == 16
    force, moment = found["forces"]["F_z"], found["forces"]["M_spin"]
    assert (force["unit"], moment["unit"]) == ("N", "N m")
    assert force["max_abs"] == pytest.approx(400, abs=1e-5)
    assert force["rms"] == pytest.approx(400, abs=1e-5)
    assert moment["max_abs"] == pytest.approx(3, abs=1e-5)
    columns = read_columns("forces.csv")
    assert list(columns) == ["time", "F_z", "M_spin"]
    np.testing.assert_allclose(columns["M_spin"].to_numpy(), -3.0, atol=1e-5)


def test_as_text_with_plot(run, motion):
    done = run("inverse", "quarter_vehicle", motion, "--plot", "forces.png")
    assert done.status == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert ["F_z", "N", "z", "400", "400"] in lines
    assert ["M_spin", "N", "m", "spin", "3", "3"] in lines
    assert done.out.endswith("wrote forces.png\n")
    assert Path("forces.png").stat().st_size > 1000


def test_reactions_leave_open_what_is_open(run, motion):
    found = run("inverse", "quarter_vehicle", motion, "--reactions", "-o", "r.parquet", "--json")
    reactions = found.json["reactions"]
    assert set(reactions) == {"A", "B", "C", "D", "hub", "H", "rim"}
    assert reactions["hub"]["undetermined"] == []
    assert "fx" in reactions["A"]["undetermined"]
    columns = read_columns("r.parquet")
    assert "A.fx" not in columns
    assert {"A.fy", "A.fz", "hub.fx", "hub.mz"} <= set(columns)
    # The rim carries the tyre, which only falls and spins: the tyre's own mass times (a - g).
    assert reactions["rim"]["force_max"] > 0
    shown = run("inverse", "quarter_vehicle", motion, "--reactions").out
    assert "largest force, N" in shown


def test_second_formulation(run, motion):
    fast = run("inverse", "quarter_vehicle", motion, "--reactions", "--json").json
    for arguments in ([], ["--elimination", "svd"], ["--elimination", "gauss"]):
        found = run("inverse", "quarter_vehicle", motion, "--reactions", "--json",
                    "--formulation", "reference-point", *arguments).json  # fmt: skip
        for name, force in fast["forces"].items():
            assert found["forces"][name]["max_abs"] == pytest.approx(force["max_abs"], rel=1e-9)
        for name, r in fast["reactions"].items():
            assert found["reactions"][name]["force_max"] == pytest.approx(r["force_max"], rel=1e-9)
            assert found["reactions"][name]["undetermined"] == r["undetermined"]


def test_wrong_input(run, motion):
    for arguments, line in (
        (["quarter_vehicle", "none.csv"], "none.csv: there is no such file"),
        (["quarter_vehicle", motion, "-o", "out.txt"], "use a .csv or a .parquet file"),
        (["quarter_vehicle", motion, "--plot", "out.txt"], "use a .png, .svg or .html file"),
        (["four_bar", motion], "missing column q1"),
        (["quarter_vehicle", motion, "--elimination", "qr"], "tree has no elimination to choose"),
    ):
        done = run("inverse", *arguments)
        assert done.status == 2
        assert done.err.count("\n") == 1
        assert line in done.err


def test_a_body_without_inertia_is_named(run, motion):
    text = run("zoo", "quarter_vehicle").out
    start, end = text.index("  upper_arm:"), text.index("  upright:")
    body = "  upper_arm:\n    frame: {origin: [-0.011, 0.41, 0.091]}\n"
    Path("bare.yaml").write_text(text[:start] + body + text[end:])
    done = run("inverse", "bare.yaml", motion)
    assert done.status == 2
    assert "no value for m_2, mx_2, my_2, mz_2, … (upper_arm)" in done.err


def test_help(run):
    assert "Example: mechid inverse four_bar motion.csv -o forces.csv" in run("inverse", "-h").out
