"""The tree formulation against formulas of textbooks: poses, speeds, accelerations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import GROUND, DistanceCoordinate, Mechanism, PointCoordinate
from mechid.modelfile import load

from ..contract.changes import carried
from .mechanisms import Array, Build, X, Y, Z, axes, four_bar, slider_crank

EPS = float(np.finfo(float).eps)
TIME = np.linspace(0, 3, 61)


def along(
    mechanism: Mechanism, y: Array, yd: Array, ydd: Array, time: Array | None = TIME
) -> Motion:
    """Motion of a mechanism with one coordinate."""
    return solve_motion(mechanism, y[:, None], yd[:, None], ydd[:, None], time=time)


def turns(t: Array) -> tuple[Array, Array, Array]:
    """An angle that goes round twice, not evenly, and its derivatives."""
    return 4 * t + 0.5 * np.sin(2 * t), 4 + np.cos(2 * t), -2 * np.sin(2 * t)


def turned(motion: Motion, body: str, axis: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Angle about a fixed axis since the reference pose, speed and acceleration."""
    names = [b.name for b in motion.model.mechanism.bodies]
    k, f, n = names.index(body), motion.bodies(), np.asarray(axis, float)
    n = n / np.linalg.norm(n)
    R0 = np.array(motion.model.mechanism.bodies[k].frame.rotation)
    x = axes(n)[:, 0]
    y = np.cross(n, x)
    now = f.rotation[:, k] @ R0.T @ x
    return np.arctan2(now @ y, now @ x), f.omega[:, k] @ n, f.alpha[:, k] @ n


def same_angle(a: Array, b: Array, bound: float) -> bool:
    gap = np.remainder(a - b + np.pi, 2 * np.pi) - np.pi
    return bool(np.abs(gap).max() <= bound)


class TestFourBar:
    """A-B-C-D, A in the origin, D at (d, 0): law of cosines, loop equation differentiated."""

    a, b, c, d = 0.3, 0.9, 0.7, 0.8
    start = 0.6

    def angles(self, theta: Array) -> tuple[Array, Array]:
        """Directions of coupler and rocker (D to C)."""
        diagonal = np.sqrt(self.a**2 + self.d**2 - 2 * self.a * self.d * np.cos(theta))
        # At D: between the base and the diagonal to B, and between that and the rocker.
        to_b = np.arctan2(self.a * np.sin(theta), self.a * np.cos(theta) - self.d)
        inner = np.arccos((diagonal**2 + self.c**2 - self.b**2) / (2 * diagonal * self.c))
        psi = to_b - inner
        tip = self.d + self.c * np.cos(psi) - self.a * np.cos(theta)
        phi = np.arctan2(self.c * np.sin(psi) - self.a * np.sin(theta), tip)
        return phi, psi

    @pytest.mark.parametrize("normal", [(0, 0, 1), (1, 2, 3), (0, -1, 0.2)])
    def test_angles_speeds_accelerations(self, normal: tuple[float, float, float]) -> None:
        a, b, c = self.a, self.b, self.c
        y, w2, a2 = turns(TIME)
        theta = self.start + y
        phi, psi = self.angles(theta)
        phi0, psi0 = self.angles(np.array(self.start))
        sin, cos = np.sin, np.cos
        w3 = -a * w2 * sin(theta - psi) / (b * sin(phi - psi))
        w4 = a * w2 * sin(theta - phi) / (c * sin(psi - phi))
        a3 = (
            -a * a2 * sin(theta - psi)
            - a * w2**2 * cos(theta - psi)
            - b * w3**2 * cos(phi - psi)
            + c * w4**2
        ) / (b * sin(phi - psi))
        a4 = (
            a * a2 * sin(theta - phi)
            + a * w2**2 * cos(theta - phi)
            + b * w3**2
            - c * w4**2 * cos(psi - phi)
        ) / (c * sin(psi - phi))
        motion = along(four_bar(a, b, c, self.d, self.start, normal), y, w2, a2)
        # Transmission angle and its inverse: the condition of the loop is about 1/sin.
        bound = 100 * EPS / float(np.abs(sin(psi - phi)).min()) ** 2
        for body, angle, speed, rate in (
            ("bar_2", phi - phi0, w3, a3),
            ("bar_3", psi - psi0, w4, a4),
        ):
            q, v, vd = turned(motion, body, normal)
            assert same_angle(q, angle, bound)
            assert v == pytest.approx(speed, abs=bound * np.abs(speed).max())
            assert vd == pytest.approx(rate, abs=bound * np.abs(rate).max())
        # The joints, of which one was cut: B turns the coupler against the crank, and so on.
        for name, angle, speed in (
            ("B", (phi - phi0) - y, w3 - w2),
            ("C", (psi - psi0) - (phi - phi0), w4 - w3),
            ("D", -(psi - psi0), -w4),
        ):
            j = joint_motion(motion, name)
            assert same_angle(j.coordinates[:, 0], angle, bound)
            assert np.abs(np.diff(j.coordinates[:, 0])).max() < 1  # without jumps
            assert j.speeds[:, 0] == pytest.approx(speed, abs=bound * np.abs(speed).max())

    def test_driven_by_a_point_and_by_a_distance(self) -> None:
        """The height of the crank pin, or its distance from D, give the same poses."""
        mechanism = four_bar(self.a, self.b, self.c, self.d, self.start)
        y = np.linspace(0, 0.7, 15)
        theta = self.start + y
        by_angle = along(mechanism, y, 0 * y, 0 * y, None).bodies()
        build = Build("points")
        build.frames.update({b.name: b.frame for b in mechanism.bodies})
        reference = self.a * np.array([np.cos(self.start), np.sin(self.start), 0])
        pin, base = build.point("B", "bar_1", reference), build.point("D", GROUND, self.d * X)
        height = self.a * np.sin(theta)
        distance = np.sqrt(self.a**2 + self.d**2 - 2 * self.a * self.d * np.cos(theta))
        for coordinate, values in (
            (PointCoordinate("height", pin, (0.0, 1.0, 0.0), "F"), height),
            (DistanceCoordinate("stroke", base, pin, "F"), distance),
        ):
            driven = replace(mechanism, coordinates=(coordinate,))
            f = along(driven, values, 0 * y, 0 * y, None).bodies()
            # The angle is the arc sine or cosine of the coordinate: 1/cos θ or 1/sin θ below 4.
            assert f.position == pytest.approx(by_angle.position, abs=400 * EPS)
            assert f.rotation == pytest.approx(by_angle.rotation, abs=400 * EPS)


