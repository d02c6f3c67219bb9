"""Inverse dynamics: it undoes the simulation, and reactions balance every body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import ELIMINATIONS, inverse_dynamics
from mechid.dynamics.reactions import joint_reactions
from mechid.dynamics.reference_point import joint_reactions_reference
from mechid.dynamics.regressor import observation_matrix
from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import simulated_motion, simulated_reactions
from mechid.errors import MechidError, ModelError, SingularPoseError
from mechid.kinematics.frames import body_frames, frame_motion
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import GROUND
from mechid.modelfile import load


def motion_of(name: str, n: int = 7):
    """A smooth motion from the start of a model."""
    mechanism = load(name)
    model = dynamic_model(mechanism).kinematics
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 0.6, n)
    n_i = model.n_independent
    scale = np.array([0.01 if c.unit == "m" else 0.1 for c in mechanism.coordinates])
    w = rng.uniform(3.0, 6.0, n_i)
    y = model.home_y + scale * np.sin(np.outer(t, w))
    yd, ydd = scale * w * np.cos(np.outer(t, w)), -scale * w**2 * np.sin(np.outer(t, w))
    return solve_motion(model, y, yd, ydd, time=t)


@pytest.mark.parametrize("name", ["four_bar", "quarter_vehicle", "sla_suspension"])
def test_it_undoes_the_simulation(name):
    mechanism = load(name)
    n_i = len(mechanism.coordinates)

    def forces(t, y, yd):
        return 10.0 * np.sin(3.0 * t + np.arange(n_i))

    s = simulate(mechanism, np.linspace(0.0, 0.2, 9), forces=forces)
    tau = inverse_dynamics(simulated_motion(s)).tau
    expected = np.array([forces(t, None, None) for t in s.time])
    np.testing.assert_allclose(tau, expected, atol=1e-7)


def test_blocks_make_no_difference(monkeypatch):
    motion = motion_of("sla_suspension", 11)
    whole = observation_matrix(motion)
    monkeypatch.setattr("mechid.dynamics.inverse._BLOCK", 4)
    result = inverse_dynamics(motion)
    np.testing.assert_allclose(result.tau, whole.W @ result.phi + whole.known, rtol=1e-13)
    assert len(result.columns) == whole.W.shape[2]


def test_parameters_are_taken_and_checked():
    motion = motion_of("four_bar", 3)
    phi = inverse_dynamics(motion).phi
    double = inverse_dynamics(motion, 2 * phi).tau
    np.testing.assert_allclose(double, 2 * inverse_dynamics(motion).tau, rtol=1e-12)
    with pytest.raises(MechidError, match=r"phi must have shape \(30,\)"):
        inverse_dynamics(motion, phi[:5])


def test_missing_values_are_named():
    mechanism = load("four_bar")
    unknown = replace(mechanism.body("bar_2"), inertia=None)
    bodies = tuple(unknown if b.name == "bar_2" else b for b in mechanism.bodies)
    bare = replace(mechanism, bodies=bodies)
    motion = solve_motion(bare, np.array([[0.8]]))
    with pytest.raises(ModelError, match=r"no value for m_2, mx_2, my_2, mz_2, … \(bar_2\)"):
        inverse_dynamics(motion)
    with pytest.raises(ModelError, match=r"no value for m_2"):
        simulate(bare, np.array([0.0, 0.1]))


@pytest.mark.parametrize(("name", "at_least"), [("sla_suspension", 5), ("three_rps", 1)])
def test_reactions_balance_bodies_without_elements(name, at_least):
    """Newton's law for each body that only joints, weight and no actuator or element act on."""
    motion = motion_of(name, 3)
    result = inverse_dynamics(motion, reactions=True)
    r = result.reactions
    mechanism = motion.model.mechanism
    frames = frame_motion(motion.model, motion.q, motion.v, motion.vd, body_frames(motion.model))
    busy = set()
    for c in mechanism.coordinates:
        if hasattr(c, "joint"):
            joint = mechanism.joint(c.joint)
            busy |= {joint.body_a, joint.body_b}
        for key in ("point", "point_a", "point_b"):
            if hasattr(c, key):
                busy.add(getattr(c, key).body)
    for e in mechanism.elements:
        busy |= {getattr(e, key).body for key in ("point_a", "point_b") if hasattr(e, key)}
    checked = 0
    for i, body in enumerate(mechanism.bodies):
        if body.name in busy or body.inertia is None:
            continue
        total = np.zeros((len(motion.y), 3))
        for j, joint in enumerate(mechanism.joints):
            if joint.body_b == body.name:
                total += r.force[:, j]
            if joint.body_a == body.name:
                total -= r.force[:, j]
        c = np.einsum("nij,j->ni", frames.rotation[:, i], np.array(body.inertia.center))
        w, alpha = frames.omega[:, i], frames.alpha[:, i]
        a = frames.acceleration[:, i] + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        needed = body.inertia.mass * (a - np.array(mechanism.gravity))
        np.testing.assert_allclose(total, needed, atol=1e-8 * np.abs(r.force).max())
        checked += 1
    assert checked >= at_least
    assert r.open_joints == ()


