"""Mobility of mechanisms whose freedoms are known from the literature or by construction."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.errors import KinematicsError, ModelError
from mechid.kinematics.mobility import check_independent, dependent_rows, mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tree import spanning_tree
from mechid.mechanism.records import (
    GROUND,
    JOINT_KINDS,
    Body,
    IndependentCoordinate,
    JointCoordinate,
    JointType,
    Mechanism,
    Point,
    PointCoordinate,
)
from mechid.spatial.rotations import matrix_from_rpy

from ..property.generate import TYPES, NotUsableError, random_mechanism
from .mechanisms import (
    Build,
    X,
    Y,
    Z,
    bricard_trihedral,
    four_bar,
    frame,
    polygon,
    random_rotation,
    slider_crank,
    spatial_crank,
    stewart,
)


def expect(mechanism: Mechanism, grubler: int, dof: int, passive: int = 0) -> None:
    m = mobility(mechanism)
    assert (m.grubler, m.dof, m.passive_dof) == (grubler, dof, passive)
    assert m.redundant_constraints == len(m.redundant) == dof - grubler
    assert len(m.passive) == passive
    assert m.gap > 1e6


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 2, 3), (0, -1, 0.1)])
def test_four_bar(normal: tuple[float, float, float]) -> None:
    mechanism = four_bar(normal=normal)
    expect(mechanism, -2, 1)
    m = mobility(mechanism)
    assert m.joints == {"R": 4}
    # The first three joints make an open chain; the last one repeats what they hold.
    assert m.redundant == (
        "joint D: translation along z",
        "joint D: rotation about x",
        "joint D: rotation about y",
    )


def test_slider_crank() -> None:
    expect(slider_crank(), -2, 1)


def test_parallelogram_with_a_third_crank() -> None:
    """Each crank more adds no freedom, and a parallel one takes none: planar mobility 0, real 1."""
    build = Build("parallelogram")
    tip = np.array([0.1, 0.4, 0])
    build.body("coupler", tip)
    for k, x in enumerate((0.0, 0.5, 1.2)):
        build.body(f"crank_{k}", (x, 0, 0))
        build.joint(f"foot_{k}", "revolute", GROUND, f"crank_{k}", (x, 0, 0))
        build.joint(f"head_{k}", "revolute", f"crank_{k}", "coupler", tip + x * X)
    build.drive("foot_0")
    expect(build.mechanism(), 6 * 4 - 30, 1)


def test_bricard_trihedral() -> None:
    expect(bricard_trihedral(), 0, 1)


def test_generic_six_bar_is_a_structure() -> None:
    rng = np.random.default_rng(0)
    build = polygon(list(rng.standard_normal((6, 3))), list(rng.standard_normal((6, 3))), "6R")
    expect(build.mechanism(), 0, 0)


def test_bennett() -> None:
    """4R with opposite sides equal and a / sin α = b / sin β; built from Denavit-Hartenberg."""
    a, alpha, b = 1.0, 0.7, 0.8
    beta = np.arcsin(b / a * np.sin(alpha))
    theta_1 = 1.1
    # Bennett: tan(θ1/2) tan(θ2/2) = sin((α + β)/2) / sin((β - α)/2); θ3 = -θ1, θ4 = -θ2.
    ratio = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    theta_2 = 2 * np.arctan(ratio / np.tan(theta_1 / 2))
    points, axes = [], []
    T = np.eye(4)
    for theta, length, twist in zip(
        (theta_1, theta_2, -theta_1, -theta_2), (a, b, a, b), (alpha, beta) * 2, strict=True
    ):
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(twist), np.sin(twist)
        T = T @ np.array(
            [
                [c, -s * ca, s * sa, length * c],
                [s, c * ca, -c * sa, length * s],
                [0, sa, ca, 0],
                [0, 0, 0, 1],
            ]
        )
    assert np.eye(4) == pytest.approx(T, abs=1e-12)  # the conditions close the loop
    expect(polygon(points, axes, "bennett").mechanism(), -2, 1)


def test_sarrus() -> None:
    """Two planar legs of three parallel axes each, at right angles: the plate moves straight."""
    build = Build("sarrus")
    build.body("plate", (0, 0, 1))
    for side, turn in (("east", X), ("north", Y)):
        axis = np.cross(Z, turn)
        low, knee, high = 0.5 * turn, 0.9 * turn + 0.5 * Z, 0.5 * turn + Z
        build.body(f"lower_{side}", low), build.body(f"upper_{side}", knee)
        build.joint(f"low_{side}", "revolute", GROUND, f"lower_{side}", low, axis)
        build.joint(f"knee_{side}", "revolute", f"lower_{side}", f"upper_{side}", knee, axis)
        build.joint(f"high_{side}", "revolute", f"upper_{side}", "plate", high, axis)
    expect(build.mechanism(), 0, 1)


def test_stewart_platform() -> None:
    expect(stewart(rng=np.random.default_rng(1)), 6, 6)
    check_independent(stewart())


def test_spherical_legs_spin() -> None:
    mechanism = stewart("spherical")
    expect(mechanism, 12, 12, passive=6)
    expected = "lower_2 and upper_2 spin together about the line through joints U2 and S2"
    assert expected in mobility(mechanism).passive
    check_independent(mechanism)  # passive motions need no coordinate


def test_rod_between_balls_spins() -> None:
    m = mobility(spatial_crank(np.random.default_rng(7)))
    assert (m.dof, m.passive_dof) == (2, 1)
    assert m.passive == ("rod spins about the line through joints B and C",)


def test_hanging_from_one_ball_is_freedom() -> None:
    build = Build("pendulum")
    build.body("bob")
    build.joint("A", "spherical", GROUND, "bob")
    expect(build.mechanism(), 3, 3)


def test_three_balls_in_a_line_and_not() -> None:
    for third, dof, passive in (((2.0, 0, 0), 1, 1), ((2.0, 0.5, 0), 0, 0)):
        build = Build("plank")
        build.body("plank")
        for name, place in (("A", (0, 0, 0)), ("B", (1, 0, 0)), ("C", third)):
            build.joint(name, "spherical", GROUND, "plank", place)
        expect(build.mechanism(), -3, dof, passive)


def test_two_balls_at_one_point_are_one() -> None:
    build = Build("doubled")
    build.body("bob")
    build.joint("A", "spherical", GROUND, "bob", (1, 0, 0))
    build.joint("B", "spherical", GROUND, "bob", (1, 0, 0))
    expect(build.mechanism(), 0, 3)


def test_fixed_joint_written_twice() -> None:
    build = Build("welded", np.random.default_rng(3))
    build.body("arm"), build.body("tool")
    build.joint("hinge", "revolute", GROUND, "arm", (0.2, 0, 0), Y)
    build.joint("weld", "fixed", "arm", "tool", (1, 0, 0))
    build.joint("again", "fixed", "arm", "tool", (0, 2, 0), X)
    expect(build.mechanism(), -5, 1)
    assert all(name.startswith("joint again: ") for name in mobility(build.mechanism()).redundant)


def test_free_body_and_structure() -> None:
    build = Build("free")
    build.body("body")
    expect(build.mechanism(), 6, 6)
    build.joint("weld", "fixed", GROUND, "body")
    expect(build.mechanism(), 0, 0)


def test_stretched_reference_pose_does_not_deceive() -> None:
    """At a reference pose that is singular, the rank is lower than anywhere near it."""
    places = [(0, 0, 0), (1, 0, 0), (2.5, 0, 0), (2.5, 1, 0)]  # crank and coupler in line
    build = polygon(places, [Z] * 4, "stretched")
    build.drive("A")
    expect(build.mechanism(), -2, 1)


def test_folded_parallelogram_is_left_by_one_of_its_branches() -> None:
    build = polygon([(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)], [Z] * 4, "folded")
    expect(build.mechanism(), -2, 1)


def test_linkage_that_can_only_shake_is_refused() -> None:
    """Three bars in line exactly as long as the base: no pose but this, and it gives a little."""
    build = polygon([(0, 0, 0), (1, 0, 0), (3, 0, 0), (4, 0, 0)], [Z] * 4, "stretched out")
    with pytest.raises(KinematicsError, match="singular poses only"):
        mobility(build.mechanism())


class TestIndependent:
    def with_coordinates(self, mechanism: Mechanism, *names: str) -> Mechanism:
        chosen = tuple(JointCoordinate(n, n, 0, f"F_{n}", "rad") for n in names)
        return replace(mechanism, coordinates=chosen)

    def test_right_ones_pass(self) -> None:
        for name in "ABCD":
            check_independent(self.with_coordinates(four_bar(), name))

    def test_none(self) -> None:
        with pytest.raises(ModelError, match="1 degree of freedom, but 0 independent") as caught:
            check_independent(self.with_coordinates(four_bar()))
        assert caught.value.path == ("coordinates",)
        assert ".angle" in caught.value.remedy

    def test_too_many(self) -> None:
        with pytest.raises(ModelError, match="'C' follows from") as caught:
            check_independent(self.with_coordinates(four_bar(), "A", "C"))
        assert caught.value.path == ("coordinates", "C")
        assert caught.value.remedy == "remove it"

    def test_too_few(self) -> None:
        mechanism = stewart()
        few = replace(mechanism, coordinates=mechanism.coordinates[:4])
        with pytest.raises(ModelError, match="2 motions are left undetermined"):
            check_independent(few)
        assert len(mobility(few).suggested) == 2

    def test_suggestions_work(self) -> None:
        build = Build("chain", np.random.default_rng(5))
        build.body("one"), build.body("two")
        build.joint("A", "cylindrical", GROUND, "one", (0, 0, 0), X)
        build.joint("B", "spherical", "one", "two", (1, 0, 0))
        m = mobility(build.mechanism())
        assert m.undetermined == 5
        index = {"A.angle": 0, "A.displacement": 1, "B.roll": 0, "B.pitch": 1, "B.yaw": 2}
        assert set(m.suggested) == set(index)

    def test_dependent_though_of_the_right_number(self) -> None:
        """Two joints of a planar five-bar loop that another loop ties together."""
        build = Build("pair", np.random.default_rng(9))
        build.body("one"), build.body("two"), build.body("three")
        build.joint("A", "prismatic", GROUND, "one", (0, 0, 0), X)
        build.joint("B", "prismatic", "one", "two", (0, 0, 1), X)
        build.joint("C", "prismatic", GROUND, "three", (0, 0, 0), X)
        build.joint("D", "fixed", "three", "two", (0, 0, 1))
        build.body("four")
        build.joint("E", "revolute", GROUND, "four", (0, 1, 0), Y)
        mechanism = self.with_coordinates(build.mechanism(), "A", "B", "C")
        assert mobility(mechanism).dof == 3
        with pytest.raises(ModelError, match="'C' follows from") as caught:
            check_independent(mechanism)
        assert caught.value.remedy == "remove it and add a coordinate, for instance E.angle"

    def test_a_coordinate_that_cannot_move(self) -> None:
        """A cylindrical joint in a planar linkage does not slide."""
        mechanism = four_bar()
        joints = tuple(replace(j, type="cylindrical") for j in mechanism.joints[3:])
        slide = JointCoordinate("slide", "D", 1, "F", "m")
        mechanism = replace(mechanism, joints=mechanism.joints[:3] + joints, coordinates=(slide,))
        m = mobility(mechanism)
        assert (m.dependent, m.undetermined) == (("slide",), 1)


def suggested(mechanism: Mechanism) -> Mechanism:
    """With the coordinates that `mobility` suggests, read as the model file reads them."""
    coordinates: list[IndependentCoordinate] = []
    for name in mobility(mechanism).suggested:
        if name.startswith("point "):
            place, _, axis = name.removeprefix("point ").partition(" along ")
            if place.startswith("{"):
                body, at = re.fullmatch(r"{in: (\w+), at: \[(.*)\]}", place).groups()  # type: ignore[union-attr]
                x, y, z = map(float, at.split(","))
                point = Point("P", body, (x, y, z))
            else:
                body, _, label = place.partition(".")
                point = mechanism.point(label, body)
            x, y, z = np.eye(3)["xyz".index(axis)].tolist()
            coordinates.append(PointCoordinate(name, point, (x, y, z), "F"))
        else:
            joint, _, label = name.partition(".")
            index = mechanism.joint(joint).kind.choices.index(label)
            coordinates.append(JointCoordinate(name, joint, index, "F", ""))
    return replace(mechanism, coordinates=(*mechanism.coordinates, *coordinates))


class TestRemedies:
    """What an error tells to do is accepted."""

    @pytest.mark.parametrize("seed", range(12))
    def test_suggestions_of_random_mechanisms_are_accepted(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        loose = [t for t in TYPES if t != "fixed"]
        while True:
            tree = [loose[i] for i in rng.integers(len(loose), size=3)]
            closing = [loose[i] for i in rng.integers(len(loose), size=1 + seed % 2)]
            try:
                drawn = random_mechanism(tree, closing, rng).mechanism
            except NotUsableError:
                continue
            break
        bare = replace(drawn, coordinates=drawn.coordinates[: seed % 3])
        mechanism = suggested(bare)
        assert len(mechanism.coordinates) == mobility(bare).dof
        check_independent(mechanism)
        spanning_tree(mechanism)

    def test_orientations_are_suggested_whole_or_not_at_all(self) -> None:
        """A body on a ball whose other point glides on a plane: no part of roll, pitch, yaw."""
        build = Build("top", np.random.default_rng(3))
        build.body("top")
        build.joint("ball", "spherical", GROUND, "top", (0, 0, 0))
        build.joint("glide", "point_on_plane", GROUND, "top", (0.5, 0, 0.2), Z)
        build.point("P", "top", (0.3, 0.1, 0))
        top = build.mechanism()
        assert mobility(top).suggested[:1] == ("glide.y",)
        declared = suggested(top)
        check_independent(declared)
        kinematic_model(declared)

    def test_a_point_where_no_joint_coordinate_will_do(self) -> None:
        """Three balls on a body, each on a short rod: one motion, and balls only."""
        build = Build("swing", np.random.default_rng(4))
        build.body("plate")
        feet = ((1, 0, 0), (-0.5, 0.8, 0), (-0.4, -0.9, 0))
        for i, foot in enumerate(feet):
            rod = build.body(f"rod_{i}")
            above = np.add(foot, (0.1 * i, 0.05, 1))
            build.joint(f"foot_{i}", "universal", GROUND, rod, foot, X, Y)
            build.joint(f"head_{i}", "spherical", rod, "plate", above)
        swing = build.mechanism()
        assert all(not n.startswith("head") for n in mobility(swing).suggested)
        spun = replace(swing, joints=(*(replace(j, type="spherical") for j in swing.joints),))
        m = mobility(spun)
        assert m.passive_dof == 3
        assert m.suggested
        assert all(name.startswith("point {in: ") for name in m.suggested)
        check_independent(suggested(spun))
        kinematic_model(suggested(spun))

    def test_a_locked_linkage_is_not_told_to_remove_a_coordinate(self) -> None:
        """A triangle of bars."""
        build = polygon([(0, 0, 0), (1, 0, 0), (0.3, 0.8, 0)], [Z, Z, Z], "triangle")
        build.drive("A")
        with pytest.raises(ModelError, match=r"the mechanism cannot move: .* 0 degrees") as caught:
            kinematic_model(build.mechanism())
        assert "remove" not in caught.value.remedy
        assert "give a joint more freedom" in caught.value.remedy


def test_dependent_rows_are_found_in_order() -> None:
    rows = np.array([[1.0, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1e-3]])
    assert dependent_rows(rows) == (1, 3, 4)


# --------------------------------------------------------------------------- anything

CHAIN_TYPES: tuple[JointType, ...] = (
    "revolute",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
)


@st.composite
def loops(draw: st.DrawFn) -> tuple[Mechanism, int]:
    """A single loop of joints in random places, mobile by count; and its degrees of freedom.

    For random axes the joints span all six motions as soon as they have six freedoms, so that the
    loop is left with the rest.
    """
    types = draw(
        st.lists(st.sampled_from(CHAIN_TYPES), min_size=3, max_size=6).filter(
            lambda t: 7 <= sum(JOINT_KINDS[x].n_speeds for x in t) <= 10
        )
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    build = Build("loop", rng)
    names = [GROUND] + [build.body(f"b{k}") for k in range(1, len(types))]
    for k, type in enumerate(types):
        place, z, x = rng.standard_normal((3, 3))
        build.joint(f"J{k}", type, names[k], names[(k + 1) % len(types)], place, z, x, pitch=0.1)
    return build.mechanism(), sum(JOINT_KINDS[x].n_speeds for x in types) - 6


@pytest.mark.slow
@settings(max_examples=15)
@given(loops())
def test_random_loop_is_as_mobile_as_it_counts(drawn: tuple[Mechanism, int]) -> None:
    mechanism, dof = drawn
    m = mobility(mechanism)
    assert (m.grubler, m.dof, m.redundant) == (dof, dof, ())


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_place_scale_and_order_do_not_matter(seed: int, scale: float) -> None:
    """Moving the whole mechanism, other body frames, other units, another order of bodies."""
    rng = np.random.default_rng(seed)
    original = bricard_trihedral()
    R, p = random_rotation(rng), rng.standard_normal(3)
    poses, joints = [], list(original.joints)
    for body in original.bodies:
        # Frame moved inside the body by (S, s), the whole by (R, p), lengths by scale.
        S, s = random_rotation(rng), rng.standard_normal(3)
        R0, p0 = np.array(body.frame.rotation), np.array(body.frame.origin)
        poses.append(Body(body.name, frame(scale * (p + R @ (p0 + R0 @ s)), R @ R0 @ S)))
        joints = [
            replace(
                j,
                **{
                    f"frame_{side}": frame(
                        scale * (S.T @ (np.array(f.origin) - s)), S.T @ np.array(f.rotation)
                    )
                    for side, name, f in (("a", j.body_a, j.frame_a), ("b", j.body_b, j.frame_b))
                    if name == body.name
                },
            )
            for j in joints
        ]
    joints = [
        replace(
            j,
            **{
                f"frame_{side}": frame(
                    scale * (p + R @ np.array(f.origin)), R @ np.array(f.rotation)
                )
                for side, name, f in (("a", j.body_a, j.frame_a), ("b", j.body_b, j.frame_b))
                if name == GROUND
            },
        )
        for j in joints
    ]
    order = rng.permutation(len(poses))
    moved = replace(original, bodies=tuple(poses[i] for i in order), joints=tuple(joints))
    before, after = mobility(original), mobility(moved)
    assert (after.dof, after.redundant_constraints) == (before.dof, before.redundant_constraints)


def test_an_open_chain_of_balls_may_be_driven_whole() -> None:
    """The first body spins about the line of its balls, unless all its angles are given."""
    build = Build("balls")
    build.body("one", (0, 0, 0)), build.body("two", (1, 0, 0))
    build.joint("A", "spherical", GROUND, "one", (0, 0, 0))
    build.joint("B", "spherical", "one", "two", (1, 0, 0))
    for joint in "AB":
        for k, angle in enumerate(("roll", "pitch", "yaw")):
            build.drive(joint, k, f"{joint}.{angle}")
    chain = build.mechanism()
    expect(chain, 6, 6, passive=1)
    y = np.random.default_rng(0).uniform(-1, 1, (4, 6))
    bodies = solve_motion(chain, y, ordered=False).bodies()

    def turned(joint: str, angles: np.ndarray) -> np.ndarray:
        """Rotation of body b in body a."""
        a, b = (
            np.array(f.rotation) for f in (chain.joint(joint).frame_a, chain.joint(joint).frame_b)
        )
        return np.asarray(a @ matrix_from_rpy(angles) @ b.T)

    for k, angles in enumerate(y):
        one = turned("A", angles[:3])
        assert bodies.rotation[k, 0] == pytest.approx(one, abs=1e-12)
        assert bodies.position[k, 1] == pytest.approx(one @ X, abs=1e-12)
        assert bodies.rotation[k, 1] == pytest.approx(one @ turned("B", angles[3:]), abs=1e-12)