@pytest.mark.parametrize("seed", [None, 3])
def test_slider_crank(seed: int | None) -> None:
    """x = r cos θ + (l² - (e - r sin θ)²)^½, differentiated by the chain rule."""
    r, rod, e, start = 0.2, 0.5, 0.03, 0.4
    y, yd, ydd = turns(TIME)
    mechanism = slider_crank(r, rod, e, start)
    R, origin = np.eye(3), np.zeros(3)
    if seed is not None:  # anywhere in space
        change = carried(mechanism, np.random.default_rng(seed), 0.5)
        mechanism, R, origin = change.mechanism, change.whole.rotation, change.whole.translation
    motion = along(mechanism, y, yd, ydd)
    a = start + y
    g, g1, g2 = e - r * np.sin(a), -r * np.cos(a), r * np.sin(a)
    root = np.sqrt(rod**2 - g**2)
    x = r * np.cos(a) + root
    x1 = -r * np.sin(a) - g * g1 / root
    x2 = -r * np.cos(a) - (g1 * g1 + g * g2) / root - (g * g1) ** 2 / root**3
    f = motion.bodies()
    p, v, acc = (q[:, 2] @ R for q in (f.position - origin, f.velocity, f.acceleration))
    assert p[:, 0] == pytest.approx(x, abs=20 * EPS)
    assert p[:, 1] == pytest.approx(e, abs=20 * EPS)
    assert v[:, 0] == pytest.approx(x1 * yd, abs=100 * EPS * np.abs(v).max())
    rate = x2 * yd**2 + x1 * ydd
    assert acc[:, 0] == pytest.approx(rate, abs=100 * EPS * np.abs(acc).max())
    assert np.abs(v[:, 1:]).max() < 100 * EPS * np.abs(v).max()
    slide = joint_motion(motion, "D")
    assert slide.coordinates[:, 0] == pytest.approx(x, abs=20 * EPS)
    assert slide.accelerations[:, 0] == pytest.approx(rate, abs=100 * EPS * np.abs(acc).max())


