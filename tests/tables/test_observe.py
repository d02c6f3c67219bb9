"""Columns of points, bodies and joints: rates are derivatives, and joints close what they join."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.modelfile import load
from mechid.spatial.rotations import matrix_from_quaternion, matrix_from_rpy
from mechid.tables import (
    body_columns,
    closure_residual,
    coordinate_columns,
    find_point,
    joint_columns,
    limit_notes,
    point_columns,
    point_motion,
    points_of,
)

STEP = 1e-3


def moved(name: str, amplitude: float = 0.02, n: int = 41) -> Motion:
    """A motion of all coordinates with exact speeds and accelerations."""
    model = kinematic_model(load(name))
    t = STEP * np.arange(n)
    w = np.linspace(2.0, 3.0, model.n_independent)
    phase = np.outer(t, w)
    y = model.home_y + amplitude * np.sin(phase)
    return solve_motion(
        model, y, amplitude * w * np.cos(phase), -amplitude * w**2 * np.sin(phase), time=t
    )


def differenced(values: np.ndarray) -> np.ndarray:
    """Fourth-order differences, for the samples that have two neighbours on each side."""
    v = values
    return np.asarray((v[:-4] - 8 * v[1:-3] + 8 * v[3:-1] - v[4:]) / (12 * STEP))


MOTION = moved("sla_suspension")


def test_rates_of_points_are_derivatives() -> None:
    columns = point_columns(MOTION, ["wheel_r.K_r", "tie_rod_l.J_rod_l", "rack"])
    assert list(columns)[:4] == [
        "wheel_r.K_r.x",
        "wheel_r.K_r.y",
        "wheel_r.K_r.z",
        "wheel_r.K_r.vx",
    ]
    assert len(columns) == 27
    for stem in ("wheel_r.K_r", "tie_rod_l.J_rod_l", "rack"):
        for axis in "xyz":
            p, v, a = (columns[f"{stem}.{letter}{axis}"] for letter in ("", "v", "a"))
            assert differenced(p) == pytest.approx(v[2:-2], abs=1e-9)
            assert differenced(v) == pytest.approx(a[2:-2], abs=1e-8)


def test_both_sides_of_a_joint_are_in_one_place() -> None:
    columns = point_columns(MOTION, ["lower_arm_r.G_r", "upright_r.G_r"])
    for axis in "xyz":
        for letter in ("", "v", "a"):
            a, b = (columns[f"{body}.G_r.{letter}{axis}"] for body in ("lower_arm_r", "upright_r"))
            assert a == pytest.approx(b, abs=1e-13)


def test_point_motion_is_the_motion_of_the_columns() -> None:
    columns = point_columns(MOTION, ["upright_r.K_r"])
    one = point_motion(MOTION, "upright_r.K_r")
    assert one.position.shape == (41, 3)
    assert np.array_equal(one.acceleration[:, 1], columns["upright_r.K_r.ay"])


def test_orientations_agree_and_turn_with_the_angular_velocity() -> None:
    e, fixed, moving = (
        body_columns(MOTION, ["wheel_r"], reading) for reading in ("quaternion", "fixed", "moving")
    )
    R = matrix_from_quaternion(np.stack([e[f"wheel_r.q{x}"] for x in "wxyz"], axis=1))
    for columns, reading in ((fixed, "fixed"), (moving, "moving")):
        rpy = np.stack([columns[f"wheel_r.{x}"] for x in ("roll", "pitch", "yaw")], axis=1)
        assert matrix_from_rpy(rpy, reading) == pytest.approx(R, abs=1e-12)  # type: ignore[arg-type]
    omega = np.stack([e[f"wheel_r.omega_{x}"] for x in "xyz"], axis=1)[2:-2]
    alpha = np.stack([e[f"wheel_r.alpha_{x}"] for x in "xyz"], axis=1)[2:-2]
    turning = differenced(R) @ np.swapaxes(R[2:-2], 1, 2)
    seen = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    assert seen == pytest.approx(omega, abs=1e-9)
    full = np.stack([e[f"wheel_r.omega_{x}"] for x in "xyz"], axis=1)
    assert differenced(full) == pytest.approx(alpha, abs=1e-8)


def test_angles_and_signs_do_not_jump_over_full_turns() -> None:
    model = kinematic_model(load("pendulum"))
    y = np.linspace(0.0, 4 * np.pi, 200)[:, None]
    motion = solve_motion(model, y, time=np.arange(200.0))
    e = body_columns(motion, ["bob"])
    q = np.stack([e[f"bob.q{x}"] for x in "wxyz"], axis=1)
    assert np.abs(np.diff(q, axis=0)).max() < 0.05
    assert np.ptp(joint_columns(motion, ["hinge"])["hinge.angle"]) == pytest.approx(4 * np.pi)


@pytest.mark.parametrize("name", ["sla_suspension", "macpherson", "five_bar@table", "screw_press"])
def test_rates_of_joints_are_derivatives(name: str) -> None:
    motion = MOTION if name == "sla_suspension" else moved(name)
    joints = motion.model.mechanism.joints
    columns = joint_columns(motion, [joint.name for joint in joints])
    checked = 0
    for joint in joints:
        for coordinate in joint.kind.coordinates:
            stem = f"{joint.name}.{coordinate}"
            if f"{stem}.d" in columns:
                d, dd = columns[f"{stem}.d"], columns[f"{stem}.dd"]
                assert differenced(columns[stem]) == pytest.approx(d[2:-2], abs=1e-8)
                assert differenced(d) == pytest.approx(dd[2:-2], abs=1e-6)
                checked += 1
            else:
                assert joint.type in ("spherical", "free")
                assert f"{joint.name}.omega_x" in columns
    assert checked


def test_driven_joints_show_their_coordinate() -> None:
    columns = joint_columns(MOTION, ["rack_guide"])
    assert columns["rack_guide.displacement"] == pytest.approx(MOTION.y[:, 2], abs=1e-15)
    assert columns["rack_guide.displacement.dd"] == pytest.approx(MOTION.ydd[:, 2], abs=1e-12)
    assert np.array_equal(coordinate_columns(MOTION)["rack.d"], MOTION.yd[:, 2])


def test_names_of_points() -> None:
    mechanism = MOTION.model.mechanism
    assert find_point(mechanism, "upright_r.K_r").local == pytest.approx((-0.012, -0.06, 0.01))
    assert find_point(mechanism, "rack").local == (0.0, 0.0, 0.0)
    # A joint's frame on the body, where the model gives the point another name.
    assert find_point(mechanism, "upright_r.H_r").local == (0.1, 0.0, 0.0)
    assert find_point(mechanism, "ground.N_l").body == "ground"
    assert "slider_r" in points_of(mechanism, "strut_top_r")
    with pytest.raises(DataError, match=r"no body weel_r; did you mean wheel_r\?"):
        find_point(mechanism, "weel_r.K_r")
    with pytest.raises(DataError, match="wheel_r has no point K; choose one of: K_r"):
        find_point(mechanism, "wheel_r.K")
    with pytest.raises(DataError, match=r"no joint K_x; did you mean K_\w\?"):
        joint_columns(MOTION, ["K_x"])
    with pytest.raises(DataError, match="no moving body ground"):
        body_columns(MOTION, ["ground"])


def test_closure_is_seen_where_it_fails() -> None:
    model, q = MOTION.model, MOTION.q.copy()
    assert closure_residual(model, q).max() < 1e-14
    # The rod of a tie rod that turns by 1 mrad leaves its joint by about 0.3 mm.
    turned = model.compiled.coordinate["J_r", 0].q
    q[7, turned] += 1e-3
    residual = closure_residual(model, q)
    assert residual[7] == pytest.approx(3e-4, rel=0.1)
    assert np.delete(residual, 7).max() < 1e-14
    assert closure_residual(kinematic_model(load("puma560")), np.zeros((2, 6))).tolist() == [0, 0]


def test_limits_are_watched() -> None:
    assert limit_notes(MOTION) == ()
    y = MOTION.model.home_y + np.outer([0.0, 1.0], [0, 0, 0.045, 0, 0])
    out = solve_motion(MOTION.model, y, time=np.array([0.0, 2.5]))
    assert limit_notes(out) == (
        "rack_guide.displacement leaves its limits by 0.01 m (at t = 2.5 s)",
    )
