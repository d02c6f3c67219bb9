"""Several logs as one identification, against runs of the single logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.measurementfile import read_measurement
from mechid.options import IdentifyOptions
from mechid.runs.record import ALL_LOGS
from mechid.signals.record import PreparedMeasurement
from mechid.tables import write_table
from mechid.tasks.identify import identify_motions
from mechid.tasks.measured import chosen_mappings
from mechid.tasks.stages import chosen_base, problem_of

MODEL = "five_bar"


@pytest.fixture(scope="module")
def logs() -> list[mechid.Synthesis]:
    """Three motions of one truth, at different noise and rates."""
    made: list[mechid.Synthesis] = []
    for k in range(3):
        motion = mechid.excite(MODEL, random=3, starts=0, harmonics=3, seed=k)
        words = {"cad_error": "20%"} if k == 0 else {"truth": made[0].truth}
        made.append(
            mechid.synthesise(MODEL, motion, noise=f"{2 + k}%", rate=60.0 + 10 * k, seed=k, **words)
        )
    return made


@pytest.fixture(scope="module")
def run(logs) -> mechid.Run:
    return mechid.identify(MODEL, logs[:2], validate=logs[2], estimator="weighted")


@pytest.mark.slow
def test_the_estimate_is_that_of_all_rows_together(logs):
    run = mechid.identify(MODEL, logs, estimator="ols")
    parts = [mechid.regression(MODEL, log) for log in logs]
    A = np.vstack([r.stacked()[0] for r in parts])
    t = np.concatenate([r.stacked()[1] for r in parts])
    np.testing.assert_allclose(run.estimate.values, np.linalg.lstsq(A, t)[0], rtol=1e-8)
    together = mechid.regression(MODEL, logs)
    np.testing.assert_array_equal(together.stacked()[0], A)
    assert together.logs.tolist() == np.repeat([0, 1, 2], [len(r.time) for r in parts]).tolist()
    assert run.estimate.residuals.shape == (len(together.time), 2)


def test_motions_have_roles(run, logs):
    names = [motion.name for motion in run.motions]
    assert names == ["identification", "identification-2", "validation-1"]
    assert [motion.name for motion in run.logs] == names[:2]
    assert [motion.name for motion in run.others] == names[2:]
    assert [history.name for history in run.forces] == names
    assert {row.motion for row in run.validation} == set(names)
    assert "each log left out" in repr(run)
    one = mechid.identify(MODEL, logs[:1], estimator="weighted")
    assert (one.n_logs, one.left_out, one.spread) == (1, (), None)
    assert one.motions[0].name == "identification"
    np.testing.assert_array_equal(run.parameters.truth, one.parameters.truth)


def test_runs_with_coloured_noise_are_read_again(logs, tmp_path):
    run = mechid.identify(MODEL, logs[:2], estimator="map", whiten=True)
    mechid.save_run(run, tmp_path / "run")
    again = mechid.load_run(tmp_path / "run").estimate.colour
    assert len(again) == 2
    for one, other in zip(again, run.estimate.colour, strict=True):
        np.testing.assert_array_equal(one, other)
    mechid.write_report(tmp_path / "run", tmp_path / "page.html")


@pytest.mark.slow
def test_each_log_is_predicted_from_the_others(run, logs):
    """As a run of one log does that is validated on the other."""
    rows = {(row.motion, row.model): row for row in run.left_out}
    for name, train, test in (("identification", 1, 0), ("identification-2", 0, 1)):
        single = mechid.identify(MODEL, logs[train], validate=logs[test], estimator="weighted")
        expected = {r.model: r for r in single.validation if r.motion == "validation-1"}
        assert rows[name, "cad"].total == pytest.approx(expected["cad"].total, rel=1e-9)
        for force, error in expected["estimate"].forces.items():
            found = rows[name, "estimate"].forces[force]
            assert found.E_p == pytest.approx(error.E_p, rel=1e-9)
            assert found.coverage == error.coverage
    # All logs: squares add up.
    for force in ("M1", "M2"):
        squares, sizes = 0.0, 0.0
        for motion in run.logs:
            e = rows[motion.name, "estimate"].forces[force]
            size = float(np.nansum(motion.tau[:, motion.forces.index(force)] ** 2))
            squares, sizes = squares + e.E_p**2 * size, sizes + size
        together = rows[ALL_LOGS, "estimate"].forces[force].E_p
        assert together == pytest.approx(np.sqrt(squares / sizes))
    # Both forces are moments: one norm over both.
    (overall,) = rows[ALL_LOGS, "estimate"].overall.values()
    tau = np.concatenate([motion.tau for motion in run.logs])
    errors = [rows[ALL_LOGS, "estimate"].forces[force].rms for force in run.motions[0].forces]
    assert overall == pytest.approx(
        np.linalg.norm(errors) * np.sqrt(len(tau)) / np.linalg.norm(tau)
    )


def test_estimates_of_single_logs_are_compared(run, logs):
    a, b = (mechid.identify(MODEL, log, estimator="weighted").estimate for log in logs[:2])
    z = (a.values - b.values) / np.hypot(a.sigma, b.sigma)
    np.testing.assert_allclose(run.spread.z, [z], rtol=1e-8)
    # Of correlated parameters the plain root mean square scatters (0.4 to 1.3 over twelve seeds).
    assert run.spread.whitened == pytest.approx(1, abs=0.5)


def test_estimates_that_differ_too_much_are_named(run, logs):
    assert not any("estimates from single logs" in w for w in run.warnings)
    # A load cell whose gain is wrong in one log: the parameters scale with it.
    wrong = replace(logs[0].measurement, tau=1.3 * logs[0].measurement.tau)
    far = mechid.identify(MODEL, [wrong, logs[1]], estimator="weighted")
    (words,) = (w for w in far.warnings if "estimates from single logs" in w)
    assert f"differ by {far.spread.rms:.2g} standard deviations" in words


def test_three_logs(logs):
    run = mechid.identify(MODEL, logs, estimator="weighted")
    assert len(run.spread.z) == 3
    pair = mechid.identify(MODEL, logs[:2], validate=logs[2], estimator="weighted")
    expected = pair.errors("validation-1")["estimate"]
    (row,) = (r for r in run.left_out if (r.motion, r.model) == ("identification-3", "estimate"))
    assert row.error == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_a_run_of_several_logs_goes_on(run, logs, tmp_path):
    mechid.save_run(run, tmp_path / "run")
    again = mechid.load_run(tmp_path / "run")
    assert again.n_logs == 2
    assert again.left_out == run.left_out
    np.testing.assert_array_equal(again.spread.z, run.spread.z)
    assert again.spread.whitened == run.spread.whitened
    small = mechid.reduce(tmp_path / "run", folder=tmp_path / "small")
    assert small.left_out == run.left_out
    assert small.reduction.curves.validation.shape[1] == 1
    blocks = small.reduction.curves.blocks.shape[1]
    assert blocks == small.about.options.reduce.blocks
    found = mechid.validate(tmp_path / "small", logs[2], add=True)
    assert found.motions == ("validation-2",)
    added = mechid.load_run(tmp_path / "small")
    assert (len(added.others), added.n_logs) == (2, 2)
    forces = mechid.predict(tmp_path / "run", mechid.excite(MODEL, random=2, starts=0))
    assert np.isfinite(forces.predicted).all()
    page = tmp_path / "report.html"
    mechid.write_report(tmp_path / "small", page)
    text = page.read_text()
    assert "identification-2, predicted from the other logs" in text
    assert "in 2 logs" in text
    assert "Estimates from single logs differ by" in text
    alone = mechid.identify(MODEL, logs[:2], estimator="weighted")
    mechid.write_report(alone, page)
    assert "With each log predicted from the others, the error is" in page.read_text()


def test_an_old_run_has_one_log(logs, tmp_path):
    import json

    mechid.save_run(mechid.identify(MODEL, logs[0], estimator="ols"), tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    head = json.loads(path.read_text())
    del head["n_logs"]
    for motion in head["motions"]:
        del motion["force_sigma"]
    path.write_text(json.dumps(head))
    old = mechid.load_run(tmp_path / "run")
    assert (old.n_logs, old.others, old.left_out) == (1, (), ())


def test_logs_that_do_not_suffice_alone(logs):
    short = [mechid.prepare(log, MODEL) for log in logs]
    cut = [
        replace(m, time=m.time[:5], y=m.y[:5], yd=m.yd[:5], ydd=m.ydd[:5], tau=m.tau[:5])
        for m in short
    ]
    run = mechid.identify(MODEL, cut, estimator="ols", cad_error=0.2)
    assert run.spread is None
    assert len(run.left_out) == 8
    assert any(
        "single logs do not suffice" in w and "log 1: 10 measured" in w for w in run.warnings
    )
    two = mechid.identify(MODEL, cut[:2], estimator="ols")
    assert (two.spread, two.left_out) == (None, ())


def test_a_log_that_cad_values_predict_better_is_named(logs):
    wrong = replace(logs[0].measurement, tau=-logs[0].measurement.tau)
    run = mechid.identify(MODEL, [wrong, logs[1]], estimator="ols")
    assert any("predict identification-2 better" in w for w in run.warnings)


# --------------------------------------------------------------------------- noise


def noisy(m: PreparedMeasurement, **sigma: float) -> PreparedMeasurement:
    return replace(m, force_sigma=sigma)


def test_noise_is_declared_by_log(logs):
    """Percent are those of each log; what a mapping states holds for its log."""
    mechanism = mechid.load(MODEL)
    motions = [mechid.prepare(log, MODEL) for log in logs[:2]]
    options = IdentifyOptions()
    chosen = chosen_base(mechanism, options)
    rms = [np.sqrt(np.mean(m.tau**2, axis=0)) for m in motions]
    five = mechid.IdentifyOptions(noise=mechid.options.noise.noise_levels("5%"))
    found = problem_of(mechanism, chosen, motions, five, 2)
    np.testing.assert_allclose(found.regression.noise, 0.05 * np.max(rms, axis=0))
    stated = [noisy(motions[0], M1=0.3), noisy(motions[1], M1=0.1, M2=0.2)]
    found = problem_of(mechanism, chosen, stated, options, 2)
    np.testing.assert_allclose(found.regression.noise, [0.3, 0.2])
    # What the user declares counts instead.
    found = problem_of(mechanism, chosen, stated, five, 2)
    np.testing.assert_allclose(found.regression.noise, 0.05 * np.max(rms, axis=0))


def test_a_mapping_states_the_noise_of_forces(logs, tmp_path):
    mechid.save_measurement(logs[0], tmp_path / "a.csv")
    mapping = {
        "positions": {"q1": "q1", "q2": "q2"},
        "forces": {"M1": {"channel": "M1", "unit": "N m", "sigma": 0.25}, "M2": "M2"},
    }
    read = read_measurement(tmp_path / "a.csv", MODEL, mapping)
    assert read.force_sigma == {"M1": 0.25}
    assert mechid.prepare(read, MODEL).force_sigma == {"M1": 0.25}


# --------------------------------------------------------------------------- files and mappings


@pytest.fixture
def files(logs, tmp_path, monkeypatch) -> None:
    """a.csv and b.csv, named as the model does; c.csv with channels of its own, in degrees."""
    monkeypatch.chdir(tmp_path)
    for name, log in zip("ab", logs, strict=False):
        mechid.save_measurement(log, f"{name}.csv")
    m = logs[1]
    write_table("c.csv", {"time": m.time, "e1": np.rad2deg(m.y[:, 0]), "e2": m.y[:, 1],
                          "u1": m.tau[:, 0], "u2": m.tau[:, 1]})  # fmt: skip
    own = "positions: {q1: {channel: e1, unit: deg}, q2: e2}\nforces: {M1: u1, M2: u2}\n"
    Path("c.yaml").write_text("measurement: 1\nprepare: {method: interpolate}\n" + own)
    Path("ab.yaml").write_text(
        "measurement: 1\npositions: {q1: q1, q2: q2}\nforces: {M1: M1, M2: M2}\n"
        "prepare: {method: interpolate}\n"
    )


def test_each_log_may_have_its_own_mapping(files):
    words = {"estimator": "weighted", "cad_error": 0.2}
    run = mechid.identify(MODEL, ["a.csv", "c.csv"], mapping=["ab.yaml", "c.csv=c.yaml"], **words)
    same = mechid.identify(MODEL, ["a.csv", "b.csv"], mapping="ab.yaml", **words)
    np.testing.assert_allclose(run.estimate.values, same.estimate.values, rtol=1e-6)
    assert [(f.name, f.role) for f in run.about.files] == [
        ("a.csv", "identification"), ("c.csv", "identification-2"), ("ab.yaml", "map"),
        ("c.yaml", "map"), ("a.csv.truth.json", "truth"),
    ]  # fmt: skip
    part = mechid.identify(MODEL, ["a.csv", "c.csv@0:0.6"],
                           mapping=["ab.yaml", "c.csv@0:0.6=c.yaml"], **words)  # fmt: skip
    assert len(part.motions[1].time) < len(run.motions[1].time)
    # Other logs have channels with the names of the model.
    alone = mechid.identify(MODEL, "b.csv@0:0.2", mapping="ab.yaml", **words)
    mechid.validate(alone, ["a.csv", "c.csv"], mapping=["c.csv=c.yaml"])


def test_which_mapping_is_whose(files):
    found = chosen_mappings(["ab.yaml", "x/c.csv=c.yaml"], ["a.csv", Path("x/c.csv@1:2")])
    assert found.of("a.csv") == "ab.yaml"
    assert found.of(Path("x/c.csv@1:2")) == "c.yaml"
    assert found.of(3) == "ab.yaml"
    assert found.files == ["ab.yaml", "c.yaml"]
    Path("a=b.yaml").touch()
    assert chosen_mappings("a=b.yaml", ["a"]).of("a") == "a=b.yaml"
    assert chosen_mappings({"positions": {}}, ["a"]).of("a") == {"positions": {}}
    assert chosen_mappings(None, ["a"]).of("a") is None


def test_parts_of_one_log_are_logs(files):
    run = mechid.identify(MODEL, ["a.csv@:0.5", "a.csv@0.5:"], estimator="weighted")
    assert [m.source for m in run.logs] == ["a.csv", "a.csv"]
    assert run.logs[1].time[0] >= run.logs[0].time[-1]
    assert run.parameters.truth is not None


@pytest.mark.parametrize(
    ("data", "words", "message"),
    [
        ([], {}, "no data to identify with; give one log"),
        (["a.csv", "./a.csv"], {}, r"a.csv and \./a.csv overlap: samples would count twice"),
        (["a.csv@0:0.5", "a.csv@0.4:"], {}, "overlap"),
        (["a.csv", "b.csv@7:9"], {},
         r"b.csv: the range contains no samples; the log lasts from 0 s to 0\.9"),
        (["a.csv", "c.csv"], {"mapping": "ab.yaml"},
         r"c.csv: .*the mapping of a.csv does not fit: there is no channel q1; the file has time, "
         r".*; give this log a mapping of its own, c.csv=FILE"),
        (["a.csv", "b.csv"], {"mapping": ["ab.yaml", "c.yaml"]},
         "one mapping file can be for all logs, got ab.yaml and c.yaml; write LOG=FILE"),
        (["a.csv", "b.csv"], {"mapping": ["d.csv=c.yaml"]},
         "there is no log d.csv for the mapping c.yaml; choose one of: a.csv, b.csv"),
        (["a.csv", "b.csv"], {"mapping": ["b.csv=c.yaml", "b.csv=ab.yaml"]},
         "the log b.csv has two mappings, c.yaml and ab.yaml"),
        (["a.csv", "few.csv"], {},
         "few.csv: the forces must be those of the identification motion, M1, M2, got M2"),
        (["a.csv", "b.csv"], {"instruments": ["a.csv"]},
         "instruments must be given for each of 2 logs, got 1"),
    ],
)  # fmt: skip
def test_wrong_logs_get_one_clear_error(files, logs, data, words, message):
    m = logs[1]
    write_table("few.csv", {"time": m.time, "q1": m.y[:, 0], "q2": m.y[:, 1], "M2": m.tau[:, 1]})
    with pytest.raises(mechid.DataError, match=message):
        mechid.identify(MODEL, data, estimator="ols", **words)


def test_logs_of_different_truths(files, logs):
    with pytest.raises(mechid.DataError, match="a log is given twice"):
        mechid.identify(MODEL, [logs[0], logs[0]])
    other = mechid.synthesise(
        MODEL, mechid.excite(MODEL, random=2, starts=0), cad_error="20%", seed=9
    )
    with pytest.raises(mechid.DataError, match="the logs come from different true parameters"):
        mechid.identify(MODEL, [logs[0], other])
    run = mechid.identify(MODEL, [logs[0], other], truth=logs[0].truth, estimator="ols")
    assert run.parameters.truth is not None


def test_instruments_of_each_log(logs):
    motions = [mechid.prepare(log, MODEL) for log in logs[:2]]
    run = mechid.identify(MODEL, motions, instruments=motions, estimator="iv")
    plain = mechid.identify(MODEL, motions, estimator="weighted")
    np.testing.assert_allclose(run.estimate.values, plain.estimate.values, rtol=1e-6)


def test_prepared_motions_may_be_logs(logs):
    motions = [
        replace(mechid.prepare(log, MODEL), name=name)
        for log, name in zip(logs, ("one", "two", "three"), strict=True)
    ]
    run = identify_motions(mechid.load(MODEL), motions, IdentifyOptions("ols"), n_logs=2)
    assert [m.name for m in run.logs] == ["one", "two"]
    assert {row.motion for row in run.left_out} == {"one", "two", ALL_LOGS}
