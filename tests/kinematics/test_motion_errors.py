"""Motions and mechanisms that are refused: what is said, where, and what to do about it.

And the other side of each: what looks alike but can be done.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from mechid.errors import (
    AssemblyError,
    BranchJumpError,
    KinematicsError,
    MechidError,
    ModelError,
    SingularPoseError,
    UnreachablePoseError,
)
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, rates, solve_motion
from mechid.kinematics.passive import passive_parts
from mechid.mechanism.records import GROUND, DistanceCoordinate, JointCoordinate, Mechanism
from mechid.modelfile import load

from .mechanisms import (
    Array,
    Build,
    X,
    Z,
    axes,
    circles,
    four_bar,
    frame,
    polygon,
    slider_crank,
    spatial_crank,
    stewart,
)

TILTED = (1.0, 2.0, 3.0)


def one_line(error: MechidError) -> str:
    """The whole message, which is one line with a remedy."""
    text = str(error)
    assert "\n" not in text
    assert error.remedy, text
    return text


def driven_by(mechanism: Mechanism, *names: str) -> Mechanism:
    chosen = tuple(JointCoordinate(n, n, 0, f"F_{n}", "rad") for n in names)
    return replace(mechanism, coordinates=chosen)


# --------------------------------------------------------------------------- input


class TestInput:
    time = np.array([0.0, 0.5, 1.0])

    @pytest.mark.parametrize(
        "y", [np.zeros(3), np.zeros((3, 2)), np.zeros((3, 1, 1)), np.zeros(()), np.zeros((3, 0))]
    )
    def test_shape_of_y(self, y: Array) -> None:
        with pytest.raises(KinematicsError, match=r"y must have shape \(\d, 1\), got") as caught:
            solve_motion(four_bar(), y)
        assert "one column per coordinate: A" in one_line(caught.value)

    @pytest.mark.parametrize("name", ["yd", "ydd"])
    def test_shape_of_rates(self, name: str) -> None:
        with pytest.raises(
            KinematicsError, match=rf"{name} must have shape \(3, 1\), got \(2, 1\)"
        ):
            solve_motion(four_bar(), np.zeros((3, 1)), **{name: np.zeros((2, 1))})

    def test_shape_of_time(self) -> None:
        with pytest.raises(KinematicsError, match=r"time must have shape \(3,\), got \(2,\)"):
            solve_motion(four_bar(), np.zeros((3, 1)), time=np.zeros(2))

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("name", ["y", "yd", "ydd"])
    def test_numbers_that_are_not(self, name: str, bad: float) -> None:
        mechanism = replace(stewart(), name="platform")
        values = {n: np.zeros((3, 6)) for n in ("y", "yd", "ydd")}
        values[name][1, 4] = bad
        with pytest.raises(KinematicsError, match="is not a finite number") as caught:
            solve_motion(mechanism, **values, time=self.time)
        assert f"{name} of P4" in one_line(caught.value)
        assert "sample 1 (t = 0.5 s)" in str(caught.value)
        assert (caught.value.sample, caught.value.time) == (1, 0.5)

    def test_time_that_is_not_a_number(self) -> None:
        with pytest.raises(KinematicsError, match="sample 2: time is not a finite number"):
            solve_motion(four_bar(), np.zeros((3, 1)), time=np.array([0, 1, np.nan]))

    @pytest.mark.parametrize("start", [np.zeros(2), np.zeros((1, 3)), np.full(3, np.nan)])
    def test_start_that_is_no_pose(self, start: Array) -> None:
        with pytest.raises(KinematicsError, match="start must be 3 finite numbers") as caught:
            solve_motion(four_bar(), np.zeros((1, 1)), start=start)
        one_line(caught.value)

    def test_a_structure_has_nothing_to_give(self) -> None:
        """No freedom, no coordinates: it stands still for as many samples as are asked for."""
        motion = solve_motion(TestAssembly().nut(0.25), np.zeros((3, 0)))
        assert motion.q == pytest.approx(np.full((3, 1), 0.0025), abs=1e-15)
        assert not motion.bodies().velocity.any()
        assert rates(motion).R.shape == (3, 1, 0)

    def test_lists_and_whole_numbers_will_do(self) -> None:
        motion = solve_motion(four_bar(), [[0], [0]], time=[0, 1])  # type: ignore[arg-type]
        assert motion.q.shape == (2, 3)


# --------------------------------------------------------------------------- coordinates


class TestCoordinates:
    """The same words whether coordinates are joints of the tree or measured by points."""

    def test_too_few(self) -> None:
        with pytest.raises(ModelError, match="1 degree of freedom, but 0 independent") as caught:
            kinematic_model(driven_by(four_bar()))
        assert caught.value.path == ("coordinates",)
        assert "for instance" in one_line(caught.value)
        few = replace(stewart(), coordinates=stewart().coordinates[:4])
        with pytest.raises(ModelError, match="2 motions are left undetermined"):
            kinematic_model(few)

    @pytest.mark.parametrize("names", [("A", "B"), ("A", "C"), ("B", "D"), ("A", "B", "C")])
    def test_too_many(self, names: tuple[str, ...]) -> None:
        with pytest.raises(ModelError, match="independent coordinates for 1 degree") as caught:
            kinematic_model(driven_by(four_bar(), *names))
        assert caught.value.path == ("coordinates", names[1])
        assert "remove" in one_line(caught.value)

    def test_a_whole_loop(self) -> None:
        with pytest.raises(ModelError, match="carries an independent coordinate") as caught:
            kinematic_model(driven_by(four_bar(), *"ABCD"))
        one_line(caught.value)

    def test_right_number_but_not_independent(self) -> None:
        """Two slides of one loop and none of a hinge elsewhere."""
        build = Build("pair")
        build.body("one"), build.body("two"), build.body("door")
        build.joint("A", "prismatic", GROUND, "one", (0, 0, 0), X)
        build.joint("B", "prismatic", "one", "two", (0, 0, 1), X)
        build.joint("C", "fixed", GROUND, "two", (0, 0, 1))
        build.joint("E", "revolute", GROUND, "door", (0, 1, 0), Z)
        mechanism = driven_by(build.mechanism(), "A", "B")
        assert mobility(mechanism).dof == 2
        with pytest.raises(ModelError, match="'B' follows from") as caught:
            kinematic_model(mechanism)
        assert "E.angle" in one_line(caught.value)

    def test_distance_that_never_changes(self) -> None:
        mechanism = four_bar()
        build = Build("points")
        build.frames.update({b.name: b.frame for b in mechanism.bodies})
        a, b = build.point("P", GROUND, (0, 0, 0)), build.point("Q", "bar_1", (0.1, 0.2, 0))
        rigid = replace(mechanism, coordinates=(DistanceCoordinate("d", a, b, "F"),))
        with pytest.raises(ModelError, match="'d' follows from"):
            kinematic_model(rigid)

    def test_spin_between_balls_needs_no_coordinate_and_bears_none(self) -> None:
        mechanism = spatial_crank()
        kinematic_model(mechanism)
        spun = JointCoordinate("spin", "B", 0, "M", "rad")
        with pytest.raises(ModelError, match="coordinates") as caught:
            kinematic_model(replace(mechanism, coordinates=(*mechanism.coordinates, spun)))
        one_line(caught.value)

    def test_balls_in_line_in_the_reference_pose_only(self) -> None:
        """Three balls of a hinged part happen to lie on one line: that is no passive spin."""
        build = Build("plank")
        build.body("one"), build.body("two")
        for i, z in enumerate(((1, 0, 0.3), (0, 1, 0), (0.2, 0.3, 1))):
            build.body(f"leg_{i}")
            build.joint(f"C{i}", "cylindrical", GROUND, f"leg_{i}", (i, 0, -1), z)
            build.joint(f"S{i}", "spherical", f"leg_{i}", "two" if i == 2 else "one", (i, 0, 0))
        build.joint("hinge", "revolute", "one", "two", (1.5, 0.2, 0), Z)
        mechanism = build.mechanism()
        assert passive_parts(mechanism) == ()
        freedom = mobility(mechanism)
        assert (freedom.dof, freedom.passive_dof) == (4, 0)


# --------------------------------------------------------------------------- assembly


class TestAssembly:
    def short(self) -> Build:
        """Crank 0.3, coupler 0.8 and rocker 0.5 cannot bridge 2."""
        build = Build("short")
        build.body("bar_1"), build.body("bar_2", (0.3, 0, 0)), build.body("bar_3", (2, 0, 0))
        build.joint("A", "revolute", GROUND, "bar_1")
        build.joint("B", "revolute", "bar_1", "bar_2", (0.3, 0, 0))
        build.joint("C", "revolute", "bar_2", "bar_3", (1.1, 0, 0), at_b=(1.5, 0, 0))
        build.joint("D", "revolute", GROUND, "bar_3", (2, 0, 0))
        build.drive("A")
        return build

    def test_lengths_that_cannot_close(self) -> None:
        with pytest.raises(AssemblyError, match=r"joint \w stays open by about") as caught:
            kinematic_model(self.short().mechanism())
        gap = float(one_line(caught.value).split("about ")[1].split(" m")[0])
        # 2 - (0.3 + 0.8 + 0.5), shared out or at one joint.
        assert 0.05 < gap <= 0.41

    def test_a_rough_pose_is_closed(self) -> None:
        """Bodies a little off their places: the loops close, the pose of the file is approached."""
        exact = four_bar()
        rng = np.random.default_rng(1)
        bodies = []
        for body in exact.bodies:
            origin = np.array(body.frame.origin) + 0.05 * rng.standard_normal(3)
            bodies.append(replace(body, frame=frame(origin, body.frame.rotation)))
        model = kinematic_model(replace(exact, bodies=tuple(bodies)))
        f = solve_motion(model, model.home_y[None]).bodies()
        assert np.abs(f.position[0, :, 2]).max() < 1e-15
        assert np.abs(f.position[0] - [b.frame.origin for b in exact.bodies]).max() < 0.2

    @pytest.mark.parametrize("name", "ABCD")
    def test_reversed_axis(self, name: str) -> None:
        """A loop that closes only if one axis points the other way."""
        mechanism = four_bar()
        over = np.diag([1.0, -1.0, -1.0])
        joints = tuple(
            replace(j, frame_b=frame(j.frame_b.origin, np.array(j.frame_b.rotation) @ over))
            if j.name == name
            else j
            for j in mechanism.joints
        )
        with pytest.raises(AssemblyError, match=r"joint \w closes only with its axis reversed"):
            kinematic_model(replace(mechanism, joints=joints))

    @pytest.mark.parametrize(("turn", "stop"), [(0.0, 0.0), (0.3, 0.3), (-0.2, -0.2), (0.6, -0.4)])
    def test_nut_that_cannot_turn_finds_the_thread(self, turn: float, stop: float) -> None:
        """A nut turned against its thread and held by a slide moves to the nearest place."""
        home = kinematic_model(self.nut(turn)).home_q
        assert home == pytest.approx([0.01 * stop], abs=1e-13)

    def test_half_a_turn_off_the_thread(self) -> None:
        """As far from the thread as can be, it goes either way."""
        home = kinematic_model(self.nut(0.5)).home_q
        assert np.abs(home) == pytest.approx([0.005], abs=1e-13)

    def nut(self, turn: float) -> Mechanism:
        build = Build("screw")
        build.body("nut")
        build.joint("guide", "prismatic", GROUND, "nut", (0.1, 0, 0), Z)
        thread = build.joint("thread", "helical", GROUND, "nut", (0, 0, 0), Z, X, pitch=0.01)
        angle = 2 * np.pi * turn
        turned = frame((0, 0, 0), axes(Z, [np.cos(angle), np.sin(angle), 0]))
        build.joints[1] = replace(thread, frame_b=turned)
        return build.mechanism()


# --------------------------------------------------------------------------- limits of motion


class TestUnreachable:
    """A four-bar linkage whose driven bar swings: it stops where the two others are in line."""

    lengths = (0.9, 0.5, 0.7, 0.8)
    start = 0.3

    @property
    def limit(self) -> float:
        a, b, c, d = self.lengths
        return float(np.arccos((a**2 + d**2 - (b + c) ** 2) / (2 * a * d))) - self.start

    @pytest.mark.parametrize("normal", [(0, 0, 1), TILTED])
    @pytest.mark.parametrize("n", [5, 40, 500])
    def test_first_sample_beyond_is_named(self, n: int, normal: tuple[float, ...]) -> None:
        mechanism = four_bar(*self.lengths, self.start, normal)
        y = np.linspace(0, self.limit + 0.3, n)
        time = 10 + 0.01 * np.arange(n)
        beyond = int(np.flatnonzero(y > self.limit)[0])
        with pytest.raises(UnreachablePoseError) as caught:
            solve_motion(mechanism, y[:, None], time=time)
        assert caught.value.sample == beyond
        assert caught.value.time == time[beyond]
        text = one_line(caught.value)
        assert f"sample {beyond} (t = {time[beyond]:g} s)" in text
        assert f"A = {y[beyond]:.6g}" in text
        # How far the step came, in percent.
        part = (self.limit - y[beyond - 1]) / (y[beyond] - y[beyond - 1])
        said = re.search(r"([\d.e-]+) % of the way from sample (\d+)", text)
        assert said is not None
        assert float(said[1]) == pytest.approx(100 * part, abs=1)
        assert int(said[2]) == beyond - 1

    @pytest.mark.parametrize("ordered", [True, False])
    def test_up_to_the_limit(self, ordered: bool) -> None:
        """Anything short of the limit is reached, whatever the steps."""
        mechanism = four_bar(*self.lengths, self.start)
        for short in (1e-2, 1e-4, 1e-6, 1e-9):
            y = np.array([[self.limit - short]])
            motion = solve_motion(mechanism, y, ordered=ordered)
            # In line to the square root of what is left.
            assert singularity_margin(motion.model, motion.q)[0] < 10 * np.sqrt(short)

    def test_unrelated_samples_are_named_too(self) -> None:
        y = np.array([0.1, 0.2, self.limit + 0.1, -0.1, self.limit + 0.2])[:, None]
        with pytest.raises(UnreachablePoseError, match="sample 2: no pose") as caught:
            solve_motion(four_bar(*self.lengths, self.start), y, ordered=False)
        assert caught.value.sample == 2

    def test_platform_legs_too_short(self) -> None:
        y = np.tile(kinematic_model(load("stewart_platform")).home_y, (4, 1))
        y[2] -= 0.6
        with pytest.raises(MechidError) as caught:
            solve_motion(load("stewart_platform"), y, time=np.arange(4.0))
        assert isinstance(caught.value, UnreachablePoseError | BranchJumpError | SingularPoseError)
        assert "sample 2 (t = 2 s)" in one_line(caught.value)


class TestDeadCentre:
    """A slider-crank driven by its slider: the crank may go either way from a dead centre."""

    crank, rod = 0.2, 0.5

    def mechanism(self, normal: tuple[float, ...] = (0, 0, 1)) -> Mechanism:
        build = Build("engine")
        R = axes(normal)
        pin = self.crank * np.array([np.cos(0.4), np.sin(0.4), 0])
        piston = np.array([pin[0] + np.sqrt(self.rod**2 - pin[1] ** 2), 0, 0])
        build.body("crank"), build.body("rod", R @ pin), build.body("slider", R @ piston)
        build.joint("A", "revolute", GROUND, "crank", (0, 0, 0), normal)
        build.joint("B", "revolute", "crank", "rod", R @ pin, normal)
        build.joint("C", "revolute", "rod", "slider", R @ piston, normal)
        build.joint("D", "prismatic", GROUND, "slider", (0, 0, 0), R @ X, normal, R @ piston)
        build.drive("D")
        return build.mechanism()

    @pytest.mark.parametrize("normal", [(0, 0, 1), TILTED])
    def test_at_the_dead_centre(self, normal: tuple[float, ...]) -> None:
        top = self.crank + self.rod
        y = np.array([top - 0.01, top - 1e-5, top])[:, None]
        with pytest.raises((SingularPoseError, UnreachablePoseError)) as caught:
            solve_motion(self.mechanism(normal), y, time=np.array([0.0, 0.1, 0.2]))
        assert "sample 2 (t = 0.2 s)" in one_line(caught.value)

    def test_beyond_the_dead_centre(self) -> None:
        top = self.crank + self.rod
        with pytest.raises(UnreachablePoseError, match="sample 0: no pose"):
            solve_motion(self.mechanism(), np.array([[top + 0.01]]))

    @pytest.mark.parametrize("normal", [(0, 0, 1), TILTED])
    def test_a_pose_known_to_rounding_only_is_singular(self, normal: tuple[float, ...]) -> None:
        """Started on the dead centre itself, where another coordinate has led."""
        there = solve_motion(driven_by(self.mechanism(normal), "A"), np.array([[-0.4]]))
        cut = tuple(j.name for j in there.model.tree.cut)
        model = kinematic_model(replace(self.mechanism(normal), cut=cut))
        start = np.zeros(3)
        for key, place in model.compiled.coordinate.items():
            start[place.q] = there.q[0, there.model.compiled.coordinate[key].q]
        y = np.array([[self.crank + self.rod]])
        with pytest.raises(SingularPoseError, match="do not determine the speeds") as caught:
            solve_motion(model, y, start=start)
        assert caught.value.sample == 0
        one_line(caught.value)

    def test_back_and_forth_before_it(self) -> None:
        top = self.crank + self.rod
        y = top - 1e-3 - 0.05 * (1 - np.cos(np.linspace(0, 4 * np.pi, 200)))
        motion = solve_motion(self.mechanism(), y[:, None])
        angle = joint_motion(motion, "A").coordinates[:, 0] + 0.4
        assert np.all(angle > 0)
        x = self.crank * np.cos(angle)
        x += np.sqrt(self.rod**2 - (self.crank * np.sin(angle)) ** 2)
        assert x == pytest.approx(y, abs=1e-14)


# --------------------------------------------------------------------------- branches


def parallelogram(
    crank: float, normal: tuple[float, ...] = (0, 0, 1), base: float = 1.0
) -> Mechanism:
    """Folded flat at y = -0.5, where it may become an antiparallelogram."""
    R = axes(normal)
    b = crank * np.array([np.cos(0.5), np.sin(0.5)])
    places = [R @ [*p, 0.0] for p in ([0, 0], b, b + base * X[:2], [base, 0])]
    build = polygon(places, [normal] * 4, "parallelogram")
    build.drive("A")
    return build.mechanism()


class TestBranchJump:
    @pytest.mark.parametrize("normal", [(0, 0, 1), TILTED])
    def test_folded_parallelogram(self, normal: tuple[float, ...]) -> None:
        """Motion through the folded pose is refused, whatever the steps, and the time is named."""
        rng = np.random.default_rng(0)
        for _ in range(25):
            model = kinematic_model(parallelogram(rng.uniform(0.1, 0.9), normal))
            step = 10 ** rng.uniform(-4, -0.5)
            y = -0.5 + rng.uniform(0.01, 0.99) * step + step * np.arange(8, -8, -1)
            beyond = int(np.flatnonzero(y < -0.5)[0])
            time = 0.1 * np.arange(len(y))
            for motion in (
                {"time": time},
                {"yd": np.full((len(y), 1), -step / 0.1), "time": time},
            ):
                with pytest.raises((BranchJumpError, SingularPoseError)) as caught:
                    solve_motion(model, y[:, None], **motion)
                assert caught.value.sample == beyond
                assert f"(t = {time[beyond]:g} s)" in one_line(caught.value)

    @pytest.mark.parametrize("normal", [(0, 0, 1), TILTED])
    def test_unrelated_samples_on_both_sides(self, normal: tuple[float, ...]) -> None:
        y = np.array([-0.1, 0.3, -0.8, 0.2])[:, None]
        with pytest.raises(BranchJumpError, match="sample 2: a singular pose lies"):
            solve_motion(parallelogram(0.4, normal), y, ordered=False)

    @pytest.mark.parametrize("normal", [(0, 0, 1), TILTED])
    def test_one_side_is_followed_close_to_the_fold(self, normal: tuple[float, ...]) -> None:
        """On the parallelogram the coupler does not turn."""
        for near in (0.1, 1e-3, 1e-6):
            y = -0.5 + near + np.array([0.3, 0.0, 0.2, 0.0, 1.0])
            motion = solve_motion(parallelogram(0.4, normal), y[:, None])
            R = motion.bodies().rotation[:, 1]
            assert np.abs(R - R[0]).max() < 1e-15 / near

    def test_sample_on_the_fold(self) -> None:
        y = np.array([[-0.3], [-0.5]])
        with pytest.raises((SingularPoseError, BranchJumpError), match="sample 1 "):
            solve_motion(parallelogram(0.4), y, time=np.arange(2.0))

    def test_slider_through_the_centre(self) -> None:
        """Crank and rod of equal length: at 90° the slider may stay in the centre."""
        model = kinematic_model(slider_crank(0.3, 0.3, 0.0, 0.4))
        y = np.linspace(0, 2, 30)
        beyond = int(np.flatnonzero(0.4 + y > np.pi / 2)[0])
        with pytest.raises((BranchJumpError, SingularPoseError)) as caught:
            solve_motion(model, y[:, None])
        assert caught.value.sample == beyond


class TestCoarseSamples:
    """Regular poses are never refused, and never on another branch, because samples are few."""

    def test_bennett(self) -> None:
        """Its six loop equations leave two for three unknowns: redundant rows everywhere."""
        fine = solve_motion(bennett(), np.linspace(0, 2 * np.pi, 1441)[:, None])
        assert singularity_margin(fine.model, fine.q).min() > 0.05
        for every in (720, 480, 360, 180, 90):
            for ordered in (True, False):
                coarse = solve_motion(bennett(), fine.y[::every], ordered=ordered)
                assert coarse.q == pytest.approx(fine.q[::every], abs=1e-13)

    def test_crank_in_quarter_turns(self) -> None:
        fine = solve_motion(
            four_bar(normal=TILTED), np.linspace(0, 12 * np.pi, 24 * 90 + 1)[:, None]
        )
        coarse = solve_motion(four_bar(normal=TILTED), fine.y[::90])
        assert coarse.q == pytest.approx(fine.q[::90], abs=1e-12)

    def test_screw_by_many_turns_at_a_step(self) -> None:
        build = Build("jack")
        build.body("nut"), build.body("slider")
        build.joint("thread", "helical", GROUND, "nut", (0, 0, 0), Z, pitch=0.01)
        build.joint("bearing", "revolute", "nut", "slider", (0, 0, 0.1), Z)
        build.joint("guide", "prismatic", GROUND, "slider", (0.2, 0, 0), Z)
        build.drive("guide")
        for cut in ("thread", "bearing"):
            mechanism = replace(build.mechanism(), cut=(cut,))
            motion = solve_motion(mechanism, np.array([[0.0], [1.0], [0.25]]))  # 100 turns
            turns = joint_motion(motion, "thread").coordinates[:, 0] / (2 * np.pi)
            assert turns == pytest.approx([0, 100, 25], abs=1e-11)

    def test_press_by_many_turns_at_a_step(self) -> None:
        """A toggle joint makes the way of the ram bend; a cut thread fits again after each turn."""
        mechanism = load("screw_press")
        fine = solve_motion(mechanism, np.linspace(0, 80, 801)[:, None])
        names = [j.name for j in mechanism.joints if j.name != "bearing"]
        for pair in (("thread", "ram_pin"), ("thread", "knee"), ("nut_pin", "head_pin")):
            assert set(pair) <= set(names)
            coarse = solve_motion(replace(mechanism, cut=pair), fine.y[::400])
            f, g = fine.bodies().position[::400], coarse.bodies().position
            assert g == pytest.approx(f, abs=1e-12)

    def test_spin_of_a_wheel_costs_no_steps(self) -> None:
        """A coordinate that no loop reads may change by any amount."""
        model = kinematic_model(load("sla_suspension"))
        names = [c.name for c in model.mechanism.coordinates]
        y = np.tile(model.home_y, (3, 1))
        y[1:, names.index("spin_r")] += [1e6, -1e6]
        motion = solve_motion(model, y)
        assert motion.y[:, names.index("spin_r")] == pytest.approx(y[:, names.index("spin_r")])
        # All but the wheel stand still.
        p = motion.bodies().position
        assert np.abs(p - p[0]).max() < 1e-9


def bennett() -> Mechanism:
    """4R with opposite sides equal and a / sin α = b / sin β."""
    a, alpha, b, first = 1.0, 0.7, 0.8, 1.1
    beta = np.arcsin(b / a * np.sin(alpha))
    ratio = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan(first / 2))
    points, normals, T = [], [], np.eye(4)
    for theta, length, twist in zip(
        (first, second, -first, -second), (a, b, a, b), (alpha, beta, alpha, beta), strict=True
    ):
        points.append(T[:3, 3].copy())
        normals.append(T[:3, 2].copy())
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(twist), np.sin(twist)
        T = T @ np.array(
            [
                [c, -s * ca, s * sa, length * c],
                [s, c * ca, -c * sa, length * s],
                [0, sa, ca, 0],
                [0, 0, 0, 1],
            ]
        )
    build = polygon(points, normals, "bennett")
    build.drive("A")
    return build.mechanism()


# --------------------------------------------------------------------------- detours


class TestDetour:
    """A five-bar linkage whose elbows P and Q circle each other.

    Arms of length 1 turn about (0, 0) and (1, -1), so that the elbows meet at y = (-0.5, -0.5).
    Links of unequal length cannot be closed near that point; with equal links it is a single
    singular point, around which the links go once.
    """

    def mechanism(self, first: float, second: float) -> Mechanism:
        p = np.array([np.cos(0.5), np.sin(0.5)])
        q = np.array([1 - np.sin(0.5), -1 + np.cos(0.5)])
        tip = circles(p, first, q, second)
        build = Build("five_bar")
        for name, place in (("arm_1", [0, 0]), ("link_1", p), ("arm_2", [1, -1]), ("link_2", q)):
            build.body(name, [*place, 0.0])
        build.joint("A", "revolute", GROUND, "arm_1", (0, 0, 0))
        build.joint("P", "revolute", "arm_1", "link_1", [*p, 0.0])
        build.joint("B", "revolute", GROUND, "arm_2", (1, -1, 0))
        build.joint("Q", "revolute", "arm_2", "link_2", [*q, 0.0])
        build.joint("T", "revolute", "link_1", "link_2", [*tip, 0.0])
        build.drive("A"), build.drive("B")
        return build.mechanism()

    def circle(self, n: int, turns: float, center: tuple[float, float] = (0.0, 0.0)) -> Array:
        t = np.linspace(0, 2 * np.pi * turns, n) + np.pi / 4
        return np.stack([center[0] + 0.5 * np.cos(t), center[1] + 0.5 * np.sin(t)], axis=1) - 0.5

    @pytest.mark.parametrize("n", [60, 130, 500, 1500])
    def test_around_a_hole(self, n: int) -> None:
        """The straight way between parts of the path is closed; the path itself is not."""
        model = kinematic_model(self.mechanism(1.2, 1.0))
        y = self.circle(n, 1.0)
        with pytest.raises(MechidError):  # half way round, straight through the hole
            solve_motion(model, y[[0, n // 2]])
        motion = solve_motion(model, y)
        self.check(motion, 1.0)

    @pytest.mark.parametrize("n", [130, 300, 1000])
    @pytest.mark.parametrize("center", [(0.0, 0.0), (0.3, 0.3), (-0.3, -0.3), (0.2, -0.3)])
    def test_turns_are_counted_along_the_path(self, n: int, center: tuple[float, float]) -> None:
        """The straight way between parts of the path passes the point on the other side."""
        motion = solve_motion(self.mechanism(1.2, 1.2), self.circle(n, 2.0, center))
        self.check(motion, 2.0)

    def check(self, motion: Motion, turns: float) -> None:
        angles = joint_motion(motion, "P").coordinates[:, 0]
        assert abs(angles[-1] - angles[0]) == pytest.approx(2 * np.pi * turns, abs=1e-9)
        # A few samples per turn at least: nothing jumps.
        assert max(abs(b - a) for a, b in pairwise(angles)) < 2.0
        f = motion.bodies()
        assert np.abs(f.position[0] - f.position[-1]).max() < 1e-12


# --------------------------------------------------------------------------- orientation


class TestLockedAngles:
    def body(self, type: str) -> Mechanism:
        build = Build("body", np.random.default_rng(3))
        build.body("body")
        build.joint("base", type, GROUND, "body", (0.1, 0.2, 0.3), (1, 0, 1))  # type: ignore[arg-type]
        first = 3 if type == "free" else 0
        for k in range(first + 3):
            build.drive("base", k, f"c{k}")
        return build.mechanism()

    @pytest.mark.parametrize("type", ["spherical", "free"])
    @pytest.mark.parametrize("degrees", [90.0, -90.0, 90.0 - 1e-6, 95.0, -120.0, 270.0])
    @pytest.mark.parametrize("ordered", [True, False])
    def test_pitch_of_90_degrees(self, type: str, degrees: float, ordered: bool) -> None:
        """At 90° and beyond, where the same orientation has another pitch below 90°."""
        first = 3 if type == "free" else 0
        y = np.zeros((3, first + 3))
        y[1:, first + 1] = np.radians([80.0 * np.sign(degrees), degrees])
        with pytest.raises(SingularPoseError, match=r"sample 2 \(t = 2 s\): pitch of joint base"):
            solve_motion(self.body(type), y, time=np.arange(3.0), ordered=ordered)

    @pytest.mark.parametrize("type", ["spherical", "free"])
    def test_89_degrees_will_do(self, type: str) -> None:
        first = 3 if type == "free" else 0
        y = np.zeros((2, first + 3))
        y[:, first + 1] = np.radians([-89.0, 89.0])
        y[:, first + 2] = 4.0  # yaw may be anything
        motion = solve_motion(self.body(type), y)
        assert np.all(np.isfinite(rates(motion).R))


def test_names_that_do_not_exist() -> None:
    motion = solve_motion(load("pendulum"), [[0.3]], [[0.0]])
    with pytest.raises(ModelError, match="no 'knee' among the joints; choose one of: hinge"):
        joint_motion(motion, "knee")
    with pytest.raises(ModelError, match="no 'knee' among the bodies; choose one of: bob"):
        motion.model.mechanism.body("knee")
    with pytest.raises(ModelError, match="no 'knee' among the points; choose one of: "):
        motion.model.mechanism.point("knee")


@pytest.mark.parametrize("model", ["four_bar", "slider_crank", "five_bar"])
@pytest.mark.parametrize("value", [1e300, 1e6, -1e6])
def test_a_leap_is_refused_at_once(model: str, value: float) -> None:
    """A wrong value is named itself, not what lies on the way to it, and is not followed."""
    ready = kinematic_model(load(model))
    y = np.tile(ready.home_y, (50, 1))
    y[17, 0] = value
    name = ready.mechanism.coordinates[0].name
    for ordered in (True, False):
        words = f"sample 17: {name} = .* is too far"
        with pytest.raises(UnreachablePoseError, match=words) as error:
            solve_motion(ready, y, ordered=ordered)
        assert error.value.sample == 17


def test_a_shaft_may_turn_for_long() -> None:
    y = np.linspace(0, 1e5, 1000)[:, None]
    np.testing.assert_allclose(solve_motion(load("pendulum"), y).q, y)
