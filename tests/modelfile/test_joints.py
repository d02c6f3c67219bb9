"""Joint frames: what each type promises in NOTATION.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.mechanism.records import Frame, Joint, Limit, Mechanism
from mechid.modelfile import build
from mechid.spatial.rotations import axis_rotation, matrix_from_rpy

component = st.floats(-1, 1).map(lambda x: round(x, 3))
vector = st.tuples(component, component, component).filter(lambda v: np.linalg.norm(v) > 0.1)
angles = st.tuples(component, component, component)


def mechanism(joint: dict[str, Any], rpy_a: Any = (0, 0, 0), rpy_b: Any = (0, 0, 0)) -> Mechanism:
    """Return two bodies in general position with a joint between them."""
    frames = [
        {"origin": origin, "rotation": matrix_from_rpy(np.array(rpy)).tolist()}
        for origin, rpy in (([0.1, 0.2, 0.3], rpy_a), ([-0.3, 0.1, 0.2], rpy_b))
    ]
    return build(
        name="m",
        points={"P": [0.5, -0.4, 0.3], "Q": [0.7, -0.4, 0.3]},
        bodies={"a": {"frame": frames[0]}, "b": {"frame": frames[1]}},
        joints={
            "root": {"type": "free", "between": ["ground", "a"]},
            "j": {"between": ["a", "b"], **joint},
        },
    )


def in_ground(m: Mechanism, body: str, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    p, R = np.array(m.body(body).frame.origin), np.array(m.body(body).frame.rotation)
    return p + R @ np.array(frame.origin), R @ np.array(frame.rotation)


def relative(m: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return origin and rotation of frame b in frame a, in the reference pose."""
    j = m.joint("j")
    (p_a, R_a), (p_b, R_b) = in_ground(m, "a", j.frame_a), in_ground(m, "b", j.frame_b)
    return R_a.T @ (p_b - p_a), R_a.T @ R_b


@given(vector, angles, angles, st.sampled_from(["revolute", "prismatic", "cylindrical", "planar"]))
def test_shared_axis(axis: Any, rpy_a: Any, rpy_b: Any, joint_type: str) -> None:
    m = mechanism({"type": joint_type, "at": "P", "axis": list(axis)}, rpy_a, rpy_b)
    p, R = in_ground(m, "a", m.joint("j").frame_a)
    assert p == pytest.approx([0.5, -0.4, 0.3])
    assert R[:, 2] == pytest.approx(np.array(axis) / np.linalg.norm(axis))
    origin, rotation = relative(m)
    assert origin == pytest.approx(np.zeros(3), abs=1e-14)
    assert rotation == pytest.approx(np.eye(3), abs=1e-14)  # zero in the reference pose


@given(angles, angles, st.sampled_from(["spherical", "fixed"]))
def test_ball_and_fixed_joints_have_ground_axes(rpy_a: Any, rpy_b: Any, joint_type: str) -> None:
    m = mechanism({"type": joint_type, "at": "P"}, rpy_a, rpy_b)
    for body, frame in (("a", m.joint("j").frame_a), ("b", m.joint("j").frame_b)):
        p, R = in_ground(m, body, frame)
        assert p == pytest.approx([0.5, -0.4, 0.3])
        assert pytest.approx(np.eye(3), abs=1e-14) == R


@given(vector, vector, angles, angles)
def test_universal(first: Any, other: Any, rpy_a: Any, rpy_b: Any) -> None:
    second = np.cross(first, other)
    if np.linalg.norm(second) < 0.05:
        return
    m = mechanism({"type": "U", "at": "P", "axes": [list(first), second]}, rpy_a, rpy_b)
    _, R_a = in_ground(m, "a", m.joint("j").frame_a)
    _, R_b = in_ground(m, "b", m.joint("j").frame_b)
    assert R_a[:, 2] == pytest.approx(np.array(first) / np.linalg.norm(first), abs=1e-14)
    assert R_b[:, 0] == pytest.approx(second / np.linalg.norm(second), abs=1e-14)
    assert relative(m)[1] == pytest.approx(np.eye(3), abs=1e-13)  # Rz(0) Rx(0)