class TestCardan:
    """Two shafts at an angle δ joined by a universal joint: tan θ_out = tan θ_in / cos δ.

    θ counts from the pose where the yoke of the driving shaft lies in the plane of the shafts.
    """

    delta = 0.6

    def mechanism(self, middle: str) -> Mechanism:
        out = np.array([np.sin(self.delta), 0, np.cos(self.delta)])
        build = Build("cardan", np.random.default_rng(4))
        build.body("input"), build.body("output")
        build.joint("in", "revolute", GROUND, "input", (0, 0, -1), Z)
        if middle == "cross":
            build.body("cross")
            build.joint("yoke", "revolute", "input", "cross", (0, 0, 0), X)
            build.joint("fork", "revolute", "cross", "output", (0, 0, 0), Y)
        else:
            build.joint("cardan", "universal", "input", "output", (0, 0, 0), X, Y)
        build.joint("out", "cylindrical", GROUND, "output", out, out, Y)
        build.drive("in")
        return build.mechanism()

    @pytest.mark.parametrize("middle", ["cross", "universal"])
    def test_ratio_of_speeds(self, middle: str) -> None:
        y, yd, ydd = turns(TIME)
        motion = along(self.mechanism(middle), y, yd, ydd)
        c, s = np.cos(self.delta), np.sin(self.delta)
        below = 1 - (s * np.cos(y)) ** 2
        ratio = c / below
        slope = -2 * c * s**2 * np.sin(y) * np.cos(y) / below**2
        out = joint_motion(motion, "out")
        expected = np.arctan2(np.sin(y), c * np.cos(y))
        assert same_angle(out.coordinates[:, 0], expected, 100 * EPS)
        # It goes round as often as the driving shaft.
        assert np.abs(out.coordinates[:, 0] - y).max() < np.pi / 2
        bound = 200 * EPS / c**2
        assert out.speeds[:, 0] == pytest.approx(ratio * yd, abs=bound * np.abs(yd).max())
        rate = ratio * ydd + slope * yd**2
        assert out.accelerations[:, 0] == pytest.approx(rate, abs=bound * np.abs(rate).max())
        assert np.abs(out.coordinates[:, 1]).max() < 100 * EPS  # the shaft does not slide

    def test_two_joints_in_a_w_turn_evenly(self) -> None:
        """Shafts at δ, then back at -δ with the inner forks in one plane: output equals input."""
        out = np.array([np.sin(self.delta), 0, np.cos(self.delta)])
        build = Build("double cardan", np.random.default_rng(5))
        build.body("input"), build.body("middle"), build.body("output")
        build.joint("in", "revolute", GROUND, "input", (0, 0, -1), Z)
        build.joint("first", "universal", "input", "middle", (0, 0, 0), X, Y)
        build.joint("second", "universal", "middle", "output", 2 * out, Y, X)
        build.joint("out", "cylindrical", GROUND, "output", 2 * out + Z, Z, X)
        build.drive("in")
        y, yd, ydd = turns(TIME)
        j = joint_motion(along(build.mechanism(), y, yd, ydd), "out")
        assert same_angle(j.coordinates[:, 0], y, 200 * EPS)
        assert j.speeds[:, 0] == pytest.approx(yd, abs=500 * EPS * np.abs(yd).max())
        assert j.accelerations[:, 0] == pytest.approx(ydd, abs=2000 * EPS * np.abs(yd).max() ** 2)


