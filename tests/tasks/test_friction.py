"""Friction that the model lacks: found, named and written into it; samples at standstill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.dynamics.hysteresis import dahl
from mechid.errors import DataError
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import build, load
from mechid.modelfile.dump import document_of
from mechid.report.page import write_report
from mechid.runs.folder import load_run, save_run
from mechid.runs.record import Run
from mechid.signals.record import PreparedMeasurement
from mechid.tables.motion import MotionTable
from mechid.tasks.friction_shapes import SHAPES, friction_shapes, friction_terms, shape_columns
from mechid.tasks.identify import identify
from mechid.tasks.predict import predict
from mechid.tasks.synthesise import Synthesis, synthesise

from ..elements import element, motor, transmission
from .test_identify import data_of, moved

KNOWN = Coefficient(2.0)


def with_friction(**values: object) -> Mechanism:
    """The pendulum with viscous and Coulomb friction, and with further terms of given size."""
    pendulum = load("pendulum@friction")
    more = element("more", "friction", (), (("hinge", 0),), **values)
    return replace(pendulum, elements=(*pendulum.elements, more))


def measured(truth: Mechanism, seed: int = 0, noise: float = 0.02) -> PreparedMeasurement:
    made: Synthesis = synthesise(truth, moved(truth, 600, 0.5, seed), noise=noise, seed=seed)
    return data_of(made)


def run_of(motion: PreparedMeasurement, **words: object) -> Run:
    return identify("pendulum@friction", motion, cad_error=0.2, **words)


def added(run: Run) -> set[str]:
    return {f.name for f in run.added}


def named(run: Run) -> set[tuple[str, str]]:
    return {(d.kind, d.channel) for d in run.diagnosis}


def right(run: Run, **truth: float) -> bool:
    """Whether parameters are known, and have the true values within their deviations."""
    at = [run.parameters.names.index(name) for name in truth]
    x, true = run.values()[at], np.array([*truth.values()])
    k = [run.final.parameters.index(name) for name in truth]
    sigma = run.final.sigma[k]
    return bool(np.all(np.abs(x - true) < 3.5 * sigma) and np.all(sigma < 0.2 * np.abs(true)))


STRIBECK = {"stribeck": KNOWN, "stribeck_speed": 0.6}


def test_columns_are_the_shapes_of_the_speed() -> None:
    """The hinge is the coordinate: a column is the law of its speed."""
    pendulum, motion = load("pendulum@friction"), measured(load("pendulum@friction"))
    shapes = friction_shapes(pendulum, [motion])
    # What the model has is not offered again.
    assert {s.shape for s in shapes} == set(SHAPES) - {"coulomb", "viscous", "load"}
    v = motion.yd[:, 0]
    for shape, column in zip(shapes, shape_columns(pendulum, [motion], shapes).T, strict=True):
        match shape.shape:
            case "asymmetric":
                expected = (v > 0).astype(float)
            case "quadratic":
                expected = v * np.abs(v)
            case "stribeck":
                speed = shape.element["stribeck_speed"]
                expected = np.sign(v) * np.exp(-((v / speed) ** 2))
            case "rotor":
                expected = motion.ydd[:, 0]
            case "hysteresis":
                expected = dahl(motion.y[:, 0], shape.element["hysteresis_width"])
        np.testing.assert_allclose(column[0], expected, atol=1e-12)


def test_widths_of_hysteresis_are_by_the_range_of_the_joint() -> None:
    """The narrowest are almost Coulomb friction."""
    pendulum, motion = load("pendulum@friction"), measured(load("pendulum@friction"))
    shapes = [s for s in friction_shapes(pendulum, [motion]) if s.shape == "hysteresis"]
    widths = np.array([s.element["hysteresis_width"] for s in shapes]) / np.ptp(motion.y[:, 0])
    assert widths.min() < 0.001
    assert widths.max() > 0.02
    assert np.all(np.diff(np.log(widths)) < np.log(4))


@pytest.mark.parametrize("seed", range(1))
def test_friction_that_the_model_has_gets_no_shapes(seed: int) -> None:
    run = run_of(measured(load("pendulum@friction"), seed))
    assert run.added == ()
    assert run.mechanism.elements == load("pendulum@friction").elements
    assert run.diagnosis == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_stribeck_friction_is_named_and_added(seed: int, tmp_path: Path) -> None:
    truth = with_friction(**STRIBECK)
    motion, other = measured(truth, seed), measured(truth, seed + 10, noise=0.0)
    other = replace(other, name="other")
    plain, richer = (run_of(motion, validate=other, **x) for x in ({"friction": "keep"}, {}))
    assert plain.added == ()
    assert any("Stribeck" in name for name in added(richer))
    assert ("friction", "hinge") in named(richer)
    assert all(d.settled for d in richer.diagnosis if d.kind == "friction" and not d.motion)
    name = plain.motions[1].name
    assert richer.errors(name)["estimate"] < 0.5 * plain.errors(name)["estimate"]
    # The model with the new terms is a model like any other.
    assert len(richer.mechanism.elements) > len(plain.mechanism.elements)
    save_run(richer, tmp_path / "run")
    again = load_run(tmp_path / "run")
    assert again.added == richer.added
    assert again.mechanism == richer.mechanism
    write_report(tmp_path / "run", tmp_path / "report.html")


@pytest.mark.slow
def test_named_shapes_are_added_to_all_joints(tmp_path: Path) -> None:
    """Whether they are there or not; of several that differ in a speed, the most probable."""
    run = run_of(measured(with_friction(**STRIBECK)), friction="stribeck,quadratic")
    assert sorted(f.name.partition(" at")[0] for f in run.added) == [
        "Stribeck's drop", "friction that grows with the square of the speed of hinge",
    ]  # fmt: skip
    save_run(run, tmp_path / "run")
    again = load_run(tmp_path / "run")
    assert again.added == run.added
    assert again.diagnosis == run.diagnosis
    assert again.about.options.friction == ("stribeck", "quadratic")


def test_truth_of_added_terms_is_zero() -> None:
    pendulum = load("pendulum@friction")
    made = synthesise(pendulum, moved(pendulum, 400, 0.5), noise=0.02, seed=1)
    run = identify(pendulum, made, cad_error=0.2, friction="quadratic")
    (k,) = (i for i, name in enumerate(run.parameters.names) if name.startswith("c2_"))
    assert run.parameters.truth is not None
    assert run.parameters.truth[k] == 0.0
    assert abs(run.values()[k]) < 4 * run.final.sigma[k]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"friction": "sticky"}, "there is no shape of friction sticky; choose one of: auto, keep"),
        ({"friction": "auto,stribeck"}, "friction auto, stribeck makes no sense"),
        ({"standstill": "slow"}, "standstill must be auto, keep or a speed, got 'slow'"),
        ({"standstill": "-1"}, "standstill: the speed must be > 0, got -1"),
    ],
)
def test_wrong_options(words: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        run_of(measured(load("pendulum@friction")), **words)


@pytest.mark.slow
def test_standstill_as_a_speed_and_automatically() -> None:
    """At rest the friction of a real hinge has any value; the sign of noise has the wrong one."""
    pendulum = load("pendulum@friction")
    motion = measured(pendulum)
    rng = np.random.default_rng(0)
    rest, top = slice(200, 280), float(np.quantile(np.abs(motion.yd), 0.95))
    yd, tau = motion.yd.copy(), motion.tau.copy()
    yd[rest] = 0.005 * top * rng.standard_normal((80, 1))
    tau[rest] += 2.0 * np.sqrt(np.mean(tau**2)) * np.sign(rng.standard_normal((80, 1)))
    motion = replace(motion, yd=yd, tau=tau)
    plain = run_of(motion)
    (found,) = (d for d in plain.diagnosis if d.kind == "standstill")
    assert found.size < 0.06 * top
    chosen = run_of(motion, standstill="auto").motions[0].ignore_below
    assert chosen == {"angle": pytest.approx(found.size, rel=0.01)}
    given = run_of(motion, standstill=0.02 * top)
    assert given.motions[0].ignore_below == {"angle": pytest.approx(0.02 * top)}
    assert not [d for d in given.diagnosis if d.kind == "standstill"]
    # The remedy helps: values of least squares come back to those of the motion without the rest.
    plain, given, clean = (
        run_of(m, estimator="weighted", **more)
        for m, more in (
            (motion, {}),
            (motion, {"standstill": 0.02 * top}),
            (measured(pendulum), {}),
        )
    )
    sigma = clean.final.sigma
    off = [np.linalg.norm((r.values() - clean.values()) / sigma) for r in (plain, given)]
    assert off[1] < 0.5 * off[0]


@pytest.mark.slow
def test_a_mapping_that_says_where_forces_count_is_kept() -> None:
    motion = replace(measured(load("pendulum@friction")), ignore_below={"angle": 0.01})
    assert run_of(motion, standstill="auto").motions[0].ignore_below == {"angle": 0.01}
    assert run_of(motion, standstill="0.5").motions[0].ignore_below == {"angle": 0.01}


def geared(motion: PreparedMeasurement, exact: PreparedMeasurement) -> PreparedMeasurement:
    """The motion with friction of a fifth of the exact force."""
    more = 0.2 * np.abs(exact.tau) * np.sign(motion.yd)
    return replace(motion, tau=motion.tau + more)


@pytest.mark.parametrize("seed", range(1))
def test_friction_by_load_is_named_and_added(seed: int) -> None:
    """Forces with it are made by hand; its size is found with the parameters."""
    pendulum = load("pendulum@friction")
    motion = geared(measured(pendulum, seed, noise=0.01), measured(pendulum, seed, noise=0.0))
    quiet, noisy = (measured(pendulum, seed + 10, noise=x) for x in (0.0, 0.01))
    other = replace(geared(noisy, quiet), name="other")
    plain, richer = (run_of(motion, validate=other, **x) for x in ({"friction": "keep"}, {}))
    assert "friction that grows with the load of hinge" in added(richer)
    # CAD values are the truth here, and may predict better.
    assert named(richer) - {("cad", "")} == {("friction", "hinge")}
    loads = [e["load"] for e in richer.mechanism.elements if e.kind == "friction"]
    assert max(loads) == pytest.approx(0.2, abs=0.01)
    name = plain.motions[1].name
    assert richer.errors(name)["estimate"] < 0.011 < 0.1 * plain.errors(name)["estimate"]
    # The model that was found is a model file like any other, and predicts the same forces.
    again = build(**document_of(richer.mechanism))
    assert [e["load"] for e in again.elements if e.kind == "friction"] == loads
    table = MotionTable(time=other.time, y=other.y, yd=other.yd, ydd=other.ydd)
    forces = predict(richer, table)
    exact = geared(quiet, quiet).tau
    np.testing.assert_allclose(forces.predicted, exact, atol=0.02 * np.abs(exact).max())
    assert np.isnan(forces.measured).all()


@pytest.mark.slow
@pytest.mark.parametrize("gap", [(0, 0), (100, 120)])
def test_friction_by_load_needs_no_values(gap: tuple[int, int]) -> None:
    """Where no force was measured, nothing tells its sign if coefficients have no value."""
    pendulum = load("pendulum@friction")
    bearing = "{type: friction, joint: hinge, viscous: {identify: true}, coulomb: {identify: true}}"
    unknown = mechid.loads(mechid.dumps(load("pendulum")) + f"elements: {{bearing: {bearing}}}\n")

    def broken(motion: PreparedMeasurement) -> PreparedMeasurement:
        tau = motion.tau.copy()
        tau[slice(*gap)] = np.nan
        return replace(motion, tau=tau)

    motion = geared(measured(pendulum, 0, noise=0.01), measured(pendulum, 0, noise=0.0))
    quiet = measured(pendulum, 10, noise=0.0)
    other = replace(geared(quiet, quiet), name="other")
    run = identify(unknown, broken(motion), validate=broken(other), cad_error=0.2)
    loads = [e["load"] for e in run.mechanism.elements]
    assert max(loads) == pytest.approx(0.2, abs=0.01)
    assert run.errors(run.motions[1].name)["estimate"] < 0.01
    # Without any measured force, the model that was found tells.
    table = MotionTable(time=other.time, y=other.y, yd=other.yd, ydd=other.ydd)
    forces = predict(run, table).predicted
    np.testing.assert_allclose(forces, other.tau, atol=0.02 * np.abs(other.tau).max())


def with_rotor() -> Mechanism:
    """The pendulum with friction of its motor only."""
    words = document_of(load("pendulum"))
    words["joints"]["hinge"]["rotor"] = {
        "ratio": -30,
        "inertia": {"value": 1e-4, "identify": True},
        "viscous": {"identify": True},
        "coulomb": {"value": 1e-3, "identify": True},
    }
    return build(**words)


def test_friction_of_a_rotor_is_that_of_its_joint() -> None:
    """What it has is not offered again, nor added; the rest is."""
    driven, motion = with_rotor(), measured(load("pendulum@friction"))
    terms = [term.name for term in friction_terms(driven, ("hinge", 0))]
    assert terms == ["viscous_hinge_rotor", "coulomb_hinge_rotor"]
    shapes = friction_shapes(driven, [motion])
    assert {s.shape for s in shapes} == set(SHAPES) - {"coulomb", "viscous", "load", "rotor"}
    run = identify(driven, motion, cad_error=0.2, friction="coulomb,viscous")
    assert run.added == ()


TWO = """
mechid: 1
name: two
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 2, center: [0.02, 0, -0.2], inertia: {about: center, xx: 0.03, yy: 0.03, zz: 0.002}}
  lower:
    frame: {origin: [0, 0, -0.4]}
    mass: 1
    center: [0.01, 0, -0.15]
    inertia: {about: center, xx: 0.01, yy: 0.01, zz: 0.001}
