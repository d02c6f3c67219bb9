"""Couplings and distances in the file: forms, defaults, mirroring, round trip, mistakes."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from mechid.errors import ModelError
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Coupling, DistanceConstraint
from mechid.modelfile import dumps, load, loads

BASE = """\
mechid: 1
name: gears
parameters: {n: 18, m: 45}
points: {P: [0.1, 0, 0], Q: [1.1, 0, 0]}
bodies:
  one: {massless: true}
  two: {frame: {origin: [1, 0, 0]}, massless: true}
  three: {massless: true}
joints:
  q1: {type: revolute, between: [ground, one], at: [0, 0, 0], axis: z}
  q2: {type: revolute, between: [ground, two], at: [1, 0, 0], axis: z}
  b: {type: spherical, between: [ground, three], at: [0, 0, 0]}
  c: {type: cylindrical, between: [one, three], at: [0, 0, 0], axis: z}
coordinates: {q1: {joint: q1}}
"""


def constraints(text: str) -> tuple[object, ...]:
    return loads(BASE + "constraints:\n" + textwrap.indent(text, "  ")).constraints


def test_ratio_and_factors_are_two_forms_of_one_thing() -> None:
    (one,) = constraints("mesh: {type: coupling, between: [q2, q1], ratio: -n/m}\n")
    assert one == Coupling(
        "mesh", (("q2", 0, 1.0), ("q1", 0, 18 / 45)), None, exprs=("1", one.exprs[1])
    )
    (two,) = constraints("mesh: {type: coupling, coordinates: {q2: 1, q1: 0.4}, constant: 30 deg}")
    assert two == Coupling("mesh", (("q2", 0, 1.0), ("q1", 0, 0.4)), pytest.approx(0.5235987755982))


def test_a_distance_defaults_to_that_of_the_reference_pose() -> None:
    (found,) = constraints("rod: {type: distance, between: [one.P, two.Q]}\n")
    assert isinstance(found, DistanceConstraint)
    assert found.length == pytest.approx(1.0, abs=1e-15)
    assert found.point_b.local == pytest.approx((0.1, 0, 0))
    (found,) = constraints("rod: {type: distance, between: [one.P, two.Q], length: n/m}\n")
    assert (found.length, found.expr) == (0.4, "n / m")


@pytest.mark.parametrize("spec", ["geared_gripper", "geared_gripper@tip", "rssr_linkage"])
def test_what_is_saved_is_loaded_again(spec: str) -> None:
    mechanism = load(spec)
    again = loads(dumps(mechanism))
    assert again.constraints == mechanism.constraints
    assert replace(again, source=mechanism.source) == mechanism


def test_a_mirrored_coupling_moves_the_mirror_image() -> None:
    """The displacement of a cylindrical joint counts the other way in a mirrored copy."""
    text = """
    mechid: 1
    name: pair
    subassemblies:
      side:
        bodies:
          gear: {frame: {origin: [1, 0, 0]}, massless: true}
          nut: {frame: {origin: [2, 0, 0]}, massless: true}
        joints:
          g: {type: revolute, between: [ground, gear], at: [1, 0, 0], axis: y}
          n: {type: cylindrical, between: [ground, nut], at: [2, 0, 0], axis: y}
        constraints:
          slide: {type: coupling, coordinates: {n.displacement: 1, g: 0.2}}
          turn: {type: coupling, between: [n.angle, g], ratio: 2}
        coordinates:
          g: {joint: g}
    use:
      right: {subassembly: side, suffix: _r}
      left: {subassembly: side, suffix: _l, mirror: x}
    """
    mechanism = loads(textwrap.dedent(text))
    names = [c.name for c in mechanism.constraints]
    assert names == ["slide_r", "turn_r", "slide_l", "turn_l"]
    motion = solve_motion(mechanism, [[0.7, 0.7]])
    f = motion.bodies()
    at = {b.name: k for k, b in enumerate(mechanism.bodies)}
    right, left = (f.position[0, at[name]] for name in ("nut_r", "nut_l"))
    assert left == pytest.approx([-right[0], right[1], right[2]], abs=1e-14)
    assert abs(right[1]) == pytest.approx(0.14)
    for side in "rl":
        turned = joint_motion(motion, f"n_{side}").coordinates[0, 0]
        assert turned == pytest.approx(1.4, abs=1e-14)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k: {type: gear}", "unknown constraint type"),
        ("k: {between: [q1, q2]}", "type is missing"),
        ("k: {type: coupling}", "between is missing"),
        ("k: {type: coupling, between: [q1, q2]}", "ratio is missing"),
        ("k: {type: coupling, between: [q1, q2], ratio: 0}", "the ratio must not be 0"),
        ("k: {type: coupling, between: [q1, q9], ratio: 1}", "there is no joint q9"),
        ("k: {type: coupling, between: [q1, c], ratio: 1}", "choose one of: c.angle, c.disp"),
        ("k: {type: coupling, between: [q1, b.roll], ratio: 1}", "roll of a spherical joint"),
        ("k: {type: coupling, between: [q1, q1], ratio: 1}", "q1 is coupled with itself"),
        ("k: {type: coupling, coordinates: {q1: 1}}", "at least two coordinates"),
        ("k: {type: coupling, coordinates: {q1: 1, q2: 0}}", "factor of q2 must not be 0"),
        ("k: {type: coupling, coordinates: {q1: 1, q2: 1}, ratio: 1}", "coordinates and between"),
        ("q1: {type: coupling, between: [q1, q2], ratio: 1}", "there is a joint q1"),
        ("k: {type: distance, between: [one.P, two.R]}", "there is no point R"),
        ("k: {type: distance, between: [one.P, one.Q]}", "both points belong to one"),
        ("k: {type: distance, between: [one.P, two.P]}", "the length must be > 0, got 0"),
        ("k: {type: distance, between: [one.P, two.Q], length: -1}", "must be > 0, got -1"),
    ],
)
def test_mistakes_get_one_clear_message(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        constraints(text)
    assert "constraints" in str(caught.value)


def test_a_tie_to_a_declared_coordinate_is_named() -> None:
    gripper = load("geared_gripper")
    more = Coupling("stop", (("sun", 0, 1.0), ("left_crank", 0, 1.0)))
    with pytest.raises(ModelError, match="the mechanism cannot move"):
        kinematic_model(replace(gripper, constraints=(*gripper.constraints, more)))