class TestScrew:
    """A nut on a fixed screw pushes a slider: one pitch per turn, right-handed if positive."""

    axis = np.array([1.0, 2.0, 2.0]) / 3

    def mechanism(self, driven: str, pitch: float, cut: str | None = None) -> Mechanism:
        build = Build("screw", np.random.default_rng(8))
        build.body("nut"), build.body("slider")
        build.joint("thread", "helical", GROUND, "nut", (0, 0, 0), self.axis, pitch=pitch)
        build.joint("bearing", "revolute", "nut", "slider", 0.3 * self.axis, self.axis)
        build.joint("guide", "prismatic", GROUND, "slider", (0, 0.3, 0), self.axis)
        build.drive(driven)
        return replace(build.mechanism(), cut=None if cut is None else (cut,))

    @pytest.mark.parametrize("cut", ["thread", "bearing", "guide"])
    @pytest.mark.parametrize("pitch", [0.013, -0.02])
    def test_driven_by_the_nut_or_by_the_slider(self, pitch: float, cut: str) -> None:
        turn, rate, change = 20 * np.sin(TIME), 20 * np.cos(TIME), -20 * np.sin(TIME)
        lead = pitch / (2 * np.pi)
        for driven, factor in (("thread", 1.0), ("guide", lead)):
            if driven == cut:
                continue
            mechanism = self.mechanism(driven, pitch, cut)
            motion = along(mechanism, factor * turn, factor * rate, factor * change)
            thread, guide = joint_motion(motion, "thread"), joint_motion(motion, "guide")
            # A slider is known to eps of L = 0.4, which is eps L / lead of the angle.
            bound = 100 * EPS / abs(lead)
            assert thread.coordinates[:, 0] == pytest.approx(turn, abs=bound)
            assert guide.coordinates[:, 0] == pytest.approx(lead * turn, abs=100 * EPS)
            assert thread.speeds[:, 0] == pytest.approx(rate, abs=bound * 20)
            assert guide.accelerations[:, 0] == pytest.approx(lead * change, abs=bound)
            f = motion.bodies()
            assert f.velocity[:, 1] == pytest.approx(np.outer(lead * rate, self.axis), abs=bound)
            assert f.omega[:, 0] == pytest.approx(np.outer(rate, self.axis), abs=bound * 20)

    def test_reference_pose_several_turns_along_the_thread(self) -> None:
        """The turns are counted by the displacement, so the pose of the file is kept."""
        pitch, away = 0.01, 3.3
        angle = 2 * np.pi * away
        R = axes(Z, [np.cos(angle), np.sin(angle), 0])
        for driven in ("thread", "guide"):
            build = Build("screw")
            build.body("nut"), build.body("slider")
            thread = build.joint("thread", "helical", GROUND, "nut", (0, 0, 0), Z, X, pitch=pitch)
            rows = tuple(map(tuple, R.tolist()))
            frame_b = replace(thread.frame_b, origin=(0.0, 0.0, pitch * away), rotation=rows)
            build.joints[0] = replace(thread, frame_b=frame_b)
            build.joint("bearing", "revolute", "nut", "slider", (0, 0, 0.2), Z)
            build.joint("guide", "prismatic", GROUND, "slider", (0, 0.3, 0), Z)
            build.drive(driven)
            motion = along(build.mechanism(), np.zeros(1), np.zeros(1), np.zeros(1), None)
            if driven == "thread":
                assert motion.model.home_y == pytest.approx([angle], abs=1e-12)
                continue
            assert np.abs(motion.bodies().position).max() < 1e-15
            assert joint_motion(motion, "thread").coordinates[0] == pytest.approx(angle, abs=1e-12)


def test_spatial_slider_crank() -> None:
    """Haug's benchmark: the rod keeps its length, so x² = l² - y_B² - z_B²."""
    r, rod, y_A, z_A = 0.08, 0.3, 0.1, 0.12  # as published
    y, yd, ydd = turns(TIME)
    for variant in ("", "@two-balls"):
        motion = along(load(f"spatial_slider_crank{variant}"), y, yd, ydd)
        # The crank turns about x, from z towards -y.
        yB, yB1, yB2 = y_A - r * np.sin(y), -r * np.cos(y), r * np.sin(y)
        zB, zB1, zB2 = z_A + r * np.cos(y), -r * np.sin(y), -r * np.cos(y)
        x = np.sqrt(rod**2 - yB**2 - zB**2)
        x1 = -(yB * yB1 + zB * zB1) / x
        x2 = -(yB1**2 + yB * yB2 + zB1**2 + zB * zB2 + x1**2) / x
        k = [b.name for b in motion.model.mechanism.bodies].index("slider")
        f = motion.bodies()
        assert x[0] == pytest.approx(0.2, abs=1e-15)  # the benchmark's initial position
        assert f.position[:, k, 0] == pytest.approx(x, abs=50 * EPS)
        assert f.velocity[:, k, 0] == pytest.approx(x1 * yd, abs=200 * EPS * np.abs(yd).max())
        rate = x2 * yd**2 + x1 * ydd
        assert f.acceleration[:, k, 0] == pytest.approx(rate, abs=500 * EPS * np.abs(rate).max())


