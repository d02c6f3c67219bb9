"""A moving base, and the wrench that a force plate below it measures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

from mechid.base.analyse import base_parameters
from mechid.base.experiment import EVERYTHING, checked, random_states
from mechid.dynamics.inverse import InverseDynamics, inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.dynamics.simulate import simulate
from mechid.dynamics.wrench import sensed_joints
from mechid.errors import DataError, ModelError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.measurementfile.read import read_measurement
from mechid.mechanism.records import Mechanism, PointCoordinate
from mechid.modelfile import build, load
from mechid.modelfile.api import dumps, loads, on_base
from mechid.signals.prepare import prepare
from mechid.spatial.rotations import matrix_from_rpy
from mechid.tables.files import write_table
from mechid.tables.motion import read_motion

Array = npt.NDArray[np.float64]
ZOO = ["pendulum", "four_bar", "slider_crank", "delta", "sla_suspension", "tx40"]


def arm(**words: Any) -> Mechanism:
    """A waist about the vertical and an elbow about a horizontal axis, in general inertias."""
    return build(
        name="arm",
        bodies={
            "upper": {"frame": {"origin": [0, 0, 0.3]}, "mass": 4, "center": [0.02, 0.01, 0.15],
                      "inertia": {"xx": 0.06, "yy": 0.07, "zz": 0.02, "xy": 0.001, "xz": 0.002}},
            "fore": {"frame": {"origin": [0, 0, 0.7]}, "mass": 2, "center": [0.2, 0.01, 0.03],
                     "inertia": {"xx": 0.01, "yy": 0.04, "zz": 0.045, "yz": 0.001}},
        },
        joints={
            "waist": {"type": "revolute", "between": ["ground", "upper"], "at": [0, 0, 0.3],
                      "axis": "z"},
            "elbow": {"type": "revolute", "between": ["upper", "fore"], "at": [0, 0, 0.7],
                      "axis": "y"},
        },
        coordinates={"waist": {"joint": "waist"}, "elbow": {"joint": "elbow"}},
        **words,
    )  # fmt: skip


def moved(mechanism: Mechanism, n: int = 6, seed: int = 1) -> Motion:
    """Return random states, the base turned and moving too."""
    return random_states(mechanism, EVERYTHING, n, seed)


# ----------------------------------------------------------------- closed forms


def hanging(direction: str) -> Mechanism:
    """A pendulum about y whose pivot moves along a direction."""
    return build(
        name="pivot",
        base={"type": "prismatic", "axis": direction},
        bodies={"bob": {"frame": {"origin": [0, 0, 0]}, "mass": 1.5, "center": [0, 0, -0.4],
                        "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.02}}},
        joints={"hinge": {"type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0],
                          "axis": "y"}},
        coordinates={"angle": {"joint": "hinge"}},
    )  # fmt: skip


@pytest.mark.parametrize("formulation", ["independent", "gibbs-appell"])
@pytest.mark.parametrize(("direction", "angle"), [("z", 3.0), ("x", 0.2)])
def test_a_pendulum_on_a_pivot_that_is_shaken(
    direction: str, angle: float, formulation: str
) -> None:
    """Upright on a fast vertical shaker (Mathieu), where it stays up; and shaken sideways.

    (J + m c²) θ̈ = -m c (g + z̈) sin θ + m c ẍ cos θ: about y, θ > 0 moves the bob to -x.
    """
    m, c, J, g = 1.5, 0.4, 0.03, 9.81
    a, w = 0.05, 120.0
    times = np.linspace(0.0, 1.0 if formulation == "independent" else 0.2, 6)

    def shake(t: float) -> tuple[float, float, float]:
        return a * np.sin(w * t), a * w * np.cos(w * t), -a * w * w * np.sin(w * t)

    def rate(t: float, x: Array) -> list[float]:
        up, side = (shake(t)[2], 0.0) if direction == "z" else (0.0, shake(t)[2])
        moment = -m * c * (g + up) * np.sin(x[0]) + m * c * side * np.cos(x[0])
        return [x[1], moment / (J + m * c * c)]

    right = solve_ivp(rate, times[[0, -1]], [angle, 0.0], t_eval=times, method="DOP853",
                      rtol=1e-11, atol=1e-12).y  # fmt: skip
    found = simulate(
        hanging(direction), times, drive={"base": shake}, formulation=formulation,
        y0=np.array([angle, 0.0]), yd0=np.zeros(2), rtol=1e-8,
    )  # fmt: skip
    assert found.y[:, 0] == pytest.approx(right[0], abs=1e-6)
    if direction == "z":
        assert np.abs(found.y[:, 0] - np.pi).max() < 0.5  # Kapitza's pendulum does not fall


@pytest.mark.parametrize("name", ZOO)
def test_a_constant_acceleration_is_another_gravity(name: str) -> None:
    """In a frame with acceleration a (and any constant speed) forces are those of g - a."""
    a, v = np.array([1.3, -2.1, 3.7]), np.array([0.4, 0.2, -0.7])
    fixed = load(name)
    states = moved(fixed)
    n_i, n = len(fixed.coordinates), len(states.y)
    y, yd, ydd = (np.hstack([x, np.zeros((n, 6))]) for x in (states.y, states.yd, states.ydd))
    yd[:, n_i : n_i + 3], ydd[:, n_i : n_i + 3] = v, a
    for i, c in enumerate(fixed.coordinates):  # these are measured from the ground
        if isinstance(c, PointCoordinate):
            yd[:, i] += v @ np.array(c.direction)
            ydd[:, i] += a @ np.array(c.direction)
    moving = solve_motion(on_base(fixed), y, yd, ydd, ordered=False)
    g = tuple((np.array(fixed.gravity) - a).tolist())
    other = kinematic_model(replace(fixed, gravity=g))
    right = inverse_dynamics(replace(states, model=other)).tau
    tau = inverse_dynamics(moving).tau
    assert tau[:, :n_i] == pytest.approx(right, abs=1e-9 * np.abs(right).max())


# ----------------------------------------------------------------- the wrench of the base


def balance(result: InverseDynamics, origin: Array, axes: Array) -> tuple[Array, Array]:
    """Return force and moment that all bodies need, by Newton and Euler, at a moving frame."""
    motion = result.motion
    mechanism, frames = motion.model.mechanism, motion.bodies()
    F, M = np.zeros((len(motion.y), 3)), np.zeros((len(motion.y), 3))
    for i, body in enumerate(mechanism.bodies):
        if body.inertia is None:
            continue
        R, w, alpha = frames.rotation[:, i], frames.omega[:, i], frames.alpha[:, i]
        xx, xy, xz, yy, yz, zz = body.inertia.inertia_center
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ np.swapaxes(R, 1, 2)
        c = R @ np.array(body.inertia.center)
        acceleration = frames.acceleration[:, i] + np.cross(alpha, c)
        acceleration += np.cross(w, np.cross(w, c))
        force = body.inertia.mass * (acceleration - np.array(mechanism.gravity))
        spin = np.einsum("nij,nj->ni", J, alpha) + np.cross(w, np.einsum("nij,nj->ni", J, w))
        F += force
        M += spin + np.cross(frames.position[:, i] + c - origin, force)
    return np.einsum("nji,nj->ni", axes, F), np.einsum("nji,nj->ni", axes, M)


@pytest.mark.parametrize("name", ["arm", "four_bar", "delta", "stewart_platform", "puma560@bare"])
def test_the_wrench_of_the_base_is_the_balance_of_all_bodies(name: str) -> None:
    """In the axes of a plate that stands askew under a base that moves and turns."""
    o, rpy = np.array([0.1, -0.2, -0.3]), np.array([0.3, -0.5, 1.1])
    A = matrix_from_rpy(rpy[None])[0]
    fixed = replace(arm() if name == "arm" else load(name), elements=())
    mechanism = on_base(fixed, frame={"origin": o.tolist(), "rotation": A.tolist()})
    motion = moved(mechanism)
    result = inverse_dynamics(motion)
    base = [b.name for b in mechanism.bodies].index("base")
    frames = motion.bodies()
    R = frames.rotation[:, base]
    F, M = balance(result, frames.position[:, base] + R @ o, R @ A)
    found = result.sensed
    scale = 1e-10 * max(np.abs(F).max(), np.abs(M).max())
    for k, axis in enumerate("xyz"):
        assert found[f"base.F{axis}"] == pytest.approx(F[:, k], abs=scale)
        assert found[f"base.M{axis}"] == pytest.approx(M[:, k], abs=scale)
    (joint,) = sensed_joints(mechanism)
    wrench = joint.wrench(motion.y, result.tau)
    again = joint.generalised(motion.y, wrench)
    assert again == pytest.approx(result.tau[:, joint.columns], abs=scale)


# ----------------------------------------------------------------- what can be identified


def rank(mechanism: Mechanism, rows: list[int] | None = None) -> int:
    """Numerical rank of W over random states, massless bodies left out; a clear gap is demanded."""
    motion = random_states(mechanism, checked(EVERYTHING, mechanism), 200)
    W = observation_matrix(motion).W
    kept = [j for j in range(W.shape[2]) if j // 10 >= len(mechanism.bodies)
            or not mechanism.bodies[j // 10].massless]  # fmt: skip
    A = W[:, slice(None) if rows is None else rows][:, :, kept].reshape(-1, len(kept))
    norms = np.linalg.norm(A, axis=0)
    A = A[:, norms > 1e-12 * norms.max()] / norms[norms > 1e-12 * norms.max()]
    s = np.linalg.svd(A, compute_uv=False)
    found = int(np.sum(s > 1e-9 * s[0]))
    assert found == len(s) or s[found - 1] > 1e3 * s[found]
    return found


def test_what_a_plate_under_an_arm_sees_more() -> None:
    """Of a link that turns about a vertical axis, counted by hand.

    The torque of the waist sees Izz alone. A plate sees its weight m, the moments mx, my of
    the weight and of the centrifugal force, and the products Ixz, Iyz; mz has no lever, and Ixx,
    Iyy, Ixy act in no plane in which the link turns.
    """
    torques = base_parameters(arm()).chosen
    plate = base_parameters(arm(base={"held": True})).chosen
    assert len(torques.base) == rank(arm()) == 8
    assert set(plate.base) - set(torques.base) == {"m_1", "mx_1", "my_1", "Ixz_1", "Iyz_1"}
    assert set(torques.base) <= set(plate.base)
    assert rank(arm(base={"held": True})) == 13


def test_a_single_link_about_a_horizontal_axis_on_a_plate() -> None:
    """Weight and its three moments, the inertia about the axis and two products: 7 of 10."""
    held = on_base(load("pendulum"), held=True)
    assert len(base_parameters(held).chosen.base) == rank(held) == 7
    moving = on_base(load("pendulum"))
    assert len(base_parameters(moving).chosen.base) == rank(moving) == 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "puma560"])
def test_exact_and_numerical_counts_agree(name: str) -> None:
    fixed = load(name)
    held, moving = on_base(fixed, held=True), on_base(fixed)
    counts = [len(base_parameters(m).chosen.base) for m in (fixed, held, moving)]
    assert counts == [rank(m) for m in (fixed, held, moving)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("name", ["four_bar", "delta", "puma560@bare"])
def test_the_wrench_of_a_moving_base_sees_all_that_joint_forces_see(name: str) -> None:
    """Ayusawa, Venture and Nakamura (2014): the base rows alone have the rank of all rows."""
    mechanism = on_base(replace(load(name), elements=()))
    rows = [i for i, c in enumerate(mechanism.coordinates) if c.name.startswith("base.")]
    assert rank(mechanism, rows) == rank(mechanism)


# ----------------------------------------------------------------- held coordinates, measurements


def test_held_coordinates_need_no_columns(tmp_path: Path) -> None:
    t = np.linspace(0, 1, 21)
    write_table(tmp_path / "m.csv", {"time": t, "waist": np.sin(t), "elbow": np.cos(2 * t)})
    held = arm(base={"held": True})
    table = read_motion(tmp_path / "m.csv", held)
    assert np.all(table.y[:, 2:] == 0)
    free = read_motion(tmp_path / "m.csv", arm())
    motions = [solve_motion(m, x.y, x.yd, x.ydd) for m, x in ((held, table), (arm(), free))]
    on_plate, on_ground = (inverse_dynamics(motion).tau for motion in motions)
    assert on_plate[:, :2] == pytest.approx(on_ground, abs=1e-12)
    with pytest.raises(DataError, match=r"missing column base\.x"):
        read_motion(tmp_path / "m.csv", arm(base={}))


def test_a_simulation_leaves_held_coordinates_where_they_are() -> None:
    times = np.linspace(0, 0.5, 6)
    start = {"y0": np.array([0.1, 0.4]), "yd0": np.array([1.0, -0.5])}
    right = simulate(arm(), times, **start)
    found = simulate(arm(base={"held": True}), times,
                     **{k: np.append(v, np.zeros(6)) for k, v in start.items()})  # fmt: skip
    assert found.y[:, :2] == pytest.approx(right.y, abs=1e-8)
    assert np.all(found.y[:, 2:] == 0)
    assert found.tau[:, 4] == pytest.approx(
        balance(inverse_dynamics(solve_motion(arm(base={"held": True}), found.y, found.yd,
                found.ydd)), np.zeros(3), np.tile(np.eye(3), (6, 1, 1)))[0][:, 2]
    )  # fmt: skip


def test_a_measured_wrench_of_a_turning_base(tmp_path: Path) -> None:
    """Six channels of a sensor become generalised forces; so do all of a held plate."""
    mechanism = on_base(arm())
    t = np.linspace(0, 1, 101)
    y = np.column_stack([0.3 * np.sin((k + 1) * t + k) for k in range(8)])
    yd = np.column_stack([0.3 * (k + 1) * np.cos((k + 1) * t + k) for k in range(8)])
    ydd = np.column_stack([-0.3 * (k + 1) ** 2 * np.sin((k + 1) * t + k) for k in range(8)])
    result = inverse_dynamics(solve_motion(mechanism, y, yd, ydd, time=t))
    columns = {"time": t, **result.sensed}
    for i, c in enumerate(mechanism.coordinates):
        columns |= {c.name: y[:, i], f"{c.name}.d": yd[:, i], f"{c.name}.dd": ydd[:, i]}
    write_table(tmp_path / "log.csv", columns)
    read = prepare(read_measurement(tmp_path / "log.csv", mechanism), mechanism)
    names = [c.force for c in mechanism.coordinates]
    assert set(read.forces) == set(names[2:])
    order = [names.index(name) for name in read.forces]
    assert read.tau == pytest.approx(result.tau[:, order], abs=1e-9)
    for missing, words in (
        ("base.Fy", r"base\.Fx, base\.Fz without base\.Fy"),
        ("base.roll", r"base\.roll"),
    ):
        write_table(
            tmp_path / "part.csv",
            {k: v for k, v in columns.items() if not k.startswith(missing)},
        )
        with pytest.raises(DataError, match=words):
            prepare(read_measurement(tmp_path / "part.csv", mechanism), mechanism)


# ----------------------------------------------------------------- the key of the model file


@pytest.mark.parametrize("name", ["pendulum", "delta", "sla_suspension", "tx40", "quarter_vehicle"])
def test_a_mechanism_on_a_base_can_be_saved(name: str) -> None:
    mechanism = on_base(load(name), held=True)
    assert loads(dumps(mechanism)) == mechanism
    assert all(c.held == c.name.startswith("base.") for c in mechanism.coordinates)
    assert [b.name for b in mechanism.bodies][:-1] == [b.name for b in load(name).bodies]


def test_the_base_may_be_a_body_with_inertia_and_any_joint() -> None:
    turntable = arm(
        base={"type": "revolute", "axis": "z", "between": ["ground", "table"], "force": "M_table"},
    )
    assert [c.name for c in turntable.coordinates] == ["waist", "elbow", "table"]
    assert turntable.joint("waist").body_a == "table"
    # waist and table turn about the same axis: the torque of the table is that of the waist
    motion = moved(turntable)
    tau = inverse_dynamics(motion).tau
    assert tau[:, 2] == pytest.approx(tau[:, 0], abs=1e-12)


def test_everything_on_the_ground_moves_with_the_base() -> None:
    """Springs, rods and named points; lengths in the units of the file."""
    bob = {
        "frame": {"origin": [300, 0, 0]},
        "mass": 1,
        "inertia": {"xx": 1e4, "yy": 1e4, "zz": 1e4},
    }
    shaken = build(
        name="shaken",
        units={"length": "mm"},
        base={"type": "prismatic", "axis": "z", "at": [100, 0, 0]},
        points={"N": {"in": "ground", "at": [0, 0, 50]}},
        bodies={"bob": bob},
        joints={"slide": {"type": "planar", "between": ["ground", "bob"], "at": [0, 0, 0],
                          "axis": "y"}},
        elements={"spring": {"type": "spring_damper", "stiffness": 10, "free_length": 200,
                             "between": ["ground.N", {"in": "bob", "at": [0, 0, 30]}]}},
        constraints={"rod": {"type": "distance",
                             "between": ["ground.N", {"in": "bob", "at": [0, 0, 0]}]}},
        coordinates={"turn": {"joint": "slide.angle"}, "x": {"joint": "slide.x"}},
    )  # fmt: skip
    assert shaken.joint("base").frame_a.origin == (0.1, 0.0, 0.0)
    (spring,), (rod,) = shaken.elements, shaken.constraints
    assert spring.points[0].body == rod.point_a.body == "base"  # type: ignore[union-attr]
    assert {p.name: p.body for p in shaken.points}["N"] == "base"
    assert loads(dumps(shaken)) == shaken


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ({"between": ["upper", "base"]}, "base stands between upper and base.*give .ground"),
        ({"type": "revolute"}, "axis is missing"),
        ({"type": "helix"}, "unknown joint type"),
        ({"wheels": 4}, "wheels"),
        ({"frame": {"origin": [0, 0, 0]}, "at": [0, 0, 0]}, "free joint has no at"),
        ({"between": ["ground", "waist"]}, "two joints waist"),
        ({"between": ["ground", "upper"]}, "frame of the base is that of the ground"),
    ],
)
def test_wrong_bases_are_refused(base: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        arm(base=base)
