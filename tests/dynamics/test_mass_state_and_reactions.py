"""Mass matrix, states and reactions of bodies by their definitions: momenta, energies, balances."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mechid.dynamics.reference_point.body_matrix import (
    LOCKED,
    body_regressor,
    inertia_product,
    speed_map,
    twist_rates,
    unprojected,
)
from mechid.dynamics.reference_point.eliminate import admissible_motions, to_declared
from mechid.dynamics.reference_point.mass import _without_turning, mass_and_bias
from mechid.dynamics.reference_point.model import ReferenceModel, parameter_values, reference_model
from mechid.dynamics.reference_point.multipliers import inverse_dynamics
from mechid.dynamics.reference_point.reactions import joint_reactions
from mechid.dynamics.reference_point.state import State, solve_states, state_from_motion
from mechid.errors import DataError, SingularPoseError
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load, loads
from mechid.spatial.rotations import matrix_from_quaternion, quaternion_from_matrix, skew

from .rich import RICH

Array = np.ndarray


def rich() -> tuple[ReferenceModel, State]:
    model = reference_model(loads(RICH))
    (state,) = solve_states(model, np.array([[0.2]]), np.array([[0.7]]), np.array([[-0.4]]))
    return model, state


def parameters(rng: np.random.Generator) -> tuple[Array, float, Array, Array]:
    """φ of some body, its mass, centre, and inertia about the frame origin."""
    m, c = 1.7, rng.uniform(-1, 1, 3)
    A = rng.uniform(-1, 1, (3, 3))
    tensor = A @ A.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.r_[m, m * c, tensor[np.triu_indices(3)]], m, c, tensor


def test_forces_of_a_body_are_the_rates_of_its_momenta() -> None:
    """Linear momentum, and angular momentum about the place where the origin is at the moment."""
    rng = np.random.default_rng(0)
    phi, m, c, tensor = parameters(rng)
    R0 = matrix_from_quaternion(rng.standard_normal(4))
    p0, v0, a, w0, alpha, g = rng.uniform(-1, 1, (6, 3))

    def momenta(t: float) -> Array:
        w = w0 + alpha * t
        turned = w0 * t + 0.5 * alpha * t * t  # to second order
        angle = np.linalg.norm(turned)
        n = skew(turned / angle) if angle else np.zeros((3, 3))
        R = (np.eye(3) + np.sin(angle) * n + (1 - np.cos(angle)) * n @ n) @ R0
        v, arm = v0 + a * t, R @ c
        linear = m * (v + np.cross(w, arm))
        about = p0 + v0 * t + 0.5 * a * t * t - p0  # from the fixed place to the origin
        own = R @ tensor @ R.T @ w + m * np.cross(arm, v)
        return np.r_[linear, own + np.cross(about, linear)]

    h = 1e-5
    rate = (momenta(h) - momenta(-h)) / (2 * h)
    weight = np.r_[m * g, np.cross(R0 @ c, m * g)]
    Y = body_regressor(R0, w0, a, alpha, g)
    assert Y.shape == (6, 10)
    np.testing.assert_allclose(Y @ phi, rate - weight, atol=1e-8)
    many = body_regressor(*(np.stack([x, 2 * x]) for x in (R0, w0, a, alpha)), g)
    np.testing.assert_allclose(many[0], Y)


def test_products_of_an_inertia() -> None:
    _, _, _, tensor = parameters(np.random.default_rng(1))
    w = np.array([0.3, -0.7, 1.1])
    np.testing.assert_allclose(inertia_product(w) @ tensor[np.triu_indices(3)], tensor @ w)


def test_mass_and_bias_are_what_the_forces_of_bodies_say() -> None:
    """M q̈ + h = 2 Eᵀ-forces of H φ + k, at any rates; ½ q̇ M q̇ is the kinetic energy."""
    model, state = rich()
    phi = parameter_values(model)
    M, h = mass_and_bias(model, phi, state.q, state.qd, state.near)
    H, k = unprojected(model, state)
    S = speed_map(state.q, "euler")
    np.testing.assert_allclose(M @ state.qdd + h, S.T @ (H @ phi + k), atol=1e-9)
    H7, k7 = unprojected(model, state, "euler")
    np.testing.assert_allclose(H7, S.T @ H, atol=1e-12)
    np.testing.assert_allclose(k7, S.T @ k, atol=1e-12)
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    energy = 0.5 * (20 * 0.7) ** 2 * 2.0e-4  # of the motor
    twist = state.twist.reshape(-1, 6)
    for i in range(3):
        m, mc = phi[10 * i], state.rotation[i] @ phi[10 * i + 1 : 10 * i + 4]
        w = state.rotation[i].T @ twist[i, 3:]
        v = twist[i, :3]
        energy += 0.5 * m * v @ v + v @ np.cross(twist[i, 3:], mc)
        energy += 0.5 * w @ inertia_product(w) @ phi[10 * i + 4 : 10 * i + 10]
    assert 0.5 * state.qd @ M @ state.qd == pytest.approx(energy, rel=1e-9)


def test_quaternions_of_bodies_that_turn_steadily() -> None:
    """ë = -(ė·ė) e has no angular acceleration, whatever the length of e."""
    _, state = rich()
    steady = _without_turning(state.q, state.qd)
    moved = State(state.q, state.qd, steady)
    np.testing.assert_allclose(moved.alpha, 0, atol=1e-12)
    np.testing.assert_allclose(moved.acceleration, 0, atol=1e-12)
    e, ed = (x.reshape(-1, 7)[:, 3:] for x in (state.q, state.qd))
    square = np.sum(ed * ed, axis=1, keepdims=True)
    np.testing.assert_allclose(steady.reshape(-1, 7)[:, 3:], -square * e, atol=1e-12)


def test_maps_between_rates_and_twists() -> None:
    _, state = rich()
    T, S = twist_rates(state.q), speed_map(state.q, "euler")
    np.testing.assert_allclose(T @ state.twist, state.qd, atol=1e-12)
    np.testing.assert_allclose(S @ state.qd, state.twist, atol=1e-12)
    np.testing.assert_array_equal(speed_map(state.q, "twist"), np.eye(18))
    assert (T.shape, S.shape) == ((21, 18), (18, 21))


def test_rates_of_roll_pitch_and_yaw_by_finite_differences() -> None:
    """R = Rz Ry Rx: the columns are the axes about which R turns."""
    angles = np.array([0.3, -0.5, 0.8])

    def turned(rpy: Array) -> Array:
        (a, b, c), (sa, sb, sc) = np.cos(rpy), np.sin(rpy)
        x = np.array([[1, 0, 0], [0, a, -sa], [0, sa, a]])
        y = np.array([[b, 0, sb], [0, 1, 0], [-sb, 0, b]])
        return np.array([[c, -sc, 0], [sc, c, 0], [0, 0, 1]]) @ y @ x

    R = turned(angles)
    q = np.r_[np.zeros(3), quaternion_from_matrix(R)]
    S = speed_map(q, "rpy")
    np.testing.assert_array_equal(S[:3], np.eye(6)[:3])
    for k in range(3):
        d = 1e-6 * np.eye(3)[k]
        rate = (turned(angles + d) - turned(angles - d)) / 2e-6 @ R.T
        np.testing.assert_allclose(skew(S[3:, 3 + k]), rate, atol=1e-8)
    for off, refused in ((0.5 * LOCKED, True), (2 * LOCKED, False)):
        steep = np.r_[
            np.zeros(3), quaternion_from_matrix(turned(np.array([0, np.pi / 2 - off, 0])))
        ]
        if refused:
            with pytest.raises(SingularPoseError, match="pitch of a body is 90 deg"):
                speed_map(steep, "rpy")
        else:
            speed_map(steep, "rpy")
    assert LOCKED == 1e-6


# ---------------------------------------------------------------------------------- states


def test_states_solved_and_states_of_a_motion_are_the_same() -> None:
    mechanism = loads(RICH)
    model = reference_model(mechanism)
    y = np.linspace(0, 2.5, 6)[:, None]
    yd, ydd = np.full_like(y, 0.7), np.full_like(y, -0.3)
    solved = solve_states(model, y, yd, ydd)
    taken = state_from_motion(model, solve_motion(mechanism, y, yd, ydd))
    for a, b in zip(solved, taken, strict=True):
        # Quaternions may have the other sign; the motion of the bodies is the same.
        for name in ("rotation", "omega", "alpha", "acceleration", "twist"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9)
        np.testing.assert_allclose(a.near, b.near, atol=1e-9)
    for before, after in pairwise(taken):
        e, f = (x.q.reshape(-1, 7)[:, 3:] for x in (before, after))
        assert (np.sum(e * f, axis=1) > 0).all()
    rest = solve_states(model, y[:1])[0]
    assert not rest.qd.any()
    assert not rest.qdd.any()


def test_unordered_states_begin_at_home() -> None:
    """A turn of the crank is followed in order; alone, its elements are found from home."""
    model = reference_model(loads(RICH))
    there = np.array([[0.4]])
    alone = solve_states(model, there, ordered=False)[0]
    both = solve_states(model, np.array([[-0.3], [0.4]]), ordered=False)
    np.testing.assert_array_equal(both[1].q, alone.q)
    ordered = solve_states(model, np.array([[-0.3], [0.4]]))
    np.testing.assert_allclose(ordered[1].q, alone.q, atol=1e-9)


def test_parameters_without_a_value_are_named() -> None:
    model = reference_model(load("four_bar"))
    phi = np.full(len(model.columns), 1.0)
    with pytest.raises(DataError, match=r"phi must have shape"):
        parameter_values(model, phi[1:])
    phi[3] = np.nan
    with pytest.raises(DataError, match=f"parameter {model.columns[3].name} of"):
        parameter_values(model, phi)
    np.testing.assert_array_equal(parameter_values(model), [c.value for c in model.columns])


# -------------------------------------------------------------------------------- reactions


def test_reactions_hold_every_body_in_balance() -> None:
    """What the joints and the drive do, is what motion, weight and elements of a body ask for."""
    model, state = rich()
    phi = parameter_values(model)
    tau, multipliers = inverse_dynamics(model, state)
    found = joint_reactions(model, state.q, multipliers)
    assert found.joints == ("A", "B", "C", "D")
    H, k = unprojected(model, state)
    needed = (H @ phi + k).reshape(-1, 6)
    place = {"A": [0, 0, 0], "D": [0.8, 0, 0]}
    bodies = {"crank": 0, "coupler": 1, "rocker": 2}
    origin = state.q.reshape(-1, 7)[:, :3]
    done = np.zeros((3, 6))
    done[0, 5] = tau[0]
    for j, joint in enumerate(model.mechanism.joints):
        b = bodies[joint.body_b]
        at = origin[b] + state.rotation[b] @ np.array(joint.frame_b.origin)
        if joint.name in place:
            np.testing.assert_allclose(at, place[joint.name], atol=1e-9)
        for body, sign in ((joint.body_b, 1.0), (joint.body_a, -1.0)):
            if body != "ground":
                i = bodies[body]
                f, n = sign * found.force[j], sign * found.moment[j]
                done[i] += np.r_[f, n + np.cross(at - origin[i], f)]
    np.testing.assert_allclose(done, needed, atol=1e-8)


def test_reactions_along_the_axes_of_joints() -> None:
    """Lengths stay, a hinge has no moment about its axis; out of the plane they stay open."""
    model, state = rich()
    _, multipliers = inverse_dynamics(model, state)
    found = joint_reactions(model, state.q, multipliers)
    own = found.in_frame_a()
    for a, b in ((found.force, own.force), (found.moment, own.moment)):
        np.testing.assert_allclose(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
        np.testing.assert_allclose(np.einsum("jki,jk->ji", found.axes, a), b, atol=1e-12)
    np.testing.assert_array_equal(own.axes, np.tile(np.eye(3), (4, 1, 1)))
    np.testing.assert_allclose(own.moment[:, 2], 0, atol=1e-9)
    # Three redundant rows: forces along z, moments about x and y are open; others are not.
    assert found.internal.shape == (4, 6, 3)
    assert found.undetermined.tolist() == [[False, False, True, True, True, False]] * 4
    assert own.undetermined.shape == (4, 6)
    assert found.open_rows.shape == (len(model.constraints.rows),)
    assert found.open_rows.any()
    assert not found.open_rows.all()


def test_admissible_motions_in_three_sorts_of_speeds() -> None:
    model, state = rich()
    R = admissible_motions(model, state.q)
    np.testing.assert_allclose(R[:, 0] * 0.7, state.twist, atol=1e-9)
    for method in ("svd", "qr", "gauss"):
        np.testing.assert_allclose(admissible_motions(model, state.q, method), R, atol=1e-9)
    euler = admissible_motions(model, state.q, speeds="euler")
    np.testing.assert_allclose(euler[:, 0] * 0.7, state.qd, atol=1e-9)
    rpy = admissible_motions(model, state.q, speeds="rpy")
    np.testing.assert_allclose(speed_map(state.q, "rpy") @ rpy, R, atol=1e-9)
    own = admissible_motions(model, state.q, "svd", own_basis=True)
    assert own.shape == R.shape
    ratio = own[:, 0] @ R[:, 0] / (R[:, 0] @ R[:, 0])
    np.testing.assert_allclose(own, ratio * R, atol=1e-9)
    np.testing.assert_allclose(to_declared(model, state.q, 2 * euler), [[0.5]], rtol=1e-9)
    with pytest.raises(SingularPoseError):
        to_declared(model, state.q, 0 * euler)
