"""Ranks over prime fields with threads, couplings, distances, springs on angles, held coordinates.

The ranks are derived by hand from energies, or are those of the same machine built of joints only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.chains.draw import drawn_model

import mechid
from mechid import MechidError
from mechid.base.experiment import Experiment, checked, random_states
from mechid.base.numeric import observed_base
from mechid.exact.field import field_rank
from mechid.exact.jets import integral, slope
from mechid.mechanism.records import Mechanism

UNKNOWN = {"identify": True}


def wheel(name: str, at: list[float], axis: Any = "z") -> dict[str, Any]:
    """Return a revolute joint of a wheel in the frame."""
    return {"type": "revolute", "between": ["ground", name], "at": at, "axis": axis}


def gears(gravity: list[float], ratio: Any) -> Mechanism:
    """Two wheels with parallel axes; the first is driven."""
    return mechid.build(
        name="gears",
        gravity=gravity,
        bodies={"one": {}, "other": {}},
        joints={"a": wheel("one", [0, 0, 0]), "b": wheel("other", [0.3, 0, 0])},
        constraints={"mesh": {"type": "coupling", "between": ["b", "a"], "ratio": ratio}},
        coordinates={"a": {"joint": "a"}},
    )


@pytest.mark.parametrize(
    ("gravity", "ratio", "rank"),
    [
        ([0, 0, -9.81], -0.4, 1),  # Izz_1 + 0.16 Izz_2: no wheel moves its weight along z
        ([9.81, 0, 0], -0.4, 5),  # and mx, my of both: cosines and sines of θ and of 0.4 θ
        ([9.81, 0, 0], -1, 3),  # cosines and sines of the same angle: mx_1 + mx_2, my_1 - my_2
        ([9.81, 0, 0], "-18/18", 3),
    ],
)
def test_gears(gravity: list[float], ratio: Any, rank: int) -> None:
    found = field_rank(gears(gravity, ratio))
    assert found.exact
    assert found.rank == rank


def screw(gravity: list[float], **words: Any) -> Mechanism:
    """Return a body on a thread along an axis whose length is a root."""
    return mechid.build(
        name="screw",
        gravity=gravity,
        bodies={"nut": {}},
        joints={"thread": {"type": "helical", "between": ["ground", "nut"], "at": [0.1, 0, 0],
                           "axis": [1, 1, 0], "pitch": 0.02}},
        coordinates={"turn": {"joint": "thread"}},
        **words,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gravity", "rank"),
    [
        ([0, 0, 0], 1),  # moment of inertia + m (pitch / 2π)²
        ([3, 3, 0], 2),  # and m, whose weight advances
        ([0, 0, 9], 3),  # and the two first moments across the axis
        ([3, 3, 9], 4),
    ],
)
def test_screw(gravity: list[float], rank: int) -> None:
    assert field_rank(screw(gravity)).rank == rank


def test_screw_between_guides_is_a_coupling() -> None:
    """A cylindrical joint whose displacement is coupled with its angle is a screw, for any lead."""
    words: dict[str, Any] = {"name": "coupled", "bodies": {"nut": {}}, "gravity": [3, 3, 9]}
    joint = {"type": "cylindrical", "between": ["ground", "nut"], "at": [0.1, 0, 0]}
    coupled = mechid.build(
        **words,
        joints={"thread": joint | {"axis": [1, 1, 0]}},
        constraints={"lead": {"type": "coupling", "between": ["thread.displacement",
                              "thread.angle"], "ratio": 0.003}},
        coordinates={"turn": {"joint": "thread.angle"}},
    )  # fmt: skip
    assert field_rank(coupled).rank == 4


@pytest.mark.parametrize("free", [0, 0.3, "40 deg"])
def test_springs_on_angles(free: Any) -> None:
    """Stiffness takes θ - free, weight along the screw takes 1, damping the speed."""
    spring = {"type": "torsion_spring", "joint": "thread", "stiffness": UNKNOWN,
              "damping": UNKNOWN, "free_angle": free}  # fmt: skip
    assert field_rank(screw([3, 3, 0], elements={"spring": spring})).rank == 4


@pytest.mark.parametrize("free", [0.3, UNKNOWN])
def test_angles_without_an_exact_value_only_lose_what_they_may(free: Any) -> None:
    """A pendulum whose angle is atan(1/2) in the reference pose: sines are no constant moment.

    Iyy, mx, mz, stiffness and damping; with an unknown free angle, a preload besides.
    """
    spring = {"type": "torsion_spring", "joint": "pin", "stiffness": UNKNOWN, "damping": UNKNOWN,
              "free_angle": free}  # fmt: skip
    pin = wheel("arm", [0, 0, 0], "y") | {"zero": [[2, 0, 1], [1, 0, 0]]}
    # The balance closes a loop, so that no other pose is taken for the reference pose.
    pendulum = mechid.build(
        name="pendulum",
        bodies={"arm": {}, "balance": {"massless": True}},
        joints={
            "pin": pin,
            "a": {"type": "spherical", "between": ["arm", "balance"], "at": [0.3, 0, 0]},
            "b": {"type": "point_on_plane", "between": ["ground", "balance"], "at": [0.5, 0, 0],
                  "axis": "y"},
            "c": {"type": "revolute", "between": ["ground", "balance"], "at": [0, 0, 0],
                  "axis": "y"},
        },
        elements={"spring": spring},
        coordinates={"turn": {"joint": "pin"}},
    )  # fmt: skip
    assert field_rank(pendulum).rank == 5 + (free == UNKNOWN)


def test_spring_and_weight_in_proportion() -> None:
    """A rack whose weight is constant, and springs on rack and pinion: 12 mm of one are one rad."""
    rack = {"type": "prismatic", "between": ["ground", "rack"], "at": [0, 0, 0], "axis": "z"}
    words = {"type": "torsion_spring", "stiffness": UNKNOWN, "free_angle": 0}
    machine = mechid.build(
        name="rack",
        gravity=[0, 0, -9.81],
        bodies={"rack": {}, "pinion": {}},
        joints={"slide": rack, "pinion": wheel("pinion", [0.05, 0, 0], "y")},
        constraints={"mesh": {"type": "coupling", "between": ["slide", "pinion"],
                              "ratio": 0.012}},
        elements={"a": words | {"joint": "slide"}, "b": words | {"joint": "pinion"}},
        coordinates={"turn": {"joint": "pinion"}},
    )  # fmt: skip
    # Iyy + 0.012² m, m by its weight, mx and mz of the pinion, one stiffness of two.
    assert field_rank(machine).rank == 5


def linkage(rod: dict[str, Any]) -> Mechanism:
    """Two cranks across each other, held apart by a rod."""
    bodies = {"crank": {"points": ["P"]}, "rocker": {"points": ["Q"]}}
    return mechid.build(
        name="linkage",
        points={"P": [0.1, 0, 0.02], "Q": [0.3, 0.2, 0.1]},
        bodies=bodies | rod.get("bodies", {}),
        joints={"a": wheel("crank", [0, 0, 0]), "b": wheel("rocker", [0.3, 0.1, 0], "x")}
        | rod.get("joints", {}),
        constraints=rod.get("constraints", {}),
        coordinates={"a": {"joint": "a"}},
    )


def test_a_distance_is_a_rod_without_mass() -> None:
    ball = {"type": "spherical"}
    built = linkage(
        {
            "bodies": {"rod": {"massless": True}},
            "joints": {
                "p": ball | {"between": ["crank", "rod"], "at": "P"},
                "q": ball | {"between": ["rod", "rocker"], "at": "Q"},
            },
        }
    )
    rod = {"type": "distance", "between": ["crank.P", "rocker.Q"]}
    held = linkage({"constraints": {"rod": rod}})
    # A moment of inertia each, and two first moments of the rocker, whose axis is level.
    assert field_rank(built).rank == field_rank(held).rank == 4


def test_parameters_of_massless_bodies_do_not_count() -> None:
    """A cross without mass between two revolute joints is a universal joint."""
    end = {"between": ["ground", "arm"], "at": [0, 0, 0]}
    universal = mechid.build(
        name="universal",
        bodies={"arm": {}},
        joints={"u": {"type": "universal", "axes": ["z", "x"], **end}},
        coordinates={"u": {"joint": "u.angle_1"}, "w": {"joint": "u.angle_2"}},
    )
    crossed = mechid.build(
        name="crossed",
        bodies={"cross": {"massless": True}, "arm": {}},
        joints={
            "u": wheel("cross", [0, 0, 0]),
            "w": {"type": "revolute", "between": ["cross", "arm"], "at": [0, 0, 0], "axis": "x"},
        },
        coordinates={"u": {"joint": "u"}, "w": {"joint": "w"}},
    )
    assert field_rank(crossed).rank == field_rank(universal).rank
    assert not any(name.endswith("_1") for name in field_rank(crossed).names)


@pytest.mark.parametrize(("held", "rank"), [(False, 4), (True, 3)])
def test_held_coordinates_stand_still_and_their_forces_are_seen(held: bool, rank: int) -> None:
    """A pendulum on a slide, without weight.

    Iyy_2 by its moment, mx_2 and mz_2 by the force on the slide; the mass of both only where the
    slide moves. A pendulum in the frame shows Iyy_2 alone.
    """
    slide = {"type": "prismatic", "between": ["ground", "cart"], "at": [0, 0, 0], "axis": "x"}
    arm = {"type": "revolute", "between": ["cart", "arm"], "at": [0, 0, 0], "axis": "y"}
    cart = mechid.build(
        name="cart",
        gravity=[0, 0, 0],
        bodies={"cart": {}, "arm": {}},
        joints={"slide": slide, "pin": arm},
        coordinates={"x": {"joint": "slide", "held": held}, "turn": {"joint": "pin"}},
    )
    assert field_rank(cart).rank == rank


def test_held_motors_still_have_friction_only_where_they_turn() -> None:
    """Rotor and friction of a held joint do nothing; those of the other count."""
    part = {"type": "friction", "viscous": UNKNOWN, "coulomb": UNKNOWN}
    words: dict[str, Any] = {
        "name": "two",
        "gravity": [0, 0, 0],
        "bodies": {"one": {}, "other": {}},
        "joints": {"a": wheel("one", [0, 0, 0]), "b": wheel("other", [0.3, 0, 0])},
        "elements": {"fa": part | {"joint": "a"}, "fb": part | {"joint": "b"}},
    }
    ranks = [
        field_rank(
            mechid.build(
                **words,
                coordinates={"a": {"joint": "a", "held": held}, "b": {"joint": "b"}},
            )
        ).rank
        for held in (False, True)
    ]
    assert ranks == [6, 3]


@pytest.mark.parametrize(("coordinate", "rank"), [("x", 2), ("y", 1)])
def test_displacements_along_axes_that_nothing_holds(coordinate: str, rank: int) -> None:
    """Two planar joints, x of the second along y of the first: springs on equal displacements."""
    end = {"type": "planar", "between": ["ground", "plate"], "at": [0.1, 0.2, 0], "axis": "z"}
    spring = {"type": "torsion_spring", "stiffness": UNKNOWN, "free_angle": 0}
    plate = mechid.build(
        name="plate",
        gravity=[0, 0, 0],
        bodies={"plate": {"massless": True}},
        joints={
            "one": end | {"zero": [[0.6, 0.8, 0], [0.6, 0.8, 0]]},
            "other": end | {"zero": [[-0.8, 0.6, 0], [-0.8, 0.6, 0]]},
        },
        elements={
            "a": spring | {"joint": f"one.{coordinate}"},
            "b": spring | {"joint": "other.x"},
        },
        coordinates={"plate": {"joint": "one"}},
    )
    assert field_rank(plate).rank == rank


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3, 10, 12, 16, 17])
def test_random_closed_chains(number: int) -> None:
    """As the observation matrix has in floats, where its singular values are clear."""
    mechanism = mechid.loads(drawn_model(2, number))
    assert not any(body.massless for body in mechanism.bodies)  # floats count those
    found = field_rank(mechanism, primes=1)
    assert found.exact
    numeric = observed_base(
        random_states(mechanism, checked(Experiment(), mechanism), 200, wide=False)
    )
    assert numeric.confidence == "clear"
    assert found.rank == numeric.rank


def test_a_pose_where_a_constraint_does_not_hold_is_refused() -> None:
    machine = gears([9.81, 0, 0], -0.4)
    words = {"type": "coupling", "between": ["b", "a"], "ratio": -0.4, "constant": 0.3}
    turned = mechid.build(
        name="turned",
        bodies={"one": {}, "other": {}},
        joints={"a": wheel("one", [0, 0, 0]), "b": wheel("other", [0.3, 0, 0])},
        constraints={"mesh": words},
        coordinates={"a": {"joint": "a"}},
    )
    assert field_rank(machine).exact
    with pytest.raises(MechidError, match="mesh"):
        field_rank(turned, nearby=True)


def test_a_singular_reference_pose_is_named() -> None:
    """Four equal bars on one line: more can move to first order than further on."""
    names = ["ground", "one", "coupler", "other", "ground"]
    flat = mechid.build(
        name="flat",
        bodies={name: {} for name in names[1:4]},
        joints={
            f"j{i}": {"type": "revolute", "between": names[i : i + 2], "at": [at, 0, 0],
                      "axis": "z"}
            for i, at in enumerate((0, 0.1, 0.3, 0.2))
        },
        coordinates={"turn": {"joint": "j0"}},
    )  # fmt: skip
    with pytest.raises(MechidError, match="has 2 motions, the model 1"):
        field_rank(flat)


def test_slope_and_integral() -> None:
    x = np.array([5, 1, 2, 3])
    assert slope(x, 97).tolist() == [1, 4, 9, 0]
    assert integral(slope(x, 97), 97).tolist() == [0, 1, 2, 3]
