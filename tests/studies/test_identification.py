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
from mechid.studies.plan import groups
from mechid.studies.study import loads_study
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


MAP = {"prior": "full", "scale": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "more", "error"),
    [
        ("map", MAP, {}),
        ("huber", {}, {"friction": "3%"}),
        ("auto", {}, {"friction": "3%"}),
        ("ols", {}, {"position_noise": "0.1%"}),
        ("map", MAP, {"jitter": "5%", "lowpass": 20.0, "crosstalk": "3%"}),
        ("ols", {}, {"eccentricity": 1e-4, "friction": "3%", "friction_fade": "30%"}),
    ],
)
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


@pytest.mark.slow
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
        ({"link": 1.5}, "link must be between 0 and 1, got 1.5"),
        ({"one_coefficient": -0.1}, "one_coefficient must be between 0 and 1, got -0.1"),
        ({"cad_centres": 0.05, "cad_draw": "values"}, "exclude each other; set cad_draw: bodies"),
        ({"link": 0.01, "hardpoints": 0.001}, "link and hardpoints exclude each other"),
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


@pytest.mark.parametrize("error", ["backlash", "eccentricity", "jitter"])
def test_positions_with_errors_are_in_the_observation_matrix(error: str) -> None:
    from mechid.studies.experiments.identification_data import data_of
    from mechid.tasks.linear import regression

    words = {error: {"jitter": "5%"}.get(error, 1e-3)}
    data, plain = data_of(settings(**words)), data_of(settings())
    log = mechid.synthesise(
        "five_bar", mechid.excite("five_bar", **MOTION), rate=50.0, noise="5%", seed=3, **words
    )
    measured = regression("five_bar", log, base="last")
    np.testing.assert_allclose(data.problem.W, measured.W, rtol=1e-9, atol=1e-12)
    assert np.abs(data.problem.W - plain.problem.W).max() > 1e-4
    np.testing.assert_array_equal(data.others[0].W, plain.others[0].W)
    np.testing.assert_array_equal(data.others[0].tau, plain.others[0].tau)


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


@pytest.mark.parametrize(("study", "estimator"), [("scorecard", "ols")])
def test_every_error_of_a_study_has_data(study: str, estimator: str) -> None:
    from mechid.studies.study import load_study

    part = load_study(study).part()
    cells = [
        cell.settings
        for cell in part.cells
        if cell.labels[0] == "five_bar" and cell.settings.estimator == estimator
    ]
    outcomes = list(EXPERIMENT.run(cells))
    assert len(outcomes) >= 20
    assert not [outcome for outcome in outcomes if isinstance(outcome, MechidError)]


# ------------------------------------------------------------------------------- coverage


@pytest.mark.parametrize("estimator", ["map", "ols"])
def test_coverage_adds_columns_to_the_errors(estimator: str) -> None:
    words: dict[str, Any] = {"estimator": estimator, "noise": "10%"}
    found, plain = rows(**words, report="coverage"), rows(**words)
    assert [{k: row[k] for k in plain[0]} for row in found] == plain
    every, first, second = found
    for level in (50, 68, 95):
        both = [float(row[f"forces_{level}"]) for row in (first, second)]
        assert every[f"forces_{level}"] == pytest.approx(np.mean(both))
        assert first[f"determined_{level}"] is None
    assert every["forces_95"] == every["inside_forces"]
    z = np.abs([row["z"] for row in rows(**words, report="parameters")])
    resting = np.array([row["resting"] for row in rows(**words, report="parameters")])
    for level, width in ((50, 0.6745), (68, 0.9945), (95, 1.96)):
        for name, some in (("determined", ~resting), ("resting", resting)):
            wanted = float(np.mean(z[some] <= width)) if some.any() else None
            assert every[f"{name}_{level}"] == wanted
    assert resting.any() == (estimator == "map")


def test_coverage_of_cad_values_alone() -> None:
    row = of_all(estimator="cad", report="coverage")
    assert {row[f"{what}_95"] for what in ("determined", "resting", "forces")} == {None}


# ------------------------------------------------------------------------------- the machine


def test_one_link_is_longer() -> None:
    from mechid.mechanism.altered import with_joints_moved
    from mechid.studies.experiments.identification_machine import with_longer_link

    ends = {"crank_1": "A1 B1", "crank_2": "A2 B2", "coupler_1": "B1 C", "coupler_2": "B2 C"}
    model = mechid.load("five_bar")

    def length(mechanism: Any, body: str) -> float:
        one, other = (
            np.array((j.frame_a if j.body_a == body else j.frame_b).origin)
            for j in map(mechanism.joint, ends[body].split())
        )
        return float(np.linalg.norm(other - one))

    seen = set()
    for seed in range(12):
        machine, moved = with_longer_link(model, 0.01, seed)
        ratios = {body: length(machine, body) / length(model, body) for body in ends}
        (joint,) = moved
        longer = [b for b in ends if abs(ratios[b] - 1.01) < 1e-9 and joint in ends[b].split()]
        assert longer
        seen.add(longer[0])
        assert with_joints_moved(model, moved) == machine
    assert len(seen) > 2
    # Its data are those of a machine with these joints elsewhere, and so are other motions.
    from mechid.studies.experiments.identification_data import data_of

    s = settings(link="1%", noise=0.0, calibrate=1e-3)
    data = data_of(s)
    machine, moved = with_longer_link(model, 0.01, s.seed)
    exact = mechid.synthesise(machine, mechid.excite("five_bar", **OTHER), rate=50.0).tau
    np.testing.assert_allclose(data.others[0].tau, exact, rtol=1e-9)
    assert np.linalg.norm(data.truth[-15:]) == pytest.approx(np.linalg.norm(*moved.values()))


