"""A motion that was not used is diagnosed with the model of the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mechid
from mechid.cli.app import app
from mechid.errors import DataError
from mechid.runs.record import Run
from mechid.runs.verdict_trust import unseen_error
from mechid.signals.record import Measurement
from mechid.tasks.synthesise import Synthesis


@pytest.fixture(scope="module")
def run() -> Run:
    motion = mechid.excite("five_bar", random=20, starts=0)
    log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    found = mechid.identify("five_bar", log, cad_error="20%")
    assert found.diagnosis == ()
    return found


@pytest.fixture(scope="module")
def other() -> Synthesis:
    """Another motion of the same machine."""
    motion = mechid.excite("five_bar", random=20, starts=0, seed=1)
    first = mechid.excite("five_bar", random=20, starts=0)
    truth = mechid.synthesise("five_bar", first, cad_error="20%").truth
    return mechid.synthesise("five_bar", motion, noise="2%", truth=truth, periods=3, seed=5)


@pytest.fixture(scope="module")
def log(other: Synthesis) -> Measurement:
    return other.measurement


@pytest.mark.slow
def test_nothing_is_found_in_a_motion_that_fits(run: Run, log: Measurement) -> None:
    assert mechid.validate(run, log).diagnosis == ()


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.1, 0.2, 0.3])
def test_an_offset_that_an_identification_cannot_see(
    part: float, run: Run, log: Measurement
) -> None:
    """In the identification it looks like a weight; here the parameters are known."""
    size = part * float(np.std(log.tau[:, 0]))
    result = mechid.validate(run, replace(log, tau=log.tau + np.array([size, 0.0])))
    (found,) = result.diagnosis
    assert (found.kind, found.channel, found.motion) == ("offset", "M1", "validation-1")
    assert found.size == pytest.approx(size, rel=0.2)
    assert found.text.startswith("on validation-1 offset of M1")
    assert result.run.diagnosis == (found,)


def test_a_large_offset_does_not_hide_a_small_one(run: Run, log: Measurement) -> None:
    sizes = np.array([1.0, 0.1]) * np.std(log.tau, axis=0)
    found = mechid.validate(run, replace(log, tau=log.tau + sizes)).diagnosis
    offsets = {d.channel: d.size for d in found if d.kind == "offset"}
    assert offsets == pytest.approx({"M1": sizes[0], "M2": sizes[1]}, rel=0.25)


@pytest.mark.slow
def test_an_offset_of_the_identification_is_named_where_it_is_not(log: Measurement) -> None:
    """The sensor was zeroed in between: which of the logs is wrong, no log tells."""
    motion = mechid.excite("five_bar", random=20, starts=0)
    first = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    size = 0.1 * float(np.std(first.tau[:, 0]))
    shifted = replace(first, tau=first.tau + np.array([size, 0.0]))
    run = mechid.identify("five_bar", shifted, cad_error="20%")
    before = [d for d in run.diagnosis if d.kind == "offset"]
    if before:  # the identification saw it: what it found does not count here
        assert before[0].size == pytest.approx(size, rel=0.25)
    (found,) = (d for d in mechid.validate(run, log).diagnosis if d.kind != "cad")
    assert (found.kind, found.channel) == ("offset", "M1")
    assert found.size == pytest.approx(-size, rel=0.25)
    assert found.remedy == "check the zero of the sensor in all logs"


def test_a_gain_that_an_identification_cannot_see(run: Run, log: Measurement) -> None:
    (found,) = mechid.validate(run, replace(log, tau=log.tau * [1.1, 1.0])).diagnosis
    assert (found.kind, found.channel) == ("gain", "M1")
    assert found.size == pytest.approx(0.1, rel=0.25)
    assert found.remedy.startswith("check scale and calibration in all logs")


def test_forces_that_are_late_and_exchanged(run: Run, log: Measurement) -> None:
    late = np.vstack([log.tau[:1], log.tau[:-1]])
    found = mechid.validate(run, [replace(log, tau=late), replace(log, tau=log.tau[:, ::-1])])
    delay, swapped = (d for d in found.diagnosis if d.kind != "cad")
    assert (delay.kind, delay.motion) == ("delay", "validation-1")
    assert delay.size * log.rate == pytest.approx(1.0, abs=0.2)
    assert (swapped.kind, swapped.motion) == ("swapped", "validation-2")
    # The data of the identification are not blamed for it.
    verdict = mechid.verdict(found.run)
    assert all(e.grade != "bad" or "validation" in e.text for e in verdict.trust.evidence)


@pytest.mark.slow
def test_all_samples_of_a_motion_that_was_not_used_count(run: Run, other: Synthesis) -> None:
    """So that it is no advice to leave those near standstill out, or to use an estimator."""
    motion = mechid.excite("five_bar", random=20, starts=0, seed=1)
    log = mechid.synthesise(
        "five_bar", motion, noise="2%", truth=other.truth, rate=1000.0, seed=5
    ).measurement
    assert log.yd is not None
    slow = np.abs(log.yd) < 0.05 * np.quantile(np.abs(log.yd), 0.95, axis=0)
    size = 4 * np.std(log.tau, axis=0) * 0.02
    more = np.where(slow, size * np.random.default_rng(0).normal(size=slow.shape), 0.0)
    found = mechid.validate(run, replace(log, tau=log.tau + more)).diagnosis
    named = [d for d in found if d.kind == "standstill"]
    assert named
    assert {d.remedy for d in named} == {"identify with a log that has such phases"}
    tau = log.tau.copy()
    tau[::40, 0] += 20 * size[0]
    found = mechid.validate(run, replace(log, tau=tau)).diagnosis
    assert [d.remedy for d in found if d.kind == "outliers"] == [
        "leave these samples empty in that log"
    ]


@pytest.mark.slow
def test_kept_in_the_run_and_shown(run: Run, other: Synthesis, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    mechid.save_run(run, folder)
    size = 0.3 * float(np.std(other.tau[:, 1]))
    path = tmp_path / "other.csv"
    mechid.save_measurement(replace(other, tau=other.tau + np.array([0.0, size])), path)
    words = ["validate", str(folder), str(path), "--add", "--json"]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    (found,) = json.loads(shown.stdout)["diagnosis"]
    assert (found["kind"], found["channel"], found["motion"]) == ("offset", "M2", "validation-1")
    kept = mechid.load_run(folder)
    assert [d.text for d in kept.diagnosis] == [found["text"]]
    mechid.write_report(kept, tmp_path / "report.html")
    assert "On validation-1 offset of M2" in (tmp_path / "report.html").read_text("utf-8")
    again = CliRunner().invoke(app, ["validate", str(folder), str(path)])
    assert "diagnosis: on validation-2 offset of M2" in " ".join(again.output.split())


@pytest.mark.slow
def test_a_file_of_the_identification_is_no_validation(tmp_path: Path) -> None:
    motion = mechid.excite("five_bar", random=4, starts=0)
    log = mechid.synthesise("five_bar", motion, noise="1%", cad_error="20%", periods=2)
    mechid.save_measurement(log, tmp_path / "log.csv")
    run = mechid.identify("five_bar", tmp_path / "log.csv", cad_error="20%")
    with pytest.raises(DataError, match="a motion for validation is part of the identification"):
        mechid.validate(run, tmp_path / "log.csv")
    again = mechid.synthesise("five_bar", motion, noise="1%", truth=log.truth, seed=1)
    mechid.save_measurement(again, tmp_path / "again.csv")
    assert mechid.validate(run, tmp_path / "again.csv").rows


@pytest.mark.slow
def test_a_dead_sensor_counts_nowhere() -> None:
    """Not in the estimate, nor in errors, intervals and the verdict."""
    motions = [mechid.excite("five_bar", random=4, starts=0, seed=seed) for seed in range(2)]
    log = mechid.synthesise("five_bar", motions[0], noise="1%", cad_error="20%", periods=2)
    stuck = log.measurement.tau.copy()
    stuck[:, 1] = 0.0
    dead = replace(log.measurement, tau=stuck)
    other = mechid.synthesise("five_bar", motions[1], noise="1%", truth=log.truth, seed=1)
    run = mechid.identify("five_bar", dead, cad_error="20%", validate=other)
    assert run.estimate is not None
    assert any("force M2, which is constant where" in word for word in run.warnings)
    rows = {row.motion: row for row in run.validation if row.model == "estimate"}
    own = rows["identification"]
    assert own.error < 0.02
    assert np.isnan(own.forces["M2"].E_p)
    seen = rows["validation-1"].forces
    assert seen["M1"].coverage is not None
    assert seen["M1"].coverage > 0.8
    assert seen["M2"].coverage is not None
    assert np.isnan(seen["M2"].coverage)
    assert "larger than on the motion used" not in unseen_error(run).text