class TestStewart:
    """Inverse kinematics of a platform is a formula: the distance between the ends of each leg."""

    base, platform, height = 0.6, 0.35, 0.72  # radii and reference height of the model file
    low = np.radians([10, 110, 130, 230, 250, 350])
    high = np.radians([50, 70, 170, 190, 290, 310])

    def legs(self, p: Array, R: Array) -> Array:
        """Vectors from feet to heads, (N, 6, 3)."""
        feet = self.base * np.stack([np.cos(self.low), np.sin(self.low), 0 * self.low], axis=1)
        heads = self.platform * np.stack(
            [np.cos(self.high), np.sin(self.high), 0 * self.high], axis=1
        )
        return np.asarray(p[:, None] + np.einsum("nij,kj->nki", R, heads) - feet)

    def test_lengths_lead_to_the_pose(self) -> None:
        """Platform on a smooth course: lengths, speeds and accelerations in, the course out."""
        t = TIME
        p = np.stack([0.05 * np.sin(t), 0.04 * np.sin(2 * t), 0.03 * np.sin(1.5 * t)], 1)
        p += np.array([0.02, -0.015, self.height])
        v = np.stack([0.05 * np.cos(t), 0.08 * np.cos(2 * t), 0.045 * np.cos(1.5 * t)], 1)
        a = np.stack([-0.05 * np.sin(t), -0.16 * np.sin(2 * t), -0.0675 * np.sin(1.5 * t)], 1)
        n = np.array([1.0, -2.0, 2.0]) / 3  # turning about one axis
        angle, rate, change = 0.2 * np.sin(t), 0.2 * np.cos(t), -0.2 * np.sin(t)
        K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        R = (
            np.eye(3)
            + np.sin(angle)[:, None, None] * K
            + (1 - np.cos(angle))[:, None, None] * (K @ K)
        )
        w, wd = np.outer(rate, n), np.outer(change, n)
        s = self.legs(p, R)
        heads = s - self.legs(p, 0 * R)  # R b
        s1 = v[:, None] + np.cross(w[:, None], heads)
        s2 = (
            a[:, None]
            + np.cross(wd[:, None], heads)
            + np.cross(w[:, None], np.cross(w[:, None], heads))
        )
        y = np.linalg.norm(s, axis=2)
        yd = np.sum(s * s1, axis=2) / y
        ydd = (np.sum(s1 * s1 + s * s2, axis=2) - yd**2) / y
        motion = solve_motion(load("stewart_platform"), y, yd, ydd, time=t)
        k = [b.name for b in motion.model.mechanism.bodies].index("platform")
        f = motion.bodies()
        # The condition of the platform is 7: see tests/contract.
        for ours, theirs in (
            (f.position, p),
            (f.rotation, R),
            (f.velocity, v),
            (f.omega, w),
            (f.acceleration, a),
            (f.alpha, wd),
        ):
            bound = 50 * 7**2 * EPS * max(1.0, float(np.abs(theirs).max()))
            assert np.abs(ours[:, k] - theirs).max() <= bound


def test_delta_robot() -> None:
    """Forward kinematics by three spheres: the platform does not turn, and every pair of rods keeps
    its wrist on a sphere about its elbow."""
    base, platform, arm, rod = 0.164, 0.044, 0.235, 0.48  # of the model file
    azimuth = np.radians([0, 120, 240])
    radial = np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], axis=1)
    t = np.linspace(0, 4, 41)[:, None]
    y = np.radians(22) + 0.3 * np.sin(np.array([1.0, 1.7, 2.3]) * t + np.array([0.0, 1.0, 2.0]))
    motion = solve_motion(load("delta"), y)
    k = [b.name for b in motion.model.mechanism.bodies].index("platform")
    f = motion.bodies()
    assert np.abs(f.rotation[:, k] - np.eye(3)).max() < 1e4 * EPS
    for q, p in zip(y, f.position[:, k], strict=True):
        reach = base + arm * np.cos(q) - platform
        centers = reach[:, None] * radial - np.outer(arm * np.sin(q), Z)
        assert p == pytest.approx(below(centers, rod), abs=1e4 * EPS)


