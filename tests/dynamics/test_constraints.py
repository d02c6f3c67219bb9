"""Couplings and distance constraints against closed forms and against mechanisms without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.inverse import InverseDynamics, inverse_dynamics
from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.reference_point import joint_reactions_reference
from mechid.dynamics.simulate import FORMULATIONS, simulate
from mechid.errors import AssemblyError, ModelError
from mechid.kinematics import reference_point as rp
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import (
    IDENTITY,
    Body,
    Coupling,
    DistanceConstraint,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
)
from mechid.modelfile import load, loads

Array = npt.NDArray[np.float64]

HEAD = "mechid: 1\nname: test\n"
DISC = "mass: {m}, center: [0, 0, 0], inertia: {{xx: {j}, yy: {j}, zz: {j}}}"


def discs(*moments: float) -> str:
    """Bodies d0, d1, … on ground-fixed axes along z, joints q0, q1, …"""
    bodies, joints = "bodies:\n", "joints:\n"
    for k, j in enumerate(moments):
        bodies += f"  d{k}: {{frame: {{origin: [{k}, 0, 0]}}, {DISC.format(m=1, j=j)}}}\n"
        joints += f"  q{k}: {{type: revolute, between: [ground, d{k}], at: [{k}, 0, 0], axis: z}}\n"
    return bodies + joints


def solved(mechanism: Mechanism, y: Array, yd: Array, ydd: Array) -> InverseDynamics:
    motion = solve_motion(mechanism, *(np.atleast_2d(x) for x in (y, yd, ydd)))
    return inverse_dynamics(motion, reactions=True)


def multiplier(result: InverseDynamics, name: str) -> Array:
    found = result.reactions
    assert found is not None
    return found.multipliers[:, found.constraints.index(name)]


def moment(result: InverseDynamics, joint: str) -> Array:
    found = result.reactions
    assert found is not None
    return found.moment[:, found.joints.index(joint)]


def same_as_reference(result: InverseDynamics) -> None:
    found, want = result.reactions, joint_reactions_reference(result.motion, result.phi, result.tau)
    assert isinstance(found, JointReactions)
    for name in ("force", "moment", "multipliers"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(want, name), rtol=1e-9, atol=1e-10, err_msg=name
        )


# --------------------------------------------------------------------------- gears


GEARS = loads(
    HEAD
    + discs(0.02, 0.05)
    + "constraints:\n  mesh: {type: coupling, between: [q1, q0], ratio: -2.5}\n"
    + "coordinates: {q0: {joint: q0}}\n"
)
J_GEARS = 0.02 + 2.5**2 * 0.05


def test_a_gear_pair_has_the_reflected_inertia() -> None:
    """And its teeth transmit what the second gear needs; both joints feel it."""
    y, yd, ydd = (np.array([[a], [b], [c]]) for a, b, c in ((0, 9.7, -4), (1, -3, 0.5), (2, 5, -7)))
    result = solved(GEARS, y, yd, ydd)
    np.testing.assert_allclose(result.tau, J_GEARS * ydd, rtol=1e-13)
    needed = 0.05 * -2.5 * ydd[:, 0]
    np.testing.assert_allclose(multiplier(result, "mesh"), needed, rtol=1e-13)
    np.testing.assert_allclose(moment(result, "q1")[:, 2], needed, rtol=1e-13)
    np.testing.assert_allclose(moment(result, "q0")[:, 2], 2.5 * needed, rtol=1e-13)
    assert result.reactions is not None
    assert result.reactions.units == ("N m",)
    same_as_reference(result)


def test_a_gear_whose_joint_is_named_the_other_way_round() -> None:
    """From the gear to the ground: its angle and what its joint exerts change their signs."""
    text = discs(0.02, 0.05).replace("[ground, d1]", "[d1, ground]")
    mesh = "constraints:\n  mesh: {type: coupling, between: [q1, q0], ratio: 2.5}\n"
    reverse = loads(HEAD + text + mesh + "coordinates: {q0: {joint: q0}}\n")
    y = np.array([[0.3]])
    plain, turned = (solved(m, y, 0 * y, np.array([[2.0]])) for m in (GEARS, reverse))
    np.testing.assert_allclose(turned.tau, plain.tau, rtol=1e-12)
    np.testing.assert_allclose(moment(turned, "q0"), moment(plain, "q0"), atol=1e-12)
    np.testing.assert_allclose(moment(turned, "q1"), -moment(plain, "q1"), atol=1e-12)
    same_as_reference(turned)


@pytest.mark.slow
def test_gears_count_their_turns() -> None:
    """Few samples, many turns: both formulations."""
    y = np.array([[0.0], [10.0], [-30.0], [3.0]])
    motion = solve_motion(GEARS, y)
    np.testing.assert_allclose(joint_motion(motion, "q1").coordinates, -2.5 * y, atol=1e-12)
    f, want = motion.bodies(), rp.follow(GEARS, y)
    np.testing.assert_allclose(f.rotation, want.rotation, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gears_under_a_constant_moment(formulation: str) -> None:
    """½ (M / J) t², through several turns."""
    t = np.linspace(0, 2, 5)
    result = simulate(GEARS, t, forces=np.array([3.0]), formulation=formulation)
    np.testing.assert_allclose(result.y[:, 0], 1.5 / J_GEARS * t**2, rtol=1e-8, atol=1e-12)
    assert result.y[-1, 0] * 2.5 > 4 * np.pi
    assert np.abs(result.energy_error).max() <= 1e-7 * result.kinetic.max()
    assert result.constraint_error.max() <= 1e-9


def test_a_constant_moves_the_second_gear() -> None:
    """An explicit constant; by default it is that of the reference pose."""
    shifted = replace(GEARS, constraints=(replace(GEARS.couplings[0], constant=0.3),))
    motion = solve_motion(shifted, np.array([[0.2]]))
    assert joint_motion(motion, "q1").coordinates[0, 0] == pytest.approx(0.3 - 2.5 * 0.2)


def test_a_differential() -> None:
    """q0 + q1 = 2 q2: the mass matrix of the two shafts, and equal moments on both."""
    mechanism = loads(
        HEAD
        + discs(0.02, 0.03, 0.4)
        + "constraints:\n  bevel: {type: coupling, coordinates: {q2: 2, q0: -1, q1: -1}}\n"
        + "coordinates: {q0: {joint: q0}, q1: {joint: q1}}\n"
    )
    rng = np.random.default_rng(0)
    y, yd, ydd = rng.standard_normal((3, 4, 2))
    result = solved(mechanism, y, yd, ydd)
    M = np.diag([0.02, 0.03]) + 0.4 / 4
    np.testing.assert_allclose(result.tau, ydd @ M, rtol=1e-12)
    carrier = ydd.sum(axis=1) / 2
    np.testing.assert_allclose(multiplier(result, "bevel"), 0.4 * carrier / 2, rtol=1e-12)
    same_as_reference(result)


def test_a_planetary_set() -> None:
    """Sun, ring, carrier and a planet on it: kinetic energy by Willis' equation."""
    rs, rp_, rr = 0.02, 0.015, 0.05
    mechanism = loads(
        HEAD
        + "gravity: [0, 0, -9.81]\n"
        + discs(0.002, 0.01, 0.004)
        .replace("origin: [1, 0, 0]", "origin: [0, 0, 0]")
        .replace("origin: [2, 0, 0]", "origin: [0, 0, 0]")
        .replace("at: [1, 0, 0]", "at: [0, 0, 0]")
        .replace("at: [2, 0, 0]", "at: [0, 0, 0]")
        .replace(
            "joints:\n",
            f"  planet: {{frame: {{origin: [{rs + rp_}, 0, 0]}}, {DISC.format(m=0.3, j=0.0005)}}}\n"
            "joints:\n"
            f"  p: {{type: revolute, between: [d2, planet], at: [{rs + rp_}, 0, 0], axis: z}}\n",
        )
        + "constraints:\n"
        f"  inner: {{type: coupling, coordinates: {{q0: {rs}, q2: -{rs}, p: {rp_}}}}}\n"
        f"  outer: {{type: coupling, coordinates: {{q1: {rr}, q2: -{rr}, p: -{rp_}}}}}\n"
        "coordinates: {q0: {joint: q0}, q1: {joint: q1}}\n"
    )
    carrier = np.array([rs, rr]) / (rs + rr)
    planet = carrier - rs / rp_ * (np.array([1.0, 0.0]) - carrier)
    M = np.diag([0.002, 0.01]) + 0.0005 * np.outer(planet, planet)
    M += (0.004 + 0.3 * (rs + rp_) ** 2) * np.outer(carrier, carrier)
    rng = np.random.default_rng(1)
    y, yd, ydd = rng.standard_normal((3, 5, 2))
    result = solved(mechanism, y, yd, ydd)
    np.testing.assert_allclose(result.tau, ydd @ M, rtol=1e-10)
    np.testing.assert_allclose(
        joint_motion(result.motion, "q2").speeds[:, 0], yd @ carrier, rtol=1e-12
    )
    same_as_reference(result)


