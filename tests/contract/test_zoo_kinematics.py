"""What the kinematics of every mechanism of the zoo, and of every variant, must fulfil."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest

from mechid.kinematics import samples
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, independent_of, rates, solve_motion
from mechid.kinematics.sensitivities import sensitivities
from mechid.mechanism.records import DistanceCoordinate, JointCoordinate, Point, PointCoordinate

from .checks import (
    check_closed,
    check_first,
    check_formulations,
    check_frames,
    check_joints,
    check_sensitivities,
    close_to,
    same,
    tolerance,
)
from .differences import first, stencil_times
from .states import (
    EPS,
    LENGTH,
    SPECS,
    Array,
    condition,
    is_angle,
    point_motion,
    reach,
    solve_course,
    solved_in_blocks,
    zoo_course,
    zoo_model,
)

CENTERS = np.array([0.3, 1.7, 3.1, 4.4, 5.6])

every_model = pytest.mark.parametrize("spec", SPECS)


def course_motion(spec: str, n: int = 25) -> Motion:
    return solve_course(zoo_model(spec), zoo_course(spec), np.linspace(0, LENGTH, n))


def stencil_motion(spec: str) -> Motion:
    return solve_course(zoo_model(spec), zoo_course(spec), stencil_times(CENTERS))


# --------------------------------------------------------------------------- positions


@every_model
def test_every_joint_is_closed_to_rounding(spec: str) -> None:
    check_closed(course_motion(spec))


@every_model
def test_bodies_stay_rigid(spec: str) -> None:
    R = course_motion(spec).bodies().rotation
    assert np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max() <= 100 * EPS
    assert np.all(np.linalg.det(R) > 0)


@every_model
def test_independent_coordinates_have_the_given_values(spec: str) -> None:
    """Read from the poses by their definitions, not by the equations that were solved."""
    motion = course_motion(spec)
    mechanism, far = motion.model.mechanism, reach(motion)
    for i, c in enumerate(mechanism.coordinates):
        if isinstance(c, JointCoordinate):
            joint = mechanism.joint(c.joint)
            if c.index >= joint.kind.n_scalars:
                continue  # orientation: test_random_mechanisms.py
            value = joint_motion(motion, c.joint).coordinates[:, c.index]
            value = value + 2 * np.pi * np.rint((motion.y[:, i] - value) / (2 * np.pi))
        elif isinstance(c, PointCoordinate):
            value = place(motion, c.point) @ np.array(c.direction)
        else:
            assert isinstance(c, DistanceCoordinate)
            value = np.linalg.norm(place(motion, c.point_a) - place(motion, c.point_b), axis=1)
        bound = 100 * EPS * max(far, float(np.abs(motion.y[:, i]).max()))
        assert np.abs(value - motion.y[:, i]).max() <= bound, c.name


def place(motion: Motion, point: Point) -> Array:
    names = [body.name for body in motion.model.mechanism.bodies]
    local = np.array(point.local)
    if point.body not in names:
        return np.tile(local, (len(motion.y), 1))
    f, k = motion.bodies(), names.index(point.body)
    return np.asarray(f.position[:, k] + f.rotation[:, k] @ local)


@every_model
def test_independent_coordinates_can_be_read_from_a_pose(spec: str) -> None:
    motion = course_motion(spec, 5)
    for y, q in zip(motion.y, motion.q, strict=True):
        assert independent_of(motion.model, q) == pytest.approx(y, abs=100 * EPS * reach(motion))


@every_model
def test_the_blocks_are_solved_one_after_the_other(spec: str) -> None:
    """The order of solution is right: solving all equations at once is needed nowhere."""
    assert solved_in_blocks(course_motion(spec))


# --------------------------------------------------------------------------- rates


@every_model
def test_rates_are_differences_of_positions(spec: str) -> None:
    motion = stencil_motion(spec)
    assert motion.yd.any()
    check_first(motion.yd, first(motion.y), motion.y)  # the course itself
    check_frames(motion, motion.bodies())
    check_frames(motion, point_motion(motion))


@every_model
def test_rates_of_joints_are_differences_of_their_coordinates(spec: str) -> None:
    check_joints(stencil_motion(spec))


@every_model
def test_rates_of_independent_coordinates_are_the_given_ones(spec: str) -> None:
    motion = course_motion(spec, 9)
    mechanism = motion.model.mechanism
    for i, c in enumerate(mechanism.coordinates):
        if isinstance(c, JointCoordinate) and mechanism.joint(c.joint).kind.n_speeds < 6:
            j = joint_motion(motion, c.joint)
            bound = 100 * EPS * condition(motion) ** 2
            assert close_to(j.speeds[:, c.index], motion.yd[:, i], bound)
            assert close_to(j.accelerations[:, c.index], motion.ydd[:, i], 10 * bound)


@every_model
def test_admissible_motions(spec: str) -> None:
    """v = R ẏ and v̇ = R ÿ + b; R is constant in ẏ and ÿ, b does not depend on ÿ."""
    motion = course_motion(spec, 9)
    r = rates(motion)
    bound = tolerance(motion)
    assert r.R.shape == (*motion.v.shape, motion.y.shape[1])
    assert close_to(motion.v, np.einsum("nij,nj->ni", r.R, motion.yd), bound)
    assert close_to(motion.vd, np.einsum("nij,nj->ni", r.R, motion.ydd) + r.bias, bound)
    assert np.all(r.ratio > 0)
    still = solve_motion(motion.model, motion.y)
    assert not still.v.any()
    assert close_to(rates(still).R, r.R, bound)
    assert np.abs(rates(still).bias).max(initial=0.0) == 0.0
    other = solve_motion(motion.model, motion.y, 2 * motion.yd)
    # The bias is quadratic in the speeds.
    assert close_to(rates(other).bias, 4 * r.bias, bound, least=float(np.abs(motion.vd).max()))


# --------------------------------------------------------------------------- both formulations


@every_model
def test_both_formulations_agree(spec: str) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), [0.4, 1.9, 4.1])
    assert tolerance(motion) < 1e-8
    check_formulations(motion)


# --------------------------------------------------------------------------- batches


@every_model
def test_order_of_samples_does_not_matter(spec: str) -> None:
    """In order, in any order, each for itself, without times, from another start: all the same."""
    model = zoo_model(spec)
    motion = course_motion(spec, 13)
    y, yd, ydd = motion.y, motion.yd, motion.ydd
    same(motion, solve_motion(model, y, yd, ydd))
    same(motion, solve_motion(model, y, yd, ydd, ordered=False))
    for k in (0, 5, 12):
        one = solve_motion(model, y[[k]], yd[[k]], ydd[[k]])
        same(one, motion.part(slice(k, k + 1)))
    backwards = solve_motion(model, y[::-1], yd[::-1], ydd[::-1], start=motion.q[-1])
    same(motion, backwards.part(slice(None, None, -1)))
    shuffled = np.random.default_rng(1).permutation(13)
    mixed = solve_motion(model, y[shuffled], yd[shuffled], ydd[shuffled], ordered=False)
    same(mixed, replace(motion, q=motion.q[shuffled], v=motion.v[shuffled], vd=motion.vd[shuffled]))


@every_model
def test_chunks_and_threads_do_not_matter(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long motions are cut into chunks that several threads solve: equal bits for any number."""
    model, course = zoo_model(spec), zoo_course(spec)
    time = np.linspace(0, LENGTH, 700)
    chunks = solve_course(model, course, time)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
        threads = solve_course(model, course, time)
    finally:
        numba.set_num_threads(before)
    for name in ("q", "v", "vd"):
        assert np.array_equal(getattr(threads, name), getattr(chunks, name)), name
    monkeypatch.setattr(samples, "_CHUNK", 1000)
    one_by_one = solve_course(model, course, time)
    same(chunks, one_by_one)
    assert np.abs(one_by_one.q - chunks.q).max() < 1e-9  # turns and signs of quaternions, too


