"""Describing the same mechanism otherwise changes nothing but the description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import ModelError
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.compile import STILL, Rigid
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import GROUND, Mechanism, Start

from .changes import (
    Change,
    apply,
    carried,
    cut_elsewhere,
    permuted,
    reframed,
    renamed,
    scaled,
    swapped,
    unchanged,
)
from .checks import assert_close, check_change, sizes, tolerance
from .joint_table import joint_pose
from .states import (
    LENGTH,
    SPECS,
    reach,
    solve_course,
    zoo_course,
    zoo_model,
)


def _kinematics(spec: str) -> Mechanism:
    """What matters here: variants that differ in masses or forces only are one."""
    m = zoo_model(spec).mechanism
    bodies = tuple(
        replace(b, inertia=None, massless=False, shapes=(), color=None) for b in m.bodies
    )
    return replace(
        m, name="", title="", source="", bodies=bodies, elements=(), parameters=(), start=Start()
    )


DISTINCT = tuple({_kinematics(spec): spec for spec in reversed(SPECS)}.values())[::-1]
each_model = pytest.mark.parametrize("spec", DISTINCT)


def check_same_motion(spec: str, change: Change, samples: int = 6) -> Motion:
    """Solve the course of the zoo model in the changed one, and compare all bodies."""
    time = np.linspace(0, LENGTH, samples)
    return check_change(solve_course(zoo_model(spec), zoo_course(spec), time), change)


# --------------------------------------------------------------------------- one change at a time


@each_model
def test_order_of_bodies_and_joints(spec: str) -> None:
    mechanism = zoo_model(spec).mechanism
    for seed in (1, 2):
        check_same_motion(spec, permuted(mechanism, np.random.default_rng(seed)))


@each_model
def test_names(spec: str) -> None:
    check_same_motion(spec, renamed(zoo_model(spec).mechanism))


@each_model
def test_bodies_of_joints_exchanged(spec: str) -> None:
    mechanism = zoo_model(spec).mechanism
    for seed in (3, 4):
        change = swapped(mechanism, np.random.default_rng(seed))
        new = check_same_motion(spec, change)
        old = solve_course(zoo_model(spec), zoo_course(spec), new.time)
        check_inverse_coordinates(old, new)


def check_inverse_coordinates(old: Motion, new: Motion) -> None:
    """The pose that the coordinates of an exchanged joint say is the inverse of the old one."""
    spinning = {body for part in old.model.passive for body in part.bodies}
    bound = tolerance(old)
    for before, after in zip(old.model.mechanism.joints, new.model.mechanism.joints, strict=True):
        if before.body_a == after.body_a or {before.body_a, before.body_b} & spinning:
            continue
        c, d = (joint_motion(m, before.name) for m in (old, new))
        match before.type:
            case "revolute" | "prismatic" | "helical" | "cylindrical" | "universal":
                backwards = -1 if before.type == "universal" else 1
                gap = d.coordinates + c.coordinates[:, ::backwards]
                angles = np.array([unit == "rad" for unit in before.kind.units])
                turns = np.where(angles, 2 * np.pi * np.rint(gap / (2 * np.pi)), 0.0)
                assert_close(gap, turns, bound, reach(old) + 10)
                assert_close(d.speeds, -c.speeds[:, ::backwards], bound, 10.0)
            case "spherical" | "planar" | "free":
                R, t = joint_pose(before, c.coordinates)
                S, s = joint_pose(after, d.coordinates)
                assert_close(S, np.swapaxes(R, 1, 2), bound, 1.0)
                assert_close(s, -np.einsum("nji,nj->ni", R, t), bound, reach(old))


@each_model
def test_other_cut_joints(spec: str) -> None:
    mechanism = zoo_model(spec).mechanism
    rng = np.random.default_rng(5)
    tried = {frozenset(j.name for j in zoo_model(spec).tree.cut)}
    for _ in range(3):
        change = cut_elsewhere(mechanism, rng)
        cut = frozenset(change.mechanism.cut or ())
        if cut not in tried:
            tried.add(cut)
            new = check_same_motion(spec, change)
            assert {j.name for j in new.model.tree.cut} == cut


@each_model
def test_other_body_frames(spec: str) -> None:
    model = zoo_model(spec)
    change = reframed(model.mechanism, np.random.default_rng(6), model.size)
    check_same_motion(spec, change)
    check_same_margin(model, kinematic_model(change.mechanism))


@each_model
def test_elsewhere_in_space(spec: str) -> None:
    model = zoo_model(spec)
    change = carried(model.mechanism, np.random.default_rng(7), 3 * model.size)
    check_same_motion(spec, change)


def check_same_margin(old: KinematicModel, new: KinematicModel) -> None:
    """The distance to a singular pose belongs to the mechanism, not to its description."""
    a, b = (singularity_margin(m, m.home_q[None])[0] for m in (old, new))
    assert b == pytest.approx(a, rel=1e-9)


@pytest.mark.parametrize("factor", [1e-4, 1e4])
@each_model
def test_units_of_length(spec: str, factor: float) -> None:
    """Watchmakers and bridge builders: no tolerance knows metres."""
    old = solve_course(zoo_model(spec), zoo_course(spec), np.linspace(0, LENGTH, 4))
    change = scaled(zoo_model(spec).mechanism, factor)
    model = kinematic_model(change.mechanism)
    s = change.sign
    new = solve_motion(model, s * old.y, s * old.yd, s * old.ydd)
    spinning = {body for part in old.model.passive for body in part.bodies}
    kept = [i for i, b in enumerate(old.model.mechanism.bodies) if b.name not in spinning]
    f, g = old.bodies(), new.bodies()
    bound = tolerance(old, new)
    for name, size in sizes(f, reach(old)).items():
        unit = factor if name in ("position", "velocity", "acceleration") else 1.0
        assert_close(getattr(g, name)[:, kept] / unit, getattr(f, name)[:, kept], bound, size)
    check_same_margin(old.model, model)
    assert new.model.size == pytest.approx(factor * old.model.size, rel=1e-12)


# --------------------------------------------------------------------------- all at once


@each_model
def test_everything_at_once(spec: str) -> None:
    check_same_motion(spec, everything(spec))


def everything(spec: str, seed: int = 8) -> Change:
    model, rng = zoo_model(spec), np.random.default_rng(seed)
    steps: list[Callable[[Mechanism], Change]] = [
        lambda m: swapped(m, rng),
        lambda m: cut_elsewhere(m, rng),
        lambda m: permuted(m, rng),
        lambda m: reframed(m, rng, model.size),
        lambda m: carried(m, rng, model.size),
    ]
    whole = unchanged(model.mechanism)
    for step in steps:
        change = step(whole.mechanism)
        # Only one step moves bodies and only one moves the whole, so there is nothing to chain.
        whole = Change(
            change.mechanism,
            change.sign * whole.sign,
            change.offset + change.sign * whole.offset,
            {**whole.frames, **change.frames},
            change.whole if change.whole is not STILL else whole.whole,
        )
    return whole


SLOW = ("pushrod_suspension", "sla_suspension", "sla_suspension@measured", "double_wishbone@free")


@pytest.mark.parametrize("spec", [s for s in DISTINCT if s not in SLOW])
def test_mobility(spec: str) -> None:
    old, new = mobility(zoo_model(spec).mechanism), mobility(everything(spec).mechanism)
    for name in ("bodies", "joints", "grubler", "dof", "redundant_constraints", "passive_dof"):
        assert getattr(new, name) == getattr(old, name), name
    assert new.dependent == old.dependent == ()
    assert new.undetermined == old.undetermined == 0


# --------------------------------------------------------------------------- the tools themselves


def test_change_moves_points_with_their_bodies() -> None:
    """In the reference pose every named point stands where it stood, carried along."""
    model = zoo_model("sla_suspension")
    change = everything("sla_suspension")
    for old, new in zip(model.mechanism.points, change.mechanism.points, strict=True):
        a, b = (
            np.array(p.local)
            if p.body == GROUND
            else apply(Rigid.of(m.body(p.body).frame), p.local)
            for m, p in ((model.mechanism, old), (change.mechanism, new))
        )
        assert b == pytest.approx(apply(change.whole, a), abs=1e-14)


def test_a_joint_with_an_independent_coordinate_cannot_be_cut() -> None:
    mechanism = replace(zoo_model("four_bar").mechanism, cut=("q1",))
    with pytest.raises(ModelError, match="q1 carries an independent coordinate"):
        kinematic_model(mechanism)


def test_cutting_too_much_leaves_bodies_unconnected() -> None:
    mechanism = replace(zoo_model("four_bar").mechanism, cut=("q2", "q4"))
    with pytest.raises(ModelError, match=r"cutting q2, q4 leaves .* unconnected"):
        kinematic_model(mechanism)
