"""Usual limits and motions, and what designs make of the forces of every model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.families import Constant, Fourier
from mechid.excitation.limits import slacks
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.modelfile import load, zoo_names
from mechid.options import ExciteOptions
from mechid.tasks.criteria import criterion_of
from mechid.tasks.evaluate_motion import evaluate_motion
from mechid.tasks.excite import DesignedMotion, excite
from mechid.tasks.stages import base_of
from mechid.tasks.usual_motions import usual_forces, usual_limits, usual_motions
from mechid.trajectoryfile import Expression

QUICK = ExciteOptions(random=3, starts=1, iterations=4, harmonics=2)
SLOW = ("pushrod_suspension", "sla_suspension", "double_wishbone")
LEAST = 0.1  # of the usual force, and of the usual stroke


def rms(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def moved(found: DesignedMotion, n: int) -> Motion:
    s = sample(found.trajectory, times=np.linspace(0.0, found.trajectory.duration, n))
    model = kinematic_model(found.mechanism)
    return solve_motion(model, s.y, s.yd, s.ydd, time=s.time)


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo_names())
def test_no_design_silences_a_force(name: str) -> None:
    """Noise relative to the forces of the motion alone led to motions without some force."""
    mechanism = load(name)
    found = excite(mechanism, replace(QUICK, iterations=1) if name in SLOW else QUICK)
    usual = usual_motions(mechanism)
    motion = moved(found, 24 * 20 + 1)
    own, other = rms(inverse_dynamics(motion).tau), rms(np.concatenate(usual.tau))
    for c, least in zip(mechanism.coordinates, own >= LEAST * other, strict=True):
        assert least, c.force
    stroke = np.median([np.ptp(x.y, axis=0) for x in usual.motions], axis=0)
    assert np.all(np.ptp(motion.y, axis=0) >= LEAST * stroke)
    # The limits hold on this grid, and what is said of the motion is what it does there.
    least = min(s.worst for s in slacks(found.limits, motion, gradients=False))
    assert found.slack == pytest.approx(least, abs=1e-9)
    assert least >= -1e-8
    for j, c in enumerate(mechanism.coordinates):
        assert found.peaks["speed"][c.name] == pytest.approx(np.abs(motion.yd[:, j]).max())
        assert found.peaks["acceleration"][c.name] == pytest.approx(np.abs(motion.ydd[:, j]).max())


def test_usual_motions_keep_limits() -> None:
    mechanism = load("five_bar")
    model = kinematic_model(mechanism)
    usual, again = usual_motions(mechanism), usual_motions(mechanism)
    assert len(usual.motions) == 12
    assert usual.kept
    for motion, same, tau in zip(usual.motions, again.motions, usual.tau, strict=True):
        assert min(s.worst for s in slacks(usual_limits(model), motion)) >= 0
        np.testing.assert_array_equal(motion.y, same.y)
        np.testing.assert_array_equal(tau, inverse_dynamics(motion).tau)
    np.testing.assert_allclose(usual.forces, rms(np.concatenate(usual.tau)), rtol=1e-12)
    peak = np.abs(np.concatenate(usual.tau)).max(axis=0)
    assert [limit.upper for limit in usual_forces(usual, mechanism)] == pytest.approx(1.5 * peak)
    # Slow machines have smaller forces.
    slow = [MotionLimit(q, n, -1.0, 1.0) for n in ("q1", "q2") for q in ("speed", "acceleration")]  # type: ignore[arg-type]
    calm = usual_motions(mechanism, slow)
    assert calm.kept
    assert all(np.abs(motion.ydd).max() <= 1.0 for motion in calm.motions)
    assert np.all(calm.forces < usual.forces)


def test_usual_motions_have_given_motions() -> None:
    mechanism = load("quarter_vehicle")
    spin = Expression("50*sin(pi*t)")
    usual = usual_motions(mechanism, None, {"spin": spin})
    j = [c.name for c in mechanism.coordinates].index("spin")
    assert usual.kept
    for motion in usual.motions:
        np.testing.assert_allclose(motion.y[:, j], 50 * np.sin(np.pi * motion.time), atol=1e-9)
    # Where no motion has them, others stand for usual ones, and forces have no limit.
    far = usual_motions(load("five_bar"), None, {"q1": Constant(2.0)})
    assert not far.kept
    assert np.all(far.forces > 0)
    assert usual_forces(far, load("five_bar")) == ()


def test_noise_of_a_silent_force() -> None:
    """The smooth maximum of the force of the motion and the usual one, to the fourth."""
    mechanism = load("five_bar")
    base = base_of(mechanism)
    usual = usual_motions(mechanism).forces
    criterion = criterion_of(mechanism, base, ExciteOptions(noise=0.05))
    W, known = np.zeros((4, 2, base.rank)), np.zeros((4, 2))
    np.testing.assert_allclose(criterion.sigma(W, known), 0.05 * usual, rtol=1e-12)
    known[:, 1] = 2.0
    own = 0.05 * (2.0**4 + usual[1] ** 4) ** 0.25
    assert criterion.sigma(W, known)[1] == pytest.approx(own)


def test_prediction_counts_slow_motions_like_fast_ones() -> None:
    """The mean square of E_p of each usual motion, whose forces differ: of draws of parameters."""
    mechanism = load("n_four_bar")
    base = base_of(mechanism)
    usual = usual_motions(mechanism)
    own = np.array([rms(tau)[0] for tau in usual.tau])
    assert 3 < own.max() / own.min() < 10  # so that no force is taken to be a tenth of the usual
    options = ExciteOptions(noise_of="usual", prior=False)
    criterion = criterion_of(mechanism, base, options, usual)
    matrices = [base.observation(observation_matrix(motion).W) for motion in usual.motions]
    W = matrices[-1]
    C = np.linalg.inv(np.tensordot(W, W, ([0, 1], [0, 1]))) * (0.05 * usual.forces[0]) ** 2
    rng = np.random.default_rng(0)
    off = rng.multivariate_normal(np.zeros(len(C)), C, 20_000)
    squares = [
        np.mean((other[:, 0] @ off.T) ** 2) / size**2
        for other, size in zip(matrices, own, strict=True)
    ]
    value = criterion.look(W, np.zeros(W.shape[:2])).value
    assert value == pytest.approx(np.mean(squares), rel=0.05)


def test_a_limit_broken_between_the_samples() -> None:
    """Samples at 45° from the peaks see 0.21 of an amplitude of 0.3; the limit is 0.25."""
    root = 0.3 * 2 * np.pi / np.sqrt(2)
    q1 = Fourier(1.0, 0.0, (root,), (root,))
    motion = Trajectory.of({"q1": q1, "q2": Constant(0.0)}, 1.0)
    limits = [MotionLimit("position", "q1", -0.25, 0.25)]
    found = evaluate_motion("five_bar", motion, limits=limits, samples=4)
    assert found.slack == pytest.approx(-0.1)
    assert found.peaks["speed"]["q1"] == pytest.approx(0.3 * 2 * np.pi)


def test_fast_motions_are_limited_or_named() -> None:
    plan = replace(QUICK, random=3, starts=0)
    usual = excite("puma560", plan)
    assert max(usual.peaks["speed"].values()) <= 7.0
    assert max(usual.peaks["acceleration"].values()) <= 70.0
    assert usual.notes == ()
    joints = [limit for limit in usual.limits if limit.quantity == "joint"]
    free = excite("puma560", plan, limits=joints)
    speed, acceleration = free.notes
    name, peak = max(free.peaks["speed"].items(), key=lambda item: item[1])
    assert peak > 7.0
    assert f"speed of {name} has no limit and reaches {peak:.3g} rad/s (usual: up to 7" in speed
    assert "rad/s² (usual: up to 70 rad/s²)" in acceleration