joints:
  A: {type: revolute, between: [ground, upper], at: [0, 0, 0], axis: y}
  B: {type: revolute, between: [upper, lower], at: [0, 0, -0.4], axis: y}
coordinates:
  a: {joint: A, force: M_A}
  b: {joint: B, force: M_B}
"""


def driven_arm(
    seed: int, elements: str = "", **more: float
) -> tuple[Mechanism, PreparedMeasurement]:
    """Two links, and a log with noise and forces of drives that the model lacks, by their laws."""
    arm = mechid.loads(TWO)
    rng, t = np.random.default_rng(seed), np.arange(1000) / 100
    w = 2 * np.pi * np.arange(1, 13) / 10
    a = rng.standard_normal((12, 2)) / np.arange(1, 13)[:, None]
    wave = np.exp(1j * (np.outer(t, w) + rng.uniform(0, 2 * np.pi, 12)))
    y, yd, ydd = ((factor * wave).real @ a for factor in (1.0, 1j * w, -(w**2)))
    motion = data_of(synthesise(arm, MotionTable(t, y, yd, ydd), noise=0.0))
    tau = motion.tau.copy()
    for j, name in enumerate(("A", "B")):
        v = motion.yd[:, j]
        tau[:, j] += more.get(f"rotor_{name}", 0.0) * motion.ydd[:, j]
        tau[:, j] += more.get(f"coulomb_{name}", 0.0) * np.sign(v)
        tau[:, j] += more.get(f"viscous_{name}", 0.0) * v
    noise = 0.02 * np.sqrt(np.mean(tau**2, axis=0))
    tau += noise * rng.standard_normal(tau.shape)
    return mechid.loads(TWO + elements), replace(motion, tau=tau)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_rotors_that_a_robot_file_lacks(seed: int) -> None:
    """That of the second joint shows; that of the first is the same force as inertia of its link,
    200 % more than CAD says."""
    arm, motion = driven_arm(seed, rotor_A=0.5, rotor_B=0.1)
    run = identify(arm, motion, cad_error=0.2)
    assert added(run) == {"rotor inertia of B"}
    assert named(run) == {("friction", "B")}
    assert right(run, inertia_B_rotor=0.1)
    assert run.errors(run.motions[0].name)["estimate"] < 0.025  # the noise is 2 %


@pytest.mark.slow
def test_no_rotor_is_found_where_links_are_heavier() -> None:
    """Negative inertia is no rotor; nor is what noise leaves."""
    for rotor in (0.0, -0.02):
        arm, motion = driven_arm(0, rotor_B=rotor)
        run = identify(arm, motion, cad_error=0.2)
        assert not any("rotor" in name for name in added(run))


FIXED = """
elements:
  rub: {type: friction, joint: B, viscous: 2.0, coulomb: 3.0}
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_friction_that_a_robot_file_states_without_measuring(seed: int) -> None:
    """It is no error of the unit that the force is smaller, and no shape of another kind."""
    arm, motion = driven_arm(seed, FIXED, coulomb_B=0.2, viscous_B=0.1)
    run = identify(arm, motion, cad_error=0.2)
    assert named(run) == {("friction", "B")}
    assert added(run) == {"Coulomb friction of B", "viscous friction of B"}
    assert right(run, coulomb_B_dry=0.2, viscous_B_viscous=0.1)
    # The run's model has one coefficient of each, and forces like those measured.
    terms = {term.name for term in friction_terms(run.mechanism, ("B", 0))}
    assert terms == {"coulomb_B_dry", "viscous_B_viscous"}
    assert run.errors(run.motions[0].name)["estimate"] < 0.025


