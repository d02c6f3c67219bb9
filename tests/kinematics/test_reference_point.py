"""Reference-point formulation: rows, derivatives, closed forms, assembly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import AssemblyError, SingularPoseError, UnreachablePoseError
from mechid.kinematics import reference_point as rp
from mechid.kinematics.reference_point.constraints import body_numbers
from mechid.kinematics.reference_point.drivers import joint_coordinate_row
from mechid.kinematics.reference_point.evaluate import compile_rows
from mechid.mechanism.records import (
    GROUND,
    JOINT_KINDS,
    Body,
    DistanceCoordinate,
    JointType,
    Mechanism,
    PointCoordinate,
)
from mechid.spatial.rotations import (
    axis_rotation,
    matrix_from_quaternion,
    matrix_from_rpy,
    quaternion_from_matrix,
)

from ..contract.joint_table import joint_pose, with_quaternion
from .mechanisms import (
    Array,
    Build,
    X,
    Y,
    Z,
    circles,
    four_bar,
    frame,
    random_rotation,
    slider_crank,
    spatial_crank,
    stewart,
)

JOINT_TYPES = tuple(JOINT_KINDS)
PITCH = 0.013


def pair(type: JointType, rng: np.random.Generator) -> Mechanism:
    """Two bodies and one joint, all frames random, every coordinate of the joint declared."""
    build = Build(type, rng)
    build.body("first"), build.body("second", (1, 0, 0))
    place, other = rng.standard_normal((2, 3))
    build.joint("J", type, "first", "second", place, rng.standard_normal(3), X, other, pitch=PITCH)
    kind = JOINT_KINDS[type]
    for k in range(kind.n_speeds):
        build.drive("J", k, f"q{k}")
    a = build.point("A", "first", rng.standard_normal(3))
    b = build.point("B", "second", rng.standard_normal(3))
    build.coordinates.append(PointCoordinate("lift", b, (0.6, 0.0, 0.8), "F"))
    build.coordinates.append(DistanceCoordinate("stroke", a, b, "F"))
    return build.mechanism()


def posed(mechanism: Mechanism, c: Array, rng: np.random.Generator) -> Array:
    """q of a pair with these joint coordinates, the first body anywhere."""
    joint = mechanism.joints[0]
    p, R = rng.standard_normal(3), random_rotation(rng)
    (turn,), (t,) = joint_pose(joint, with_quaternion(joint, c[None]))
    Ra, Rb = np.array(joint.frame_a.rotation), np.array(joint.frame_b.rotation)
    R2 = R @ Ra @ turn @ Rb.T
    p2 = p + R @ (np.array(joint.frame_a.origin) + Ra @ t) - R2 @ np.array(joint.frame_b.origin)
    return np.concatenate([p, quaternion_from_matrix(R), p2, quaternion_from_matrix(R2)])


@pytest.mark.parametrize("type", JOINT_TYPES)
class TestRows:
    def test_motion_of_the_joint_fulfils_its_rows(self, type: JointType) -> None:
        rng = np.random.default_rng(11)
        mechanism = pair(type, rng)
        system = rp.compile_system(mechanism)
        c = rng.uniform(-1, 1, JOINT_KINDS[type].n_speeds)
        q = posed(mechanism, c, rng)
        turns = c[:1] if JOINT_KINDS[type].thread else np.zeros(0)
        assert np.abs(rp.closure_values(system, rp.Pose(q, turns))).max() < 1e-14
        assert np.abs(rp.values(system.named, q)).max(initial=0) < 1e-14
        assert rp.values(system.drivers, q)[: len(c)] == pytest.approx(c, abs=1e-14)

    def test_rows_hold_what_the_kind_says(self, type: JointType) -> None:
        rng = np.random.default_rng(12)
        mechanism = pair(type, rng)
        system = rp.compile_system(mechanism)
        assert len(system.named.rows) == JOINT_KINDS[type].n_constraints
        q = posed(mechanism, rng.uniform(-1, 1, JOINT_KINDS[type].n_speeds), rng)
        J = rp.twist_jacobian(system, system.named, rp.Pose(q, np.zeros(0)))
        assert np.linalg.matrix_rank(J) == JOINT_KINDS[type].n_constraints

    def test_derivatives(self, type: JointType) -> None:
        """Also off the constraints, and for quaternions that are not of unit length."""
        rng = np.random.default_rng(13)
        system = rp.compile_system(pair(type, rng))
        q, qd = rng.standard_normal((2, 14))
        h = 1e-6
        for equations in (system.closure, system.named, system.drivers):
            near = rp.values(equations, q)
            differences = [
                (rp.values(equations, q + h * e, near) - rp.values(equations, q - h * e, near))
                / (2 * h)
                for e in np.eye(14)
            ]
            J = rp.jacobian(equations, q)
            assert pytest.approx(np.array(differences).T, rel=1e-7, abs=1e-7) == J
            Jd = (rp.jacobian(equations, q + h * qd) - rp.jacobian(equations, q - h * qd)) / (2 * h)
            assert rp.gamma(equations, q, qd) == pytest.approx(-Jd @ qd, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("k", range(3))
def test_names_of_rows_say_what_moves(k: int) -> None:
    """A small motion along or about an axis of frame a shows in the row of that name only."""
    rng = np.random.default_rng(5)
    mechanism = pair("fixed", rng)
    system = rp.compile_system(mechanism)
    joint = mechanism.joints[0]
    q = posed(mechanism, np.zeros(0), rng)
    Ra = matrix_from_quaternion(q[3:7]) @ np.array(joint.frame_a.rotation)
    slid = q.copy()
    slid[7:10] += 1e-3 * Ra[:, k]
    R2 = matrix_from_quaternion(q[10:])
    turned = q.copy()
    turn = Ra @ axis_rotation(k, 1e-3) @ Ra.T
    turned[10:] = quaternion_from_matrix(turn @ R2)
    turned[7:10] += (R2 - turn @ R2) @ np.array(joint.frame_b.origin)
    for moved, kind in ((slid, "translation along"), (turned, "rotation about")):
        change = np.abs(rp.values(system.named, moved) - rp.values(system.named, q))
        shown = [r.name for r, c in zip(system.named.rows, change, strict=True) if c > 1e-5]
        assert shown == [f"joint J: {kind} {'xyz'[k]}"]


def test_angles_are_unwrapped_near_the_given_value() -> None:
    rng = np.random.default_rng(2)
    mechanism = pair("revolute", rng)
    rows = compile_rows(
        (joint_coordinate_row("q", mechanism.joints[0], 0, body_numbers(mechanism)),), 2
    )
    q = posed(mechanism, np.array([3.0]), rng)
    for turns in (-2, 0, 5):
        near = np.array([3.5 + 2 * np.pi * turns])
        assert rp.values(rows, q, near) == pytest.approx([3.0 + 2 * np.pi * turns])


class TestFourBar:
    lengths = (0.3, 0.9, 0.7, 0.8)
    angle = 0.6

    def tips(self, theta: float) -> Array:
        """B and C by intersection of circles."""
        crank, coupler, rocker, base = self.lengths
        b = crank * np.array([np.cos(theta), np.sin(theta)])
        return np.array([b, circles(b, coupler, np.array([base, 0.0]), rocker)])

    def test_positions_by_the_law_of_cosines(self) -> None:
        theta = np.linspace(0, 2 * np.pi, 25)[:, None]
        motion = rp.follow(four_bar(*self.lengths, self.angle), theta - self.angle)
        for k, t in enumerate(theta[:, 0]):
            # bar_2 and bar_3 carry their frames in B and C.
            assert motion.position[k, 1:, :2] == pytest.approx(self.tips(t), abs=1e-14)
            assert np.abs(motion.position[k, :, 2]).max() < 1e-14

    @pytest.mark.parametrize("longer", [0.01, 0.003, 1e-4])
    def test_branches_that_nearly_meet_are_kept_apart(self, longer: float) -> None:
        """Nearly a parallelogram, whose branches meet where its bars are in line."""
        self.lengths = (0.3, 0.8, 0.3 + longer, 0.8)
        mechanism = four_bar(*self.lengths, self.angle)
        for t in np.linspace(0.1, 6.1, 9):  # in one go
            motion = rp.follow(mechanism, np.array([[t - self.angle]]))
            assert motion.position[0, 1:, :2] == pytest.approx(self.tips(t), abs=1e-10)

    def test_velocity_and_acceleration_by_differences_of_the_closed_form(self) -> None:
        theta, speed, rate = 1.1, 2.0, -3.0
        motion = rp.follow(
            four_bar(*self.lengths, self.angle),
            np.array([[theta - self.angle]]),
            np.array([[speed]]),
            np.array([[rate]]),
        )
        h = 1e-4
        at = [self.tips(theta + speed * t + rate * t * t / 2) for t in (-h, 0.0, h)]
        assert motion.velocity[0, 1:, :2] == pytest.approx((at[2] - at[0]) / (2 * h), rel=1e-6)
        second = (at[2] - 2 * at[1] + at[0]) / h**2
        assert motion.acceleration[0, 1:, :2] == pytest.approx(second, rel=1e-5)
        assert motion.omega[0, 0] == pytest.approx([0, 0, speed], abs=1e-13)
        assert motion.alpha[0, 0] == pytest.approx([0, 0, rate], abs=1e-12)

    def test_dead_point_is_refused_as_singular(self) -> None:
        """Driven at the rocker, the linkage is singular where crank and coupler are in line."""
        crank, coupler, rocker, base = self.lengths
        mechanism = four_bar(*self.lengths, self.angle)
        rocker_drive = replace(mechanism.coordinates[0], joint="D")
        mechanism = replace(mechanism, coordinates=(rocker_drive,))
        stretched = rocker_angle(crank + coupler, rocker, base)
        now = np.arctan2(*(self.tips(self.angle)[1] - [base, 0.0])[::-1])
        # Joint D turns the ground against the rocker.
        y = np.array([[-(stretched - now) * (1 - 1e-16)]])
        with pytest.raises((SingularPoseError, UnreachablePoseError), match="sample 0"):
            rp.follow(mechanism, y)

    def test_beyond_reach_is_refused(self) -> None:
        mechanism = four_bar(0.9, 0.5, 0.7, 0.8, 0.3)
        system = rp.compile_system(mechanism)
        limit = np.arccos((0.9**2 + 0.8**2 - 1.2**2) / (2 * 0.9 * 0.8))
        start = rp.assemble(system)
        rp.solve_position(system, np.array([limit - 0.3 - 1e-3]), start)
        with pytest.raises(UnreachablePoseError) as caught:
            rp.solve_position(system, np.array([limit - 0.3 + 1e-3]), start, sample=7)
        assert caught.value.sample == 7
        assert "A = " in caught.value.what


def rocker_angle(diagonal: float, rocker: float, base: float) -> float:
    """Direction of the rocker at D when A and C are `diagonal` apart."""
    inner = np.arccos((base**2 + rocker**2 - diagonal**2) / (2 * base * rocker))
    return float(np.pi - inner)


def test_slider_crank_closed_form() -> None:
    """x = r cos θ + (l² - (e - r sin θ)²)^½ and its derivatives by the chain rule."""
    r, rod, e, start = 0.2, 0.5, 0.03, 0.4
    t = np.linspace(0, 3, 31)
    y = 0.5 * np.sin(2 * t) + 2 * t
    yd = np.cos(2 * t) + 2
    ydd = -2 * np.sin(2 * t)
    motion = rp.follow(slider_crank(r, rod, e, start), y[:, None], yd[:, None], ydd[:, None])
    a = start + y
    g, g1, g2 = e - r * np.sin(a), -r * np.cos(a), r * np.sin(a)
    root = np.sqrt(rod**2 - g**2)
    x = r * np.cos(a) + root
    x1 = -r * np.sin(a) - g * g1 / root
    x2 = -r * np.cos(a) - (g1 * g1 + g * g2) / root - (g * g1) ** 2 / root**3
    assert motion.position[:, 2, 0] == pytest.approx(x, rel=1e-13)
    assert motion.velocity[:, 2, 0] == pytest.approx(x1 * yd, abs=1e-12)
    assert motion.acceleration[:, 2, 0] == pytest.approx(x2 * yd**2 + x1 * ydd, abs=1e-11)
    assert motion.position[:, 2, 1] == pytest.approx(e, abs=1e-14)


def test_cardan_joint_closed_form() -> None:
    """Two shafts that meet at the angle δ, joined by a universal joint: tan θ_in = cos δ tan θ_out.

    θ counts from the pose where the yoke of the driving shaft lies in the plane of the shafts.
    """
    delta = 0.5
    out = np.array([np.sin(delta), 0, np.cos(delta)])
    build = Build("cardan", np.random.default_rng(4))
    build.body("input"), build.body("cross"), build.body("output")
    build.joint("in", "revolute", GROUND, "input", (0, 0, -1), Z)
    build.joint("yoke", "revolute", "input", "cross", (0, 0, 0), X)
    build.joint("fork", "revolute", "cross", "output", (0, 0, 0), Y)
    build.joint("out", "cylindrical", GROUND, "output", out, out, Y)
    build.drive("in")
    mechanism = build.mechanism()
    theta = np.linspace(-1.2, 1.2, 9)
    motion = rp.follow(mechanism, theta[:, None], np.ones((9, 1)))
    R0 = np.array(mechanism.body("output").frame.rotation)
    for k, t in enumerate(theta):
        yoke = motion.rotation[k, 2] @ R0.T @ Y  # the output fork, at Y for θ = 0
        turned = np.arctan2(yoke @ np.cross(out, Y), yoke @ Y)
        assert np.tan(t) == pytest.approx(np.cos(delta) * np.tan(turned), rel=1e-12)


class TestHelical:
    def nut(self, index_of: str) -> Mechanism:
        """A nut on a fixed screw, and a slider it pushes along."""
        build = Build("screw", np.random.default_rng(8))
        build.body("nut"), build.body("slider")
        build.joint("thread", "helical", GROUND, "nut", (0, 0, 0), (1, 2, 2), pitch=PITCH)
        build.joint("bearing", "revolute", "nut", "slider", (0.1, 0.2, 0.2), (1, 2, 2))
        build.joint("guide", "prismatic", GROUND, "slider", (0, 0.3, 0), (1, 2, 2))
        build.drive(index_of)
        return build.mechanism()

    def test_advance_through_many_turns(self) -> None:
        y = np.linspace(0, 25, 11)[:, None]
        motion = rp.follow(self.nut("thread"), y, np.full_like(y, 3.0))
        u = np.array([1, 2, 2]) / 3
        advance = (motion.position[:, 1] - motion.position[0, 1]) @ u
        assert advance == pytest.approx(PITCH * y[:, 0] / (2 * np.pi), abs=1e-13)
        assert motion.velocity[:, 1] == pytest.approx(
            np.tile(3.0 * PITCH / (2 * np.pi) * u, (11, 1)), abs=1e-13
        )

    def test_driven_by_the_slider(self) -> None:
        """Several turns per sample: the count must not be lost."""
        y = np.linspace(0, 4 * PITCH, 3)[:, None]
        system = rp.compile_system(self.nut("guide"))
        pose = rp.assemble(system)
        for value in y:
            pose = rp.solve_position(system, value, pose)
        assert pose.turns == pytest.approx([8 * np.pi], abs=1e-10)


@pytest.mark.parametrize(
    "mechanism",
    [
        spatial_crank(np.random.default_rng(1)),
        stewart(rng=np.random.default_rng(2)),
        stewart("spherical"),
    ],
    ids=["rssr", "stewart_ups", "stewart_sps"],
)
def test_velocities_and_accelerations_are_differences_of_positions(mechanism: Mechanism) -> None:
    system = rp.compile_system(mechanism)
    rng = np.random.default_rng(21)
    n = len(mechanism.coordinates)
    start = rp.assemble(system)
    y0 = rp.coordinates(system, start) + 0.1 * rng.standard_normal(n)
    yd, ydd = rng.standard_normal((2, n))
    h = 1e-4
    y = [y0 + yd * t + ydd * t * t / 2 for t in (-h, 0.0, h)]
    rates = [yd - h * ydd, yd, yd + h * ydd]
    motion = rp.follow(system, np.array(y), np.array(rates), np.tile(ydd, (3, 1)))
    # Passive motions are not determined: compare what they do not touch.
    spinning = {body for s in rp.passive_spins(system, [start]) for body in s.bodies}
    kept = [i for i, b in enumerate(mechanism.bodies) if b.name not in spinning]
    p, v = motion.position[:, kept], motion.velocity[:, kept]
    assert v[1] == pytest.approx((p[2] - p[0]) / (2 * h), rel=1e-5, abs=1e-6)
    second = (v[2] - v[0]) / (2 * h)
    assert motion.acceleration[1, kept] == pytest.approx(second, rel=1e-5, abs=1e-5)
    R = motion.rotation[:, kept]
    spin = (R[2] - R[0]) / (2 * h) @ np.swapaxes(R[1], -1, -2)
    omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
    assert motion.omega[1, kept] == pytest.approx(omega, rel=1e-5, abs=1e-6)
    turn = (motion.omega[2, kept] - motion.omega[0, kept]) / (2 * h)
    assert motion.alpha[1, kept] == pytest.approx(turn, rel=1e-5, abs=1e-5)


@pytest.mark.slow
def test_orientation_as_roll_pitch_yaw() -> None:
    build = Build("free body", np.random.default_rng(3))
    build.body("body")
    joint = build.joint("base", "free", GROUND, "body", (0.1, 0.2, 0.3), (1, 0, 1))
    for k in range(6):
        build.drive("base", k, f"c{k}")
    mechanism = build.mechanism()
    y = np.array([[0.2, -0.1, 0.5, 0.7, -1.2, 2.9], [0.2, -0.1, 0.5, 0.9, -1.0, 3.4]])
    motion = rp.follow(mechanism, y)
    Ra, Rb = np.array(joint.frame_a.rotation), np.array(joint.frame_b.rotation)
    for k in range(2):
        R = Ra.T @ motion.rotation[k, 0] @ Rb
        assert pytest.approx(matrix_from_rpy(y[k, 3:]), abs=1e-13) == R
    with pytest.raises((SingularPoseError, UnreachablePoseError)):
        rp.follow(mechanism, np.array([[0, 0, 0, 0.1, np.pi / 2, 0.2]]))


def test_point_and_distance_drive_a_crank() -> None:
    """Height of a crank pin, and its distance from a fixed point."""
    build = Build("crank", np.random.default_rng(6))
    build.body("crank")
    build.joint("A", "revolute", GROUND, "crank", (0, 0, 0), Z)
    pin = build.point("B", "crank", (1, 0.0, 0))
    fixed = build.point("C", GROUND, (0, 2, 0))
    for c, y in (
        (PointCoordinate("height", pin, (0, 1, 0), "F"), np.sin(0.8)),
        (DistanceCoordinate("stroke", fixed, pin, "F"), np.sqrt(5 - 4 * np.sin(0.8))),
    ):
        mechanism = replace(build.mechanism(), coordinates=(c,))
        motion = rp.follow(mechanism, np.array([[y]]))
        place = motion.position[0, 0] + motion.rotation[0, 0] @ np.array(pin.local)
        assert place == pytest.approx([np.cos(0.8), np.sin(0.8), 0], abs=1e-12)


class TestAssembly:
    def rough(self, mechanism: Mechanism, amount: float, seed: int = 0) -> Mechanism:
        """Displace and turn every body; its joints keep their places on it."""
        rng = np.random.default_rng(seed)
        bodies = []
        for body in mechanism.bodies:
            e = np.concatenate([[1.0], amount * rng.standard_normal(3)])
            R = matrix_from_quaternion(e) @ np.array(body.frame.rotation)
            p = np.array(body.frame.origin) + amount * rng.standard_normal(3)
            bodies.append(Body(body.name, frame(p, R)))
        return replace(mechanism, bodies=tuple(bodies))

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("build", [four_bar, slider_crank, spatial_crank, stewart])
    def test_rough_pose_is_closed_to_rounding(self, build: type, seed: int) -> None:
        system = rp.compile_system(self.rough(build(), 0.05, seed))
        before = np.abs(rp.closure_values(system, rp.reference_pose(system))).max()
        pose = rp.assemble(system)
        assert before > 0.01
        assert np.abs(rp.closure_values(system, pose)).max() < 1e-14
        assert not rp.flipped_joints(system, pose)
        moved = (pose.q - rp.reference_pose(system).q) / system.q_scale
        assert np.abs(moved).max() < 10 * before

    def test_a_closed_pose_is_left_alone(self) -> None:
        system = rp.compile_system(four_bar())
        moved = rp.assemble(system).q - rp.reference_pose(system).q
        assert np.abs(moved).max() < 1e-15

    def test_assembly_moves_as_little_as_it_can(self) -> None:
        """One body on a revolute joint that is open: the shortest way is known."""
        build = Build("door")
        build.body("door")
        build.joint("hinge", "revolute", GROUND, "door", (0.3, 0, 0), at_b=(0.3, 0.01, 0.02))
        build.point("far", "door", (1, 0, 0))
        system = rp.compile_system(build.mechanism())
        pose = rp.assemble(system)
        shift = np.linalg.norm(pose.position[0])
        assert shift <= np.hypot(0.01, 0.02) + 1e-12

    def test_impossible_lengths_name_a_joint_and_a_gap(self) -> None:
        """A coupler 0.4 too short, against 1.5 + 0.3 to bridge: the joints stay open."""
        build = Build("short")
        build.body("bar_1"), build.body("bar_2", (0.3, 0, 0)), build.body("bar_3", (2, 0, 0))
        build.joint("A", "revolute", GROUND, "bar_1")
        build.joint("B", "revolute", "bar_1", "bar_2", (0.3, 0, 0))
        build.joint("C", "revolute", "bar_2", "bar_3", (1.1, 0, 0), at_b=(1.5, 0, 0))
        build.joint("D", "revolute", GROUND, "bar_3", (2, 0, 0))
        with pytest.raises(AssemblyError, match=r"joint [ABCD] stays open by 0\.\d+ m") as caught:
            rp.assemble(build.mechanism())
        assert caught.value.remedy

    def test_reversed_axis_is_named(self) -> None:
        build = Build("reversed")
        build.body("door")
        hinge = build.joint("hinge", "revolute", GROUND, "door", (0.3, 0, 0))
        flipped = replace(hinge, frame_b=frame((0.3, 0, 0), np.diag([1.0, -1.0, -1.0])))
        guide = Build("guide")
        guide.body("door")
        slide = guide.joint("slide", "prismatic", GROUND, "door", (0.1, 0, 0))
        mechanism = replace(build.mechanism(), joints=(flipped, slide))
        with pytest.raises(AssemblyError, match="hinge"):
            rp.assemble(mechanism)


def test_generic_pose_is_closed_and_elsewhere() -> None:
    for mechanism in (four_bar(), stewart()):
        system = rp.compile_system(mechanism)
        start = rp.assemble(system)
        pose = rp.generic_pose(system, np.random.default_rng(0))
        assert np.abs(rp.closure_values(system, pose)).max() < 1e-14
        assert np.abs((pose.q - start.q) / system.q_scale).max() > 0.02
        again = rp.generic_pose(mechanism, np.random.default_rng(0))
        assert np.array_equal(pose.q, again.q)
