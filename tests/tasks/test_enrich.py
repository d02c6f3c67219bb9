"""What a machine has and its model lacks is found, and written into the model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model, with_geometry
from mechid.errors import DataError
from mechid.mechanism.altered import (
    coefficients,
    movable_joints,
    with_coefficient,
    with_joints_moved,
)
from mechid.runs.record import Run
from mechid.tasks.enrich import Enriched, with_truth
from mechid.tasks.regress import regression_of
from mechid.tasks.synthesise import Synthesis

MODEL = "five_bar"
JOINTS = ("A1", "A2", "B1", "B2", "C")


@cache
def made(seed: int = 0, noise: str = "1%", **errors: str) -> Synthesis:
    motion = mechid.excite(MODEL, random=20, starts=0)
    return mechid.synthesise(
        MODEL, motion, noise=noise, cad_error="10%", periods=2, seed=seed, **errors
    )


@cache
def rough() -> Run:
    """Friction of 2 % in all joints, of which the model has none."""
    return mechid.identify(MODEL, made(friction="2%"), cad_error="10%")


def moved_to(run: Run, joint: str) -> np.ndarray:
    """Return by how much a joint of a run is elsewhere than in its model."""
    given, found = mechid.load(MODEL).joint(joint), run.mechanism.joint(joint)
    rotation = np.array(mechid.load(MODEL).body(given.body_a).frame.rotation)
    return rotation @ np.subtract(found.frame_a.origin, given.frame_a.origin)


@pytest.mark.slow
def test_friction_of_all_joints_is_found_and_written_into_the_model() -> None:
    run, truth = rough(), made(friction="2%").errors["friction"]
    assert set(truth) == {*JOINTS}
    assert {f.name for f in run.added} == {f"Coulomb friction of {joint}" for joint in JOINTS}
    assert all(f.family == "friction" and f.owner == "machine" for f in run.added)
    assert {e.coordinates for e in run.mechanism.elements} == {((joint, 0),) for joint in JOINTS}
    for joint, true in truth.items():
        k = run.final.parameters.index(f"coulomb_{joint}_dry")
        assert run.final.values[k] == pytest.approx(true, rel=0.2)
        assert abs(run.final.values[k] - true) < 4 * run.final.sigma[k]
    assert {(d.kind, d.channel) for d in run.diagnosis} == {("friction", x) for x in JOINTS}
    assert all(d.settled for d in run.diagnosis)
    assert run.errors("identification")["estimate"] == pytest.approx(0.01, rel=0.2)  # the noise


def test_the_model_with_friction_predicts_other_motions_of_the_machine() -> None:
    other = mechid.excite(MODEL, random=20, starts=0, seed=3)
    log = mechid.synthesise(MODEL, other, noise="1%", truth=made(friction="2%").truth, periods=1)
    found = mechid.validate(rough(), log)
    error = found.run.errors("validation-1")
    assert error["estimate"] == pytest.approx(0.01, rel=0.2)  # the noise
    assert error["estimate"] < 0.5 * error["cad"]
    assert not [d for d in found.diagnosis if not d.settled]


def test_what_is_found_is_the_same_in_a_file(tmp_path) -> None:
    mechid.save_run(rough(), tmp_path / "run")
    again = mechid.load_run(tmp_path / "run")
    assert again.added == rough().added
    assert again.mechanism == rough().mechanism
    assert again.final.found == rough().final.found


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_added_to_a_complete_model(seed: int) -> None:
    run = mechid.identify(MODEL, made(seed), cad_error="10%")
    assert run.added == ()
    assert run.mechanism == mechid.load(MODEL)
    assert run.diagnosis == ()
    assert not [f.name for f in run.final.found if f.likely]


@pytest.mark.slow
def test_nothing_is_looked_for_with_other_estimators() -> None:
    run = mechid.identify(MODEL, made(friction="2%"), cad_error="10%", estimator="map")
    assert run.added == ()
    assert run.mechanism == mechid.load(MODEL)
    # If it is asked for, it is found with them too.
    asked = mechid.identify(
        MODEL, made(friction="2%"), cad_error="10%", estimator="map", friction="auto"
    )
    assert {f.name for f in asked.added} == {f.name for f in rough().added}
    assert asked.final.method == "map"
    assert asked.errors("identification")["estimate"] < 0.02


def test_errors_that_are_not_there_are_not_looked_for() -> None:
    words = {"cad_error": "10%", "without": "friction, places, elasticity"}
    run = mechid.identify(MODEL, made(friction="2%"), **words)
    assert run.added == ()
    families = {f.family for f in run.final.found}
    assert not families & {"friction", "places", "elasticity"}
    assert families


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["auto", "map", "ols"])
def test_friction_that_is_named_is_added_to_all_joints(estimator: str) -> None:
    """Also where it is not there: its coefficients are zero within their deviations."""
    words = {"cad_error": "10%", "estimator": estimator, "friction": ("coulomb",)}
    run = mechid.identify(MODEL, made(1), **words)
    assert {f.name for f in run.added} >= {f"Coulomb friction of {joint}" for joint in JOINTS}
    assert {e.coordinates for e in run.mechanism.elements} == {((joint, 0),) for joint in JOINTS}
    for joint in JOINTS:
        k = run.final.parameters.index(f"coulomb_{joint}_dry")
        assert abs(run.final.values[k]) < 4 * run.final.sigma[k]


@pytest.mark.parametrize(
    ("friction", "words"),
    [
        (("sticky",), "there is no shape of friction sticky; choose one of: auto, keep, coulomb"),
        (("coulomb", "sticky"), "there is no shape of friction sticky"),
        (("auto", "coulomb"), "friction auto, coulomb makes no sense"),
        (("keep", "coulomb"), "friction keep, coulomb makes no sense"),
    ],
)
def test_unknown_shapes_are_refused(friction: tuple[str, ...], words: str) -> None:
    with pytest.raises(DataError, match=words):
        mechid.identify(MODEL, made(), friction=friction)


def test_after_a_gross_mistake_nothing_else_is_looked_for() -> None:
    log = made(friction="2%")
    wrong = replace(log.measurement, tau=log.tau[:, ::-1])
    run = mechid.identify(MODEL, wrong, cad_error="10%")
    assert [d.kind for d in run.diagnosis] == ["swapped"]
    assert run.added == ()
    assert run.mechanism == mechid.load(MODEL)


# Displaced joints. Forces show where they are in the plane of the motion only.
PLANE = [0, 2]


@cache
def displaced(declared: bool) -> tuple[Run, np.ndarray]:
    log = made(noise="0.2%", hardpoints="C=0.006")
    more = {"hardpoints": "C=0.006"} if declared else {}
    true = np.array(log.errors["hardpoints"]["C"])
    return mechid.identify(MODEL, log, cad_error="10%", **more), true


@pytest.mark.parametrize("declared", [False, True])
def test_a_joint_that_is_elsewhere_is_moved(declared: bool) -> None:
    run, true = displaced(declared)
    assert [f.name for f in run.added] == ["place of C"]
    (found,) = (f for f in run.final.found if f.name == "place of C")
    off = (np.array(found.values) - true)[PLANE]
    assert np.all(np.abs(off) < 4 * np.array(found.sigma)[PLANE])
    assert np.linalg.norm(off) < 0.4 * np.linalg.norm(true[PLANE])
    assert np.linalg.norm((moved_to(run, "C") - true)[PLANE]) < 0.5 * np.linalg.norm(true[PLANE])
    assert [(d.kind, d.channel, d.settled) for d in run.diagnosis] == [("place", "C", True)]


@pytest.mark.parametrize("declared", [False, True])
def test_parameters_go_with_the_places_of_the_model(declared: bool) -> None:
    """So that the model of the run has the forces that were measured, up to their noise."""
    run, _ = displaced(declared)
    assert run.errors("identification")["estimate"] < 0.003
    assert np.all(
        np.abs(run.values() - run.parameters.truth) < 4 * run.final.sigma[: len(run.values())]
    )


@pytest.mark.slow
def test_places_that_are_declared_where_they_are() -> None:
    """A displacement that is not there is no finding."""
    run = mechid.identify(MODEL, made(), cad_error="10%", hardpoints=0.0005)
    assert not [f for f in run.added if np.linalg.norm(f.values) > 4 * np.linalg.norm(f.sigma)]
    assert run.errors("identification")["estimate"] == pytest.approx(0.01, rel=0.2)


def test_hardpoints_of_zero_are_exact() -> None:
    run = mechid.identify(MODEL, made(), cad_error="10%", hardpoints=0.0)
    assert not [f for f in run.final.found if "place" in f.family]


def test_only_auto_looks_for_places() -> None:
    with pytest.raises(DataError, match="the estimator map takes places of joints as exact"):
        mechid.identify(MODEL, made(), estimator="map", hardpoints=0.001)


@pytest.mark.parametrize("name", ["sla_suspension@struts", MODEL])
def test_a_moved_joint_by_tables_is_that_of_a_full_compilation(name: str) -> None:
    given = mechid.load(name)
    rng = np.random.default_rng(0)
    joints = movable_joints(given)[:2]
    other = with_joints_moved(given, {j: (1e-5 * rng.standard_normal(3)).tolist() for j in joints})
    tour = mechid.tour(given)
    at = slice(0, 30, 5)
    y, yd, ydd = tour.y[at], tour.yd[at], tour.ydd[at]

    whole = dynamic_model(other)
    quick = with_geometry(dynamic_model(given), other)
    assert quick.mechanism == other
    assert [c.name for c in quick.columns] == [c.name for c in whole.columns]
    for table, expected in zip(quick.tables, whole.tables, strict=True):
        np.testing.assert_array_equal(table, expected)
    log = mechid.prepare(mechid.synthesise(given, mechid.MotionTable(np.arange(6.0), y, yd, ydd)),
                         given)  # fmt: skip
    names = [c.name for c in whole.columns]
    r, s = (regression_of(m, log, names) for m in (quick, whole))
    np.testing.assert_array_equal(r.W, s.W)
    np.testing.assert_array_equal(r.known, s.known)


def test_coefficients_have_names_of_their_own() -> None:
    """And each is changed alone."""
    for name in ("sla_suspension@struts", "tx40", "pendulum@friction"):
        given = mechid.load(name)
        found = coefficients(given)
        assert len({place.words for place in found}) == len(found)
        for place, coefficient in found.items():
            other = coefficients(with_coefficient(given, place, 2 * coefficient.value))
            assert {p for p in found if other[p].value != found[p].value} == {place}


@pytest.mark.slow
def test_a_spring_that_is_stiffer_than_the_catalogue_says() -> None:
    """A known stiffness is corrected in the model, where the forces show it."""
    spring = "{type: torsion_spring, joint: hinge, stiffness: %g}"
    text = mechid.dumps(mechid.load("pendulum"))
    stiff, soft = (
        mechid.loads(text + f"elements: {{spring: {spring % k}}}\n") for k in (12.0, 10.0)
    )
    motion = mechid.excite("pendulum", random=10, starts=0)
    log = mechid.synthesise(stiff, motion, noise="0.5%", cad_error="2%", periods=3)
    run = mechid.identify(soft, replace(log, mechanism=soft).measurement, cad_error="2%")
    assert [f.name for f in run.added] == ["stiffness of spring"]
    ((_, value),) = coefficients(run.mechanism).items()
    assert value.value == pytest.approx(12.0, rel=0.05)
    assert ("coefficient", "spring") in {(d.kind, d.channel) for d in run.diagnosis}


def test_truth_of_a_machine_with_friction_is_that_of_its_friction() -> None:
    """Synthetic friction is no parameter of the truth; what was added is known nevertheless."""
    run = rough()
    assert run.parameters.truth is not None
    truth = dict(zip(run.parameters.names, run.parameters.truth, strict=True))
    for joint, true in made(friction="2%").errors["friction"].items():
        assert truth[f"coulomb_{joint}_dry"] == pytest.approx(true)


def test_truth_of_the_same_mechanism_is_kept() -> None:
    truth = made().truth
    same = Enriched(mechid.load(MODEL), None, None, None)  # type: ignore[arg-type]
    assert with_truth(truth, same, same.mechanism) is truth
    assert with_truth(None, same, same.mechanism) is None


SWING = """
mechid: 1
name: swing
gravity: [0, 0, -9.81]
points: {pivot: [0, 0, 0]}
bodies:
  bob:
    frame: {origin: pivot}
    mass: 1.2
    center: [0.012, 0.008, -0.5]
    inertia: {about: center, xx: 0.021, xy: 0.0001, xz: 0.0004, yy: 0.019, yz: -0.0003, zz: 0.0035}
    uncertainty: {mass: 3 %, center: 0.003, inertia: 15 %}
