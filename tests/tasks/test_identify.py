"""Identification from records, without files: what is known, and what is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError, ModelError
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import load
from mechid.options import IdentifyOptions, ReduceOptions
from mechid.options.noise import noise_levels
from mechid.runs.record import Run
from mechid.signals.record import PreparedMeasurement
from mechid.tables.motion import MotionTable
from mechid.tasks.estimators import estimator_of
from mechid.tasks.identify import identify, identify_motions
from mechid.tasks.regress import declared, regression_of
from mechid.tasks.stages import base_of
from mechid.tasks.synthesise import Synthesis, synthesise

from ..elements import friction


def moved(mechanism: Mechanism, n: int, size: float, seed: int = 0) -> MotionTable:
    """Return a random Fourier series of three harmonics about the home pose."""
    rng = np.random.default_rng(seed)
    home = kinematic_model(mechanism).home_y
    t = np.arange(n) / n
    w = 2 * np.pi * np.arange(1, 4)
    a, b = rng.standard_normal((2, 3, len(home))) * size / np.arange(1, 4)[:, None]
    S, C = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return MotionTable(
        t,
        home + S @ a + (C - 1) @ b,
        (C * w) @ a - (S * w) @ b,
        -(S * w**2) @ a - (C * w**2) @ b,
    )


def data_of(made: Synthesis, name: str = "identification") -> PreparedMeasurement:
    return PreparedMeasurement(
        time=made.time,
        y=made.y,
        yd=made.yd,
        ydd=made.ydd,
        forces=made.forces,
        tau=made.tau,
        name=name,
        source="d.csv",
    )


def identified(mechanism: Mechanism, made: Synthesis, *motions, **words) -> Run:
    options = replace(IdentifyOptions(), **words)
    return identify_motions(mechanism, [data_of(made), *motions], options, truth=made.truth)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "goal"), [(0.0, 5e-4), (0.01, 0.1)])
def test_struts_of_a_suspension_are_recovered(noise, goal):
    """Stiffness and damping are well determined where most of the 87 parameters are not."""
    suspension = load("sla_suspension@struts")
    motion = moved(suspension, 300, 0.012)
    made = synthesise(suspension, motion, noise=noise, cad_error=0.2, seed=3)
    # Sensors that measure all forces too large by the same factor show in nothing but CAD values.
    run = identified(suspension, made, cad_error=0.2, settings={"without": "gains"})
    at = [i for i, name in enumerate(run.parameters.names) if "strut" in name]
    assert len(at) == 4
    found, true = run.estimate.values[at], run.parameters.truth[at]
    assert np.abs(run.parameters.cad[at] / true - 1).max() > 0.1
    np.testing.assert_allclose(found, true, rtol=goal)
    assert np.all(np.abs(found - true) < 4 * run.estimate.sigma[at])


def without_values(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose friction has no CAD values."""
    unknown = Coefficient(None, identify=True)
    return replace(
        mechanism,
        elements=tuple(
            friction(e.name, *e.coordinates[0], unknown, unknown) if e.kind == "friction" else e
            for e in mechanism.elements
        ),
    )


@pytest.mark.parametrize("estimator", ["map", "ols", "physical"])
def test_friction_without_cad_values(estimator):
    true = load("pendulum@friction")
    made = synthesise(true, moved(true, 200, 0.5), noise=0.001, seed=1)
    silent = without_values(true)
    run = identified(silent, made, estimator=estimator, cad_error=0.2)
    at = [i for i, name in enumerate(run.parameters.names) if name.split("_")[0] in
          ("viscous", "coulomb")]  # fmt: skip
    assert len(at) == 2
    assert np.isnan(run.parameters.cad[at]).all()
    found, truth = run.estimate.values[at], run.parameters.truth[at]
    assert np.all(np.abs(found - truth) < 4 * run.estimate.sigma[at])
    assert np.all(run.estimate.sigma[at] < 0.2 * np.abs(truth))
    # Without CAD values there is no CAD model to compare with.
    assert {row.model for row in run.validation} == {"estimate"}


@pytest.mark.slow
@pytest.mark.parametrize("cad_error", [None, 0.2])
def test_a_value_of_zero_says_as_little_as_none(cad_error):
    """Friction whose CAD value is zero is found as if it had none; nothing divides by it."""
    five = load("five_bar")
    joint = five.joints[0].name
    true = Coefficient(0.4, identify=True)
    made = synthesise(
        replace(five, elements=(friction("f", joint, 0, true, true),)),
        moved(five, 200, 0.1),
        noise=0.01,
        seed=2,
    )
    zero, none = Coefficient(0.0, identify=True), Coefficient(None, identify=True)
    runs = [
        identified(replace(five, elements=(friction("f", joint, 0, c, c),)), made,
                   cad_error=cad_error)
        for c in (zero, none)
    ]  # fmt: skip
    at = [i for i, name in enumerate(runs[0].parameters.names) if name.endswith("_f")]
    assert len(at) == 2
    np.testing.assert_allclose(runs[0].estimate.values, runs[1].estimate.values, rtol=1e-6)
    found = runs[0].estimate
    assert np.all(np.abs(found.values[at] - 0.4) < 4 * found.sigma[at])
    assert np.all(np.isfinite(found.relative[at]))


