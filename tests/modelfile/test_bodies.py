"""Inertia, its uncertainty and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.mechanism.records import Body, CadInertia
from mechid.modelfile import build

BALL = {"xx": 0.4, "yy": 0.4, "zz": 0.4}


def body(**words: Any) -> Body:
    m = build(
        name="m",
        parameters={"m1": 2, "l": 0.5},
        points={"P": [1, 0, 0], "tip": {"in": "b", "at": [0, 0, "-l"]}},
        bodies={"b": {"frame": {"origin": "P", "x": "y", "y": "-x"}, **words}},
        joints={"j": {"type": "spherical", "between": ["ground", "b"], "at": "P"}},
    )
    return m.body("b")


def cad(**words: Any) -> CadInertia:
    inertia = body(**{"mass": 2, "inertia": BALL, **words}).inertia
    assert inertia is not None
    return inertia


def test_unknown_and_massless() -> None:
    assert (body().inertia, body().massless) == (None, False)
    assert (body(massless=True).inertia, body(massless=True).massless) == (None, True)


def test_expressions_and_defaults() -> None:
    c = cad(mass="m1", inertia={"xx": "2*l/5", "yy": 0.2, "zz": 0.2, "xy": "-l/100"})
    assert (c.mass, c.center) == (2, (0, 0, 0))
    assert c.inertia_center == (0.2, -0.005, 0, 0.2, 0, 0.2)


def test_inertia_about_the_origin() -> None:
    # A ball of mass 2 at (0.1, 0.2, 0.3): Ixx gains 2 (0.2² + 0.3²), Ixy gains -2·0.1·0.2
    about_origin = {
        "about": "origin",
        "xx": 0.4 + 2 * 0.13,
        "yy": 0.4 + 2 * 0.10,
        "zz": 0.4 + 2 * 0.05,
        "xy": -2 * 0.02,
        "xz": -2 * 0.03,
        "yz": -2 * 0.06,
    }
    c = cad(center=[0.1, 0.2, 0.3], inertia=about_origin)
    assert c.inertia_center == pytest.approx((0.4, 0, 0, 0.4, 0, 0.4), abs=1e-15)


def test_center_in_ground_coordinates() -> None:
    # x of the body is y of the ground, y is -x: (1.5, 2, 3) - (1, 0, 0) is seen as (2, -0.5, 3)
    assert cad(center={"ground": [1.5, 2, 3]}).center == (2, -0.5, 3)


def test_relative_uncertainty() -> None:
    c = cad(
        center=[3, 0, 4],
        inertia={"xx": 0.2, "yy": 0.3, "zz": 0.4, "xy": 0.01},
        uncertainty={"mass": "5 %", "center": "1 %", "inertia": "10 %"},
    )
    assert c.sigma_mass == pytest.approx(0.1)
    assert c.sigma_center == pytest.approx((0.05, 0.05, 0.05))
    mean = 0.3
    assert c.sigma_inertia == pytest.approx((0.02, 0.1 * mean, 0.1 * mean, 0.03, 0.1 * mean, 0.04))


def test_absolute_uncertainty() -> None:
    c = cad(uncertainty={"mass": 0.2, "center": 0.002, "inertia": 0.01})
    assert (c.sigma_mass, c.sigma_center, c.sigma_inertia) == (0.2, (0.002,) * 3, (0.01,) * 6)
    c = cad(uncertainty={"center": [0.1, 0, "l"], "inertia": {"xx": 0.3, "yz": "10 %"}})
    assert c.sigma_mass == 0
    assert c.sigma_center == (0.1, 0, 0.5)
    assert c.sigma_inertia == pytest.approx((0.3, 0, 0, 0, 0.04, 0))


def test_shapes_are_in_the_body_frame() -> None:
    b = body(
        color="#4477aa",
        shapes=[
            {"wheel": {"center": "P", "axis": "x", "radius": 0.3, "width": 0.1}},
            {"wheel": {"center": [0, 0, 1], "axis": [0, -2, 0], "radius": 0.3, "width": 0.1}},
            {
                "wheel": {
                    "center": "P",
                    "axis": {"from": "P", "to": [1, 0, 1]},
                    "radius": 1,
                    "width": 1,
                }
            },
            {"box": {"center": [1, 2, 3], "size": ["l", 1, 2]}},
            {"cylinder": {"from": "P", "to": "tip", "radius": 0.01}},
            {"sphere": {"center": "tip", "radius": 0.02}},
        ],
    )
    assert b.color == "#4477aa"
    wheel, other, third, box, cylinder, sphere = b.shapes
    assert (wheel.points, wheel.sizes) == (((0, 0, 0), (1, 0, 0)), (0.3, 0.1))
    assert other.points == ((0, 0, 1), (0, -1, 0))
    assert third.points[1] == (0, 0, 1)
    assert (box.points, box.sizes) == (((1, 2, 3),), (0.5, 1, 2))
    assert cylinder.points == ((0, 0, 0), (0, 0, -0.5))
    assert (sphere.kind, sphere.sizes) == ("sphere", (0.02,))


def test_flat_and_slender_bodies_are_allowed() -> None:
    plate = cad(inertia={"xx": 1, "yy": 2, "zz": 3})
    assert np.allclose(plate.inertia_center, (1, 0, 0, 2, 0, 3))