joints:
  hinge: {type: revolute, between: [ground, bob], at: pivot, axis: y}
coordinates:
  angle: {joint: hinge, force: M_hinge}
elements:
"""
COIL = (
    "  coil: {{type: torsion_spring, joint: hinge, stiffness: 2.5, damping: {}, free_angle: 0}}\n"
)
MOTOR = """
  motor:
    {{type: transmission, coordinates: [hinge], motors: {{m1: {{viscous: 0.02}}}}, matrix: [[1]]}}
  rub: {{type: friction, joint: hinge, viscous: {}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("element", "given", "true"), [(COIL, 0.2, 0.05), (MOTOR, 0.05, 0.3)])
def test_known_damping_that_is_otherwise(element: str, given: float, true: float) -> None:
    """Damping of an element that is no friction is a coefficient of its own; stated friction is
    replaced. The sum is what the machine has."""
    machine, model = (mechid.loads(SWING + element.format(x)) for x in (true, given))
    motion = mechid.excite(machine, random=6, starts=0)
    log = mechid.synthesise(machine, motion, noise="1%", periods=2, seed=0)
    run = mechid.identify(model, log)
    assert len(run.added) == 1
    assert run.errors("identification")["estimate"] < 0.011
    if element == COIL:
        (coil,) = run.mechanism.elements
        assert coil["damping"].value == pytest.approx(true, rel=0.1)
    else:
        at = run.final.parameters.index("viscous_hinge_viscous")
        assert run.final.values[at] == pytest.approx(true, rel=0.1)
