"""Rotations: both readings of roll-pitch-yaw, quaternions, cross products, frames from axes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.spatial.rotations import (
    axis_rotation,
    frame_from_axes,
    matrix_from_quaternion,
    matrix_from_rpy,
    quaternion_from_matrix,
    rpy_from_matrix,
    skew,
    snap,
)

Array = npt.NDArray[np.float64]
EPS = float(np.finfo(float).eps)
X, Y, Z = np.eye(3)

angles = st.floats(-np.pi, np.pi)
vectors = st.tuples(*[st.floats(-10, 10)] * 3).map(np.array)
unit_vectors = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3).map(
    lambda v: v / np.linalg.norm(v)
)


def rodrigues(u: Array, angle: float) -> Array:
    """Rotation about a unit axis: r cos θ + (u × r) sin θ + u (u·r) (1 - cos θ), by columns."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * e + s * np.cross(u, e) + (1 - c) * (u @ e) * u for e in np.eye(3)]).T


def x_rotation(a: float) -> Array:
    c, s = np.cos(a), np.sin(a)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def y_rotation(a: float) -> Array:
    c, s = np.cos(a), np.sin(a)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def z_rotation(a: float) -> Array:
    c, s = np.cos(a), np.sin(a)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def assert_rotation(R: Array) -> None:
    assert np.abs(R @ R.T - np.eye(3)).max() < 20 * EPS
    assert np.linalg.det(R) > 0


@given(angles)
def test_rotation_about_an_axis(a: float) -> None:
    for k, explicit in enumerate((x_rotation, y_rotation, z_rotation)):
        assert np.array_equal(axis_rotation(k, np.array(a)), explicit(a))


@given(angles, angles, angles)
def test_readings_of_roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> None:
    rpy = np.array([roll, pitch, yaw])
    fixed = z_rotation(yaw) @ y_rotation(pitch) @ x_rotation(roll)
    moving = x_rotation(roll) @ y_rotation(pitch) @ z_rotation(yaw)
    assert np.abs(matrix_from_rpy(rpy) - fixed).max() < 4 * EPS
    assert np.abs(matrix_from_rpy(rpy, "fixed") - fixed).max() < 4 * EPS
    assert np.abs(matrix_from_rpy(rpy, "moving") - moving).max() < 4 * EPS


def test_fixed_axes_turn_about_x_first() -> None:
    """A quarter turn about x, then about z: y goes to z and stays there; x goes to y."""
    R = matrix_from_rpy(np.array([np.pi / 2, 0, np.pi / 2]))
    assert np.abs(R @ Y - Z).max() < 2 * EPS
    assert np.abs(R @ X - Y).max() < 2 * EPS
    # About moving axes, z has been carried to -y by then: x goes to z.
    R = matrix_from_rpy(np.array([np.pi / 2, 0, np.pi / 2]), "moving")
    assert np.abs(R @ X - Z).max() < 2 * EPS


@pytest.mark.parametrize("reading", ["fixed", "moving"])
@given(angles, st.floats(-np.pi / 2 + 1e-3, np.pi / 2 - 1e-3), angles)
def test_roll_pitch_yaw_and_back(reading: str, roll: float, pitch: float, yaw: float) -> None:
    rpy = np.array([roll, pitch, yaw])
    back = rpy_from_matrix(matrix_from_rpy(rpy, reading), reading)  # type: ignore[arg-type]
    gap = np.remainder(back - rpy + np.pi, 2 * np.pi) - np.pi
    assert np.abs(gap).max() < 20 * EPS / np.cos(pitch)  # known no better near 90°
    assert abs(back[1]) <= np.pi / 2


@pytest.mark.parametrize("reading", ["fixed", "moving"])
@pytest.mark.parametrize("sign", [1, -1])
@given(angles, angles)
def test_pitch_of_90_degrees(reading: str, sign: int, roll: float, yaw: float) -> None:
    """Roll and yaw turn about one axis: one of them is zero, the rotation is the same."""
    R = matrix_from_rpy(np.array([roll, sign * np.pi / 2, yaw]), reading)  # type: ignore[arg-type]
    back = rpy_from_matrix(R, reading)  # type: ignore[arg-type]
    assert back[1] == pytest.approx(sign * np.pi / 2, abs=1e-7)
    assert np.abs(matrix_from_rpy(back, reading) - R).max() < 100 * EPS  # type: ignore[arg-type]
    assert 0.0 in (back[0], back[2])


@given(unit_vectors, angles)
def test_quaternion_of_axis_and_angle(u: Array, a: float) -> None:
    e = np.concatenate([[np.cos(a / 2)], np.sin(a / 2) * u])
    R = matrix_from_quaternion(e)
    assert np.abs(R - rodrigues(u, a)).max() < 20 * EPS
    assert_rotation(R)
    assert np.array_equal(matrix_from_quaternion(-e), R)
    assert np.abs(matrix_from_quaternion(7.3 * e) - R).max() < 10 * EPS  # normalised first