def below(centers: Array, radius: float) -> Array:
    """The lower common point of three spheres of equal radius: on the axis of their centres."""
    a, b, c = centers
    u, v = b - a, c - a
    n = np.cross(u, v)
    # Centre of the circle through the three points.
    middle = a + (np.cross(n, u) * (v @ v) + np.cross(v, n) * (u @ u)) / (2 * n @ n)
    axis = n / np.linalg.norm(n)
    across = float(np.linalg.norm(middle - a))
    height = np.sqrt(radius**2 - across**2)
    return np.asarray(middle - height * axis * np.sign(axis[2]))


def test_spherical_pendulum_by_roll_pitch_yaw() -> None:
    """Speeds of an orientation: ω = ẏaw z + ṗitch (Rz y) + ṙoll (Rz Ry x), differentiated."""
    build = Build("pendulum", np.random.default_rng(2))
    build.body("bob")
    joint = build.joint("ball", "spherical", GROUND, "bob", (0.1, -0.2, 0.3), (0.3, 1, -0.5))
    for k in range(3):
        build.drive("ball", k, ("roll", "pitch", "yaw")[k])
    t = np.linspace(0, 3, 31)
    roll, pitch, yaw = 0.8 * np.sin(t), 1.2 * np.sin(1.3 * t), 3 * t
    y = np.stack([roll, pitch, yaw], axis=1)
    yd = np.stack([0.8 * np.cos(t), 1.56 * np.cos(1.3 * t), 3 + 0 * t], axis=1)
    ydd = np.stack([-0.8 * np.sin(t), -1.2 * 1.69 * np.sin(1.3 * t), 0 * t], axis=1)
    motion = solve_motion(build.mechanism(), y, yd, ydd, time=t)
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    zero = 0 * t
    r1, p1, y1 = yd.T
    r2, p2, y2 = ydd.T
    w = np.stack([r1 * cy * cp - p1 * sy, r1 * sy * cp + p1 * cy, y1 - r1 * sp], axis=1)
    wd = np.stack(
        [
            r2 * cy * cp - r1 * (y1 * sy * cp + p1 * cy * sp) - p2 * sy - p1 * y1 * cy,
            r2 * sy * cp + r1 * (y1 * cy * cp - p1 * sy * sp) + p2 * cy - p1 * y1 * sy,
            y2 - r2 * sp - r1 * p1 * cp + zero,
        ],
        axis=1,
    )
    A = np.array(joint.frame_a.rotation)
    f = motion.bodies()
    assert f.omega[:, 0] == pytest.approx(w @ A.T, abs=100 * EPS)
    assert f.alpha[:, 0] == pytest.approx(wd @ A.T, abs=500 * EPS)
    ball = joint_motion(motion, "ball")
    assert ball.speeds == pytest.approx(w, abs=100 * EPS)
    assert ball.accelerations == pytest.approx(wd, abs=500 * EPS)
    e = ball.coordinates
    assert np.abs(np.sum(e * e, axis=1) - 1).max() < 10 * EPS
    assert np.abs(np.diff(e, axis=0)).max() < 0.5  # no change of sign on the way round


def test_pendulum_chain_by_sums_of_angles() -> None:
    """Links in a plane: the angles add up."""
    mechanism = load("n_pendulum@plane")
    n = len(mechanism.coordinates)
    t = np.linspace(0, 2, 11)[:, None]
    w = np.linspace(0.5, 2, n)
    y, yd, ydd = np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)
    f = solve_motion(mechanism, y, yd, ydd).bodies()
    axis = np.array(mechanism.joints[0].frame_a.rotation)[:, 2]
    assert f.omega @ axis == pytest.approx(np.cumsum(yd, axis=1), abs=100 * EPS * n)
    assert f.alpha @ axis == pytest.approx(np.cumsum(ydd, axis=1), abs=100 * EPS * n)
