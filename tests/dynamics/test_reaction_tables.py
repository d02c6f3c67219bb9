"""Tables of joint reactions against the assembled mechanism, and by walking its tree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mechid.dynamics.reaction_tables import (
    COUPLED,
    FORCE,
    LINE,
    MOMENT,
    SPIN,
    THREAD,
    Actuation,
    ReactionTables,
    multiplier_scale,
    reaction_tables,
)
from mechid.dynamics.tables import COORDINATE, LENGTH, SLIDE
from mechid.kinematics.assembly import link_poses
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.mechanism.records import DistanceCoordinate, Point, PointCoordinate
from mechid.modelfile import load, loads

GEARS = """
mechid: 1
name: gears
bodies: {d0: {}, d1: {frame: {origin: [1, 0, 0]}}, d2: {frame: {origin: [0, 0.5, 0]}}}
joints:
  q0: {type: revolute, between: [ground, d0], at: [0, 0, 0], axis: z}
  q1: {type: revolute, between: [d1, ground], at: [1, 0, 0], axis: z}
  q2: {type: prismatic, between: [d0, d2], at: [0, 0.5, 0], axis: y}
constraints:
  mesh: {type: coupling, between: [q1, q0], ratio: 2.5}
  rack: {type: coupling, coordinates: {q2: 4, q0: 3}}
coordinates: {q0: {joint: q0}}
"""
# A screw that is cut: thread and hinge stand between the same bodies' neighbours.
SCREW = """
mechid: 1
name: screw
bodies: {nut: {}, spindle: {}}
joints:
  hinge: {type: revolute, between: [ground, spindle], at: [0, 0, 0], axis: z}
  guide: {type: prismatic, between: [ground, nut], at: [0, 0, 0], axis: z}
  thread: {type: helical, between: [spindle, nut], at: [0, 0, 0], axis: z, pitch: 0.25}
