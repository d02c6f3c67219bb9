"""From a trajectory to a validated model, as a user does it."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from mechid.measurementfile import read_measurement
from mechid.modelfile import load
from mechid.options import Weighing, to_words
from mechid.runs.folder import load_run
from mechid.runs.truth import read_truth
from mechid.spatial.inertia import pseudo_inertia
from mechid.tables.files import read_columns, write_table
from mechid.tasks.stages import base_of

HEAD = "trajectory: 1\nduration: 1.0\nrate: 60\ncoordinates:\n"
MOTION = HEAD + (
    "  q1: {fourier: {frequency: 1, a: [1.5, 1.0, 0.9], b: [0.6, -1.2, 0.4]}}\n"
    "  q2: {fourier: {frequency: 1, a: [-1.2, 1.5, 0.6], b: [1.2, 0.6, -0.7]}}\n"
)
OTHER = HEAD + (
    "  q1: {fourier: {frequency: 1, a: [-0.6, 1.8, 0.7], b: [1.2, 0.6, 0.4]}}\n"
    "  q2: {fourier: {frequency: 1, a: [1.5, -0.6, 0.4], b: [-0.6, 1.2, 0.6]}}\n"
)
NOISY = ("--force-noise", "5%", "--cad-error", "20%", "--periods", "3")


@pytest.fixture
def data(run):
    """Data of two motions of a five-bar linkage with the same truth: d.csv, v.csv."""
    Path("m.yaml").write_text(MOTION)
    Path("o.yaml").write_text(OTHER)
    for motion, table in (("m.yaml", "d.csv"), ("o.yaml", "v.csv")):
        done = run("synthesise", "five_bar", motion, *NOISY, "-o", table)
        assert done.status == 0, done.err
    return run


def identify(run, *more: str, out: str = "run", data: str = "d.csv"):
    done = run("identify", "five_bar", data, "-o", out, *more)
    assert done.status == 0, done.err
    return done


# --------------------------------------------------------------------------- synthesise


def test_synthesise(data):
    columns = read_columns("d.csv")
    assert list(columns) == ["time", "q1", "q1.d", "q1.dd", "q2", "q2.d", "q2.dd", "M1", "M2"]
    assert len(columns["time"]) == 180  # three periods without the end
    truth = read_truth("d.csv.truth.json")
    assert truth.made["options"]["seed"] == 0
    assert truth.made["options"]["cad_error"] == 0.2
    assert truth.made["data"]["name"] == "d.csv"
    np.testing.assert_array_equal(truth.values, read_truth("v.csv.truth.json").values)


def test_synthesise_as_text_and_json(data):
    text = data("synthesise", "five_bar", "m.yaml", "-o", "a.parquet", "--position-noise", "1e-4")
    assert text.status == 0
    assert text.out.endswith("wrote a.parquet\nwrote a.parquet.truth.json\n")
    assert "speeds and accelerations are omitted" in text.out
    assert list(read_columns("a.parquet")) == ["time", "q1", "q2", "M1", "M2"]
    found = data("synthesise", "five_bar", "m.yaml", "-o", "b.csv", "--noise-kind", "coloured",
                 "--noise", "M1=0.5", "--time-constant", "0.1", "--json").json  # fmt: skip
    assert found["samples"] == 60
    assert found["forces"]["M1"]["error"] == pytest.approx(0.5, rel=0.5)
    assert found["forces"]["M2"]["error"] == 0
    assert data("synthesise", "five_bar", "b.csv", "-o", "c.csv", "--truth",
                "five_bar@table").status == 0  # fmt: skip


def test_synthesise_with_errors_of_machines(data):
    errors = ["--offset", "5%", "--offset", "M2=0.2", "--friction", "3%", "--hardpoints", "C=0.001"]
    found = data("synthesise", "five_bar", "m.yaml", "-o", "e.csv", *errors, "--json").json
    assert abs(found["errors"]["offset"]["M2"]) == pytest.approx(0.2)
    assert read_truth("e.csv.truth.json").errors == found["errors"]
    text = data("synthesise", "five_bar", "m.yaml", "-o", "e.csv", *errors, "--force").out
    assert f"M2 {found['errors']['offset']['M2']:.4g}" in text
    assert list(found["errors"]["friction"]) == ["A1", "A2", "B1", "B2", "C"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m.yaml", "-o", "x.txt"], "x.txt: unknown file type .txt"),
        (["m.yaml", "-o", "d.csv"], "d.csv: the file exists; add --force"),
        (["none.yaml", "-o", "x.csv"], "none.yaml: there is no such file"),
        (["m.yaml", "-o", "x.csv", "--force-noise", "lots"], 'noise: "lots" is not a number'),
        (["m.yaml", "-o", "x.csv", "--force-noise", "-5%"], "noise must be ≥ 0, got -0.05"),
        (["m.yaml", "-o", "x.csv", "--noise", "M1="], "noise M1="),
        (["m.yaml", "-o", "x.csv", "--noise", "F=1"], "there is no force F"),
        (["m.yaml", "-o", "x.csv", "--hum", "F=1"], "there is no force F"),
        (["m.yaml", "-o", "x.csv", "--hum-frequency", "0"], "--hum-frequency must be > 0, got 0"),
        (["m.yaml", "-o", "x.csv", "--units", "q1=kg"], "q1 is not measured in kg"),
        (["m.yaml", "-o", "x.csv", "--correlation", "0.5"], "choose the noise kind coloured"),
        (["m.yaml", "-o", "x.csv", "--position-noise", "1", "--position-noise", "2"], "twice"),
        (["m.yaml", "-o", "x.csv", "--truth", "four_bar"], "other coordinates"),
        (["m.yaml", "-o", "x.csv", "--truth", "five_bar@table", "--cad-error", "5%"], "not both"),
        (["m.yaml", "-o", "x.csv", "--seed", "-1"], "seed must be ≥ 0, got -1"),
        (["d.csv", "-o", "x.csv", "--periods", "2"], "this is a table"),
        (["far.yaml", "-o", "x.csv"], "far.yaml: sample"),
    ],
)
def test_wrong_synthesis_is_one_line(data, arguments, words):
    Path("far.yaml").write_text(HEAD + "  q1: {constant: 2}\n  q2: {constant: -2}\n")
    done = data("synthesise", "five_bar", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert words in done.err
    assert not Path("x.csv").exists()


# --------------------------------------------------------------------------- identify


@pytest.mark.slow
def test_the_run_holds_everything(data):
    more = ("--validate", "v.csv", "--cad-error", "20%", "--json")
    found = json.loads(identify(data, *more).out)
    assert found["stages"] == ["data", "estimate", "reduction", "validation"]
    assert found["base_parameters"] == 11
    assert found["estimate"]["method"] == "auto"
    totals = {(row["motion"], row["model"]): row["total"] for row in found["validation"]}
    # Noise of 5 % in each of two forces is what a perfect model leaves.
    beyond = {key: (total / 2) ** 2 - 0.05**2 for key, total in totals.items()}
    assert beyond["validation-1", "estimate"] < 0.25 * beyond["validation-1", "cad"]
    assert totals["validation-1", "estimate"] == pytest.approx(0.1, rel=0.1)
    head = json.loads(Path("run/run.json").read_text())
    assert head["command"] == (
        "mechid identify five_bar d.csv -o run --validate v.csv --cad-error 20% --json"
    )
    assert [f["role"] for f in head["files"]] == ["identification", "validation-1", "truth"]
    assert head["options"]["estimator"] == "auto"
    run = load_run("run")
    values = {row["name"]: row["value"] for row in found["parameters"]}
    np.testing.assert_array_equal(list(values.values()), run.estimate.values)
    # Deviations are honest: the truth is within three of them.
    z = (run.estimate.values - run.parameters.truth) / run.estimate.sigma
    assert np.abs(z).max() < 3


def test_as_text(data):
    more = ("--validate", "v.csv", "--reduce", "contribution", "--size", "8")
    out = identify(data, *more, "--details").out
    rows = {line.split("  ")[0] for line in out.splitlines()}
    assert {"estimate", "reduced", "reduction", "parameter", "E_p, %", "identification",
            "validation-1"} <= rows  # fmt: skip
    assert "by contribution to 8" in out
    run = load_run("run")
    row = run.validation[-1]
    history = run.forces[-1]
    e, tau = history.predicted - history.measured, history.measured
    expected = np.sqrt(np.nansum(e**2) / np.nansum(tau**2))
    assert row.overall == {"N m": pytest.approx(expected)}
    # The details come first, so that the head is what stays in sight.
    lines = out.splitlines()
    end = lines.index("wrote run")
    assert lines[end + 1] == ""
    head = lines[end + 2 :]
    assert head[0] == "five_bar: 11 base parameters from 180 samples, by auto"
    words = f"error on validation-1: {100 * expected:.3g} % (CAD values "
    (line,) = (x for x in head if x.startswith(words))
    each = ", ".join(f"{n} {100 * e.E_p:.3g}" for n, e in row.forces.items())
    assert line.endswith(f": {each}")
    # The verdict ends the head; without --details, that is all.
    assert head[-2].startswith("trust the model (synthetic data): ")
    assert head[-1].startswith("next: ")
    short = identify(data, *more, "--force").out.splitlines()
    more_at = "all values and notes: --details, or mechid report run"
    assert short == [*head, "wrote run", more_at]


@pytest.mark.slow
def test_the_head_is_short(data):
    """However much is wrong: what was found is a line each, the first five, and the rest one."""
    columns = {name: x.to_numpy().copy() for name, x in read_columns("d.csv").items()}
    columns["M1"], columns["M2"] = 1.15 * columns["M1"] + 1.0, columns["M2"] - 2.0
    for j in (1, 2):
        columns[f"M{j}"] += 0.3 * columns["M2"].std() * np.sign(columns[f"q{j}.d"])
    write_table("w.csv", columns)
    done = identify(data, "--validate", "v.csv", data="w.csv").out.splitlines()
    head = done[: done.index("wrote run")]
    assert len(head) <= 15
    assert sum(line.startswith(("in the model now: ", "found: ")) for line in head) == 5
    told = identify(data, "--validate", "v.csv", "--json", "--force", data="w.csv").json
    assert told["head"] == head
    likely = {f["name"] for f in [*told["added"], *told["found"]] if f["probability"] >= 0.5}
    shown = {line.split(": ")[1] for line in head if line.startswith(("in the model", "found"))}
    assert shown <= likely
    assert {f["owner"] for f in told["added"]} <= {"machine"}


@pytest.mark.slow
def test_progress_without_a_terminal(data, monkeypatch):
    monkeypatch.setattr("mechid.cli.progress.EVERY", 0.0)
    done = identify(data, "--reduce", "contribution")
    lines = [line.split(" s: ", 1)[1] for line in done.err.splitlines()]
    assert lines[:2] == ["data", "estimate"]
    # Each size of the model is told with its error.
    sizes, errors = zip(*(line.split(", ") for line in lines[2:-1]), strict=True)
    assert sizes == tuple(f"reduction: {k}" for k in range(1, 12))
    assert all(float(error) > 0 for error in errors)
    assert lines[-1] == "validation"
    monkeypatch.setattr("mechid.cli.progress.EVERY", 3600.0)
    assert identify(data, "--force").err == ""


@pytest.mark.slow
def test_same_input_same_bytes(data):
    for name in ("one", "two"):
        identify(data, "--validate", "v.csv", "--reduce", "greedy", out=name)
    one = {p.relative_to("one"): p.read_bytes() for p in Path("one").rglob("*") if p.is_file()}
    two = {p.relative_to("two"): p.read_bytes() for p in Path("two").rglob("*") if p.is_file()}
    different = {str(name) for name in one if one[name] != two[name]}
    assert set(one) == set(two)
    assert different == {"run.json"}  # its command line names the folder
    heads = [json.loads(text[Path("run.json")]) for text in (one, two)]
    heads[1]["command"] = heads[0]["command"]
    assert heads[0] == heads[1]


@pytest.mark.slow
def test_base_sets(data):
    predicted = []
    for word in ("first", "last", "terms", "condition"):
        identify(data, "--base", word, "--force", "--estimator", "ols")
        predicted.append(load_run("run").forces[0].predicted)
        # Another choice of base parameters is the same model.
        np.testing.assert_allclose(predicted[-1], predicted[0], rtol=1e-6, atol=1e-9)
    first = load_run("run").parameters
    Path("set.yaml").write_text(f"dependent: [{', '.join(first.dependent)}]\nsource: test\n")
    identify(data, "--base", "set.yaml", "--force")
    assert load_run("run").parameters.dependent == first.dependent
    identify(data, "--converge-on", "coupler_1", "--force")


@pytest.mark.parametrize(
    "more",
    [
        ["--estimator", "ols"],
        ["--estimator", "weighted", "--set", "whiten=true"],
        ["--estimator", "ridge", "--set", "penalty=1e-6"],
        ["--estimator", "truncated", "--set", "rank=9"],
        ["--estimator", "huber"],
        ["--estimator", "iv", "--instruments", "d.csv"],
        ["--estimator", "physical", "--set", "inner=ols"],
        ["--estimator", "log-cholesky"],
        ["--estimator", "map", "--set", "whiten=true"],
        ["--prior", "full", "--cad-error", "20%"],
        ["--prior", "none"],
        ["--noise", "5%", "--set", "noise=declared"],
        ["--noise", "M1=0.1", "--noise", "M2=0.1", "--without", "gains, delays"],
    ],
)
def test_estimators(data, more):
    found = json.loads(identify(data, "--json", *more).out)
    cad, estimate = (row["total"] for row in found["validation"])
    assert estimate < cad
    used = json.loads(Path("run/run.json").read_text())["options"]
    assert used["estimator"] == found["estimate"]["method"]


def test_least_squares_warns(data):
    out = identify(data, "--estimator", "ols", "--details").out
    assert "have a relative standard deviation above 100 %" in out
    assert "--estimator auto" in out


@pytest.mark.slow
def test_positions_alone(data):
    """Without speeds and accelerations they are derived; a period makes that nearly exact."""
    columns = {name: x.to_numpy() for name, x in read_columns("d.csv").items()}
    write_table("p.csv", {k: columns[k] for k in ("time", "q1", "q2", "M1", "M2")})
    for more in ([], ["--period", "1"]):
        found = json.loads(identify(data, "--force", "--json", *more, data="p.csv").out)
        assert found["validation"][-1]["total"] < 0.12


@pytest.mark.slow
def test_gaps_and_decimation(data):
    columns = {name: x.to_numpy().copy() for name, x in read_columns("d.csv").items()}
    columns["M2"][40:45] = np.nan
    write_table("g.csv", columns)
    identify(data, data="g.csv")
    run = load_run("run")
    assert np.isnan(run.motions[0].tau).sum() == 5
    assert np.isnan(run.forces[0].measured).sum() == 5
    assert np.isfinite(run.forces[0].predicted).all()
    identify(data, "--decimation", "2", "--force", data="g.csv")
    run = load_run("run")
    assert len(run.forces[0].time) < 0.5 * len(run.motions[0].time)
    assert run.validation[-1].total < 0.12


@pytest.mark.slow
def test_fewer_forces(data):
    columns = {name: x.to_numpy() for name, x in read_columns("d.csv").items()}
    del columns["M2"]
    write_table("one.csv", columns)
    identify(data, data="one.csv")
    assert load_run("run").final.channels == ("M1",)
    done = data("validate", "run", "d.csv")
    assert done.status == 2
    assert "the same measured forces" in done.err


@pytest.mark.slow
def test_a_model_without_uncertainties(run):
    Path("m.yaml").write_text(HEAD + "".join(
        f"  {q}: {{fourier: {{frequency: 1, a: [{a}, 0.2], b: [0.2, {b}]}}}}\n"
        for q, a, b in (("q1", 0.6, 0.4), ("q4", -0.5, 0.6), ("q6", 0.3, -0.7))))  # fmt: skip
    made = run("synthesise", "planar_3rrr", "m.yaml", *NOISY, "-o", "d.csv")
    assert made.status == 0, made.err
    done = run("identify", "planar_3rrr", "d.csv", "-o", "run", "--details")
    assert "declares no standard deviations of its CAD values: 20 % were assumed" in done.out
    done = run("identify", "planar_3rrr", "d.csv", "-o", "run2", "--cad-error", "30%", "--details")
    assert "were assumed" not in done.out


def test_ctrl_c_ends_the_reduction_and_keeps_the_run(data, monkeypatch):
    from mechid.reduction import curves

    error, calls = curves._error, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return error(*arguments)

    monkeypatch.setattr(curves, "_error", interrupted)
    done = identify(data, "--reduce", "contribution", "--estimator", "ols", "--details")
    assert "stopping; press Ctrl-C again" in done.err
    assert "the reduction was stopped before all sizes were tried" in done.out
    run = load_run("run")
    assert run.stages[-1] == "validation"
    assert len(run.reduction.curves) == 5


@pytest.mark.slow
def test_a_crash_keeps_what_is_there(data, monkeypatch):
    from mechid.errors import DataError
    from mechid.tasks import identify as task

    def broken(*arguments, **options):
        raise DataError("the disk is on fire")

    monkeypatch.setattr(task, "validated", broken)
    done = data("identify", "five_bar", "d.csv", "-o", "run")
    assert done.status == 2
    run = load_run("run")
    assert run.stages == ("data", "estimate", "reduction")
    assert data("predict", "run", "m.yaml").status == 0
    monkeypatch.undo()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing", "d.csv"], "nothing"),
        (["five_bar", "none.csv"], "none.csv: there is no such file"),
        (["five_bar", "d.csv", "--base", "T9"], "there is no base set T9; use a .yaml file"),
        (["five_bar", "d.csv", "--base", "none.yaml"], "none.yaml"),
        (["five_bar", "d.csv", "--base", "bad.yaml"], "bad.yaml:1"),
        (["five_bar", "d.csv", "--base", "odd.yaml"], "unknown entry name"),
        (["five_bar", "d.csv", "--base", "first", "--converge-on", "bar_1"], "exclude each other"),
        (
            ["five_bar", "d.csv", "--estimator", "magic"],
            "unknown estimator 'magic'; choose one of: ols, ",
        ),
        (
            ["five_bar", "d.csv", "--set", "wings=2"],
            "auto has no setting wings; choose one of: without, only, usual, noise, prior, seed",
        ),
        (
            ["five_bar", "d.csv", "--estimator", "ols", "--set", "a=1"],
            "choose one of: offsets",
        ),
        (["five_bar", "d.csv", "--set", "wings"], "expected NAME=VALUE"),
        (
            ["five_bar", "d.csv", "--without", "gains", "--set", "without=offsets"],
            "--without and --set without=offsets are given",
        ),
        (["five_bar", "d.csv", "--prior", "gut"], "prior must be full, got gut"),
        (["five_bar", "d.csv", "--without", "gain"], "there are no errors called gain; choose one"),
        (
            ["five_bar", "d.csv", "--estimator", "ols", "--without", "gains"],
            "the estimator ols has no setting without",
        ),
        (["five_bar", "d.csv", "--estimator", "iv"], "instrumental variables need"),
        (
            ["five_bar", "d.csv", "--cad-error", "0%"],
            "--cad-error must be > 0 and < 10 (1000%), got 0",
        ),
        (["five_bar", "d.csv", "--noise", "-5%"], "noise must be ≥ 0, got -0.05"),
        (["five_bar", "d.csv", "--noise", "F=1"], "F is not a measured force"),
        (["five_bar", "d.csv", "--size", "4"], "add --reduce contribution"),
        (
            ["five_bar", "d.csv", "--reduce", "luck"],
            "by must be one of: contribution, stacked-contribution, deviation, greedy, got 'luck'",
        ),
        (
            ["five_bar", "d.csv", "--reduce", "greedy", "--size", "big"],
            "size must be an integer or one of: auto, limits, cross, got 'big'",
        ),
        (
            ["five_bar", "d.csv", "--reduce", "greedy", "--size", "99"],
            "size must be between 1 and 11, got 99",
        ),
        (
            ["five_bar", "d.csv", "--reduce", "greedy", "--rest", "one"],
            "rest must be one of: auto, zero, cad, got 'one'",
        ),
        (["five_bar", "d.csv", "--max-seconds", "0"], "--max-seconds must be > 0, got 0"),
        (["five_bar", "d.csv", "--period", "-1"], "period must be > 0, got -1"),
        (["five_bar", "d.csv", "--truth", "m.yaml"], "m.yaml: not a JSON file"),
        (["five_bar", "d.csv", "--truth", "json.json"], "not the truth file of synthetic data"),
        (["five_bar", "forceless.csv"], "no force of the mechanism was measured; measure one of"),
        (["five_bar", "unnamed.csv"], "measured (not used: motor_1, motor_2); measure one of: M1,"),
        (["five_bar", "unnamed.csv"], "say in a mapping file (--map) which of them are forces"),
        (["five_bar", "short.csv", "--estimator", "ols"], "too few"),
        (["five_bar", "far.csv"], "far.csv"),
        (["five_bar", "d.csv", "--instruments", "short.csv", "--estimator", "iv"], "twice"),
        (["four_bar", "d.csv"], "d.csv"),
    ],
)
def test_wrong_input_is_one_line(data, arguments, words):
    Path("bad.yaml").write_text("dependent: 3\n")
    Path("odd.yaml").write_text("dependent: [m_3]\nname: x\n")
    Path("json.json").write_text("{}")
    columns = {name: x.to_numpy().copy() for name, x in read_columns("d.csv").items()}
    write_table("forceless.csv", {k: v for k, v in columns.items() if not k.startswith("M")})
    motors = {"M1": "motor_1", "M2": "motor_2"}
    write_table("unnamed.csv", {motors.get(k, k): v for k, v in columns.items()})
    write_table("short.csv", {k: v[:5] for k, v in columns.items()})
    columns["q1"] += np.linspace(0, 2, 180)
    columns["q2"] -= np.linspace(0, 2, 180)
    write_table("far.csv", columns)
    done = data("identify", *arguments, "-o", "run")
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1, done.err
    assert words in done.err


@pytest.mark.slow
def test_a_run_is_not_overwritten(data):
    identify(data)
    done = data("identify", "five_bar", "d.csv", "-o", "run")
    assert done.status == 2
    assert "run: the folder holds a run; add --force to replace it" in done.err
    identify(data, "--force")


@pytest.mark.slow
def test_a_failed_run_does_not_block_the_next(data):
    Path("bad.csv").write_text("time,q1\n0,1\n")
    for words in (["bad.csv"], ["d.csv", "--base", "nothing"]):
        assert data("identify", "five_bar", *words, "-o", "run").status == 2
        assert not Path("run").exists()
    identify(data)
    Path("d.csv").rename("run/d.csv")
    done = data("identify", "five_bar", "run/d.csv", "-o", "run", "--force")
    assert "an input lies in the folder of the run: d.csv" in done.err
    assert Path("run/d.csv").is_file()
    load_run("run")


# --------------------------------------------------------------------------- reduce, validate


def test_reduce_a_run(data):
    identify(data, "--validate", "v.csv")
    found = data("reduce", "run", "--size", "7", "-o", "small", "--json").json
    assert found["reduction"]["size"] == found["reduced"]["parameters"] == 7
    run = load_run("small")
    assert run.reduction.curves.sizes.tolist() == list(range(1, 12))
    assert run.about.command == "mechid reduce run --size 7 -o small --json"
    assert run.about.options.reduce.size == 7
    # The same in one go.
    identify(data, "--validate", "v.csv", "--reduce", "contribution", "--size", "7", out="once")
    np.testing.assert_array_equal(load_run("once").final.values, run.final.values)
    assert load_run("once").validation == run.validation
    # Of what is reduced already, again; and only to look at.
    assert data("reduce", "small", "--by", "deviation", "--rest", "cad").status == 0
    assert data("reduce", "small", "--size", "cross", "-o", "small").status == 2
    assert data("reduce", "small", "--size", "cross", "-o", "small", "--force").status == 0
    assert data("reduce", "d.csv").err == (
        "error: d.csv: this is not a run: run.json is missing; mechid identify\n"
    )


def test_validate_a_run(data):
    identify(data, "--validate", "v.csv")
    known = load_run("run").validation[-2:]
    found = data("validate", "run", "v.csv", "--json").json
    for row, before in zip(found["validation"], known, strict=True):
        assert row["motion"] == "validation-2"
        assert row["forces"] == to_words(before)["forces"]
    assert len(load_run("run").motions) == 2
    used = data("validate", "run", "v.csv", "d.csv", "--add")
    assert used.status == 2
    assert "error: d.csv: a motion for validation is part of the identification" in used.err
    shutil.copy("v.csv", "w.csv")
    done = data("validate", "run", "v.csv", "w.csv", "--add")
    assert done.status == 0
    assert "within 95 %" in done.out
    again = load_run("run")
    assert [m.name for m in again.motions[2:]] == ["validation-2", "validation-3"]
    assert len(again.validation) == len(again.forces) * 2
    assert data("validate", "run", "none.csv").status == 2


# --------------------------------------------------------------------------- predict


def test_predict(data):
    identify(data)
    done = data("predict", "run", "o.yaml", "-o", "f.csv", "--level", "0.9")
    assert done.status == 0
    assert done.out.endswith("wrote f.csv\n")
    f = {name: x.to_numpy() for name, x in read_columns("f.csv").items()}
    assert list(f)[:5] == ["time", "M1", "M1.sigma", "M1.lower", "M1.upper"]
    v = {name: x.to_numpy() for name, x in read_columns("v.csv").items()}
    inside = [(v[n][:60] >= f[f"{n}.lower"][:60]) & (v[n][:60] <= f[f"{n}.upper"][:60])
              for n in ("M1", "M2")]  # fmt: skip
    # 120 draws of probability 0.9: 108 ± 3.3.
    assert 96 <= np.sum(inside) <= 119
    found = data("predict", "run", "v.csv", "--json").json
    assert found["forces"]["M1"]["sigma"] < found["forces"]["M1"]["noise"]
    for arguments, words in (
        (["none", "o.yaml"], "none: this is not a run"),
        (["run", "none.yaml"], "none.yaml"),
        (["run", "o.yaml", "--level", "2"], "level must be between 0 and 1, got 2"),
        (["run", "o.yaml", "-o", "f.xls"], "f.xls: unknown file type .xls"),
    ):
        done = data("predict", *arguments)
        assert done.status == 2
        assert words in done.err


@pytest.mark.parametrize("command", ["synthesise", "identify", "reduce", "validate", "predict"])
def test_help(run, command):
    done = run(command, "--help")
    assert done.status == 0
    assert f"Example: mechid {command}" in done.out
    assert "--json" in done.out


# --------------------------------------------------------------------------- offsets, parts


@pytest.mark.slow
def test_offsets(data):
    columns = {name: x.to_numpy() for name, x in read_columns("d.csv").items()}
    write_table("o.csv", columns | {"M2": columns["M2"] + 7.0})
    words = ("--estimator", "weighted", "--set", "offsets=true", "--details")
    assert "each force may have an unknown offset" in identify(data, *words, data="o.csv").out
    assert load_run("run").about.options.settings == {"offsets": "estimated"}
    off = ("--estimator", "weighted", "--set", "offsets=false", "--details", "--force")
    assert "unknown offset" not in identify(data, *off, data="o.csv").out
    told = identify(data, "--json", out="run-2", data="o.csv").json
    found = told["channel_errors"]["offset"]
    for name, true in (("M1", 0.0), ("M2", 7.0)):
        assert abs(found[name]["value"] - true) < 4 * found[name]["sigma"] + 1e-3
    likely = {f["name"] for f in told["found"] if f["probability"] >= 0.5}
    assert likely == {"offset of M2"}
    assert [(d["kind"], d["channel"]) for d in told["diagnosis"]] == [("offset", "M2")]
    assert found["M2"]["value"] == pytest.approx(7.0, rel=0.1)
    assert load_run("run-2").final.errors.offset[1] == found["M2"]["value"]
    clean = identify(data, "--json", out="run-3").json
    assert (clean["diagnosis"], clean["added"]) == ([], [])
    zeroed = ("--without", "offsets, drifts", "--json")
    told = identify(data, *zeroed, out="run-4", data="o.csv").json
    assert "offset" not in told["channel_errors"]
    ridge = ("--estimator", "ridge", "--set", "offsets=true")
    refused = data("identify", "five_bar", "d.csv", "-o", "x", *ridge)
    assert "the estimator ridge has no setting offsets" in refused.err


@pytest.mark.slow
def test_parts_of_a_log(data):
    found = identify(data, "--validate", "d.csv@2:", "--details", data="d.csv@:2").out
    assert "note: used from 0 s to 2 s" in found
    assert "note: validation-1: used from 2 s to" in found
    run = load_run("run")
    assert [m.source for m in run.motions] == ["d.csv", "d.csv"]
    assert run.motions[0].time[-1] <= 2.0 <= run.motions[1].time[0]
    assert run.parameters.truth is not None  # that of the file
    assert "part of the identification" in data("validate", "run", "d.csv@1:2").err
    done = data("validate", "run", "d.csv@2:")
    assert done.status == 0
    assert "validation-2: d.csv" in done.out
    wrong = data("identify", "five_bar", "d.csv@2:1", "-o", "x")
    assert "d.csv@2:1: the start must be before the end, got 2 and 1 s" in wrong.err


# --------------------------------------------------------------------------- more that is known


def test_truth_of_earlier_data(data):
    """Other data share the truth of earlier ones, whatever their seed."""
    made = data("synthesise", "five_bar", "o.yaml", "--truth", "d.csv.truth.json", "--seed", "5",
                "-o", "s.csv")  # fmt: skip
    assert made.status == 0, made.err
    np.testing.assert_array_equal(
        read_truth("s.csv.truth.json").values, read_truth("d.csv.truth.json").values
    )
    first = data("synthesise", "five_bar", "o.yaml", "--cad-error", "20%", "-o", "f.csv")
    assert first.status == 0
    np.testing.assert_array_equal(read_columns("s.csv")["M1"], read_columns("f.csv")["M1"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.pop("m_1"), "it lacks the parameter m_1"),
        (lambda p: p.update(m_9=1.0), "it has a parameter m_9"),
        (lambda p: p.update(m_1="heavy"), "bad.json: `parameters` of the truth must be numbers"),
    ],
)
def test_truth_of_something_else(data, change, words):
    truth = json.loads(Path("d.csv.truth.json").read_text())
    change(truth["parameters"])
    Path("bad.json").write_text(json.dumps(truth))
    done = data("synthesise", "five_bar", "o.yaml", "--truth", "bad.json", "-o", "s.csv")
    assert done.status == 2
    assert words in done.err
    assert not Path("s.csv").exists()


@pytest.mark.slow
def test_weighed_bodies(data):
    """A weight is kept in the run, goes into the prior, and comes back for a reduction."""
    measured = ("--weigh", "crank_1=0.7+-0.01", "--weigh", "coupler_1 + coupler_2=0.8±0.02")
    found = identify(data, *measured, "--estimator", "physical", "--json").json
    assert "measured mass of crank_1: 0.7 ± 0.01 kg" in found["known"]
    assert "measured mass of coupler_1 + coupler_2: 0.8 ± 0.02 kg" in found["known"]
    assert load_run("run").about.options.weigh[0] == Weighing(("crank_1",), 0.7, 0.01)
    phi = json.loads(Path("run/full.json").read_text())["parameters"]
    assert phi["m_1"] == pytest.approx(0.7, abs=0.05)  # CAD says 0.62, and no force tells
    smaller = data("reduce", "run", "--size", "5", "-o", "smaller", "--json").json
    assert "measured mass of crank_1: 0.7 ± 0.01 kg" in smaller["known"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--weigh", "crank=1"],
            "no body crank with a mass; choose one of: crank_1",
        ),
        (["--weigh", "crank_1"], "weigh crank_1: expected NAME=VALUE"),
        (["--weigh", "crank_1=0"], "weigh crank_1=0: a mass must be > 0"),
        (["--weigh", "crank_1=1±-2"], "a mass must be > 0, and its standard deviation ≥ 0"),
        (["--weigh", "crank_1+crank_1=1"], "a body is named twice"),
        (["--weigh", "crank_1=1", "--estimator", "ols"], "this estimator does not use"),
        (["--symmetric", "q"], "the normal of the mirror plane must be x, y or z, got q"),
        (["--symmetric", "y"], "no two bodies mirror each other across y = 0"),
    ],
)
def test_facts_that_make_no_sense(data, arguments, words):
    done = data("identify", "five_bar", "d.csv", "-o", "run", *arguments)
    assert done.status == 2
    assert words in done.err
    assert not Path("run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["auto", "ols"])
def test_all_parameters_for_export(data, estimator):
    """Bodies that can exist; how far their base values are from those identified is said."""
    found = identify(data, "--estimator", estimator, "--json").json
    run = load_run("run")
    full = run.full
    assert full is not None
    for k in range(4):
        assert np.linalg.eigvalsh(pseudo_inertia(full.values[10 * k : 10 * k + 10])).min() > 0
    B = base_of(load("five_bar")).matrix
    off = B @ full.values - run.estimate.values
    d = float(np.sqrt(off @ np.linalg.solve(run.estimate.covariance, off)))
    assert found["full"]["distance"] == pytest.approx(d, rel=1e-3, abs=1e-3)
    assert found["full"]["parameters"] == 40


# --------------------------------------------------------------------------- doubtful data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "rows", "words"),
    [
        (1e3, None, "the force M1 is "),
        (1.0, 4, "8 measured values of forces are too few for 11"),
    ],
)
def test_doubtful_data(data, factor, rows, words):
    columns = {k: np.asarray(v)[:rows] for k, v in read_columns("d.csv").items()}
    columns |= {k: factor * columns[k] for k in ("M1", "M2")}
    write_table("x.csv", columns)
    done = identify(data, "--json", data="x.csv").json
    assert any(words in w for w in done["warnings"])
    assert not any(words in w for w in identify(data, "--json", out="good").json["warnings"])


def test_forces_of_zero(data):
    columns = {k: np.asarray(v) for k, v in read_columns("d.csv").items()}
    write_table("x.csv", columns | {k: 0 * columns[k] for k in ("M1", "M2")})
    done = data("identify", "five_bar", "x.csv", "-o", "run")
    assert done.status == 2
    assert "x.csv: all measured forces are zero" in done.err
    assert not Path("run").exists()


def test_beyond_the_limits_of_a_joint(data):
    columns = {k: np.asarray(v) for k, v in read_columns("d.csv").items()}
    names = [n for n in columns if n.startswith("q")]
    write_table("x.csv", columns | {k: np.rad2deg(columns[k]) for k in names})
    five_bar = load("five_bar")
    notes = read_measurement("x.csv", five_bar).notes
    assert sum("outside the joint limits -0.6 to 0.6" in note for note in notes) == 2
    assert not any("beyond" in note for note in read_measurement("d.csv", five_bar).notes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run.json", "estimate.json", "full.json", "model.yaml"])
def test_a_run_with_a_damaged_file(data, name):
    identify(data)
    Path("run", name).write_text("[]\n")
    done = data("predict", "run", "o.yaml")
    assert done.status == 2
    assert done.err.startswith("error: run")
    Path("run", name).unlink()
    done = data("predict", "run", "o.yaml")
    assert done.status == (0 if name == "full.json" else 2)