def test_bodies_without_cad_values():
    five = load("five_bar")
    made = synthesise(five, moved(five, 100, 0.1), noise=0.01)
    blank = replace(five, bodies=tuple(replace(b, inertia=None) for b in five.bodies))
    with pytest.raises(ModelError, match="no value for m_1") as refused:
        identify(blank, data_of(made))
    assert "--prior none" in str(refused.value)
    assert "--estimator ols" in str(refused.value)
    assert identify(blank, data_of(made), prior="none").final.method == "map"
    with pytest.raises(ModelError, match="no value for m_1") as refused:
        identify(blank, data_of(made), estimator="physical")
    assert "--prior none" not in str(refused.value)
    # Nothing is computed before: the data are not even looked for.
    with pytest.raises(ModelError, match="needs CAD values"):
        identify(blank, "there_is_no_such_file.csv")
    with pytest.raises(DataError, match="contributions need CAD values"):
        identify(blank, data_of(made), estimator="ols", reduce=True)
    run = identify(blank, data_of(made), estimator="ols", reduce=ReduceOptions("greedy", 9))
    assert run.contribution is None
    assert run.reduction.size.size == 9
    assert run.validation[0].total < 0.03


@pytest.mark.slow
def test_inertia_that_no_body_can_have_is_told():
    five = load("five_bar")
    made = synthesise(five, moved(five, 100, 0.1))
    cad = replace(five.bodies[1].inertia, inertia_center=(0.01, 0.0, 0.0, 0.01, 0.0, 0.09))
    wrong = replace(five, bodies=(five.bodies[0], replace(five.bodies[1], inertia=cad),
                                  *five.bodies[2:]))  # fmt: skip
    run = identified(wrong, made, estimator="physical", cad_error=0.2)
    assert [w for w in run.warnings if w.startswith("the inertia of crank_2 is not")]
    assert run.estimate.full is not None


def test_declared_noise():
    five = load("five_bar")
    made = synthesise(five, moved(five, 100, 0.1))
    regression = regression_of(dynamic_model(five), data_of(made))
    rms = np.sqrt(np.mean(made.tau**2, axis=0))
    np.testing.assert_allclose(declared(regression, noise_levels(0.05)).noise, 0.05 * rms)
    mixed = declared(regression, noise_levels(["5%", "M1=2"])).noise
    np.testing.assert_allclose(mixed, [2.0, 0.05 * rms[1]])
    share = declared(regression, noise_levels({"M1": "10 %"})).noise
    np.testing.assert_allclose(share, [0.1 * rms[0], 0.0])
    assert declared(regression, noise_levels(0)).noise is None


def test_decimation_keeps_the_problem():
    """W and τ pass the same filter: exact data fit exactly after it, too."""
    five = load("five_bar")
    made = synthesise(five, moved(five, 400, 0.1), cad_error=0.2)
    data = replace(data_of(made), decimation=4)
    run = identify(five, data, estimator="ols", truth=made.truth)
    assert len(run.forces[0].time) == len(range(4, 396, 4))
    np.testing.assert_allclose(run.forces[0].predicted, run.forces[0].measured, atol=1e-9)
    np.testing.assert_allclose(run.estimate.values, run.parameters.truth, rtol=1e-6, atol=1e-9)


def test_motions_with_other_forces():
    five = load("five_bar")
    data = data_of(synthesise(five, moved(five, 60, 0.1)))
    part = replace(data, name="validation-1", forces=("M1",), tau=data.tau[:, :1])
    with pytest.raises(DataError, match="the same measured forces"):
        identify(five, data, validate=part, estimator="ols")
    with pytest.raises(DataError, match="F is not a force of the mechanism"):
        identify(five, replace(data, forces=("M1", "F")), estimator="ols")
    none = replace(data, forces=(), tau=data.tau[:, :0])
    with pytest.raises(DataError, match="no force of the mechanism was measured"):
        identify(five, none, estimator="ols")
    with pytest.raises(DataError, match="no force was measured"):
        identify_motions(five, [none], IdentifyOptions("ols"))


