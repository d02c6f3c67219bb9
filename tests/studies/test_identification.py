"""The experiment `identification` against the steps of the method."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import predict
from mechid.estimation.perturb import perturbed
from mechid.options.words import changed
from mechid.studies.experiment import Row
from mechid.studies.experiments.identification import ALL, EXPERIMENT
from mechid.studies.experiments.identification_settings import IdentificationSettings
from mechid.studies.study import loads_study
from mechid.studies.tasks import groups
from mechid.tasks.regress import regression_of
from mechid.tasks.synthetic_errors import stream

MOTION = {"random": 2, "starts": 0, "harmonics": 3, "base": "last"}
OTHER = {**MOTION, "seed": 7}


def settings(**words: Any) -> IdentificationSettings:
    given = {
        "base": "last",
        "motion": MOTION,
        "validation": [OTHER],
        "noise": "5%",
        "seed": 3,
        **words,
    }
    return changed(IdentificationSettings(model="five_bar"), given)


def rows(**words: Any) -> list[Row]:
    (found,) = EXPERIMENT.run([settings(**words)])
    assert not isinstance(found, MechidError), found
    return list(found)


def of_all(**words: Any) -> Row:
    return next(row for row in rows(**words) if row["force"] == ALL)


def test_methods_on_the_same_data_follow_one_another() -> None:
    """Data are kept for a few cells: several methods then make them once."""
    text = f"""title: T
