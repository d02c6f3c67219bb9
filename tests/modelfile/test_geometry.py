"""Points, directions and body frames, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mechid.mechanism.records import Mechanism
from mechid.modelfile import build

S3 = math.sqrt(3) / 2


def mechanism(**words: Any) -> Mechanism:
    """Return a mechanism whose body `b` hangs in a ball joint at P, if nothing else is said."""
    base: dict[str, Any] = {
        "name": "m",
        "points": {"P": [1, 2, 3]},
        "bodies": {"b": {}},
        "joints": {"j": {"type": "spherical", "between": ["ground", "b"], "at": "P"}},
    }
    for key, value in words.items():
        base[key] = base[key] | value if isinstance(base.get(key), dict) else value
    return build(**base)


def frame(m: Mechanism, name: str = "b") -> tuple[np.ndarray, np.ndarray]:
    f = m.body(name).frame
    return np.array(f.origin), np.array(f.rotation)


def test_default_frame_is_at_the_first_joint() -> None:
    p, R = frame(mechanism())
    assert p.tolist() == [1, 2, 3]
    assert np.array_equal(R, np.eye(3))


def test_default_frame_skips_points_given_in_the_body_itself() -> None:
    m = mechanism(
        points={"Q": {"in": "b", "at": [1, 0, 0]}},
        joints={"j": {"type": "spherical", "between": ["b", "ground"], "at": ["Q", "P"]}},
    )
    assert m.body("b").frame.origin == (1, 2, 3)


def test_default_frame_of_a_free_body_is_the_ground() -> None:
    m = mechanism(joints={"j": {"type": "free", "between": ["ground", "b"]}})
    assert m.body("b").frame.origin == (0, 0, 0)
    assert m.joint("j").frame_a == m.joint("j").frame_b


@pytest.mark.parametrize(
    ("axes", "columns"),
    [
        ({"x": [0, 2, 0], "y": [1, 1, 0]}, [[0, 1, 0], [1, 0, 0], [0, 0, -1]]),
        ({"y": [1, 1, 0], "x": [0, 2, 0]}, None),
        ({"z": "x", "x": "-z"}, [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
    ],
)
def test_the_first_axis_is_exact(axes: dict[str, Any], columns: list[list[float]] | None) -> None:
    _, R = frame(mechanism(bodies={"b": {"frame": {"origin": "P", **axes}}}))
    first = next(iter(axes))
    if columns is not None:
        assert R.T.tolist() == columns
    else:
        assert R[:, "xyz".index(first)] == pytest.approx(np.array([1, 1, 0]) / math.sqrt(2))
    assert pytest.approx(np.eye(3), abs=1e-15) == R.T @ R
    assert np.linalg.det(R) == pytest.approx(1)


def test_axis_meant_to_be_a_coordinate_axis_is_exactly_one() -> None:
    # 0.1 + 0.2 differs from 0.3 in the last digit; the direction must not.
    m = mechanism(
        points={"A": ["0.1 + 0.2", 0, 0], "B": [0.3, 0, 0.7]},
        bodies={"b": {"frame": {"origin": "A", "z": {"from": "A", "to": "B"}, "x": "x"}}},
    )
    assert frame(m)[1].tolist() == np.eye(3).tolist()


def test_hardpoint_in_a_turned_body() -> None:
    m = mechanism(
        points={"O": [1, 0, 0]},
        bodies={"b": {"frame": {"origin": "O", "x": [S3, 0.5, 0], "z": "z"}}},
    )
    # P - O = (0, 2, 3), turned back by 30 degrees
    assert m.point("P", "b").local == pytest.approx((1.0, 2 * S3, 3.0))
    assert m.point("P", "b").expr is None
    assert m.point("P", "ground").expr == ("1", "2", "3")
    assert m.point("O", "b").local == (0, 0, 0)
    assert m.point("O", "b").expr == ("0", "0", "0")


def test_hardpoint_in_a_body_along_the_ground_axes_keeps_its_expression() -> None:
    m = mechanism(
        parameters={"l": 0.4, "h": 0.1},
        points={"O": ["l", 0, "h"], "P": ["2*l", 0.5, "-h"]},
        bodies={"b": {"frame": {"origin": "O", "x": "y", "y": "-x"}}},
    )
    point = m.point("P", "b")
    assert point.expr == ("0.5", "l - 2 * l", "-h - h")
    assert point.local == (0.5, 0.4 - 2 * 0.4, -0.1 - 0.1)


def test_rounding_leaves_zeros() -> None:
    angle = 0.7
    c, s = math.cos(angle), math.sin(angle)
    m = mechanism(
        points={"O": [0.1, 0.2, 0.3], "P": [0.1 + 0.4 * c, 0.2 + 0.4 * s, 0.3]},
        bodies={"b": {"frame": {"origin": "O", "x": [c, s, 0], "z": "z"}}},
    )
    x, y, z = m.point("P", "b").local
    assert x == pytest.approx(0.4)
    assert (y, z) == (0.0, 0.0)


def test_point_in_a_body_is_exact_there() -> None:
    m = mechanism(
        parameters={"l": 0.22},
        points={"Q": {"in": "b", "at": ["-l/2", 0, 1e-5]}},
        bodies={"b": {"frame": {"origin": "P", "x": [1, 2, 3], "y": "y"}}},
        joints={"k": {"type": "spherical", "between": ["ground", "b"], "at": "Q"}},
    )
    assert m.point("Q", "b").local == (-0.11, 0, 1e-5)
    assert m.point("Q", "b").expr == ("-l / 2", "0", "1e-05")
    p, R = frame(m)
    assert m.joint("k").frame_a.origin == pytest.approx(tuple(p + R @ [-0.11, 0, 1e-5]))
    assert m.joint("k").frame_a.origin_expr is None
    assert m.joint("k").frame_b.origin_expr == ("-l / 2", "0", "1e-05")


def test_points_between() -> None:
    m = mechanism(
        parameters={"l": 0.5},
        points={
            "A": [0, "l", 0],
            "B": [2, 0, 0],
            "M": {"between": ["A", "B"]},
            "Q": {"between": ["A", "B"], "fraction": 0.25},
            "U": {"in": "b", "at": [0, 0, 1]},
            "V": {"in": "b", "at": [0, "l", 3]},
            "W": {"between": ["U", "V"]},
        },
        bodies={"b": {"points": ["M", "Q", "W"]}},
    )
    assert m.point("M", "b").local == (0, -1.75, -3)
    assert m.point("Q", "b").local == (-0.5, -1.625, -3)
    assert m.point("W", "b").local == (0, 0.25, 2)
    assert m.point("W", "b").expr is not None


def test_one_point_on_several_bodies() -> None:
    m = mechanism(points={"Q": {"on": {"ground": [1, 0, 0], "b": ["1/2", 2, 3]}}})
    assert m.point("Q", "ground").local == (1, 0, 0)
    assert m.point("Q", "b").local == (0.5, 2, 3)
    assert [p.body for p in m.points if p.name == "Q"] == ["ground", "b"]


def test_points_come_in_the_order_of_the_file() -> None:
    m = mechanism(
        points={"Q": [0, 0, 1], "R": {"in": "b", "at": [1, 0, 0]}},
        joints={"k": {"type": "spherical", "between": ["b", "ground"], "at": "Q"}},
    )
    names = [(p.name, p.body) for p in m.points]
    assert names == [("P", "ground"), ("P", "b"), ("Q", "ground"), ("Q", "b"), ("R", "b")]


@pytest.mark.parametrize(
    ("direction", "vector"),
    [
        ("x", (1, 0, 0)),
        ("-z", (0, 0, -1)),
        ("b.x", (0, 1, 0)),
        ("-b.x", (0, -1, 0)),
        ("up", (0, 0.6, 0.8)),
        ("-up", (0, -0.6, -0.8)),
        ([0, 0, -5], (0, 0, -1)),
        ({"from": "P", "to": [1, 2, 4]}, (0, 0, 1)),
        ({"from": {"in": "b", "at": [0, 0, 0]}, "to": {"in": "b", "at": [2, 0, 0]}}, (0, 1, 0)),
        ({"in": "b", "along": [0, 3, 0]}, (-1, 0, 0)),
        ({"along": [0, 3, 0]}, (0, 1, 0)),
        ([1e-200, 0, 0], (1, 0, 0)),
    ],
)
def test_directions(direction: Any, vector: tuple[float, float, float]) -> None:
    m = mechanism(
        directions={"up": [0, 3, 4]},
        bodies={"b": {"frame": {"origin": "P", "x": "y", "y": "-x"}}},
        coordinates={"c": {"point": "b.P", "along": direction}},
    )
    assert m.coordinates[0].direction == pytest.approx(vector, abs=1e-15)  # type: ignore[union-attr]


def test_default_frame_skips_points_on_the_body_itself() -> None:
    m = mechanism(
        points={"Q": {"on": {"b": [1, 0, 0], "ground": [0, 0, 9]}}},
        joints={"j": {"type": "spherical", "between": ["b", "ground"], "at": ["Q", "P"]}},
    )
    assert m.body("b").frame.origin == (1, 2, 3)


def test_hardpoint_with_a_source() -> None:
    m = mechanism(points={"P": {"at": [3, 2, 1], "source": "drawing 7"}})
    assert m.point("P", "ground").expr == ("3", "2", "1")


def test_midpoint_of_points_without_expressions() -> None:
    m = mechanism(
        points={
            "A": {"in": "b", "at": {"rounded": [1, 0, 0]}},
            "B": {"in": "b", "at": [2, 0, 0]},
            "M": {"between": ["A", "B"]},
        },
        bodies={"b": {"points": ["M"]}},
    )
    assert (m.point("M").local, m.point("M").expr) == ((1.5, 0, 0), None)


def test_python_objects_and_arrays() -> None:
    from mechid.modelfile.spec_geometry import DirectionFromTo, FrameSpec, PointIn

    m = mechanism(
        points={"P": np.array([1.0, 2.0, 3.0]), "Q": PointIn(in_="b", at=(0, 0, 1))},
        bodies={
            "b": {"frame": FrameSpec(origin="P", z=DirectionFromTo(from_="P", to=(1, 2, 9)), x="x")}
        },
    )
    assert m == mechanism(
        points={"P": [1.0, 2.0, 3.0], "Q": {"in": "b", "at": [0, 0, 1]}},
        bodies={"b": {"frame": {"origin": "P", "z": {"from": "P", "to": [1, 2, 9]}, "x": "x"}}},
    )