@pytest.mark.slow
def test_fixed_friction_that_is_not_there() -> None:
    """In a short log each shape leaves what is slow of the other: both together explain it."""
    arm = mechid.loads(TWO)
    made = data_of(synthesise(arm, moved(arm, 800, 0.5), noise=0.02, seed=0))
    run = identify(mechid.loads(TWO + FIXED), made, cad_error=0.2)
    assert named(run) == {("friction", "B")}
    assert added(run) == {"Coulomb friction of B", "viscous friction of B"}
    assert run.errors(run.motions[0].name)["estimate"] < 0.025


def test_fixed_friction_that_is_right_stays() -> None:
    arm, motion = driven_arm(1, FIXED, coulomb_B=3.0, viscous_B=2.0)
    run = identify(arm, motion, cad_error=0.2)
    assert run.added == ()
    assert run.mechanism.elements == arm.elements


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_standstill_is_found_beside_friction_that_is_added(seed: int) -> None:
    """Where a joint sticks, its friction has any value up to that of the motion."""
    arm, motion = driven_arm(seed, viscous_B=0.3)
    v, tau = motion.yd[:, 1], motion.tau.copy()
    stuck = np.random.default_rng(seed).uniform(-1, 1, len(v))
    tau[:, 1] += 3 * np.where(np.abs(v) < 0.1, stuck, np.sign(v))
    motion = replace(motion, tau=tau)
    without = identify(arm, motion, cad_error=0.2, friction="keep", standstill="auto")
    assert "b" not in without.motions[0].ignore_below
    run = identify(arm, motion, cad_error=0.2, standstill="auto")
    assert run.motions[0].ignore_below == {"b": pytest.approx(0.1, rel=0.2)}
    assert added(run) == {"Coulomb friction of B", "viscous friction of B"}
    assert right(run, coulomb_B_dry=3.0, viscous_B_viscous=0.3)