# --------------------------------------------------------------------------- racks and threads


RACK = loads(
    HEAD
    + "gravity: [0, -9.81, 0]\n"
    + f"""
bodies:
  pinion: {{{DISC.format(m=1, j=0.002)}}}
  rack: {{frame: {{origin: [0.04, 0, 0]}}, mass: 1.7, center: [0.01, 0.2, 0],
    inertia: {{xx: 0.1, yy: 0.01, zz: 0.1}}}}
joints:
  turn: {{type: revolute, between: [ground, pinion], at: [0, 0, 0], axis: z}}
  lift: {{type: prismatic, between: [ground, rack], at: [0.04, 0, 0], axis: y}}
constraints:
  teeth: {{type: coupling, between: [lift, turn], ratio: 0.04}}
coordinates: {{turn: {{joint: turn}}}}
"""
)


def test_rack_and_pinion() -> None:
    y, yd, ydd = np.array([[0.3], [8.0]]), np.array([[1.0], [-2.0]]), np.array([[4.0], [-9.0]])
    result = solved(RACK, y, yd, ydd)
    J = 0.002 + 1.7 * 0.04**2
    np.testing.assert_allclose(result.tau, J * ydd + 1.7 * 9.81 * 0.04, rtol=1e-12)
    lift = 1.7 * (0.04 * ydd[:, 0] + 9.81)
    np.testing.assert_allclose(multiplier(result, "teeth"), lift, rtol=1e-12)
    found = result.reactions
    assert found is not None
    assert found.units == ("N",)
    np.testing.assert_allclose(found.force[:, found.joints.index("lift"), 1], lift, rtol=1e-12)
    np.testing.assert_allclose(moment(result, "turn")[:, 2], -0.04 * lift, rtol=1e-12)
    same_as_reference(result)


