"""Payloads on machines whose forces other engines compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest

import mechid
from mechid.kinematics.motion import Motion, rates
from mechid.mechanism.records import Mechanism
from mechid.spatial.inertia import central, parameters
from mechid.spatial.rotations import matrix_from_quaternion

from .test_dynamics_oracles import OnPinocchio, on_mujoco, se3

Array = npt.NDArray[np.float64]
MASS, CENTER = 2.3, np.array([0.04, -0.03, 0.11])
INERTIA = np.array([[0.02, 0.001, -0.002], [0.001, 0.016, 0.003], [-0.002, 0.003, 0.011]])
TRUE = np.concatenate([[MASS], CENTER, INERTIA[np.triu_indices(3)]])
Forces = Callable[[Motion, dict[str, tuple[float, Array, Array]]], Array]


def by_pinocchio(motion: Motion, attached: dict[str, tuple[float, Array, Array]]) -> Array:
    other = OnPinocchio(motion)
    other.fill()
    for body, (m, c, inertia) in attached.items():
        place = se3(other.body_in_joint[body])
        other.model.appendBodyToJoint(other.number[body], pin.Inertia(m, c, inertia), place)
    data, R = other.model.createData(), rates(motion).R
    found = []
    for k in range(len(motion.y)):
        q, v, vd, T = other.state(k)
        found.append((T @ R[k]).T @ pin.rnea(other.model, data, q, v, vd))
    return np.array(found)


def by_mujoco(motion: Motion, attached: dict[str, tuple[float, Array, Array]]) -> Array:
    model, steps = on_mujoco(motion, attached)
    data, R = mujoco.MjData(model), rates(motion).R
    found = []
    for k in range(len(motion.y)):
        T = np.zeros((model.nv, motion.v.shape[1]))
        for name, i, j, sign in steps:
            joint = model.joint(name)
            a, b = int(joint.qposadr[0]), int(joint.dofadr[0])
            if joint.type[0] == mujoco.mjtJoint.mjJNT_BALL:
                e = motion.q[k, i : i + 4]
                data.qpos[a : a + 4] = e
                T[b : b + 3, j : j + 3] = matrix_from_quaternion(e).T
            else:
                data.qpos[a] = sign * motion.q[k, i]
                T[b, j] = sign
        data.qvel[:], data.qacc[:] = T @ motion.v[k], T @ motion.vd[k]
        mujoco.mj_inverse(model, data)
        found.append((T @ R[k]).T @ data.qfrc_inverse)
    return np.array(found)


@cache
def machine(spec: str) -> tuple[Mechanism, Mechanism]:
    """A model, and the machine as it is: bodies that differ from CAD by 10 %."""
    mechanism = replace(mechid.load(spec), elements=())
    truth = mechid.synthesise(mechanism, motion(spec, 1), cad_error="10%", seed=3).truth
    bodies = []
    for k, body in enumerate(mechanism.bodies):
        m, c, six = central(truth.values[10 * k : 10 * k + 10])
        assert body.inertia is not None
        real = replace(body.inertia, mass=m, center=tuple(c), inertia_center=tuple(six))
        bodies.append(replace(body, inertia=real))
    return mechanism, replace(mechanism, bodies=tuple(bodies))


@cache
def motion(spec: str, seed: int) -> mechid.DesignedMotion:
    bare = replace(mechid.load(spec), elements=())
    return mechid.excite(bare, random=2, starts=0, harmonics=4, seed=seed)


def measured(
    spec: str, forces: Forces, attached: dict[str, tuple[float, Array, Array]], seed: int,
    noise: float,
) -> mechid.Measurement:  # fmt: skip
    real = machine(spec)[1]
    m = mechid.synthesise(real, motion(spec, seed), periods=1, seed=seed).measurement
    solved = mechid.solve_motion(real, m.y, m.yd, m.ydd, time=m.time)
    tau = forces(solved, attached)
    size = np.sqrt(np.mean(tau**2, axis=0))
    rng = np.random.default_rng(seed)
    return replace(m, tau=tau + noise * size * rng.standard_normal(tau.shape))


def identified(
    spec: str, body: str, forces: Forces, noise: float, without: str = "gains", **words: object
) -> mechid.Payload:
    """By sensors that are calibrated: what they might be off would be in the mass."""
    empty = measured(spec, forces, {}, 1, noise)
    run = mechid.identify(machine(spec)[0], empty, cad_error="10%", without=without)
    log = measured(spec, forces, {body: (MASS, CENTER, INERTIA)}, 2, noise)
    return mechid.payload(run, log, body=body, **words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "body", "forces"),
    [
        ("puma560@bare", "link_6", by_pinocchio),
        ("stewart_platform", "platform", by_pinocchio),
    ],
)
def test_payloads_of_arms_and_platforms(spec: str, body: str, forces: Forces) -> None:
    found = identified(spec, body, forces, 0.01)
    assert found.rank == 10
    z = (found.central - TRUE) / found.central_sigma
    assert np.abs(z).max() < 4
    assert found.central_sigma[0] < 0.03 * MASS
    assert np.all(found.explained < 0.013)


@pytest.mark.slow
def test_nearly_exact_forces_give_nearly_exact_payloads() -> None:
    """The joints are where the model says: in a micrometre, forces would show it."""
    found = identified("puma560@bare", "link_6", by_pinocchio, 1e-6, "gains, places")
    assert found.central == pytest.approx(TRUE, rel=1e-5, abs=1e-7)
    assert np.abs((found.central - TRUE) / found.central_sigma).max() < 4


@pytest.mark.slow
def test_a_body_that_only_translates_shows_the_mass_and_nothing_else() -> None:
    found = identified("slider_crank", "slider", by_mujoco, 0.01)
    assert found.groups == ("m",)
    assert np.isfinite(found.central).tolist() == [True] + 9 * [False]
    assert abs(found.mass - MASS) < 4 * found.central_sigma[0] < 0.1 * MASS


@pytest.mark.slow
def test_a_payload_in_the_plane_of_a_linkage_by_mujoco() -> None:
    """A four-bar moves in a plane: nothing across it is seen."""
    found = identified("four_bar", "bar_2", by_mujoco, 0.01, known_mass=(MASS, 0.01))
    ten = parameters(MASS, CENTER, TRUE[4:])
    groups = np.array([_row(name) for name in found.groups]) @ ten
    z = (found.group_values - groups) / np.sqrt(np.diag(found.group_covariance))
    assert np.abs(z).max() < 4
    there = np.isfinite(found.values)
    assert there[0]
    assert found.sigma[0] <= 0.01
    assert np.all(np.abs((found.values - ten)[there] / found.sigma[there]) < 4)


def _row(group: str) -> Array:
    """Coefficients of a group as it is written."""
    from mechid.spatial.inertia import NAMES

    row, sign, factor = np.zeros(10), 1.0, 1.0
    for word in group.split():
        if word in "+-":
            sign, factor = (1.0 if word == "+" else -1.0), 1.0
        elif word in NAMES:
            row[NAMES.index(word)] = sign * factor
        else:
            factor = float(word)
    return row