@pytest.mark.slow
def test_truth_of_replaced_friction_is_what_the_model_had() -> None:
    arm = mechid.loads(TWO + FIXED)
    made = synthesise(arm, moved(arm, 800, 0.5), noise=0.02, seed=1)
    run = identify(arm, made, cad_error=0.2, friction="coulomb,viscous")
    assert run.parameters.truth is not None
    at = [run.parameters.names.index(x) for x in ("coulomb_B_dry", "viscous_B_viscous")]
    assert run.parameters.truth[at].tolist() == [3.0, 2.0]
    assert right(run, coulomb_B_dry=3.0, viscous_B_viscous=2.0)


@pytest.mark.slow
@pytest.mark.parametrize("coulomb", [10.0, 40.0])
def test_a_force_that_is_mostly_friction_is_no_noise(coulomb: float) -> None:
    """Of a light wrist; its channel is all right. 40 N m is 70 times the force without friction."""
    arm, motion = driven_arm(0, coulomb_B=coulomb)
    run = identify(arm, motion, cad_error=0.2)
    assert named(run) == {("friction", "B")}
    assert right(run, coulomb_B_dry=coulomb)


def test_a_force_that_is_noise() -> None:
    arm, motion = driven_arm(2)
    noise = 5 * np.random.default_rng(0).standard_normal(len(motion.time))
    motion = replace(motion, tau=np.column_stack([motion.tau[:, 0], noise]))
    assert ("unexplained", "M_B") in named(identify(arm, motion, cad_error=0.2))


