"""The verdict says the right thing of runs whose defects are known, and what it cannot know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.estimation.clipping import CLIPPED
from mechid.runs.verdict_record import Answer, Evidence, Verdict
from mechid.runs.verdict_trust import unseen_error
from mechid.validation.diagnosis_record import Diagnosis
from mechid.validation.diagnosis_samples import EMPTY

MODEL = "five_bar"
PRIOR = {"cad_error": "10%"}


@pytest.fixture(scope="module")
def motions() -> tuple[Any, Any]:
    one, other = (mechid.excite(MODEL, random=10, starts=0, seed=seed) for seed in (1, 2))
    return one, other


@pytest.fixture(scope="module")
def logs(motions):
    """Make logs of the two motions: the first with errors, the second as the sensors should be."""

    def make(**errors: Any) -> tuple[Any, Any]:
        usual = {"noise": "3%", "cad_error": "10%", "seed": 3, "periods": 2}
        return (
            mechid.synthesise(MODEL, motions[0], **(usual | errors)),
            mechid.synthesise(MODEL, motions[1], **usual),
        )

    return make


@pytest.fixture(scope="module")
def good(logs) -> mechid.Run:
    log, other = logs()
    return mechid.identify(MODEL, log, validate=other, **PRIOR)


def grades(answer: Answer) -> dict[str, str]:
    return {e.name: e.grade for e in answer.evidence}


def evidence(answer: Answer, name: str) -> Evidence:
    (found,) = (e for e in answer.evidence if e.name == name)
    return found


@pytest.mark.slow
def test_a_good_run_can_be_trusted(good):
    found = mechid.verdict(good)
    assert found.synthetic
    assert found.data.startswith("The data are synthetic:")
    assert found.trust.answer == "yes"
    assert set(grades(found.trust).values()) == {"good"}
    (row,) = (r for r in good.validation if (r.motion, r.model) == ("validation-1", "estimate"))
    assert row.words in found.trust.text
    assert found.next_steps.answer == "nothing"


def test_the_verdict_does_not_depend_on_the_truth(good):
    bare = replace(good, parameters=replace(good.parameters, truth=None))
    found = mechid.verdict(bare)
    assert not found.synthetic
    assert "synthetic" not in found.lines[0]
    assert found.trust.answer == "yes"
    assert "true values" not in grades(found.trust)


def test_without_another_motion_trust_is_not_known(logs):
    found = mechid.verdict(mechid.identify(MODEL, logs()[0], **PRIOR))
    assert found.trust.answer == "not known"
    assert grades(found.trust)["error on motions not used"] == "not known"
    assert "optimistic" in found.trust.text
    assert "another motion" in found.next_steps.evidence[0].text


@pytest.mark.parametrize("estimator", ["auto", "weighted"])
def test_an_offset_is_found(logs, estimator):
    log, other = logs(offset={"M1": 1.0})
    found = mechid.verdict(mechid.identify(MODEL, log, validate=other, estimator=estimator))
    assert found.trust.answer == "no"
    named = [e for e in found.trust.evidence if e.name == "offset M1"]
    assert named
    # It is in the log of identification: forces of the other one are less than predicted.
    assert all(abs(abs(e.value) - 1.0) < 0.15 for e in named)
    assert "M1" in found.next_steps.evidence[0].text


@pytest.mark.slow
def test_a_gain_is_found(logs):
    log, other = logs(gain={"M1": 0.2})
    found = mechid.verdict(mechid.identify(MODEL, log, validate=other))
    assert found.trust.answer == "no"
    # The diagnosis finds it in the log, and predictions of the other one are 1.2 times too large.
    other, own = (e.value for e in found.trust.evidence if e.name == "gain M1")
    assert own == pytest.approx(0.2, abs=0.03)
    assert other == pytest.approx(1 / 1.2 - 1, abs=0.03)
    assert "scale of M1" in found.next_steps.text


def test_a_reversed_channel_explains_everything(logs):
    log, other = logs()
    wrong = replace(log.measurement, tau=log.measurement.tau * np.array([-1.0, 1.0]))
    found = mechid.verdict(mechid.identify(MODEL, wrong, validate=other, **PRIOR))
    assert found.trust.answer == "no"
    assert evidence(found.trust, "sign M1").grade == "bad"
    (step,) = found.next_steps.evidence
    assert "sign" in step.text


def test_noise_free_validation_is_not_tested_for_whiteness(logs, motions):
    exact = mechid.synthesise(MODEL, motions[1], cad_error="10%", seed=3)
    run = mechid.identify(MODEL, logs()[0], validate=exact, **PRIOR)
    (row,) = (r for r in run.validation if (r.motion, r.model) == ("validation-1", "estimate"))
    assert all(e.white < 0.001 for e in row.forces.values())  # what is left is no noise
    found = mechid.verdict(run)
    assert evidence(found.trust, "residuals").grade == "good"
    assert "validation-1 has less noise" in evidence(found.trust, "residuals").text
    assert found.trust.answer == "yes"


def test_data_without_any_noise(motions):
    exact = [mechid.synthesise(MODEL, m, cad_error="10%", seed=3) for m in motions]
    run = mechid.identify(MODEL, exact[0], validate=exact[1], **PRIOR)
    found = mechid.verdict(run)
    assert "without noise" in found.data
    assert (
        grades(found.trust)["residuals"] == grades(found.trust)["intervals of 95 %"] == "not known"
    )
    assert unseen_error(run).value < 1e-5


@pytest.mark.slow
def test_too_little_excitation(logs):
    t = np.linspace(0, 2, 200)
    y = np.outer(np.sin(np.pi * t), [0.2, 1e-4])
    yd = np.pi * np.outer(np.cos(np.pi * t), [0.2, 1e-4])
    still = mechid.MotionTable(t, y, yd, -(np.pi**2) * y)
    log = mechid.synthesise(MODEL, still, noise="3%", cad_error="10%", seed=3)
    found = mechid.verdict(mechid.identify(MODEL, log, validate=logs()[1], **PRIOR))
    assert evidence(found.trust, "motion q2").grade == "doubtful"
    assert found.trust.answer == "with care"
    assert "moves q2" in found.next_steps.evidence[0].text


@pytest.mark.slow
def test_wrong_cad_values_are_told_from_wrong_data(motions):
    usual = {"noise": "3%", "cad_error": "60%", "seed": 3, "periods": 2}
    log, other = (mechid.synthesise(MODEL, m, **usual) for m in motions)
    run = mechid.identify(MODEL, log, validate=other, cad_error="5%")
    found = mechid.verdict(run)
    agreement = evidence(found.trust, "CAD values and data")
    assert agreement.grade == "good"  # of the data
    assert "motions not used confirm the data" in agreement.text
    assert "check the CAD values" in found.next_steps.text


def test_friction_that_the_model_lacked(motions):
    """It is in the model now, which explains both logs."""
    usual = {"noise": "3%", "cad_error": "10%", "seed": 3, "periods": 2, "friction": "20%"}
    log, other = (mechid.synthesise(MODEL, m, **usual) for m in motions)
    run = mechid.identify(MODEL, log, validate=other, **PRIOR)
    assert any(f.family == "friction" for f in run.added)
    assert grades(mechid.verdict(run).trust)["residuals"] == "good"
    kept = mechid.identify(MODEL, log, validate=other, friction="keep", **PRIOR)
    found = mechid.verdict(kept)
    assert found.trust.answer != "yes"
    assert not any("othing to do" in e.text for e in found.next_steps.evidence)
    assert "friction" in found.next_steps.text


def test_clipped_samples_that_were_left_out_come_after_friction(good):
    """They bias nothing; few of them come after residuals that are no noise, too."""

    def first(share: float, *others: Diagnosis, remedy: str = "enlarge the range") -> str:
        clipped = Diagnosis("clipped", "M1", 28.4, "N m", share / CLIPPED, "clipped", remedy)
        found = mechid.verdict(replace(good, diagnosis=(clipped, *others)))
        return found.next_steps.evidence[0].text

    friction = Diagnosis("friction", "q1", 1.0, "N m", 9.0, "friction", "try other friction")
    settled = replace(friction, remedy="nothing to do: it is there")
    assert first(0.017, friction) == first(0.3, friction) == "Try other friction (q1: friction)."
    assert first(0.017, settled) == "Enlarge the range (M1: clipped)."
    # They count, unless they are left out.
    assert first(0.017, friction, remedy=f"enlarge it{EMPTY}").startswith("Enlarge it; leave")


def test_standstill_comes_before_friction(good):
    """What dry friction does at standstill looks like friction of other kinds."""
    friction = Diagnosis("friction", "q1", 1.0, "N m", 9.0, "friction", "try other friction")
    still = Diagnosis("standstill", "M1", 0.02, "rad/s", 12.0, "still", "leave these samples out")
    delay = Diagnosis("delay", "", 0.01, "s", 9.0, "late", "shift the forces")

    def steps(*found: Diagnosis) -> list[str]:
        run = replace(good, diagnosis=found)
        return [e.name for e in mechid.verdict(run).next_steps.evidence[: len(found)]]

    assert steps(delay, friction, still) == ["delay", "standstill", "friction"]
    # Of a motion that was not used nothing is left out.
    unused = replace(still, motion="validation-1")
    assert steps(delay, friction, unused) == ["delay", "friction", "standstill"]


@pytest.mark.slow
def test_few_clipped_samples_come_after_coloured_residuals(motions):
    usual = {"noise": "10%", "cad_error": "10%", "seed": 3, "periods": 2}
    coloured = usual | {"noise_kind": "coloured"}
    log, other = (mechid.synthesise(MODEL, m, **coloured) for m in motions)
    run = mechid.identify(MODEL, log, validate=other, **PRIOR)
    for share, last in ((0.017, "clipped"), (0.3, "model")):
        one = Diagnosis("clipped", "M1", 28.4, "N m", share / CLIPPED, "clipped", "enlarge it")
        steps = mechid.verdict(replace(run, diagnosis=(one, one))).next_steps.evidence
        assert [s.name for s in steps if s.name in ("model", "clipped")][-1] == last
        assert len(set(steps)) == len(steps)
        assert mechid.verdict(replace(run, diagnosis=(one, one))).lines[0].count("clipped M1") == 1


@pytest.mark.slow
def test_a_model_that_was_reduced_too_much(motions):
    usual = {"noise": "3%", "cad_error": "40%", "seed": 3, "periods": 2}
    log, other = (mechid.synthesise(MODEL, m, **usual) for m in motions)
    reduce = mechid.ReduceOptions(size=1)
    run = mechid.identify(MODEL, log, validate=other, reduce=reduce, cad_error="40%")
    by = {r.model: r for r in run.validation if r.motion == "validation-1"}
    assert by["estimate"].error < 0.9 * by["reduced"].error
    found = mechid.verdict(run)
    assert found.trust.answer == "with care"
    assert evidence(found.trust, "reduction").grade == "doubtful"
    assert found.next_steps.evidence[0].text.startswith("Keep more parameters")


@pytest.mark.slow
def test_several_logs_predict_each_other(logs):
    found = mechid.verdict(mechid.identify(MODEL, list(logs()), **PRIOR))
    assert found.trust.answer == "yes"
    assert "each log predicted from the others" in found.trust.text
    assert grades(found.trust)["logs"] == "good"


def test_a_force_that_was_not_measured_is_asked_for(logs):
    log, _ = logs()
    m = log.measurement
    half = replace(m, forces=m.forces[:1], tau=m.tau[:, :1], valid=m.valid[:, :1])
    found = mechid.verdict(mechid.identify(MODEL, half, **PRIOR))
    assert "Measure M2, too" in found.next_steps.text


def test_without_cad_values_little_is_known(logs):
    log, other = logs()
    model = mechid.load(MODEL)
    bare = replace(model, bodies=tuple(replace(b, inertia=None) for b in model.bodies))
    run = mechid.identify(bare, log.measurement, validate=other.measurement, estimator="weighted")
    found = mechid.verdict(run)
    known = grades(found.trust)
    assert known["physical consistency"] == known["CAD values and data"] == "not known"
    assert "not known without CAD values" in found.parameters.text


def test_parameters_are_named_with_their_bodies(good):
    answer = mechid.verdict(good).parameters
    name = good.contribution.parameters[int(np.argmax(good.contribution.index))]
    body = mechid.load(MODEL).bodies[int(name.split("_")[1]) - 1].name
    assert f"{name} of {body} ({good.contribution.index.max():.2g} %)" in answer.text
    large = int(np.count_nonzero(good.contribution.index >= 1.0))
    assert answer.answer == f"{large} of {len(good.parameters.names)}"


def test_a_run_that_was_stopped(good):
    found = mechid.verdict(replace(good, estimate=None, validation=(), forces=(), stages=("data",)))
    assert [a.answer for a in found.answers] == ["not known", "not known", "1 step"]


def test_of_a_folder_and_as_json(good, tmp_path):
    from mechid.options import from_words, to_words

    mechid.save_run(good, tmp_path / "run")
    found = mechid.verdict(tmp_path / "run")
    assert found.lines == mechid.verdict(good).lines
    assert from_words(Verdict, to_words(found)) == found
