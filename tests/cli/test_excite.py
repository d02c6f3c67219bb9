"""`mechid excite`, as a user sees it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from mechid.excitation.trajectory import sample
from mechid.tables import read_columns
from mechid.trajectoryfile import Expression, load_trajectory

QUICK = ("--harmonics", "2", "--random", "6", "--starts", "1", "--iterations", "3")
CRITERIA = ["condition", "condition-equilibrated", "a", "d", "e", "prediction"]


def test_a_designed_motion_is_judged_as_it_was_designed(run):
    designed = run("excite", "five_bar", *QUICK, "--seed", "3", "-o", "m.yaml", "--json").json
    assert list(designed) == [
        "model", "criterion", "value", "criteria", "best_random", "median_random",
        "random_motions", "evaluations", "gradients", "seconds", "complete", "slack",
        "tightest_limit", "peaks", "limits", "base_parameters", "coefficients", "notes", "output",
    ]  # fmt: skip
    assert designed["model"] == "five_bar"
    assert designed["criterion"] == "prediction"
    assert designed["value"] <= designed["best_random"] <= designed["median_random"]
    assert designed["random_motions"] == 6
    assert designed["complete"] is True
    assert designed["output"] == ["m.yaml"]
    assert designed["notes"] == []
    assert list(designed["criteria"]) == CRITERIA
    assert designed["value"] == pytest.approx(designed["criteria"]["prediction"], rel=1e-9)
    judged = run("excite", "five_bar", "--evaluate", "m.yaml", "--json").json
    assert judged["criteria"] == pytest.approx(designed["criteria"], rel=1e-9)
    written = load_trajectory("m.yaml")
    for name, values in designed["coefficients"].items():
        assert written[name].coefficients.tolist() == values


def test_as_text(run):
    done = run("excite", "five_bar", *QUICK, "-o", "m.yaml")
    assert done.status == 0
    rows = {line.split("  ")[0]: line for line in done.out.splitlines()}
    assert {"model", "criterion", "random motions", "tightest limit", *CRITERIA} <= set(rows)
    assert "6; best" in rows["random motions"]
    assert done.out.endswith("wrote m.yaml\n")
    assert done.err == ""
    judged = run("excite", "five_bar", "--evaluate", "m.yaml")
    assert judged.status == 0
    found = {line.split("  ")[0]: line for line in judged.out.splitlines()}
    assert {name: found[name] for name in CRITERIA} == {name: rows[name] for name in CRITERIA}


def test_what_is_written_can_be_used(run):
    first = run("excite", "five_bar", *QUICK, "-o", "m.yaml", "--json").json
    assert run("kinematics", "five_bar", "m.yaml", "-o", "out.csv").status == 0
    assert run("inverse", "five_bar", "m.yaml").status == 0
    again = run("excite", "five_bar", *QUICK, "--seed", "9", "--start", "m.yaml", "--json").json
    assert again["value"] <= first["value"] + 1e-9


def test_table_for_a_controller(run):
    done = run("excite", "five_bar", *QUICK, "-o", "m.yaml", "--table", "t.csv", "--rate", "200")
    assert done.out.endswith("wrote m.yaml\nwrote t.csv\n")
    columns = read_columns("t.csv")
    time = columns["time"].to_numpy()
    assert time == pytest.approx(np.arange(201) / 200)
    wanted = sample(load_trajectory("m.yaml"), rate=200.0)
    np.testing.assert_allclose(columns["q1"].to_numpy(), wanted.y[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(columns["q2.dd"].to_numpy(), wanted.ydd[:, 1], rtol=1e-9, atol=1e-9)
    assert run("excite", "five_bar", *QUICK, "--table", "u.parquet").status == 0
    assert len(read_columns("u.parquet")["time"]) > 40


def test_criteria_and_limits(run):
    Path("limits.yaml").write_text("joint: {A1: 0.2, C: [-0.3, null]}\nforce: {M1: 2e0}\n")
    found = run("excite", "five_bar", *QUICK, "--criterion", "condition-equilibrated", "--limits",
                "limits.yaml", "--json").json  # fmt: skip
    assert found["criterion"] == "condition-equilibrated"
    assert found["value"] == pytest.approx(found["criteria"]["condition-equilibrated"], rel=1e-9)
    assert found["limits"] == [
        "-0.2 ≤ joint of A1 ≤ 0.2", "-0.3 ≤ joint of C", "-2 ≤ force of M1 ≤ 2"
    ]  # fmt: skip
    assert found["slack"] >= -1e-9


def test_limits_of_a_given_motion(run):
    Path("m.yaml").write_text(
        "trajectory: 1\nduration: 1.0\ncoordinates:\n"
        "  q1: {sine: {amplitude: 0.3, frequency: 1}}\n  q2: {constant: 0}\n"
    )
    Path("limits.yaml").write_text("position: {q1: 0.25, q2: 1}\n")
    arguments = ("excite", "five_bar", "--evaluate", "m.yaml", "--limits", "limits.yaml")
    found = run(*arguments, "--json").json
    assert found["slack"] == pytest.approx(-0.1)
    assert found["tightest_limit"] == "-0.25 ≤ position of q1 ≤ 0.25"
    assert "(violated by 0.1)" in run(*arguments).out


def test_without_limits(run):
    Path("none.yaml").write_text("{}\n")
    done = run("excite", "five_bar", *QUICK, "--limits", "none.yaml")
    assert done.status == 0
    assert "tightest limit" in done.out


def test_given_motion(run):
    done = run("excite", "five_bar", *QUICK, "--fix", "q1 = 0.1*sin(2*pi*t)", "-o", "m.yaml")
    assert done.status == 0
    assert load_trajectory("m.yaml")["q1"] == Expression("0.1*sin(2*pi*t)")
    again = run("excite", "five_bar", *QUICK, "--fix", "q1=0.1*sin(2*pi*t)", "--start", "m.yaml")
    assert again.status == 0


def test_rest_and_splines(run):
    for family in ("fourier", "bspline"):
        done = run("excite", "five_bar", "--harmonics", "3", "--random", "4", "--starts", "0",
                   "--rest", "--family", family, "-o", "m.yaml", "--force")  # fmt: skip
        assert done.status == 0
        ends = sample(load_trajectory("m.yaml"), times=np.array([0.0, 1.0]))
        assert np.abs(ends.yd).max() < 1e-12
        assert np.abs(ends.ydd).max() < 1e-10


def test_a_model_without_uncertainties(run):
    """As in an identification, 20 % are assumed, and that is said."""
    done = run("excite", "planar_3rrr", *QUICK, "-o", "m.yaml")
    assert done.status == 0
    assert "20 % were assumed" in done.out
    told, assumed, without = (
        run("excite", "planar_3rrr", "--evaluate", "m.yaml", "--json", *more).json
        for more in (["--cad-error", "20%"], [], ["--no-prior"])
    )
    assert list(told["criteria"]) == CRITERIA
    assert told["criteria"] == assumed["criteria"]
    assert (len(told["notes"]), len(assumed["notes"]), len(without["notes"])) == (0, 1, 0)
    assert told["criteria"]["a"] < without["criteria"]["a"]


def test_time_limit_keeps_the_best(run):
    done = run("excite", "five_bar", "--harmonics", "2", "--random", "1000000", "--max-seconds",
               "0.5", "-o", "m.yaml")  # fmt: skip
    assert done.status == 0
    assert "note: stopped before the end; this is the best so far" in done.out
    assert run("kinematics", "five_bar", "m.yaml").status == 0


def test_interrupt_keeps_the_best(run, monkeypatch):
    from mechid.excitation import optimise

    value, calls = optimise._value, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return value(*arguments)

    monkeypatch.setattr(optimise, "_value", interrupted)
    done = run("excite", "five_bar", *QUICK, "-o", "m.yaml", "--json")
    assert done.status == 0
    assert done.err.strip() == "stopping; press Ctrl-C again to quit at once"
    assert done.json["complete"] is False
    assert done.json["random_motions"] == 3
    assert done.json["notes"] == ["stopped before the end; this is the best so far"]
    assert run("kinematics", "five_bar", "m.yaml").status == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nothing"], "nothing"),
        (["five_bar", "--criterion", "best"], "unknown criterion 'best'; choose one of: d, "),
        (["five_bar", "--frequency", "0"], "frequency must be > 0, got 0"),
        (["five_bar", "--frequency", "-1"], "frequency must be > 0, got -1"),
        (["five_bar", "--noise", "0"], "noise must be > 0, got 0"),
        (["five_bar", "--seed", "-1"], "seed must be ≥ 0, got -1"),
        (["five_bar", "--device", "gpu"], "there is no device 'gpu'; choose one of: cpu, cuda"),
        (["five_bar", "--device", "cuda:99"], "device cuda:99"),
        (["five_bar", "--max-seconds", "0"], "--max-seconds must be > 0, got 0"),
        (["five_bar", "--family", "bspline", "--harmonics", "2"], "needs 6 values"),
        (["five_bar", "--rest", "--harmonics", "1"], "q1 cannot move"),
        (["five_bar", "--fix", "q1"], "--fix q1: expected NAME=VALUE"),
        (["five_bar", "--fix", "q1=sin("], 'cannot read "sin("'),
        (["five_bar", "--fix", "q1=a*t"], "there is no parameter a"),
        (["five_bar", "--fix", "q9=0"], "there is no coordinate q9"),
        (["five_bar", "--fix", "q1=0", "--fix", "q1=t"], "q1 is given twice"),
        (["five_bar", "--fix", "q1=0", "--fix", "q2=0"], "nothing is left to design"),
        (["five_bar", "--fix", "q1=sqrt(t-1)"], 'no finite'),
        (["five_bar", "--fix", "q1=2*t"], "keeps the limit -0.6 ≤ joint of A1 ≤ 0.6"),
        (["five_bar", "--limits", "none.yaml"], "none.yaml: cannot read the file"),
        (["five_bar", "--limits", "names.yaml"], "names.yaml: -1 ≤ speed of q7 ≤ 1: there is no"),
        (["five_bar", "--limits", "entry.yaml"], "entry.yaml:2: joint.A1: expected a number"),
        (["five_bar", "--limits", "weight.yaml"], "-0.01 ≤ force of M1 ≤ 0.01"),
        (["five_bar", "--start", "none.yaml"], "none.yaml: there is no such file"),
        (["five_bar", "--start", "other.yaml"], "other.yaml: the trajectory does not define q1"),
        (["five_bar", "--start", "kind.yaml"], "kind.yaml: q1 belongs to another family"),
        (["five_bar", "--evaluate", "none.yaml"], "none.yaml: there is no such file"),
        (["five_bar", "--evaluate", "other.yaml"], "other.yaml: the trajectory does not"),
        (["five_bar", "--evaluate", "kind.yaml", "--start", "kind.yaml"], "omit --start"),
        (["five_bar", "--evaluate", "kind.yaml", "--limits", "names.yaml"], "names.yaml: -1 ≤"),
        (["five_bar@distances", "--evaluate", "far.yaml"], "far.yaml: sample 0 (t = 0 s): no pose"),
        (["five_bar", "--evaluate", "kind.yaml", "-o", "m.yaml"], "is not written"),
        (["five_bar", "-o", "m.txt"], "m.txt: unknown file type .txt"),
        (["five_bar", "-o", "no/m.yaml"], "no/m.yaml: cannot write the file"),
        (["five_bar", "--table", "m.xls"], "use .csv or .parquet"),
        (["five_bar", "--rate", "100"], "add --table FILE"),
        (["five_bar", "--rate", "0", "--table", "m.csv"], "--rate must be > 0, got 0"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(run, arguments, line):
    Path("names.yaml").write_text("speed: {q7: 1}\n")
    Path("entry.yaml").write_text("margin: 0.1\njoint: {A1: [a, 1]}\n")
    Path("weight.yaml").write_text("force: {M1: 0.01}\n")
    head = "trajectory: 1\nduration: 1.0\ncoordinates:\n"
    Path("other.yaml").write_text(head + "  angle: {constant: 0}\n")
    Path("kind.yaml").write_text(head + "  q1: {constant: 0.1}\n  q2: {constant: 0}\n")
    Path("far.yaml").write_text(head + "  s1: {constant: 9}\n  s2: {constant: 0.3}\n")
    given = QUICK if "--harmonics" not in arguments else QUICK[2:]
    done = run("excite", *arguments, *given)
    assert done.status == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert line in done.err
    assert not Path("m.yaml").exists()


@pytest.mark.parametrize(
    "arguments",
    [["--harmonics", "0"], ["--samples", "2"], ["--random", "0"], ["--starts", "-1"],
     ["--family", "polynomial"], ["--harmonics", "many"], ["--unknown"]],
)  # fmt: skip
def test_wrong_options(run, arguments):
    done = run("excite", "five_bar", *arguments)
    assert done.status == 2
    assert "Traceback" not in done.err
    assert arguments[0] in done.err


def test_help(run):
    done = run("excite", "-h")
    assert done.status == 0
    assert "Example: mechid excite five_bar" in done.out


def test_samples_of_a_given_motion(run):
    run("excite", "five_bar", *QUICK, "-o", "m.yaml")
    arguments = ("excite", "five_bar", "--evaluate", "m.yaml", "--criterion", "a")
    found = run(*arguments, "--sampling", "--json").json
    assert found["criterion"] == "a"
    rows = found["sampling"]
    assert [row["samples"] for row in rows] == [6, 12, 24, 48, 96, 48, 96]
    assert rows[2]["value"] == pytest.approx(found["criteria"]["a"], rel=1e-9)
    text = run(*arguments, "--sampling").out.splitlines()
    head = next(k for k, line in enumerate(text) if line.startswith("samples"))
    assert text[head].split("  ")[-1].strip() == "per sample"
    assert len(text) == head + 1 + len(rows)
    done = run("excite", "five_bar", *QUICK, "--sampling")
    assert done.status == 2
    assert "add --evaluate FILE" in done.err


def test_wanted_parameters(run):
    base = list(run("base", "five_bar", "--json").json["expressions"])
    wanted = ",".join(base[:2])
    found = run("excite", "five_bar", *QUICK, "--parameters", wanted, "-o", "m.yaml", "--json").json
    assert found["criterion"] == "d"
    assert found["value"] == pytest.approx(found["criteria"]["d"], rel=1e-9)
    whole = run("excite", "five_bar", "--evaluate", "m.yaml", "--json").json["criteria"]
    assert whole["prediction"] == pytest.approx(found["criteria"]["prediction"], rel=1e-9)
    assert whole["a"] > found["criteria"]["a"]
    done = run("excite", "five_bar", *QUICK, "--parameters", "mass")
    assert done.status == 2
    assert "there is no parameter mass; choose one of:" in done.err
    done = run("excite", "five_bar", "--parameters", wanted, "--criterion", "prediction")
    assert done.status == 2
    assert "prediction is about forces" in done.err


def test_noise_of_the_motion(run):
    run("excite", "five_bar", *QUICK, "-o", "m.yaml")
    usual, own = (
        run("excite", "five_bar", "--evaluate", "m.yaml", "--noise-of", word, "--json").json
        for word in ("usual", "motion")
    )
    assert usual["criteria"]["condition"] == own["criteria"]["condition"]
    assert usual["criteria"]["prediction"] != own["criteria"]["prediction"]
    found = run("excite", "five_bar", *QUICK, "--noise-of", "motion", "--json").json
    assert found["value"] <= found["best_random"]
    assert run("excite", "five_bar", "--noise-of", "yours").status == 2
