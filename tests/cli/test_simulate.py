"""`mechid simulate`, as a user sees it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from mechid.dynamics.integrate import METHODS
from mechid.dynamics.simulate import FORMULATIONS
from mechid.tables import read_columns

from ..dynamics.methods import methods

# q1 at 1, 2, 3 and 4 s by two engines that share nothing with this one
EXAMPLE_1 = [0.884094348, 1.162501991, 1.590886006, 2.167943075]


def column(path: str, name: str) -> np.ndarray:
    return np.asarray(read_columns(path)[name].to_numpy())


def test_example_1_as_json(run):
    found = run("simulate", "four_bar@example-1", "--t-end", "4", "--at", "1,2,3,4", "--json").json
    assert found["times"] == [1, 2, 3, 4]
    assert set(found["coordinates"]) == {"q1", "q2", "q3", "q4"}
    np.testing.assert_allclose(found["coordinates"]["q1"], EXAMPLE_1, atol=5e-9)
    # the loop: bar 1 + bar 2 = ground + bar 3
    q1, q2, q3, q4 = (np.array(found["coordinates"][f"q{k}"]) for k in (1, 2, 3, 4))
    np.testing.assert_allclose(np.cos(q1) + 3 * np.cos(q1 + q2), 3 + 1.75 * np.cos(q3), atol=1e-9)
    np.testing.assert_allclose(q1 + q2 + q4, q3, atol=1e-9)
    assert found["complete"] is True
    assert found["constraint_error"] < 1e-13
    assert found["energy_error"] < 1e-7 * found["energy_range"]
    assert found["evaluations"] > 0
    assert found["seconds"] > 0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation(run, formulation):
    found = run("simulate", "four_bar@example-1", "--at", "1", "--formulation", formulation,
                "--rate", "5", "--json").json  # fmt: skip
    assert found["formulation"] == formulation
    assert found["coordinates"]["q1"][0] == pytest.approx(EXAMPLE_1[0], abs=5e-9)


@pytest.mark.parametrize("integrator", methods(*METHODS))
def test_every_integrator(run, integrator):
    found = run("simulate", "four_bar@example-1", "--at", "1", "--integrator", integrator,
                "--rtol", "1e-8", "--atol", "1e-10", "--json").json  # fmt: skip
    assert found["coordinates"]["q1"][0] == pytest.approx(EXAMPLE_1[0], abs=1e-5)


def test_help_lists_what_there_is(run):
    shown = " ".join(run("simulate", "--help").out.replace("│", " ").split())
    for word in (*FORMULATIONS, *METHODS):
        assert word in shown
    assert "Example: mechid simulate four_bar@example-1 --t-end 4 --at 1,2,3,4" in shown


def test_baumgarte(run):
    done = run("simulate", "four_bar@example-1", "--at", "1", "--formulation", "gibbs-appell",
               "--stabilise", "baumgarte", "--alpha", "10", "--beta", "10")  # fmt: skip
    assert "gibbs-appell, stabilisation baumgarte" in done.out


def test_files(run):
    done = run("simulate", "quarter_vehicle", "--t-end", "0.3", "--rate", "50", "-o", "out.csv",
               "--plot", "out.svg", "--view", "out.html")  # fmt: skip
    assert done.status == 0
    assert [line for line in done.out.splitlines() if line.startswith("wrote")] == [
        "wrote out.csv", "wrote out.svg", "wrote out.html"]  # fmt: skip
    np.testing.assert_allclose(column("out.csv", "time"), np.arange(16) / 50)
    assert {"z", "z.d", "z.dd", "A", "hub", "F_z", "energy.error", "constraint.error"} <= set(
        read_columns("out.csv")
    )
    assert "<svg" in Path("out.svg").read_text()
    assert Path("out.html").stat().st_size > 1e5


def test_reactions(run):
    """A quarter vehicle at rest on its spring: the reactions of the table are those of inverse."""
    done = run("simulate", "quarter_vehicle", "--t-end", "0.1", "--rate", "50", "-o", "out.csv",
               "--reactions", "--json")  # fmt: skip
    assert "A" in done.json["reactions"]
    run("inverse", "quarter_vehicle", "out.csv", "--reactions", "-o", "again.csv")
    names = [name for name in read_columns("again.csv") if name.startswith(("A.", "hub."))]
    assert {"A.fy", "A.fz", "hub.mz"} <= set(names)
    for name in names:
        np.testing.assert_allclose(column("out.csv", name), column("again.csv", name), atol=1e-6)
    shown = run("simulate", "quarter_vehicle", "--t-end", "0.1", "--reactions").out
    assert "largest force, N" in shown


def test_start_speed_and_force(run):
    found = run("simulate", "pendulum", "--at", "0,0.001", "--start", "angle=45 deg", "--speed",
                "angle=2", "--apply", "M_hinge=1/2", "--json").json  # fmt: skip
    assert found["coordinates"]["angle"][0] == pytest.approx(np.pi / 4)
    assert found["coordinates"]["hinge"] == found["coordinates"]["angle"]
    assert found["speeds"]["angle"][0] == 2.0
    assert found["forces"]["M_hinge"] == [0.5, 0.5]


def test_forces_of_inverse_dynamics_give_the_motion_back(run):
    """Example III: a moment that turns bar 1 at 1 rad/s, fed back open loop."""
    t = np.linspace(0.0, 3.0, 1501)
    lines = [f"{x!r},{0.785 + x!r},1,0" for x in t.tolist()]
    Path("motion.csv").write_text("time,q1,q1.d,q1.dd\n" + "\n".join(lines) + "\n")
    assert run("inverse", "four_bar@example-3", "motion.csv", "-o", "forces.parquet").status == 0
    found = run("simulate", "four_bar@example-3", "--forces", "forces.parquet", "--interpolation",
                "cubic", "--at", "1,2,3", "--json").json  # fmt: skip
    np.testing.assert_allclose(found["coordinates"]["q1"], [1.785, 2.785, 3.785], atol=1e-8)


def test_a_table_may_lack_forces(run):
    Path("f.csv").write_text("time,F_z\n0,0\n0.1,100\n")
    done = run("simulate", "quarter_vehicle", "--forces", "f.csv", "--json")
    assert done.json["end"] == 0.1  # the end of the table
    assert done.json["notes"] == ["no column for M_spin: set to zero"]
    assert done.json["forces"]["F_z"][-1] == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["quarter_vehicle"], "the simulation has no end; add --t-end SECONDS"),
        (["quarter_vehicle", "--t-end", "-1"], "--t-end must be > 0, got -1"),
        (["quarter_vehicle", "--t-end", "1", "--rate", "0"], "--rate must be > 0, got 0"),
        (["quarter_vehicle", "--t-end", "1", "--at", "2"], "--at must be between 0 and"),
        (["quarter_vehicle", "--at", "1,x"], '--at 1,x: "x" is not a number'),
        (["quarter_vehicle", "--at", "1", "--apply", "F_y=1"], "did you mean F_z?"),
        (["quarter_vehicle", "--at", "1", "--apply", "F_z"], "expected NAME=VALUE"),
        (["quarter_vehicle", "--at", "1", "--start", "z=1", "--start", "z=2"], "z is given twice"),
        (["quarter_vehicle", "--at", "1", "--speed", "z=3 mm"], 'unit "mm"'),
        (["quarter_vehicle", "--at", "1", "--formulation", "newton"], "choose one of independent"),
        (["quarter_vehicle", "--at", "1", "--integrator", "Euler"], "choose one of RK23"),
        (["quarter_vehicle", "--at", "1", "-o", "out.txt"], "use a .csv or a .parquet file"),
        (["quarter_vehicle", "--at", "1", "--plot", "out.gif"], "use a .png, .svg or .html file"),
        (["quarter_vehicle", "--at", "1", "-o", "no/out.csv"], "no/out.csv: cannot write the file"),
        (["quarter_vehicle", "--at", "1", "--forces", "no.csv"], "no.csv: there is no such file"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(run, arguments, line):
    done = run("simulate", *arguments)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("error:")
    assert done.err.count("\n") == 1
    assert line in done.err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("time,F_z\n0,0\n0.5,1\n", "f.csv: there is no force for t = 1 s"),
        ("time,F_z\n0.2,0\n2,1\n", "f.csv: there is no force for t = 0 s"),
        ("time,F_z\n0,0\n0,1\n", "f.csv: sample 1: time does not increase"),
        ("time,F_z\n0,0\n1,\n", "f.csv: row 2, column F_z: the value is missing"),
        ("time,z\n0,0\n1,1\n", "name the columns F_z, M_spin"),
        ("t,F_z\n0,0\n1,1\n", "missing column time"),
    ],
)
def test_wrong_tables_of_forces(run, text, line):
    Path("f.csv").write_text(text)
    done = run("simulate", "quarter_vehicle", "--t-end", "1", "--forces", "f.csv")
    assert done.status == 2
    assert line in done.err


def test_a_force_is_given_once(run):
    Path("f.csv").write_text("time,F_z\n0,1\n1,1\n")
    done = run("simulate", "quarter_vehicle", "--forces", "f.csv", "--apply", "F_z=1")
    assert done.status == 2
    assert "column of the table too" in done.err


def test_a_failure_keeps_what_was_computed(run):
    """A rack that is pushed on and on runs into the dead centre of the steering."""
    done = run("simulate", "sla_suspension", "--t-end", "2", "--apply", "F_rack=200",
               "-o", "part.csv")  # fmt: skip
    assert done.status == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert "the simulation stopped at t = " in done.err
    assert "the results until then are in part.csv" in done.err
    time_column, rack = column("part.csv", "time"), column("part.csv", "rack")
    assert 0.1 < time_column[-1] < 2.0
    assert np.all(np.isfinite(rack))


def test_ctrl_c_keeps_what_was_computed(run, monkeypatch):
    """SIGINT arrives while the integrator works: what was computed is written, status 130."""

    @contextmanager
    def pressed(what: str, total: float) -> Iterator[Callable[[float], None]]:
        yield lambda t: signal.raise_signal(signal.SIGINT) if t > 0.5 else None

    monkeypatch.setattr("mechid.cli.simulation.progress", pressed)
    before = signal.getsignal(signal.SIGINT)
    done = run("simulate", "four_bar", "--t-end", "10", "-o", "out.csv", "--json")
    assert done.status == 130
    assert "stopping; press Ctrl-C again to quit at once" in done.err
    assert "interrupted: results until t = " in done.err
    assert done.json["complete"] is False
    assert 0.4 < column("out.csv", "time")[-1] < 1.5
    assert signal.getsignal(signal.SIGINT) is before


def test_drive_by_expression_table_and_trajectory(run):
    """The force of a driven crank is that of inverse dynamics, however the motion is given."""
    t = np.linspace(0.0, 1.0, 101)
    y, yd, ydd = 0.785 + 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
    rows = np.column_stack([t, y, yd, ydd]).tolist()
    text = "".join(",".join(map(repr, row)) + "\n" for row in rows)
    Path("m.csv").write_text("time,q1,q1.d,q1.dd\n" + text)
    Path("m.yaml").write_text(
        "trajectory: 1\nduration: 1\ncoordinates: {q1: {expression: 0.785+0.3*sin(2*t)}}\n"
    )
    run("inverse", "four_bar", "m.csv", "-o", "tau.csv")
    right = column("tau.csv", "M_1")
    for given in (["q1=0.785+0.3*sin(2*t)", "--t-end", "1"], ["m.csv"], ["m.yaml"]):
        done = run("simulate", "four_bar", "--drive", *given, "-o", "out.csv", "--force",
                   "--json").json  # fmt: skip
        assert done["driven"] == ["q1"]
        assert done["driving_forces"] == ["M_1"]
        assert done["end"] == 1.0
        np.testing.assert_allclose(column("out.csv", "q1"), y, atol=1e-12)
        np.testing.assert_allclose(column("out.csv", "M_1"), right, atol=1e-7)
    shown = run("simulate", "four_bar", "--drive", "m.yaml").out
    assert "driving force" in shown


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--drive", "x=1"], "there is no x here"),
        (["--drive", "q1=2*"], "--drive q1=2*: "),
        (["--drive", "q1=1", "--drive", "q1=2"], "q1 is driven twice"),
        (["--drive", "no.csv"], "no.csv: there is no such file"),
        (["--drive", "q1=1", "--apply", "M_1=1"], "q1 is driven: its force is a result"),
        (["--drive", "short.csv", "--t-end", "2"], "there is no motion at t = "),
        (["--drive", "other.csv"], "no column is an independent coordinate"),
    ],
)
def test_wrong_drives_are_one_line(run, arguments, line):
    Path("short.csv").write_text("time,q1\n0,0.7\n0.5,0.8\n1,0.85\n")
    Path("other.csv").write_text("time,q9\n0,0.7\n0.5,0.8\n1,0.85\n")
    done = run("simulate", "four_bar", *([] if "--t-end" in arguments else ["--t-end", "1"]),
               *arguments)  # fmt: skip
    assert done.status == 2
    assert line in done.err
    assert done.err.count("\n") == 1