@given(unit_vectors, st.one_of(angles, st.floats(-1e-6, 1e-6).map(lambda x: np.pi + x)))
def test_quaternion_and_back(u: Array, a: float) -> None:
    """Also near 180°, where the scalar part vanishes and its sign is a toss-up."""
    e = np.concatenate([[np.cos(a / 2)], np.sin(a / 2) * u])
    back = quaternion_from_matrix(rodrigues(u, a))
    assert back[0] >= 0
    assert abs(np.linalg.norm(back) - 1) < 4 * EPS
    assert min(np.abs(back - e).max(), np.abs(back + e).max()) < 20 * EPS


@pytest.mark.parametrize("axis", [X, Y, Z, -X, (X + Y) / np.sqrt(2), (X - Y + Z) / np.sqrt(3)])
def test_half_turns(axis: Array) -> None:
    """R = 2 u uᵀ - 1; u and -u are the same half turn."""
    R = 2 * np.outer(axis, axis) - np.eye(3)
    e = quaternion_from_matrix(R)
    assert abs(e[0]) < 4 * EPS
    assert abs(abs(e[1:] @ axis) - 1) < 4 * EPS
    assert np.abs(matrix_from_quaternion(e) - R).max() < 10 * EPS


def test_identity() -> None:
    assert np.array_equal(quaternion_from_matrix(np.eye(3)), [1, 0, 0, 0])
    assert np.array_equal(matrix_from_quaternion(np.array([1.0, 0, 0, 0])), np.eye(3))
    assert np.array_equal(rpy_from_matrix(np.eye(3)), np.zeros(3))


@given(vectors, vectors)
def test_skew_is_the_cross_product(a: Array, b: Array) -> None:
    assert skew(a) @ b == pytest.approx(np.cross(a, b), abs=1e-13 * (1 + abs(a @ a) + abs(b @ b)))
    assert np.array_equal(skew(a).T, -skew(a))


def test_functions_carry_leading_axes() -> None:
    rng = np.random.default_rng(0)
    e = rng.standard_normal((4, 5, 4))
    R = matrix_from_quaternion(e)
    rpy = rpy_from_matrix(R)
    assert (R.shape, rpy.shape) == ((4, 5, 3, 3), (4, 5, 3))
    assert quaternion_from_matrix(R).shape == (4, 5, 4)
    assert matrix_from_rpy(rpy, "moving").shape == (4, 5, 3, 3)
    assert skew(e[..., 1:]).shape == (4, 5, 3, 3)
    for i in range(4):
        for j in range(5):
            assert np.array_equal(R[i, j], matrix_from_quaternion(e[i, j]))
            assert np.array_equal(rpy[i, j], rpy_from_matrix(R[i, j]))
            assert np.array_equal(quaternion_from_matrix(R)[i, j], quaternion_from_matrix(R[i, j]))
    assert np.abs(matrix_from_rpy(rpy) - R).max() < 100 * EPS


class TestFrameFromAxes:
    @given(unit_vectors, vectors, st.permutations([0, 1, 2]))
    def test_axes(self, first: Array, second: Array, order: list[int]) -> None:
        """One axis as given, the other as near as can be, the third by the right hand."""
        across = second - first * (first @ second)
        if np.linalg.norm(across) < 1e-3 * np.linalg.norm(second) + 1e-9:
            return
        i, j, k = order
        R = frame_from_axes(3 * first, second, (i, j))
        bound = 40 * EPS * np.linalg.norm(second) / np.linalg.norm(across)
        assert np.abs(R @ R.T - np.eye(3)).max() < bound + 20 * EPS
        assert np.linalg.det(R) > 0
        assert R[:, i] == pytest.approx(first, abs=20 * EPS)
        assert R[:, j] @ second > 0
        assert abs(R[:, k] @ second) < bound * np.linalg.norm(second) + 20 * EPS

    def test_coordinate_axes_come_out_exactly(self) -> None:
        a = np.radians(30)
        tilted = z_rotation(a).T @ np.array([np.cos(a), np.sin(a), 0])  # x, but for rounding
        R = frame_from_axes(tilted, np.array([1.0, 1.0, 0.0]), (0, 1))
        assert np.array_equal(R, np.eye(3))

    def test_snap_leaves_the_rest_alone(self) -> None:
        values = np.array([1 + EPS, -1 + EPS, EPS, 0.5, 2 + EPS, 1e-10])
        assert np.array_equal(snap(values), [1, -1, 0, 0.5, 2 + EPS, 1e-10])
