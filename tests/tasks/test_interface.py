"""The method as a user of Python sees it: names of `mechid` alone, records, names and files."""

from __future__ import annotations

import doctest
import inspect
import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.cli import main
from mechid.dynamics.compile import dynamic_model
from mechid.options import changed, from_words, to_words
from mechid.tasks.estimators import identify_options

STEPS = {
    "excite": mechid.ExciteOptions,
    "synthesise": mechid.SynthesiseOptions,
    "identify": mechid.IdentifyOptions,
    "reduce": mechid.ReduceOptions,
}
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def motion() -> mechid.DesignedMotion:
    return mechid.excite("five_bar", random=6, starts=0, harmonics=3)


@pytest.fixture(scope="module")
def log(motion) -> mechid.Synthesis:
    return mechid.synthesise("five_bar", motion, noise="5%", cad_error="20%", periods=2)


@pytest.fixture(scope="module")
def other_log(log) -> mechid.Synthesis:
    other = mechid.excite("five_bar", random=3, starts=0, harmonics=3, seed=1)
    return mechid.synthesise("five_bar", other, truth=log.truth)


@pytest.fixture(scope="module")
def run(log, other_log) -> mechid.Run:
    return mechid.identify("five_bar", log, validate=other_log, cad_error="20%")


def command(*arguments: object) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(a) for a in arguments])
    assert left.value.code in (0, None)


def test_the_script_of_the_readme_has_ten_lines_and_names_of_mechid_only():
    script = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "identify" in b)
    lines = [line for line in script.splitlines() if line and not line.startswith("print")]
    assert lines[0] == "import mechid"
    assert len(lines[1:]) <= 10
    assert not re.search(r"^from|mechid\.\w+\.\w+\.", script, re.M)
    for name in re.findall(r"mechid\.(\w+)", script):
        assert name in dir(mechid)


def test_names_can_be_completed():
    for name in mechid.__all__:
        assert hasattr(mechid, name), name
    for step, record in STEPS.items():
        shown = inspect.signature(getattr(mechid, step)).parameters
        defaults = record()
        for f in fields(record):
            assert shown[f.name].default == getattr(defaults, f.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["base_parameters", "excite", "evaluate_motion", "synthesise", "read_measurement", "prepare",
     "regression", "identify", "reduce", "validate", "predict", "write_report"],
)  # fmt: skip
def test_examples_of_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(mechid, name), name, globs={})
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0


# --------------------------------------------------------------------------- the chain


def test_every_step_takes_what_the_one_before_returns(run, log, other_log, motion, tmp_path):
    assert run.parameters.truth is not None  # that of the synthetic data
    z = (run.estimate.values - run.parameters.truth) / run.estimate.sigma
    assert np.abs(z).max() < 4
    assert run.errors("validation-1")["estimate"] < run.errors("validation-1")["cad"]
    small = mechid.reduce(run, size=7)
    assert small.reduction.size.size == 7
    result = mechid.validate(small, other_log)
    assert result.motions == ("validation-2",)
    assert result.rows[-1].total == small.validation[-1].total  # the same motion
    page = mechid.write_report(result, tmp_path / "report.html")
    assert "validation-2" in page.read_text(encoding="utf-8")
    forces = mechid.predict(small, motion, rate=60.0)
    lower, upper = forces.interval(0.9)
    assert np.all(lower < forces.predicted)
    assert np.all(forces.predicted < upper)


def test_records_and_files_give_the_same(log, tmp_path):
    """What is read, what is prepared, and what was made in memory are one measurement."""
    mechid.save_measurement(log, tmp_path / "log.parquet")
    mechid.save_trajectory(mechid.excite("five_bar", random=1, starts=0).trajectory,
                           tmp_path / "m.yaml")  # fmt: skip
    five = mechid.load("five_bar")
    ways = [
        log,
        log.measurement,
        mechid.prepare(log, five),
        tmp_path / "log.parquet",
        str(tmp_path / "log.parquet"),
        mechid.read_measurement(tmp_path / "log.parquet", "five_bar"),
    ]
    runs = [mechid.identify("five_bar", way, estimator="ols") for way in ways]
    for other in runs[1:]:
        # Times of a table are put on an even grid, which rounds.
        np.testing.assert_allclose(other.estimate.values, runs[0].estimate.values, rtol=1e-9)
    assert [r.parameters.truth is None for r in runs] == [False, True, True, False, False, True]
    table = mechid.read_motion_file(tmp_path / "m.yaml", five)
    assert len(mechid.predict(runs[0], tmp_path / "m.yaml").time) == len(table.time) - 1