experiment: identification
settings: {{model: five_bar, base: last, motion: {MOTION}}}
axes: {{estimator: [cad, ols, weighted], cad_error: [10%, 20%], seed: {{count: 20}}}}
"""
    (part,) = loads_study(text, Path("study.yaml")).parts
    (cells,) = groups(part, part.cells)
    keys = [EXPERIMENT.data(cell.settings) for cell in cells]
    assert len(cells) == len(part.cells) == 120
    assert len(set(keys)) == sum(a != b for a, b in pairwise([None, *keys])) == 40


@pytest.mark.parametrize(
    ("estimator", "more"),
    [("auto", {}), ("ols", {}), ("map", {"prior": "full", "scale": 1.0}), ("huber", {})],
)
@pytest.mark.parametrize("error", [{}, {"friction": "3%"}, {"position_noise": "0.1%"}])
def test_same_as_the_steps_of_the_method(
    estimator: str, more: dict[str, Any], error: dict[str, Any]
) -> None:
    s = settings(estimator=estimator, estimator_settings=more, **error)
    truth = mechid.load("five_bar")
    cad = perturbed(truth, 0.2, stream(s.seed, "cad"))
    log, other = (mechid.excite("five_bar", **words) for words in (MOTION, OTHER))
    data = mechid.synthesise(truth, log, rate=50.0, noise="5%", seed=3, **error)
    exact = mechid.synthesise(truth, other, rate=50.0, truth=data.truth)
    run = mechid.identify(
        cad, data, estimator=estimator, base="last", cad_error=0.2, validate=exact, **more
    )
    row = of_all(estimator=estimator, estimator_settings=more, **error)
    # What sensors do, offsets and delays that were found, is no error of the exact forces.
    estimate = run.estimate
    assert estimate is not None
    motion = next(m for m in run.motions if m.name == "validation-1")
    r = regression_of(dynamic_model(run.mechanism), motion, run.parameters.names)
    predicted = predict(replace(estimate, errors=None), r).forces
    expected = np.linalg.norm(predicted - exact.exact, axis=0) / np.linalg.norm(exact.exact, axis=0)
    assert row["E_p"] == pytest.approx(float(np.sum(expected)), rel=1e-6)
    assert row["condition"] == pytest.approx(estimate.condition, rel=1e-6)
    of_cad = np.linalg.norm(r.W @ run.parameters.cad + r.known - exact.exact)
    assert row["overall_cad"] == pytest.approx(of_cad / np.linalg.norm(exact.exact), rel=1e-6)


def test_without_errors_nothing_is_left() -> None:
    row = of_all(noise=0.0, estimator="weighted")
    assert row["E_p"] < 1e-9
    assert row["inside"] == 1.0


def test_cad_values_alone() -> None:
    row = of_all(estimator="cad")
    assert row["E_p"] == row["E_p_cad"]
    assert row["condition"] is None
    assert of_all(estimator="cad", cad_error=0.0)["E_p"] < 1e-12


def test_few_relevant_parameters_are_estimated() -> None:
    assert of_all(estimator="relevant:4")["parameters"] == 4
    assert of_all(estimator="reduced")["E_p"] < of_all(estimator="cad")["E_p"]


def test_all_is_the_sum_over_the_forces() -> None:
    found = rows(estimator="ols")
    total = sum(row["E_p"] for row in found if row["force"] != ALL)
    assert found[0]["E_p"] == pytest.approx(total)
    assert [row["force"] for row in found] == [ALL, "M1", "M2"]


def test_rows_do_not_depend_on_the_company() -> None:
    cells = [settings(estimator=e, seed=k) for k in range(3) for e in ("ols", "map", "auto")]
    together = list(EXPERIMENT.run(cells))
    again = list(EXPERIMENT.run(cells[::-1]))[::-1]
    alone = [next(iter(EXPERIMENT.run([cell]))) for cell in cells]
    assert together == again == alone


def test_a_cell_that_cannot_be_computed_does_not_stop_the_others() -> None:
    wrong = settings(forces=["M9"])
    first, second = EXPERIMENT.run([wrong, settings(estimator="cad")])
    assert isinstance(first, DataError)
    assert "M9" in str(first)
    assert not isinstance(second, MechidError)


def test_forces_that_are_not_measured() -> None:
    """They are predicted as well, less exactly than those that are."""
    some, every = (rows(estimator="map", forces=names) for names in (["M2"], ["M1", "M2"]))
    assert [row["force"] for row in some] == [ALL, "M1", "M2"]
    assert some[1]["E_p"] > every[1]["E_p"]


def test_sizes() -> None:
    found = rows(report="sizes", estimator="ols", sizes=[2, 11, 99])
    assert [row["size"] for row in found] == [2, 11]
    assert found[0]["condition"] < found[1]["condition"]
    # All parameters: plain least squares.
    assert found[1]["E_p"] == pytest.approx(of_all(estimator="ols")["E_p"], rel=1e-6)


def test_parameters() -> None:
    found = rows(report="parameters", estimator="map")
    assert len(found) == 11
    inside = np.mean([abs(row["z"]) < 1.96 for row in found])
    assert inside == pytest.approx(of_all(estimator="map")["inside"])
    assert all(row["sigma"] < 4.01 * row["cad_sigma"] for row in found)


def test_errors_of_one_force_follow_the_seed() -> None:
    mechanism = mechid.load("five_bar")
    for seed, force in ((0, "M1"), (1, "M2")):
        options = settings(seed=seed, one={"gain": "10%"}, kilo=True).errors(mechanism)
        assert list(options.gain.channels) == [force]
        assert options.units == {force: "kN m"}
    moved = settings(hardpoints=1e-3, joints=2).errors(mechanism).hardpoints
    assert len(moved.channels) == 2
    assert moved.every.value == 0.0


def test_hardpoints_estimated_besides() -> None:
    """Displacements of joints are found, and predictions become better."""
    words = {"hardpoints": 2e-3, "noise": "0.1%", "cad_error": 0.05, "estimator": "map"}
    scale = {"estimator_settings": {"prior": "full", "scale": 1.0}}
    without, with_them = (of_all(**words, **scale, calibrate=x) for x in (0.0, 2e-3))
    assert with_them["E_p"] < 0.5 * without["E_p"]
    found = rows(**words, **scale, calibrate=2e-3, report="parameters")
    moved = [row for row in found if str(row["parameter"]).startswith("hardpoint")]
    assert len(moved) == 3 * 5
    assert np.linalg.norm([row["truth"] for row in moved]) == pytest.approx(2e-3 * 5**0.5)
    z = np.array([row["z"] for row in found])
    assert np.sqrt(np.mean(z**2)) < 2.0


def test_a_set_as_listed() -> None:
    """T5 of the suspension is not a base set: its columns depend on each other."""
    from mechid.studies.experiments.shared import columns

    found = columns("sla_suspension", "T5", True)
    assert len(found.names) == len(set(found.names))
    np.testing.assert_array_equal(found.matrix.sum(axis=1), 1.0)
    with pytest.raises(MechidError):
        columns("sla_suspension", "T5")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"estimator": "olss"}, "there is no estimator olss"),
        ({"estimator": "relevant"}, "makes no sense"),
        ({"rate": 0.0}, "rate must be > 0"),
        ({"seconds": 1.0, "periods": 2.0}, "exclude each other"),
        ({"declared": 0.1, "declared_in_file": True}, "exclude each other"),
        ({"estimator": "ols", "estimator_settings": {"penalty": 1}}, "has no setting penalty"),
    ],
)
def test_settings_that_make_no_sense(words: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        settings(**words)


def test_seconds_are_as_long_as_they_say() -> None:
    from mechid.studies.experiments.shared import sampled

    table = sampled(settings(seconds=2.5).measured)
    assert len(table.time) == 125
    with pytest.raises(DataError, match="fewer than two samples"):
        sampled(replace(settings(), seconds=0.01).measured)


def test_other_motions_are_those_of_the_machine_that_was_measured() -> None:
    """Friction takes power at every sample of every motion."""
    from mechid.dynamics.inverse import inverse_dynamics
    from mechid.kinematics.motion import solve_motion
    from mechid.studies.experiments.identification_data import data_of
    from mechid.studies.experiments.shared import mechanism, sampled

    s = settings(friction="3%", noise=0.0)
    data = data_of(s)
    for by, r in zip((s.measured, *s.others), (data.problem, *data.others), strict=True):
        table = sampled(by)
        motion = solve_motion(mechanism("five_bar"), table.y, table.yd, table.ydd, time=table.time)
        friction = r.tau - inverse_dynamics(motion).tau
        assert np.all(np.sum(friction * table.yd, axis=1) > 0)


def test_every_error_of_the_study_has_data() -> None:
    from mechid.studies.study import load_study

    part = load_study("data-errors").part()
    cells = [
        cell.settings
        for cell in part.cells
        if cell.labels[0] == "five_bar" and cell.settings.estimator == "cad"
    ]
    outcomes = list(EXPERIMENT.run(cells))
    assert len(outcomes) >= 20
    assert not [outcome for outcome in outcomes if isinstance(outcome, MechidError)]