def test_a_geared_screw() -> None:
    """A helical joint counts its turns by its displacement."""
    mechanism = loads(
        HEAD
        + discs(0.02, 0.05).replace(
            "{type: revolute, between: [ground, d1]",
            "{type: helical, pitch: 0.01, between: [ground, d1]",
        )
        + "constraints:\n  mesh: {type: coupling, between: [q1, q0], ratio: -3}\n"
        + "coordinates: {q0: {joint: q0}}\n"
    )
    ydd = np.array([[2.0], [1.0]])
    result = solved(mechanism, np.array([[0.1], [9.0]]), np.zeros((2, 1)), ydd)
    lead = 0.01 / (2 * np.pi)
    J = 0.02 + 9 * (0.05 + lead**2)
    weight = 9.81 * lead * -3
    np.testing.assert_allclose(result.tau, J * ydd + weight, rtol=1e-10)
    want = rp.follow(mechanism, result.motion.y)
    np.testing.assert_allclose(result.motion.bodies().position, want.position, atol=1e-12)
    same_as_reference(result)


# --------------------------------------------------------------------------- inside loops


def test_coupled_cranks_of_a_five_bar() -> None:
    """The forces of the five-bar with both cranks driven along the same motion, added up.

    The coupling exerts what the second motor would, and all other joints transmit the same.
    """
    free = load("five_bar@isostatic")
    c = Coupling("mimic", (("A2", 0, 1.0), ("A1", 0, 0.7)))
    tied = replace(free, coordinates=free.coordinates[:1], constraints=(c,))
    t = np.linspace(0, 2, 9)
    y, yd, ydd = (
        0.3 * np.sin(2 * t)[:, None],
        0.6 * np.cos(2 * t)[:, None],
        -1.2 * np.sin(2 * t)[:, None],
    )
    both = np.array([[1.0, -0.7]])
    one, two = solved(tied, y, yd, ydd), solved(free, y @ both, yd @ both, ydd @ both)
    np.testing.assert_allclose(one.tau[:, 0], two.tau @ both[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(multiplier(one, "mimic"), two.tau[:, 1], rtol=1e-10, atol=1e-12)
    a, b = one.reactions, two.reactions
    assert a is not None
    assert b is not None
    np.testing.assert_allclose(a.force, b.force, rtol=1e-9, atol=1e-9)
    others = [a.joints.index(name) for name in ("B1", "B2", "C")]
    np.testing.assert_allclose(a.moment[:, others], b.moment[:, others], rtol=1e-9, atol=1e-10)
    axis = moment(one, "A2")[:, 1] - moment(two, "A2")[:, 1]
    np.testing.assert_allclose(axis, two.tau[:, 1], rtol=1e-9, atol=1e-10)
    same_as_reference(one)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_energy_of_a_geared_gripper(formulation: str) -> None:
    """Loops, couplings and friction: work, energy and dissipation balance."""
    result = simulate(
        load("geared_gripper"),
        np.linspace(0, 0.05, 3),
        forces=np.array([0.05]),
        formulation=formulation,
    )
    assert np.abs(result.energy_error).max() <= 1e-8 * max(result.kinetic.max(), 1e-3)
    fast = simulate(load("geared_gripper"), np.linspace(0, 0.05, 3), forces=np.array([0.05]))
    np.testing.assert_allclose(result.y, fast.y, rtol=1e-6, atol=1e-9)


# --------------------------------------------------------------------------- distances


def with_rod(mechanism: Mechanism, kinds: tuple[str, str]) -> Mechanism:
    """The same mechanism with a massless body in place of its distance constraint.

    All body frames have the axes of the ground in the reference pose, and so have the joints.
    """
    (c,) = mechanism.distances
    origin = {b.name: np.array(b.frame.origin) for b in mechanism.bodies}
    a, b = (origin[p.body] + np.array(p.local) for p in (c.point_a, c.point_b))
    x, y, z = ((b - a) / np.linalg.norm(b - a) * c.length).tolist()
    rod = Body("rod", replace(IDENTITY, origin=tuple(a.tolist())), massless=True)
    ends = (("near", kinds[0], c.point_a, (0.0, 0.0, 0.0)), ("far", kinds[1], c.point_b, (x, y, z)))
    joints = tuple(
        Joint(
            name,
            kind,
            point.body,
            "rod",
            replace(IDENTITY, origin=point.local),
            replace(IDENTITY, origin=local),
        )
        for name, kind, point, local in ends
    )
    return replace(
        mechanism,
        bodies=(*mechanism.bodies, rod),
        joints=(*mechanism.joints, *joints),
        constraints=(),
    )


FOUR_BAR = loads(
    HEAD
    + "gravity: [0, -9.81, 0]\n"
    + """
bodies:
  crank: {mass: 1, center: [0.05, 0.01, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.02}}
  rocker: {frame: {origin: [0.4, 0, 0]}, mass: 2, center: [0.02, 0.1, 0],
    inertia: {xx: 0.01, yy: 0.01, zz: 0.02}}
points: {A: [0.1, 0.05, 0], B: [0.45, 0.3, 0]}
joints:
  q1: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: z}
  q2: {type: revolute, between: [ground, rocker], at: [0.4, 0, 0], axis: z}
constraints:
  rod: {type: distance, between: [crank.A, rocker.B]}
coordinates: {q1: {joint: q1}}
"""
)


@pytest.mark.parametrize(
    ("mechanism", "kinds"),
    [
        (FOUR_BAR, ("revolute", "revolute")),
        (FOUR_BAR, ("revolute", "spherical")),
        (load("rssr_linkage"), ("spherical", "spherical")),
    ],
)
def test_a_distance_is_a_massless_rod(mechanism: Mechanism, kinds: tuple[str, str]) -> None:
    """Same forces, same motion, and the rod's force is what its joints transmit."""
    rod = with_rod(mechanism, kinds)
    home = kinematic_model(mechanism).home_y
    t = np.linspace(0, 3, 7)[:, None]
    y, yd, ydd = home + 0.5 * np.sin(t), 0.5 * np.cos(t), -0.5 * np.sin(t)
    one, two = solved(mechanism, y, yd, ydd), solved(rod, y, yd, ydd)
    np.testing.assert_allclose(one.tau, two.tau, rtol=1e-9, atol=1e-10)
    found = two.reactions
    assert found is not None
    pull = np.linalg.norm(found.force[:, found.joints.index("near")], axis=1)
    np.testing.assert_allclose(np.abs(multiplier(one, "rod")), pull, rtol=1e-8, atol=1e-9)
    # Positive: it pushes its points apart.
    f, names = one.motion.bodies(), [b.name for b in mechanism.bodies]
    (c,) = mechanism.distances
    ends = [
        f.position[:, names.index(p.body)] + f.rotation[:, names.index(p.body)] @ np.array(p.local)
        for p in (c.point_a, c.point_b)
    ]
    line = (ends[1] - ends[0]) / c.length
    on_a = -found.force[:, found.joints.index("near")]  # of the rod on the crank
    np.testing.assert_allclose(
        np.einsum("ni,ni->n", on_a, line), -multiplier(one, "rod"), rtol=1e-8, atol=1e-9
    )
    same_as_reference(one)


def test_a_part_between_a_ball_and_a_rod_spins() -> None:
    """About the line through the ball and the end of the rod, as between two balls."""
    ball = with_rod(load("rssr_linkage"), ("spherical", "spherical"))
    far = ball.joint("far")
    ends = (Point("P", "rocker", far.frame_a.origin), Point("Q", "rod", (0.0, 0.0, 0.3)))
    hung = replace(
        ball,
        joints=tuple(j for j in ball.joints if j.name != "far"),
        constraints=(DistanceConstraint("rod2", *ends, 0.4),),
    )
    system = rp.compile_system(hung)
    (spin,) = rp.passive_spins(system, [rp.assemble(system)])
    assert (spin.bodies, spin.joints) == (("rod",), ("near", "rod2"))
    assert len(kinematic_model(replace(hung, coordinates=_two(hung))).passive) == 1


def _two(mechanism: Mechanism) -> tuple[IndependentCoordinate, ...]:
    """Crank and rocker: the rod then follows, but for its spin and one more angle."""
    return (
        *mechanism.coordinates,
        JointCoordinate("rocker", "rocker", 0, "M_rocker", "rad"),
        PointCoordinate("z", Point("Q", "rod", (0.0, 0.0, 0.3)), (0.0, 0.0, 1.0), "F_z"),
    )


# --------------------------------------------------------------------------- refusals


def test_constraints_that_cannot_be() -> None:
    ball = load("n_pendulum")
    name = ball.joints[0].name
    for terms, message in (
        ((("q0", 0, 1.0),), "at least two coordinates"),
        ((("q0", 0, 1.0), ("q1", 0, 0.0)), "other than 0"),
        ((("q0", 0, 1.0), ("q0", 0, 2.0)), "occurs twice"),
        ((("q0", 0, 1.0), ("q9", 0, 2.0)), "no coordinate 0 of a joint q9"),
    ):
        wrong = replace(GEARS, constraints=(Coupling("mesh", terms),))
        with pytest.raises(ModelError, match=message):
            kinematic_model(wrong)
    if ball.joints[0].kind.has_orientation:
        terms = ((name, 0, 1.0), (name, 1, 1.0))
        with pytest.raises(ModelError, match="orientation"):
            kinematic_model(replace(ball, constraints=(Coupling("mesh", terms),)))


def test_a_coordinate_that_a_coupling_determines_is_refused() -> None:
    both = loads(
        HEAD
        + discs(0.02, 0.05)
        + "constraints:\n  mesh: {type: coupling, between: [q1, q0], ratio: -2.5}\n"
        + "coordinates: {q0: {joint: q0}, q1: {joint: q1}}\n"
    )
    with pytest.raises(ModelError, match="'q1' follows from the joints, the constraints"):
        kinematic_model(both)


def test_coupled_joints_that_fill_a_loop_are_refused() -> None:
    five = load("five_bar@isostatic")
    terms = tuple((name, 0, 1.0) for name in ("A1", "A2", "B1", "B2"))
    ball = tuple(replace(j, type="revolute") if j.name in ("B2", "C") else j for j in five.joints)
    whole = replace(
        five,
        joints=ball,
        coordinates=five.coordinates[:1],
        constraints=(Coupling("all", (*terms, ("C", 0, 1.0))),),
    )
    with pytest.raises(ModelError, match="coupled joints fill a whole loop"):
        kinematic_model(whole)
    with pytest.raises(ModelError, match="A2 is coupled and cannot be cut"):
        kinematic_model(
            replace(five, coordinates=five.coordinates[:1], cut=("A2",), constraints=(
                Coupling("mimic", (("A2", 0, 1.0), ("A1", 0, 0.7))),
            ))
        )  # fmt: skip


def test_a_rod_that_is_too_long_cannot_be_assembled() -> None:
    (c,) = FOUR_BAR.distances
    with pytest.raises(AssemblyError, match="distance rod stays open"):
        kinematic_model(replace(FOUR_BAR, constraints=(replace(c, length=5.0),)))
    with pytest.raises(AssemblyError, match="distance rod stays open"):
        rp.assemble(replace(FOUR_BAR, constraints=(replace(c, length=5.0),)))