def test_the_linear_problem_of_a_log(log):
    """Least squares by hand is what the estimator `ols` finds."""
    A, b, _ = mechid.regression("five_bar", log).stacked()
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    run = mechid.identify("five_bar", log, estimator="ols")
    np.testing.assert_allclose(x, run.estimate.values, rtol=1e-8)
    whole = mechid.regression("five_bar", log, base=None)
    assert whole.parameters == tuple(c.name for c in dynamic_model(mechid.load("five_bar")).columns)


# --------------------------------------------------------------------------- one record of options


@pytest.mark.parametrize(
    "options",
    [
        mechid.IdentifyOptions(),
        changed(
            mechid.IdentifyOptions("map", {"prior": "full", "gains": 0.05, "whiten": True}),
            {
                "noise": ["5%", "M1=0.2"],
                "weigh": {"crank_1": "0.7±0.01"},
                "reduce": "greedy",
                "cad_error": "20 %",
                "converge_on": "coupler_1, coupler_2",
                "period": 1,
            },
        ),
        mechid.ReduceOptions("deviation", 7, "zero"),
        mechid.ExciteOptions(goals={"d": -170.0}, parameters=("m_1",), fixed={"q1": "0.1*t"}),
        changed(mechid.SynthesiseOptions(), {"noise": "5%", "position_noise": 1e-4}),
    ],
)
def test_options_survive_a_file(options):
    assert from_words(type(options), json.loads(json.dumps(to_words(options)))) == options
    assert repr(options).count("\n") == 0
    if options == type(options)():
        assert repr(options) == f"{type(options).__name__}()"


def test_records_may_be_made_with_words(log):
    """What keywords take, the fields of a record take too; NumPy numbers are numbers."""
    words = {"noise": "5%", "cad_error": np.float64(0.2), "weigh": {"crank_1": "0.7±0.01"},
             "reduce": "greedy", "settings": {"gains": np.float64(0.05)}}  # fmt: skip
    made = mechid.IdentifyOptions(estimator="map", **words)
    assert changed(made, {}) == changed(mechid.IdentifyOptions("map"), words)
    with pytest.raises(mechid.DataError, match="base must be text, got 3"):
        mechid.identify("five_bar", log, mechid.IdentifyOptions(base=3))
    with pytest.raises(mechid.DataError, match="method must be one of: auto, given"):
        mechid.prepare(log, "five_bar", mechid.Preparation("magic"))