def test_no_samples() -> None:
    for spec in ("four_bar", "pendulum"):
        motion = solve_motion(zoo_model(spec), np.zeros((0, 1)))
        assert motion.q.shape[0] == 0
        assert motion.bodies().position.shape[0] == 0
        assert rates(motion).R.shape[0] == 0


# --------------------------------------------------------------------------- sensitivities


@pytest.mark.parametrize(
    "spec", ["slider_crank", "five_bar@distances", "screw_press@guided", "sla_suspension", "delta"]
)
def test_sensitivities(spec: str) -> None:
    """Differences of fourth order in each of y, ẏ and ÿ.

    Their error is h⁴ = 1e-16 times a fifth derivative plus eps/h = 2e-12; each derivative adds a
    factor of the condition, up to 36 here.
    """
    model = zoo_model(spec)
    motion = solve_course(model, zoo_course(spec), [0.4, 2.2])
    s, n = check_sensitivities(motion), model.n_independent
    for k in range(3 * n):
        h = 1e-4 * (1.0 if is_angle(model.mechanism, k % n) else model.size)

        def moved(by: float, k: int = k) -> list[Array]:
            inputs = [motion.y.copy(), motion.yd.copy(), motion.ydd.copy()]
            inputs[k // n][:, k % n] += by
            m = solve_motion(model, *inputs, ordered=False)
            f = m.bodies()
            return [m.v, m.vd, f.position, f.rotation, f.acceleration, f.alpha]

        f = s.frames
        ours = (s.v, s.vd, f.position, f.rotation, f.acceleration, f.alpha)
        for a, *ends in zip(ours, *(moved(i * h) for i in (-2, -1, 1, 2)), strict=True):
            difference = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
            assert close_to(a[..., k], difference, 1e-6, least=float(np.abs(a).max()))


@pytest.mark.parametrize("spec", ["slider_crank", "screw_press@guided", "sla_suspension"])
def test_sensitivity_of_coordinates(spec: str) -> None:
    """q̇ = ∂q/∂y ẏ, for coordinates that are not quaternions."""
    model = zoo_model(spec)
    motion = solve_course(model, zoo_course(spec), [0.4, 2.2])
    qd = np.einsum("nik,nk->ni", sensitivities(motion).q[..., : model.n_independent], motion.yd)
    places = [c for c in model.compiled.coordinate.values() if not c.ball]
    ours, theirs = motion.v[:, [c.v for c in places]], qd[:, [c.q for c in places]]
    assert close_to(ours, theirs, tolerance(motion))