def test_settings_of_estimators():
    assert estimator_of("ridge", {"penalty": "1e-3"}).penalty == 1e-3
    assert estimator_of("map", {"offsets": "5 %"}).offsets == 0.05
    assert estimator_of("map", {"whiten": "true", "prior": "none"}).whiten is True
    nested = estimator_of("physical", {"inner": "ridge", "penalty": "2", "margin": "0.1"})
    assert (nested.margin, nested.inner.name, nested.inner.penalty) == (0.1, "ridge", 2)
    nested = estimator_of("physical", {"inner": "map", "scale": "1", "own_scale": "3"})
    assert (nested.scale, nested.inner.name, nested.inner.scale) == (3, "map", 1)
    assert estimator_of("log-cholesky", {"without": "gains"}).inner.without == "gains"
    assert estimator_of("log-cholesky", {"inner": "map", "scale": "1"}).inner.scale == 1
    assert estimator_of("physical", {"inner": "ridge", "scale": "1"}).scale == 1
    with pytest.raises(DataError, match="ridge has no setting whiten"):
        estimator_of("physical", {"inner": "ridge", "whiten": "true"})


@pytest.mark.slow
def test_left_and_right_become_the_same():
    """With symmetry as a fact, masses of mirror images are equal; without it they are not."""
    suspension = load("sla_suspension")
    made = synthesise(suspension, moved(suspension, 60, 0.012), noise=0.05, cad_error=0.2)
    names = [c.name for c in made.columns]
    bodies = [body.name for body in suspension.bodies]
    left, right = (names.index(f"m_{1 + bodies.index(f'wheel_{side}')}") for side in "lr")
    apart = []
    for axis in ("x", None):
        options = IdentifyOptions("map", {"prior": "full"}, 0.2, symmetric=axis)
        full = identify(suspension, data_of(made), options).full
        apart.append(abs(full.values[left] / full.values[right] - 1))
    assert apart[0] < 1e-6 < 1e-3 < apart[1], apart


@pytest.mark.slow
@pytest.mark.parametrize("value", [0.0, 0.05])
def test_a_coefficient_without_uncertainty_is_left_to_the_data(value):
    """Its CAD value is not taken as exact: it is to be identified. Zero is no value to lose."""
    pendulum = load("pendulum@friction")
    assert any(e.kind == "friction" for e in pendulum.elements)
    silent = tuple(
        friction(e.name, *e.coordinates[0], Coefficient(value, True), e["coulomb"])
        if e.kind == "friction"
        else e
        for e in pendulum.elements
    )
    made = synthesise(pendulum, moved(pendulum, 200, 0.5))
    run = identified(replace(pendulum, elements=silent), made)
    at = next(i for i, n in enumerate(run.parameters.names) if n.startswith("viscous"))
    assert abs(run.parameters.truth[at] - value) > 1e-3
    assert run.estimate.values[at] == pytest.approx(run.parameters.truth[at], rel=1e-3)
    assert any("no uncertainty of viscous" in w for w in run.warnings) == (value != 0)


@pytest.mark.slow
def test_base_values_that_no_bodies_have_are_named():
    """The full set is as near as bodies can be; what it misses is said, with its size."""
    model = load("slider_crank")
    made = synthesise(model, moved(model, 100, 0.5), noise=0.3, seed=1)
    run = identified(model, made, estimator="weighted")
    full = run.full
    assert full.distance > 0.1
    off = base_of(model).matrix @ full.values - run.estimate.values
    assert set(full.missed) <= set(run.parameters.names)
    for name, x in zip(run.parameters.names, off, strict=True):
        assert full.missed.get(name, 0.0) == pytest.approx(x, abs=1e-8)
    worst = int(np.argmax(np.abs(off) / run.estimate.sigma))
    said = next(w for w in run.warnings if w.startswith("no physically consistent bodies"))
    assert f": {run.parameters.names[worst]} by {off[worst]:.2g} " in said
    # With a prior there are such bodies.
    assert not identified(model, made, cad_error=0.2, estimator="physical").full.missed


@pytest.mark.slow
def test_validation_with_the_log_of_the_identification_is_refused(tmp_path: Path) -> None:
    """Its error would say nothing of other motions; another part of the log would."""
    motion = mechid.excite("five_bar", random=4, starts=0)
    log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=4)
    path = str(tmp_path / "log.csv")
    mechid.save_measurement(log, path)
    for used, other in ((path, path), (path, f"{path}@1:2"), (f"{path}@:3", f"{path}@2:")):
        with pytest.raises(DataError, match="validate with another motion"):
            mechid.identify("five_bar", used, validate=[other])
    run = mechid.identify("five_bar", f"{path}@:2", validate=f"{path}@2:")
    assert len(run.others) == 1


def test_errors_of_cad_values_in_percent_need_the_sign() -> None:
    motion = mechid.excite("five_bar", random=4, starts=0)
    log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%")
    for wrong in (20, 0.0, "2000%"):
        with pytest.raises(DataError, match=r"cad_error must be > 0 and < 10 \(1000%\), got"):
            mechid.identify("five_bar", log, cad_error=wrong)
