"""Denavit-Hartenberg tables against the explicit product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.errors import ModelError
from mechid.mechanism.records import Frame, Limit, Mechanism
from mechid.modelfile import build
from mechid.textfile.expressions import evaluate_text

KEYS = ("gamma", "b", "alpha", "d", "theta", "r")


def turn(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    T[:3, :3] = (
        [[1, 0, 0], [0, c, -s], [0, s, c]] if axis == "x" else [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    )
    return T


def shift(axis: str, length: float) -> np.ndarray:
    T = np.eye(4)
    T["xyz".index(axis), 3] = length
    return T


def product(gamma: float, b: float, alpha: float, d: float, theta: float, r: float) -> np.ndarray:
    return (
        turn("z", gamma)
        @ shift("z", b)
        @ turn("x", alpha)
        @ shift("x", d)
        @ turn("z", theta)
        @ shift("z", r)
    )


def matrix(frame: Frame) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = frame.rotation, frame.origin
    return T


def table(*rows: dict[str, Any], **words: Any) -> Mechanism:
    return build(name="m", denavit_hartenberg=list(rows), **words)


number = st.floats(-2, 2).map(lambda x: round(x, 4))
row = st.fixed_dictionaries(dict.fromkeys(KEYS, number) | {"at": number})


@pytest.mark.slow
@given(st.lists(st.tuples(row, st.sampled_from("RP"), st.integers(0, 3)), min_size=1, max_size=4))
@settings(max_examples=40)
def test_frames_are_the_products(rows: list[tuple[dict[str, float], str, int]]) -> None:
    m = table(
        *(
            {"link": i + 1, "antecedent": min(antecedent, i), "type": joint_type, **values}
            for i, (values, joint_type, antecedent) in enumerate(rows)
        )
    )
    expected = [np.eye(4)]
    for i, (values, joint_type, antecedent) in enumerate(rows):
        constants = {key: values[key] for key in KEYS}
        variable = "theta" if joint_type == "R" else "r"
        local = product(**constants)
        joint = m.joint(f"q{i + 1}")
        assert matrix(joint.frame_a) == pytest.approx(local, abs=1e-13)
        assert matrix(joint.frame_b) == pytest.approx(np.eye(4))
        moved = product(**(constants | {variable: constants[variable] + values["at"]}))
        expected.append(expected[min(antecedent, i)] @ moved)
        assert matrix(m.body(f"link_{i + 1}").frame) == pytest.approx(expected[-1], abs=1e-12)


def test_expressions_are_kept() -> None:
    m = table(
        {"link": 1, "antecedent": 0, "type": "R", "alpha": "-90 deg", "d": "a1", "r": "h"},
        {"link": 2, "antecedent": 1, "type": "R", "alpha": "tilt", "d": "a2", "r": "h"},
        parameters={"a1": 0.3, "a2": 0.5, "h": 0.2, "tilt": "25 deg"},
    )
    first, second = m.joint("q1").frame_a, m.joint("q2").frame_a
    assert first.origin_expr == ("a1", "h", "0")
    assert first.rotation == ((1, 0, 0), (0, 0, 1), (0, -1, 0))
    assert first.rotation_expr is None
    assert second.origin_expr == ("a2", "-sin(tilt) * h", "cos(tilt) * h")
    assert second.rotation_expr is not None
    values = {p.name: p.value for p in m.parameters}
    for texts, numbers in zip(second.rotation_expr, second.rotation, strict=True):
        assert tuple(evaluate_text(t, values) for t in texts) == numbers


def test_names() -> None:
    m = table(
        {"link": 1, "antecedent": 0, "type": "R", "body": "boom", "joint": "slew"},
        {"link": 2, "antecedent": 1, "type": "P", "limits": [0, "1/2"]},
        {"body": "claw", "antecedent": "boom", "type": "X", "joint": "weld", "d": 1},
        bodies={"claw": {"massless": True}, "extra": {"frame": {"origin": [9, 0, 0]}}},
        joints={"hook": {"type": "spherical", "between": ["claw", "extra"], "at": [9, 0, 0]}},
        coordinates={"a": {"joint": "slew"}, "b": {"joint": "q2"}},
    )
    assert [b.name for b in m.bodies] == ["boom", "link_2", "claw", "extra"]
    assert [j.name for j in m.joints] == ["slew", "q2", "weld", "hook"]
    assert [j.type for j in m.joints] == ["revolute", "prismatic", "fixed", "spherical"]
    assert m.joint("q2").limits == (Limit(0, 0.5),)
    assert m.body("claw").massless
    assert m.cut is None


def test_closed_loop() -> None:
    # A planar four-bar of the page: link 3 and link 4 meet in a cut joint.
    m = table(
        {"link": 1, "antecedent": 0, "type": "R", "at": 0.4},
        {"link": 2, "antecedent": 1, "type": "R", "d": "l1", "at": -0.2},
        {"link": 3, "antecedent": 0, "type": "R", "d": 1},
        {
            "closes": 3,
            "antecedent": 2,
            "type": "R",
            "d": 0.5,
            "to": {"theta": 0.3, "d": 0.7, "r": "h"},
        },
        parameters={"l1": 0.3, "h": 0.1},
    )
    joint = m.joint("q4")
    assert (joint.body_a, joint.body_b, m.cut) == ("link_2", "link_3", ("q4",))
    assert matrix(joint.frame_a) == pytest.approx(shift("x", 0.5))
    back = product(gamma=0, b=0, alpha=0, d=0.7, theta=0.3, r=0.1)
    assert matrix(joint.frame_b) == pytest.approx(np.linalg.inv(back), abs=1e-15)
    assert m.joint("q2").frame_a.origin_expr == ("l1", "0", "0")


def test_loop_closed_with_the_ground_without_a_second_transform() -> None:
    m = table(
        {"link": 1, "antecedent": 0, "type": "R"},
        {"closes": 0, "antecedent": 1, "type": "R", "joint": "last"},
    )
    assert m.joint("last").body_b == "ground"
    assert matrix(m.joint("last").frame_b) == pytest.approx(np.eye(4))


def test_further_joints_leave_the_cut_open() -> None:
    m = table(
        {"link": 1, "antecedent": 0, "type": "R"},
        {"closes": 0, "antecedent": 1, "type": "R"},
        bodies={"b": {}},
        joints={"J": {"type": "free", "between": ["ground", "b"]}},
    )
    assert m.cut is None


def test_points_in_links() -> None:
    m = table(
        {"link": 1, "antecedent": 0, "type": "R", "at": "90 deg"},
        points={"tool": {"in": "link_1", "at": [1, 0, 0]}, "mark": [0, 1, 0]},
        bodies={"link_1": {"points": ["mark"]}},
        coordinates={"y": {"point": "link_1.tool", "along": "y"}},
    )
    assert m.point("mark", "link_1").local == (1, 0, 0)
    assert m.body("link_1").frame.rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))


def test_unknown_body() -> None:
    with pytest.raises(
        ModelError, match=r"^denavit_hartenberg\.0\.antecedent: there is no body arm"
    ):
        table({"link": 1, "antecedent": "arm", "type": "R"})