def test_one_coefficient_is_another() -> None:
    from mechid.dynamics.parameters import parameter_values
    from mechid.studies.experiments.identification_data import data_of
    from mechid.studies.experiments.identification_machine import with_other_coefficient

    arm = mechid.load("puma560")
    known = parameter_values(dynamic_model(arm))
    seen = set()
    for seed in range(10):
        own = parameter_values(dynamic_model(with_other_coefficient(arm, 0.4, seed)))
        (k,) = np.flatnonzero(own != known)
        assert abs(own[k] / known[k] - 1) == pytest.approx(0.4)
        seen.add(int(k))
    assert len(seen) > 3
    # One that is known is an error of the model: other forces, the same observation matrix.
    words = {"model": "sla_suspension", "base": "T1", "motion": {**MOTION, "base": "T1"},
             "validation": [], "noise": 0.0, "seconds": 0.5}  # fmt: skip
    right, wrong = (data_of(settings(**words, one_coefficient=x)) for x in (0.0, "40%"))
    np.testing.assert_array_equal(right.truth, wrong.truth)
    for r, left in ((right.problem, 0.0), (wrong.problem, 1.0)):
        gap = np.abs(r.W @ right.truth + r.known - r.tau).max()
        assert (gap > left) if left else (gap < 1e-6)


def test_friction_in_passive_joints() -> None:
    model = mechid.load("five_bar")
    words: dict[str, Any] = {"friction": "1%", "stribeck": {"A1": "2%"}}
    passive = settings(**words, friction_in="passive").errors(model)
    assert set(passive.friction.channels) == {"B1", "B2", "C"}
    assert set(passive.stribeck.channels) == {"A1", "B1", "B2", "C"}
    assert passive.friction.of("A1").value == passive.stribeck.of("C").value == 0.0
    assert passive.friction.of("C").value == 0.01
    assert passive.stribeck.of("A1").value == 0.02
    driven = settings(**words, friction_in="driven").errors(model)
    assert set(driven.friction.channels) == {"A1", "A2"}
    with pytest.raises(DataError, match="puma560: no joint is passive; set friction_in: all"):
        settings(friction="1%", friction_in="passive").errors(mechid.load("puma560"))


# ------------------------------------------------------------------------------- CAD values


def test_cad_masses_exchanged() -> None:
    from mechid.studies.experiments.identification_cad import with_masses_exchanged

    truth = mechid.load("five_bar")
    cad = perturbed(truth, 0.2, np.random.default_rng(1))
    seen = set()
    for seed in range(10):
        found = with_masses_exchanged(cad, truth, seed)
        pairs = list(zip(cad.bodies, found.bodies, strict=True))
        one, other = [pair for pair in pairs if pair[0] != pair[1]]
        assert (one[0].inertia.mass, other[0].inertia.mass) == pytest.approx(
            (other[1].inertia.mass, one[1].inertia.mass)
        )
        for before, after in (one, other):
            assert before.inertia.center == after.inertia.center
            np.testing.assert_allclose(
                np.array(after.inertia.inertia_center) / after.inertia.mass,
                np.array(before.inertia.inertia_center) / before.inertia.mass,
            )
        seen.add((one[0].name, other[0].name))
    assert len(seen) > 2
    assert of_all(estimator="cad", cad_exchanged=True)["E_p"] != of_all(estimator="cad")["E_p"]


def test_cad_centres_off_in_any_direction() -> None:
    from mechid.studies.experiments.identification_cad import with_centres_off

    truth = mechid.load("five_bar")
    cad = perturbed(truth, 0.2, np.random.default_rng(1))
    drawn = [with_centres_off(cad, truth, 0.05, seed) for seed in range(2000)]
    for k, (body, usual) in enumerate(zip(truth.bodies, cad.bodies, strict=True)):
        known = body.inertia
        xx, _, _, yy, _, zz = known.inertia_center
        error = np.array([d.bodies[k].inertia.center for d in drawn]) - known.center
        sigma = 0.05 * np.sqrt((xx + yy + zz) / known.mass)
        np.testing.assert_allclose(np.cov(error.T), sigma**2 * np.eye(3), atol=0.12 * sigma**2)
        assert drawn[0].bodies[k].inertia.mass == usual.inertia.mass
        assert drawn[0].bodies[k].inertia.inertia_center == usual.inertia.inertia_center