def test_undetermined_components_are_flagged():
    """In a planar linkage of revolute joints, what is normal to the plane is left open."""
    seen = []
    result = inverse_dynamics(motion_of("four_bar", 3), reactions=True, watch=seen.append)
    assert seen == [3]
    r = result.reactions
    assert r.open_joints == ("q1", "q2", "q3", "q4")
    np.testing.assert_array_equal(
        r.undetermined, np.broadcast_to([0, 0, 1, 1, 1, 0], r.undetermined.shape).astype(bool)
    )


def test_a_pendulum_hangs_by_its_weight():
    mechanism = load("pendulum")
    model = dynamic_model(mechanism).kinematics
    result = inverse_dynamics(solve_motion(model, model.home_y[None]), reactions=True)
    mass = sum(b.inertia.mass for b in mechanism.bodies)
    grounded = [j.name for j in mechanism.joints if GROUND in (j.body_a, j.body_b)]
    force = result.reactions.force[0, result.reactions.joints.index(grounded[0])]
    np.testing.assert_allclose(force, -mass * np.array(mechanism.gravity), atol=1e-12)


def test_progress_of_reactions_comes_in_blocks(monkeypatch):
    monkeypatch.setattr("mechid.dynamics.reactions._BLOCK", 3)
    seen = []
    motion = motion_of("sla_suspension", 7)
    parts = inverse_dynamics(motion, reactions=True, watch=seen.append).reactions
    assert seen == [3, 6, 7]
    monkeypatch.undo()
    whole = inverse_dynamics(motion, reactions=True).reactions
    np.testing.assert_array_equal(parts.force, whole.force)
    np.testing.assert_array_equal(parts.moment, whole.moment)


def test_reactions_that_are_not_finite_are_refused():
    motion = motion_of("four_bar", 3)
    result = inverse_dynamics(motion)
    result.tau[1] = np.nan
    with pytest.raises(SingularPoseError, match="do not determine the reactions") as caught:
        joint_reactions(motion, result.phi, result.tau)
    assert (caught.value.sample, caught.value.time) == (1, motion.time[1])


def test_a_part_that_is_left_undetermined_changes_nothing():
    """An internal state of stress of a planar linkage: the reactions are normal to all of them."""
    motion = motion_of("four_bar", 2)
    r = inverse_dynamics(motion, reactions=True).reactions
    # Forces normal to the plane would sum up to nothing on every bar, and are not needed.
    assert np.abs(r.force[:, :, 2]).max() < 1e-12
    assert np.abs(r.moment[:, :, :2]).max() < 1e-12


@pytest.mark.parametrize("elimination", [None, *ELIMINATIONS])
@pytest.mark.parametrize("name", ["four_bar", "spatial_slider_crank@two-balls", "sla_suspension"])
def test_the_second_formulation_gives_the_same(name, elimination):
    """Whichever way constraint forces are eliminated; reactions too."""
    motion = motion_of(name, 2)
    want = inverse_dynamics(motion, reactions=True)
    seen = []
    found = inverse_dynamics(
        motion,
        reactions=True,
        formulation="reference-point",
        elimination=elimination,
        watch=seen.append,
    )
    assert seen == [1, 2]
    scale = np.abs(want.reactions.force).max()
    np.testing.assert_allclose(found.tau, want.tau, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(
        found.reactions.force, want.reactions.force, rtol=0, atol=1e-9 * scale
    )


def test_eliminations_give_one_matrix():
    """In the declared coordinates W does not depend on the basis of the null space."""
    motion = motion_of("quarter_vehicle", 2)
    want = mechid.observation_matrix(motion)
    for elimination in ELIMINATIONS:
        found = mechid.observation_matrix_reference(motion.model.mechanism, motion, elimination)
        assert found.columns == want.columns
        np.testing.assert_allclose(found.W, want.W, rtol=0, atol=1e-11 * np.abs(want.W).max())
        np.testing.assert_allclose(found.known, want.known, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"formulation": "newton"}, "unknown formulation 'newton'; choose one of tree"),
        ({"elimination": "svd"}, "tree has no elimination to choose"),
        (
            {"formulation": "reference-point", "elimination": "lu"},
            "unknown elimination 'lu'; choose one of partition, svd, qr, gauss",
        ),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(MechidError, match=words):
        inverse_dynamics(motion_of("four_bar", 2), **options)


@pytest.mark.parametrize("formulation", ["independent", "udwadia-kalaba"])
def test_reactions_of_a_simulation(formulation):
    """With other parameters than those of the file; at the forces that were applied."""
    mechanism = load("sla_suspension")
    phi = 1.3 * inverse_dynamics(motion_of("sla_suspension", 2)).phi
    forces = np.array([20.0, -30.0, 5.0, 4.0, 3.0])
    s = simulate(mechanism, np.linspace(0, 0.1, 4), phi=phi, forces=forces, formulation=formulation)
    found = simulated_reactions(s)
    motion = simulated_motion(s)
    want = joint_reactions_reference(motion, phi, s.tau)
    scale = np.abs(want.force).max()
    np.testing.assert_allclose(found.force, want.force, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(found.moment, want.moment, rtol=0, atol=1e-8 * scale)
