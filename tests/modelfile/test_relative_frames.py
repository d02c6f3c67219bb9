"""Frames given in the frame of another body, as URDF has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from mechid.errors import ModelError
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, dumps, loads
from mechid.textfile.expressions import evaluate_text

FLIP = np.diag([1.0, -1.0, 1.0])
number = st.floats(-3, 3).map(lambda x: round(x, 6))
three = st.lists(number, min_size=3, max_size=3)


def chain(origins: list[list[Any]], turns: list[list[Any]], **words: Any) -> Mechanism:
    """Return a chain of revolute joints about y of each link, as a URDF file would give it."""
    names = ["ground", *(f"l{i}" for i in range(len(origins)))]
    parts = {
        "bodies": {
            names[i + 1]: {"frame": {"in": names[i], "origin": origin, "rpy": rpy}}
            for i, (origin, rpy) in enumerate(zip(origins, turns, strict=True))
        },
        "joints": {
            f"q{i}": {
                "type": "R",
                "between": [names[i], names[i + 1]],
                "axis": {"in": names[i + 1], "along": [0, 1, 0]},
            }
            for i in range(len(origins))
        },
    }
    return build(name="m", parameters={"l": 0.4, "a": 0.3}, **parts, **words)


@pytest.mark.slow
@given(st.lists(st.tuples(three, three), min_size=3, max_size=3))
def test_chain_of_frames(placed: list[tuple[list[float], list[float]]]) -> None:
    m = chain([p for p, _ in placed], [rpy for _, rpy in placed])
    p, R = np.zeros(3), np.eye(3)
    for i, (origin, rpy) in enumerate(placed):
        p, R = p + R @ origin, R @ Rotation.from_euler("xyz", rpy).as_matrix()
        frame, joint = m.body(f"l{i}").frame, m.joint(f"q{i}")
        assert np.array(frame.origin) == pytest.approx(p, abs=1e-12)
        assert np.array(frame.rotation) == pytest.approx(R, abs=1e-12)
        assert joint.frame_a.origin == tuple(v + 0.0 for v in origin)
        assert joint.frame_b.origin == (0, 0, 0)
        z_a, z_b = (np.array(f.rotation)[:, 2] for f in (joint.frame_a, joint.frame_b))
        assert z_b == pytest.approx([0, 1, 0], abs=1e-15)
        turn = Rotation.from_euler("xyz", rpy).as_matrix()
        assert z_a == pytest.approx(turn[:, 1], abs=1e-12)
    assert loads(dumps(m)) == m


def test_expressions_of_related_frames_stay_exact() -> None:
    m = chain(
        [[0, 0, 0], ["l", 0, "-l/2"], [0, "2*l", 0]],
        [[0, 0, "a"], [0, "90 deg", 0], ["a", 0, 0]],
        points={
            "P": {"in": "l2", "at": ["l", 0, 0.1]},
            "Q": {"in": "l0", "at": ["l", 0.5, 0]},
        },
    )
    assert m.joint("q1").frame_a.origin_expr == ("l", "0", "-l / 2")
    assert m.joint("q2").frame_a.origin_expr == ("0", "2 * l", "0")
    assert m.body("l0").frame.rotation_expr is not None
    with_use = chain(
        [[0, 0, 0], ["l", 0, "-l/2"], [0, "2*l", 0]],
        [[0, 0, "a"], [0, "90 deg", 0], ["a", 0, 0]],
        points={
            "P": {"in": "l2", "at": ["l", 0.3, 0.1]},
            "Q": {"in": "l0", "at": ["l", 0.5, 0]},
        },
        elements={
            "up": {"type": "force", "body": "l1", "at": "P", "vector": [0, 0, 1]},
            "down": {"type": "force", "body": "l1", "at": "Q", "vector": [0, 0, 1]},
        },
    )
    # P in l1: (0, 2 l, 0) + Rx(a) (l, 0.3, 0.1); Q in l1: Ry(-90°) (0, 0.5, l/2).
    c, s = np.cos(0.3), np.sin(0.3)
    expected = {"P": (0.4, 0.8 + 0.3 * c - 0.1 * s, 0.3 * s + 0.1 * c), "Q": (-0.2, 0.5, 0)}
    for name, local in expected.items():
        point = with_use.point(name, "l1")
        assert point.local == pytest.approx(local)
        assert point.expr is not None
        values = [evaluate_text(text, {"l": 0.4, "a": 0.3}) for text in point.expr]
        assert values == pytest.approx(list(local))


def test_axes_and_points_in_the_parent() -> None:
    turned = {"frame": {"origin": [1, 0, 0], "x": "y", "y": "-x"}}
    m = build(
        name="m",
        points={"E": [0.5, 0.5, 0]},
        bodies={
            "a": turned,
            "b": {"frame": {"in": "a", "origin": [1, 2, 3], "x": [0, 1, 0], "z": "z"}},
            "c": {"frame": {"in": "a", "origin": "E", "rpy": [0, 0, "90 deg"]}},
            "d": {"frame": {"in": "a", "rotation": [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}},
        },
        joints={
            name: {"type": "free", "between": ["ground", name]} for name in ("a", "b", "c", "d")
        },
    )
    assert m.body("b").frame.origin == (-1, 1, 3)
    assert m.body("b").frame.rotation == ((-1, 0, 0), (0, -1, 0), (0, 0, 1))
    assert m.body("c").frame.origin == (0.5, 0.5, 0)
    assert m.body("c").frame.rotation == ((-1, 0, 0), (0, -1, 0), (0, 0, 1))
    assert m.body("d").frame.origin == (1, 0, 0)
    assert m.body("d").frame.rotation == ((-1, 0, 0), (0, 0, 1), (0, 1, 0))


def test_mirrored_chain_is_the_mirror_image() -> None:
    part = {
        "bodies": {
            "a": {"frame": {"origin": [0.1, 0.2, 0.3], "rpy": [0.2, 0.1, -0.4]}},
            "b": {"frame": {"in": "a", "origin": [0.3, 0.1, -0.2], "rpy": [0.5, -0.3, 0.9]}},
        },
        "joints": {
            "A": {"type": "X", "between": ["ground", "a"], "at": {"in": "a", "at": [0, 0, 0]}},
            "B": {"type": "R", "between": ["a", "b"], "axis": "b.y"},
        },
    }
    m = build(
        name="m",
        subassemblies={"part": part},
        use={
            "r": {"subassembly": "part", "suffix": "_r"},
            "l": {"subassembly": "part", "suffix": "_l", "mirror": "y"},
        },
    )
    S = np.diag([1.0, -1.0, 1.0])
    for name in "ab":
        right, left = (m.body(f"{name}{side}").frame for side in ("_r", "_l"))
        assert np.array(left.origin) == pytest.approx(S @ np.array(right.origin))
        assert np.array(left.rotation) == pytest.approx(S @ np.array(right.rotation) @ FLIP)
    assert m.joint("B_l").frame_a.origin == pytest.approx((0.3, -0.1, -0.2))
    axis = np.array(m.joint("B_l").frame_a.rotation)[:, 2]
    assert axis == pytest.approx(-FLIP @ np.array(m.joint("B_r").frame_a.rotation)[:, 2])


def test_rpy_of_joint_frames() -> None:
    rpy = [0.3, -0.2, 1.1]
    m = build(
        name="m",
        bodies={"b": {}},
        joints={
            "j": {"type": "R", "between": ["ground", "b"], "frames": [{"rpy": rpy}, {}]},
        },
    )
    expected = Rotation.from_euler("xyz", rpy).as_matrix()
    assert np.array(m.joint("j").frame_a.rotation) == pytest.approx(expected, abs=1e-15)
    assert m.joint("j").frame_a.rotation_expr is not None
    assert m.joint("j").frame_b.origin == (0, 0, 0)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"in": "c"}, r"bodies\.b\.frame\.origin\.in: there is no body c"),
        ({"in": "b"}, "body b depends on itself: body b -> body b"),
        ({"rpy": [0, 0]}, r"bodies\.b\.frame\.rpy: expected three numbers, got a list of 2"),
        (
            {"rpy": [0, 0, 0], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
            r"bodies\.b\.frame: rotation and rpy exclude each other; remove one of them",
        ),
        (
            {"rpy": [0, 0, 0], "x": "x", "y": "y"},
            "axes and rotation exclude each other; remove one",
        ),
    ],
)
def test_errors(frame: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        build(
            name="m",
            bodies={"b": {"frame": frame}},
            joints={"j": {"type": "F", "between": ["ground", "b"]}},
        )
