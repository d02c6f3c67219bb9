"""Gravity in other words than a vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mechid.errors import ModelError
from mechid.mechanism.records import Vec3
from mechid.modelfile import build, dumps, loads


def gravity(spec: Any) -> Vec3:
    m = build(
        name="m",
        gravity=spec,
        parameters={"tilt": "30 deg", "moon": 1.62},
        directions={"uphill": ["cos(tilt)", 0, "sin(tilt)"]},
        bodies={"b": {"frame": {"x": "y", "y": "-x"}}},
        joints={"j": {"type": "F", "between": ["ground", "b"]}},
    )
    assert loads(dumps(m)) == m
    return m.gravity


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("-y", (0, -9.81, 0)),
        ({}, (0, 0, -9.81)),
        ({"magnitude": "moon"}, (0, 0, -1.62)),
        ({"magnitude": 10, "direction": [3, 0, -4]}, (6, 0, -8)),
        ({"direction": "b.x"}, (0, 9.81, 0)),
        ("-uphill", (-9.81 * np.sqrt(3) / 2, 0, -9.81 / 2)),
        ({"direction": "-uphill"}, (-9.81 * np.sqrt(3) / 2, 0, -9.81 / 2)),
        # On the ceiling; on a wall, with z of the ground frame horizontal; on a slope.
        ({"rpy": ["180 deg", 0, 0]}, (0, 0, 9.81)),
        ({"rpy": [0, "90 deg", 0]}, (9.81, 0, 0)),
        ({"rpy": ["tilt", 0, 0]}, (0, -9.81 / 2, -9.81 * np.sqrt(3) / 2)),
    ],
)
def test_words(spec: Any, expected: Vec3) -> None:
    assert gravity(spec) == pytest.approx(expected, abs=1e-14)


def test_mounting_as_a_rotation() -> None:
    rpy = [0.3, -0.7, 1.9]
    down = Rotation.from_euler("xyz", rpy).inv().apply([0, 0, -9.81])
    assert gravity({"rpy": rpy}) == pytest.approx(tuple(down))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"magnitude": -9.81},
            r"^gravity\.magnitude: the magnitude must be ≥ 0, got -9.81; reverse",
        ),
        (
            {"direction": "-z", "rpy": [0, 0, 0]},
            "^gravity: direction and rpy exclude each other; remove",
        ),
        ({"direction": [0, 0, 0]}, r"^gravity\.direction: this direction must not be zero"),
        ("down", "^gravity: there is no direction down; "),
        ("9.81", '^gravity: "9.81" is not a direction; write'),
        (9.81, "^gravity: expected three numbers, got 9.81; write"),
        ({"mag": 3}, r"^gravity\.mag: unknown key mag; "),
    ],
)
def test_errors(spec: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        gravity(spec)


def test_gravity_beyond_all_bounds() -> None:
    with pytest.raises(ModelError, match=r"gravity must be < 1e\+10 m/s², got 1e\+30"):
        gravity([0, 0, -1e30])