def test_universal_angles_with_zero_directions() -> None:
    # The cross stands turned by 0.3 about the first axis and by -0.2 about the second.
    q_1, q_2 = np.array(0.3), np.array(-0.2)
    R = axis_rotation(2, q_1) @ axis_rotation(0, q_2)
    m = build(
        name="m",
        bodies={
            "a": {"frame": {"origin": [0, 0, 0]}},
            "b": {"frame": {"origin": [0, 0, 0], "rotation": R.tolist()}},
        },
        joints={
            "root": {"type": "free", "between": ["ground", "a"]},
            "j": {
                "type": "universal",
                "between": ["a", "b"],
                "at": [0, 0, 0],
                "axes": ["a.z", "b.x"],
                "zero": ["a.x", "b.z"],
            },
        },
    )
    assert relative(m)[1] == pytest.approx(R, abs=1e-15)


@given(st.floats(-3, 3), angles)
def test_zero_directions_measure_the_angle(angle: float, rpy: Any) -> None:
    R = matrix_from_rpy(np.array(rpy))
    x_b = R @ axis_rotation(2, np.array(angle))[:, 0]
    m = mechanism(
        {"type": "R", "at": "P", "axis": R[:, 2].tolist(), "zero": [R[:, 0].tolist(), x_b.tolist()]}
    )
    assert relative(m)[1] == pytest.approx(axis_rotation(2, np.array(angle)), abs=1e-14)


def test_displacement_from_two_points() -> None:
    m = mechanism({"type": "prismatic", "at": ["P", "Q"], "axis": "x"})
    assert relative(m)[0] == pytest.approx([0, 0, 0.2])


def test_rough_pose_keeps_each_body_its_own() -> None:
    m = mechanism(
        {
            "type": "revolute",
            "at": [{"in": "a", "at": [1, 0, 0]}, {"in": "b", "at": [0, 2, 0]}],
            "axis": ["a.z", "b.y"],
        },
        (0.1, 0.2, 0.3),
        (0.3, 0.1, 0.2),
    )
    j = m.joint("j")
    assert j.frame_a.origin == (1, 0, 0)
    assert j.frame_b.origin == (0, 2, 0)
    assert [row[2] for row in j.frame_a.rotation] == [0, 0, 1]
    assert [row[2] for row in j.frame_b.rotation] == [0, 1, 0]


def test_universal_need_not_be_square_in_a_rough_pose() -> None:
    mechanism({"type": "universal", "at": ["P", "Q"], "axes": ["x", [0.1, 1, 0]]})


def test_frames_are_right_handed_and_axes_exact() -> None:
    for axis, column in (("x", [1, 0, 0]), ("y", [0, 1, 0]), ("z", [0, 0, 1]), ("-y", [0, -1, 0])):
        R = np.array(mechanism({"type": "R", "at": "P", "axis": axis}).joint("j").frame_a.rotation)
        assert R[:, 2].tolist() == column
        assert np.linalg.det(R) == 1
        assert set(np.abs(R).ravel()) == {0.0, 1.0}


def limits(**words: Any) -> tuple[Limit, ...]:
    return mechanism({"at": "P", **words}).joint("j").limits


def test_limits() -> None:
    assert limits(type="R", axis="x", limits=["-30 deg", None]) == (Limit(-np.pi / 6, None),)
    assert limits(type="C", axis="x", limits=[[-1, 1], [0, 0.5]]) == (Limit(-1, 1), Limit(0, 0.5))
    assert limits(type="C", axis="x", limits=[None, [0, 0.5]]) == (Limit(), Limit(0, 0.5))
    assert limits(type="R", axis="x") == ()


def test_pitch_and_hidden() -> None:
    j = mechanism({"type": "H", "at": "P", "axis": "x", "pitch": "0.01*2", "hidden": True}).joint(
        "j"
    )
    assert (j.type, j.pitch, j.hidden) == ("helical", 0.02, True)


def test_letters() -> None:
    assert isinstance(mechanism({"type": "X", "at": "P"}).joint("j"), Joint)
    assert mechanism({"type": "E", "at": "P", "axis": "z"}).joint("j").type == "planar"