coordinates: {hinge: {joint: hinge}}
"""

ARM = """
mechid: 1
name: arm
bodies: {arm: {}}
joints: {j: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: x}}
coordinates: {j: {joint: j}}
"""


@cache
def tables(name: str) -> tuple[ReactionTables, Actuation, KinematicModel]:
    texts = {"gears": GEARS, "screw": SCREW}
    mechanism = loads(texts[name]) if name in texts else load(name)
    return *reaction_tables(mechanism), kinematic_model(mechanism)


NAMES = [
    "gears", "screw", "screw_press", "rssr_linkage", "five_bar", "geared_gripper",
    "stewart_platform", "double_wishbone", "delta",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_frames_meet_in_the_assembled_pose(name: str) -> None:
    """Origins of frames b, and z axes that both sides share, where the joint keeps them."""
    x, _, model = tables(name)
    poses = link_poses(model.compiled, model.home_q)
    mechanism = model.mechanism
    at = {b.name: np.array(b.frame.origin) for b in mechanism.bodies} | {"ground": np.zeros(3)}
    turn = {b.name: np.array(b.frame.rotation) for b in mechanism.bodies} | {"ground": np.eye(3)}
    assert len(x.joints) == len(mechanism.joints)
    for j, joint in enumerate(mechanism.joints):
        a, b = (poses[k] for k in (x.joints[j].link_a, x.joints[j].link_b))
        if not model.home_q.any():
            place = at[joint.body_b] + turn[joint.body_b] @ np.array(joint.frame_b.origin)
            found = b.translation + b.rotation @ x.origin_b[j]
            np.testing.assert_allclose(found, place, atol=1e-9)
            for pose, own, body, frame in (
                (a, x.rotation_a[j], joint.body_a, joint.frame_a),
                (b, x.rotation_b[j], joint.body_b, joint.frame_b),
            ):
                want = turn[body] @ np.array(frame.rotation)
                np.testing.assert_allclose(pose.rotation @ own, want, atol=1e-9)
        assert bool(x.joints[j].helical) == (joint.type == "helical")


@pytest.mark.parametrize("name", NAMES)
def test_steps_go_from_the_ground_outwards(name: str) -> None:
    x, _, model = tables(name)
    mechanism = model.mechanism
    bodies = [b.name for b in mechanism.bodies] + ["ground"]
    reached, column = {"ground"}, 0
    for s in x.steps:
        joint = mechanism.joints[s.joint]
        ends = (bodies[s.parent], bodies[s.child])
        assert ends == ((joint.body_b, joint.body_a) if s.reverse else (joint.body_a, joint.body_b))
        assert ends[0] in reached
        assert ends[1] not in reached
        reached.add(ends[1])
        assert (s.first, s.last) == (column, column + joint.kind.n_speeds)
        column = s.last
    assert reached == set(bodies)
    assert column == model.compiled.n_v
    assert x.rank == column - len(mechanism.coordinates)
    assert x.size == model.size
    assert x.n_constraints == len(mechanism.constraints)


@pytest.mark.parametrize("name", NAMES)
def test_sides_by_walking_the_tree(name: str) -> None:
    """A row acts on what is behind a step if the way from the ground to its body uses the step."""
    x, _, model = tables(name)
    mechanism = model.mechanism
    bodies = [b.name for b in mechanism.bodies] + ["ground"]
    step_to = {bodies[s.child]: k for k, s in enumerate(x.steps)}

    def way(body: str) -> set[int]:
        found = set()
        while body != "ground":
            found.add(step_to[body])
            body = bodies[x.steps[step_to[body]].parent]
        return found

    assert x.side.shape == (len(x.steps), len(x.rows))
    for r, row in enumerate(x.rows):
        if row.kind == COUPLED:
            between = ("ground", "ground")
        elif row.kind == LINE:
            line = mechanism.distances[row.joint]
            between = (line.point_a.body, line.point_b.body)
        elif row.kind == SPIN:
            between = (model.passive[row.joint].outside, model.passive[row.joint].inside)
        else:
            between = (mechanism.joints[row.joint].body_a, mechanism.joints[row.joint].body_b)
        a, b = (way(body) for body in between)
        want = [int(k in b) - int(k in a) for k in range(len(x.steps))]
        assert x.side[:, r].tolist() == want


def test_what_cut_joints_hold() -> None:
    """Forces along three axes of a pin, and moments normal to its own; one less along a thread."""
    x, _, _ = tables("five_bar")
    rows = [tuple(r)[1:] for r in x.rows]
    assert rows == [
        (FORCE, 0, 0, 0.0), (FORCE, 1, 0, 0.0), (FORCE, 2, 0, 0.0),
        (MOMENT, 0, 2, 0.0), (MOMENT, 1, 2, 0.0),
    ]  # fmt: skip
    assert {int(r.joint) for r in x.rows} == {4}
    x, _, model = tables("screw")
    assert [j.name for j in model.tree.cut] == ["thread"]
    threads = [r for r in x.rows if r.kind == THREAD]
    assert len(threads) == 1
    assert threads[0].lead == pytest.approx(0.25 / (2 * np.pi))
    assert (threads[0].joint, threads[0].axis_a, threads[0].axis_b) == (2, 2, 0)
    assert sorted(r.axis_a for r in x.rows if r.kind == FORCE) == [0, 1]
    assert len({FORCE, MOMENT, THREAD, SPIN, LINE, COUPLED}) == 6


def test_forces_of_couplings() -> None:
    """q1 = 2.5 q0, 4 q2 + 3 q0 = 0: factors relative to the largest; q1 turns the ground."""
    x, _, model = tables("gears")
    scale = (1 / 2.5, 1 / max(3.0, 4.0 * model.size))
    np.testing.assert_allclose(multiplier_scale(model.mechanism, model.size), scale)
    found = {(c.row, c.joint): (c.column, c.factor, c.sense) for c in x.coupled}
    column = {x.steps[k].joint: x.steps[k].first for k in range(3)}
    assert found == {
        (0, 1): (column[1], pytest.approx(scale[0]), -1.0),
        (0, 0): (column[0], pytest.approx(-2.5 * scale[0]), 1.0),
        (1, 2): (column[2], pytest.approx(4 * scale[1]), 1.0),
        (1, 0): (column[0], pytest.approx(3 * scale[1]), 1.0),
    }
    assert [tuple(r)[1:] for r in x.rows] == [(COUPLED, 0, 0, 0.0)] * 2
    # After the rows of cut joints.
    x, _, model = tables("geared_gripper")
    first = sum(r.kind in (FORCE, MOMENT) for r in x.rows)
    assert first == 10
    assert sorted(set(x.coupled.row.tolist())) == [10, 11, 12]


def test_lines_of_distances() -> None:
    x, _, model = tables("rssr_linkage")
    poses = link_poses(model.compiled, model.home_q)
    a, b = (
        poses[x.line_link[0, k]].translation
        + poses[x.line_link[0, k]].rotation @ x.line_local[0, k]
        for k in (0, 1)
    )
    line = model.mechanism.distances[0]
    assert np.linalg.norm(b - a) == pytest.approx(line.length, rel=1e-9)
    np.testing.assert_allclose(multiplier_scale(model.mechanism, 4.0), [0.25])
    assert [tuple(r)[:2] for r in x.rows] == [(0, LINE)]


def test_spins_are_held_normal() -> None:
    """Directions of both bodies of a part that spins freely are normal to each other at home."""
    x, _, model = tables("delta")
    poses = link_poses(model.compiled, model.home_q)
    assert len(x.spin_link) == len(model.passive) == 6
    for links, local in zip(x.spin_link, x.spin_local, strict=True):
        u, v = (poses[k].rotation @ d for k, d in zip(links, local, strict=True))
        assert u @ v == pytest.approx(0.0, abs=1e-9)
    assert [int(r.joint) for r in x.rows if r.kind == SPIN] == list(range(len(model.passive)))


def test_what_drives_act_on() -> None:
    """An arm whose angle, whose tip's height or whose tip's distance from a pin is driven."""
    arm = loads(ARM)
    tip, pin = Point("tip", "arm", (0.5, 2.0, 0.0)), Point("pin", "ground", (0.0, 0.0, 3.0))
    for coordinate, kind in (
        (arm.coordinates[0], COORDINATE),
        (PointCoordinate("height", tip, (0.0, 0.6, 0.8), "F"), SLIDE),
        (DistanceCoordinate("stroke", pin, tip, "F"), LENGTH),
    ):
        _, drives = reaction_tables(replace(arm, coordinates=(coordinate,)))
        assert drives.measure_of.tolist() == [0]
        m, t = drives.measures.measures[0], drives.measures
        assert m.kind == kind
        if kind == COORDINATE:
            continue
        # From the ground (number 1) to the arm (0).
        assert (m.body_a, m.body_b) == (1, 0)
        a, b = t.marker_local[m.marker_a], t.marker_local[m.marker_b]
        np.testing.assert_allclose(a, [0, 0, 0] if kind == SLIDE else [0, 0, 3], atol=1e-12)
        assert np.linalg.norm(b) == pytest.approx(np.sqrt(2**2 + 0.5**2))
        if kind == SLIDE:
            assert t.direction_link[m.axis] == 0
            np.testing.assert_allclose(t.direction_local[m.axis], [0.0, 0.6, 0.8])