@pytest.mark.slow
def test_a_run_of_python_goes_on_from_the_command_line(run, other_log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mechid.save_run(run, "run")
    mechid.save_measurement(other_log, "v.csv")
    command("reduce", "run", "--size", "7", "-o", "small")
    command("validate", "small", "v.csv", "--add")
    command("report", "small")
    command("predict", "small", "v.csv")
    small = mechid.reduce(run, size=7)
    again = mechid.load_run("small")
    np.testing.assert_array_equal(again.final.values, small.final.values)
    assert again.about.options == small.about.options
    assert len(again.motions) == len(run.motions) + 1


@pytest.mark.slow
def test_a_run_of_the_command_line_goes_on_in_python(log, other_log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mechid.save_measurement(log, "d.parquet")
    mechid.save_measurement(other_log, "v.parquet")
    command("identify", "five_bar", "d.parquet", "--noise", "5%", "--noise", "M1=0.2",
            "--cad-error", "20%", "--weigh", "crank_1=0.7±0.01", "--without", "delays, drifts",
            "--set", "noise=declared", "--base", "first", "-o", "run")  # fmt: skip
    here = mechid.identify(
        "five_bar",
        "d.parquet",
        noise=["5%", "M1=0.2"],
        cad_error="20%",
        weigh={"crank_1": "0.7±0.01"},
        without="delays, drifts",
        settings={"noise": "declared"},
        base="first",
    )
    there = mechid.load_run("run")
    assert there.about.options == here.about.options
    np.testing.assert_array_equal(there.estimate.values, here.estimate.values)
    result = mechid.validate("run", ["v.parquet", "v.parquet@:0.5"], add=True)
    assert [row.motion for row in result.rows] == ["validation-1"] * 2 + ["validation-2"] * 2
    assert mechid.load_run("run").validation == result.run.validation
    mechid.write_report("run", "report.html")
    small = mechid.reduce("run", folder="small")
    assert mechid.load_run("small").reduction.size == small.reduction.size


def test_an_old_run_is_refused_with_the_command_that_repeats_it(run, tmp_path):
    mechid.save_run(run, tmp_path / "run")
    head = json.loads((tmp_path / "run" / "run.json").read_text())
    head |= {"run": 1, "command": "mechid identify five_bar d.csv -o run"}
    (tmp_path / "run" / "run.json").write_text(json.dumps(head))
    with pytest.raises(mechid.DataError, match=r"has format 1, .* repeat the run: mechid identify"):
        mechid.load_run(tmp_path / "run")
    head |= {"run": 2, "options": head["options"] | {"cad_error": "much"}}
    (tmp_path / "run" / "run.json").write_text(json.dumps(head))
    with pytest.raises(mechid.DataError, match=r"options\.cad_error: expected"):
        mechid.load_run(tmp_path / "run")


# --------------------------------------------------------------------------- what records show


@pytest.mark.slow
def test_records_show_themselves_in_ten_lines(run, log, other_log, motion):
    small = mechid.reduce(run, size=7)
    many = replace(small, warnings=("one",) * 9, motions=run.motions * 3)
    shown = [
        run, small, many, log, log.measurement, run.motions[0], motion, run.forces[0],
        run.parameters, run.full, mechid.validate(small, [other_log] * 5), run.about.options,
        mechid.evaluate_motion("five_bar", motion), mechid.base_parameters("five_bar"),
        mechid.load("sla_suspension"), mechid.kinematic_model(mechid.load("four_bar")),
        mechid.tour(mechid.load("four_bar")), mechid.mobility(mechid.load("four_bar")),
        mechid.null_space(mechid.load("four_bar")), run.estimate, run.reduction, small.reduction,
        log.truth, mechid.regression("five_bar", log), motion.trajectory, motion.excitation,
    ]  # fmt: skip
    for record in shown:
        text = repr(record)
        assert text.count("\n") < 10, type(record)
        assert max(map(len, text.splitlines())) <= 100, type(record)
    assert "reduction" in repr(small)
    assert "7 parameters" in repr(small)


# --------------------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: mechid.identify("five_bra", x.log), "did you mean five_bar"),
        (lambda x: mechid.identify(3, x.log), "model must be a Mechanism, got int"),
        (lambda x: mechid.identify("five_bar", x.run), "data must be a Measurement, .*, got Run"),
        (lambda x: mechid.identify("five_bar", "none.csv"), "none.csv: there is no such file"),
        (lambda x: mechid.identify("five_bar", x.log, [x.log]), "options must be IdentifyOptions"),
        (lambda x: mechid.identify("five_bar", x.log, estimator="olss"),
         "unknown estimator 'olss'; choose one of: ols, weighted, ridge"),
        (lambda x: mechid.identify("five_bar", x.log, estimatr="ols"),
         "there is no option estimatr; did you mean estimator?"),
        (lambda x: mechid.identify("five_bar", x.log, estimator="ols", penalty=1),
         "the estimator ols has no setting penalty; choose one of: offsets"),
        (lambda x: mechid.identify("five_bar", x.log, prior="cad"),
         "the prior must be full, got cad"),
        (lambda x: mechid.identify("five_bar", x.log, without="offset"),
         "there are no errors called offset; choose one of: offsets, gains"),
        (lambda x: mechid.identify("five_bar", x.log, cad_error="lots"), "cad_error: .*lots"),
        (lambda x: mechid.identify("five_bar", x.log, noise=[1, 2]), "given twice"),
        (lambda x: mechid.identify("five_bar", x.log, noise=x.run), "noise: expected a number"),
        (lambda x: mechid.identify("five_bar", x.log, reduce=3), "reduce must be ReduceOptions"),
        (lambda x: mechid.identify("five_bar", x.log, base="T9"), "there is no base set T9"),
        (lambda x: mechid.identify("five_bar", x.log, base="first", converge_on="coupler_1"),
         "exclude each other"),
        (lambda x: mechid.identify("five_bar", x.log, validate=3), "data must be .*, got int"),
        (lambda x: mechid.identify("five_bar", mechid.prepare(x.log, "five_bar"), period=1),
         "prepared already; omit period"),
        (lambda x: mechid.identify("four_bar", x.log), "does not belong to four_bar, .* no 'A1'"),
        (lambda x: mechid.identify("four_bar", mechid.prepare(x.log, "five_bar")),
         "1 coordinates of four_bar, got 2"),
        (lambda x: mechid.reduce(x.log), "run must be a Run or its folder, got Synthesis"),
        (lambda x: mechid.reduce("nowhere"), "nowhere: this is not a run"),
        (lambda x: mechid.reduce(x.run, 8), "options must be ReduceOptions, got int"),
        (lambda x: mechid.reduce(x.run, by="luck"), "by must be one of: contribution"),
        (lambda x: mechid.reduce(x.run, size=99), "size must be between 1 and 11, got 99"),
        (lambda x: mechid.validate(x.run, x.run), "data must be .*, got Run"),
        (lambda x: mechid.validate(x.run, []), "no data to validate with"),
        (lambda x: mechid.validate(x.run, x.log, add=True), "give the folder of the run"),
        (lambda x: mechid.predict(x.run, x.log), "motion must be a designed motion, .*Synthesis"),
        (lambda x: mechid.predict(x.run, "none.yaml"), "none.yaml: there is no such file"),
        (lambda x: mechid.predict(x.run, x.motion).interval(2), "level must be between 0 and 1"),
        (lambda x: mechid.excite("five_bar", 5), "options must be ExciteOptions, got int"),
        (lambda x: mechid.excite("five_bar", harmonics="many"), "harmonics must be an integer"),
        (lambda x: mechid.excite("five_bar", criterion="best"), "unknown criterion 'best'"),
        (lambda x: mechid.excite("five_bar", limits=[3]), "limits must be a list of MotionLimit"),
        (lambda x: mechid.excite("five_bar", fixed={"q1": 3}), "the given motion of q1 must be"),
        (lambda x: mechid.excite("five_bar", start=3), "motion must be .*, got int"),
        (lambda x: mechid.synthesise("five_bar", x.motion, 5), "must be SynthesiseOptions"),
        (lambda x: mechid.evaluate_motion("five_bar", x.motion, 5), "must be ExciteOptions"),
        (lambda x: mechid.excite("five_bar", goals={"best": 1}, criterion="goals"), "'best'"),
        (lambda x: mechid.synthesise("five_bar", 3), "motion must be .*, got int"),
        (lambda x: mechid.save_measurement(3, "x.csv"), "log must be what synthesise .* got int"),
        (lambda x: mechid.save_measurement(x.log, "x.txt"), "x.txt: unknown file type .txt"),
        (lambda x: mechid.write_report(x.log, "x.html"), "run must be a Run .* got Synthesis"),
        (lambda x: mechid.inverse_dynamics("four_bar"), "motion must be a Motion, got str; solve"),
        (lambda x: mechid.observation_matrix(3), "motion must be a Motion, got int; solve it"),
        (lambda x: mechid.mobility("four_bar"), "must be a Mechanism, got str; load it, as mechid"),
        (lambda x: mechid.kinematic_model("four_bar"), "model must be a Mechanism, got str"),
        (lambda x: mechid.tour(3), "model must be a Mechanism, got int"),
        (lambda x: mechid.base_parameters(None), "model must be a Mechanism, got NoneType"),
        (lambda x: x.run.errors("nowhere"), "choose one of: identification, validation-1"),
    ],
)  # fmt: skip
def test_wrong_arguments_get_one_clear_error(call, words, run, log, motion, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Given:
        pass

    x = Given()
    x.run, x.log, x.motion = run, log, motion
    with pytest.raises(mechid.MechidError, match=words):
        call(x)


@pytest.mark.parametrize(
    ("given", "taken"), [(True, "estimated"), (False, None), (0, 0), (0.0, 0.0), ("3%", 0.03)]
)
def test_offsets_are_a_choice_or_a_size(given: object, taken: object) -> None:
    """Zero says that the sensors are zeroed, which False does not."""
    found = identify_options(
        mechid.IdentifyOptions("map"), {"offsets": given}, mechid.load("five_bar")
    )
    assert found.settings.get("offsets") == taken
    assert ("offsets" in found.settings) is (taken is not None)
