"""Force elements and independent coordinates."""

from __future__ import annotations

from typing import Any

import pytest

from mechid.mechanism.records import (
    Coefficient,
    DistanceCoordinate,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
    Start,
)
from mechid.modelfile import build

from ..elements import friction, load, motor, spring_damper, torsion_spring, transmission


def mechanism(**words: Any) -> Mechanism:
    return build(
        name="m",
        parameters={"k": 30000},
        points={"N": [0, 0, 1], "P": [0, 0, 0], "tip": {"in": "b", "at": [0, 0, 2]}},
        bodies={"b": {}, "c": {}},
        joints={
            "J": {"type": "cylindrical", "between": ["ground", "b"], "at": "P", "axis": "z"},
            "R": {"type": "revolute", "between": ["b", "c"], "at": "P", "axis": "z"},
        },
        **words,
    )


def element(**words: Any) -> Any:
    return mechanism(elements={"e": words}).elements[0]


def test_spring_damper() -> None:
    e = element(
        type="spring_damper",
        between=["ground.N", "b.tip"],
        stiffness={"value": "k", "identify": True, "uncertainty": "10 %"},
        damping={"identify": True},
        free_length=0.42,
    )
    assert e == spring_damper(
        "e",
        Point("N", "ground", (0, 0, 1), ("0", "0", "1")),
        Point("tip", "b", (0, 0, 2), ("0", "0", "2")),
        Coefficient(30000, identify=True, sigma=3000),
        Coefficient(None, identify=True),
        Coefficient(0.42),
    )


def test_damper_alone_needs_no_length() -> None:
    e = element(type="spring_damper", between=["ground.N", "b.tip"], damping=5)
    assert e["free_length"] == Coefficient(0.0)


def test_python_objects() -> None:
    from mechid.modelfile.spec_elements import SPECS, CoefficientSpec

    spec = SPECS["friction"](type="friction", joint="R", viscous=CoefficientSpec(identify=True))
    m = mechanism(elements={"e": spec})
    assert m.elements[0] == friction(
        "e", "R", 0, Coefficient(None, identify=True), Coefficient(0.0)
    )


def test_inline_points_are_named_after_the_element() -> None:
    m = mechanism(
        elements={
            "e": {
                "type": "spring_damper",
                "between": [{"in": "ground", "at": [1, 2, 3]}, {"in": "c", "at": [0, 0, 1]}],
                "damping": 1,
            },
            "f": {"type": "force", "body": "c", "at": [0, 0, 5], "vector": [0, 0, "k"]},
        }
    )
    assert m.point("e_a", "ground").local == (1, 2, 3)
    assert m.point("e_b").local == (0, 0, 1)
    assert m.point("f_point", "c").local == (0, 0, 5)
    assert [p.name for p in m.points][-3:] == ["e_a", "e_b", "f_point"]


def test_torsion_spring_and_friction() -> None:
    assert element(
        type="torsion_spring", joint="J.angle", stiffness=9, free_angle="180 deg"
    ) == torsion_spring(
        "e", "J", 0, Coefficient(9), Coefficient(0), Coefficient(pytest.approx(3.141592653589793))
    )
    assert element(type="friction", joint="J.displacement", coulomb=0.4) == friction(
        "e", "J", 1, Coefficient(0), Coefficient(0.4)
    )
    assert element(type="friction", joint="R", viscous=1).coordinates == (("R", 0),)


def test_transmission() -> None:
    assert element(
        type="transmission",
        coordinates=["R", "J.angle"],
        motors={"m5": {"inertia": 4e-5}, "m6": {"inertia": "4e-5", "viscous": {"identify": True}}},
        matrix=[[45, 0], [32, "k/1000"]],
    ) == transmission(
        "e",
        (
            motor("m5", Coefficient(4e-5), Coefficient(0), Coefficient(0)),
            motor("m6", Coefficient(4e-5), Coefficient(None, identify=True), Coefficient(0)),
        ),
        (("R", 0), ("J", 0)),
        ((45, 0), (32, 30)),
    )


def test_loads() -> None:
    point = Point("tip", "b", (0, 0, 2), ("0", "0", "2"))
    assert element(type="force", body="b", at="tip", vector=[0, 0, 3], axes="body") == load(
        "e", "force", "b", (0, 0, 3), point, "b"
    )
    assert element(type="moment", body="c", vector=[0, 0, 0.5]) == load(
        "e", "moment", "c", (0, 0, 0.5)
    )


def coordinates(**words: Any) -> Any:
    return mechanism(coordinates=words).coordinates


def test_coordinates() -> None:
    tip = Point("tip", "b", (0, 0, 2), ("0", "0", "2"))
    n = Point("N", "ground", (0, 0, 1), ("0", "0", "1"))
    assert coordinates(
        q={"joint": "R"},
        s={"joint": "J.displacement", "force": "F"},
        z={"point": "b.tip", "along": [0, 0, 2]},
        d={"distance": ["ground.N", "b.tip"]},
    ) == (
        JointCoordinate("q", "R", 0, "M_q", "rad"),
        JointCoordinate("s", "J", 1, "F", "m"),
        PointCoordinate("z", tip, (0, 0, 1), "F_z"),
        DistanceCoordinate("d", n, tip, "F_d"),
    )


def test_a_joint_stands_for_all_its_coordinates() -> None:
    angle, displacement = coordinates(q={"joint": "J"})
    assert angle == JointCoordinate("q.angle", "J", 0, "M_q.angle", "rad")
    assert displacement == JointCoordinate("q.displacement", "J", 1, "F_q.displacement", "m")


def test_free_joint() -> None:
    m = build(
        name="m",
        bodies={"b": {}},
        joints={"base": {"type": "free", "between": ["ground", "b"]}},
        coordinates={"chassis": {"joint": "base"}},
        start={"positions": {"chassis.yaw": "90 deg"}, "speeds": {"chassis.x": 2}},
    )
    assert [c.name for c in m.coordinates] == [
        f"chassis.{word}" for word in ("x", "y", "z", "roll", "pitch", "yaw")
    ]
    assert [c.unit for c in m.coordinates] == ["m"] * 3 + ["rad"] * 3
    assert [c.force for c in m.coordinates][2:4] == ["F_chassis.z", "M_chassis.roll"]
    assert m.start == Start(
        (("chassis.yaw", pytest.approx(1.5707963267948966)),), (("chassis.x", 2.0),)
    )
    joint_indices = [c.index for c in m.coordinates]  # type: ignore[union-attr]
    assert joint_indices == [0, 1, 2, 3, 4, 5]


def test_ball_joint_orientation() -> None:
    m = build(
        name="m",
        bodies={"b": {}},
        joints={"ball": {"type": "S", "between": ["ground", "b"], "at": [0, 0, 0]}},
        coordinates={
            "a": {"joint": "ball.yaw"},
            "b": {"joint": "ball.roll"},
            "c": {"joint": "ball.pitch"},
        },
    )
    assert [c.index for c in m.coordinates] == [2, 0, 1]  # type: ignore[union-attr]