def test_friction_of_a_motor_that_moves_with_several_joints() -> None:
    """It is that of none of them; a motor with one ratio belongs to its joint."""
    coefficient = Coefficient(0.1, identify=True)
    motors = tuple(motor(name, *[coefficient] * 3) for name in ("m1", "m2"))
    drives = transmission("drives", motors, (("q5", 0), ("q6", 0)), ((0.0, 40.0), (32.0, 32.0)))
    arm = replace(load("tx40"), elements=(drives,))
    assert [t.name for t in friction_terms(arm, ("q6", 0))] == ["viscous_m1", "coulomb_m1"]
    assert list(friction_terms(arm, ("q5", 0))) == []


@pytest.mark.slow
def test_friction_by_load_that_is_asked_for_and_not_there() -> None:
    plain, run = (
        run_of(measured(load("pendulum@friction")), friction=how) for how in ("keep", "load")
    )
    assert added(run) == {"friction that grows with the load of hinge"}
    assert max(e["load"] for e in run.mechanism.elements if e.kind == "friction") < 0.02
    name = run.motions[0].name
    assert run.errors(name)["estimate"] == pytest.approx(plain.errors(name)["estimate"], rel=0.02)


@pytest.mark.parametrize("seed", range(1))
def test_hysteresis_is_named_and_added(seed: int) -> None:
    """A width between those that are tried; Coulomb friction of the model takes most of it."""
    truth = with_friction(hysteresis=KNOWN, hysteresis_width=0.02)
    motion, other = measured(truth, seed, 0.01), measured(truth, seed + 10, noise=0.01)
    other = replace(other, name="other")
    plain, richer = (run_of(motion, validate=other, **x) for x in ({"friction": "keep"}, {}))
    assert any("hysteresis over" in name for name in added(richer))
    # What a width between those that are tried leaves may be named besides.
    assert ("friction", "hinge") in named(richer)
    name = plain.motions[1].name
    assert richer.errors(name)["estimate"] < 0.6 * plain.errors(name)["estimate"]
    # The model that was found is a model file like any other, and predicts the same forces.
    again = build(**document_of(richer.mechanism))
    assert again.elements == richer.mechanism.elements


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_friction_beside_a_delay_is_named_and_contained(seed: int) -> None:
    linkage = load("five_bar")
    motion = mechid.excite(linkage, random=5, starts=0)
    errors = {"noise": "1%", "cad_error": "20%", "delay": 0.004}

    def run(**words: str) -> Run:
        log = mechid.synthesise(linkage, motion, rate=50.0, periods=6, seed=seed, **errors, **words)
        return mechid.identify(linkage, log, cad_error="20%")

    rough, smooth = run(friction="1%"), run()
    assert {d.kind for d in rough.diagnosis} >= {"delay", "friction"}
    assert {d.kind for d in smooth.diagnosis} == {"delay"}
    assert smooth.added == ()
    for found in (rough, smooth):
        assert found.estimate is not None
        assert found.estimate.errors is not None
        np.testing.assert_allclose(found.estimate.errors.delay, 0.004, rtol=0.2)


@pytest.mark.parametrize("seed", range(1))
def test_hysteresis_of_the_model_is_identified(seed: int) -> None:
    """With its width known, all parameters come back within their standard deviations."""
    truth = with_friction(hysteresis=KNOWN, hysteresis_width=0.02)
    unknown = with_friction(hysteresis=Coefficient(0.0, identify=True), hysteresis_width=0.02)
    run = identify(unknown, measured(truth, seed, 0.01), cad_error=0.2)
    assert run.added == ()
    assert named(run) == set()
    assert right(run, hysteresis_more=2.0)


@pytest.mark.slow
def test_several_logs_together() -> None:
    """Friction and standstill are found from all logs, and apply to each of them."""
    truth = with_friction(**STRIBECK)
    logs = [measured(truth, seed) for seed in (0, 1)]
    run = run_of(logs, standstill=0.01)
    assert any("Stribeck" in name for name in added(run))
    assert [m.ignore_below for m in run.logs] == [{"angle": 0.01}] * 2
    assert named(run) == {("friction", "hinge")}
