"""Tables of the dynamics: measures against the motion of joints and points, and their numbers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from mechid.dynamics.compile import COINCIDE, MeasureBuilder, dynamic_model
from mechid.dynamics.tables import COORDINATE, DOT, LENGTH, PUSH, SLIDE, SPIN, SUM, TURNS
from mechid.errors import ModelError
from mechid.kinematics.assembly import link_poses
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism, Point
from mechid.modelfile import load, loads

from .rich import RICH

Array = np.ndarray


def builder(mechanism: Mechanism) -> MeasureBuilder:
    return MeasureBuilder(kinematic_model(mechanism))


def test_measures_are_made_once() -> None:
    """Also the parts of sums; entries that mean "none" point to the origin and to x."""
    b = builder(loads(RICH))
    first = b.measure(("joint", "A", 0))
    second = b.measure(("joint", "D", 0))
    assert (first, second, b.measure(("joint", "A", 0))) == (0, 1, 0)
    total = b.measure(("sum", (("joint", "A", 0), 2.0), (("joint", "C", 0), 0.0),
                       (("joint", "D", 0), -3.0)))  # fmt: skip
    assert b.terms == [(0, 2.0), (1, -3.0)]
    assert b.measures[total] == {"kind": SUM, "start": 0, "end": 2}
    with pytest.raises(AssertionError):
        b.measure(("area", "A"))
    t = b.tables()
    assert (t.marker_link[0], t.direction_link[0]) == (0, 0)
    np.testing.assert_array_equal(t.marker_local[0], 0.0)
    assert np.linalg.norm(t.direction_local[0]) == 1.0
    assert len(t.measures) == len(b.measures)
    assert t.terms.tolist() == [(0, 2.0), (1, -3.0)]


def place(b: MeasureBuilder, entry: dict[str, Any], key: str) -> Array:
    poses = link_poses(b.model.compiled, b.model.home_q)
    link, local = b.markers[entry[key]]
    return np.asarray(poses[link].translation + poses[link].rotation @ local)


def direction(b: MeasureBuilder, number: int) -> Array:
    poses = link_poses(b.model.compiled, b.model.home_q)
    link, local = b.directions[number]
    return np.asarray(poses[link].rotation @ local)


def test_points_and_loads_stand_where_the_mechanism_has_them() -> None:
    b = builder(loads(RICH))
    peg, pin = Point("peg", "coupler", (0.1, 0.2, 0.0)), Point("pin", "ground", (0.5, 0.6, 0.7))
    length = b.measures[b.measure(("length", pin, peg))]
    assert length["kind"] == LENGTH
    np.testing.assert_allclose(place(b, length, "marker_a"), [0.5, 0.6, 0.7], atol=1e-12)
    np.testing.assert_allclose(place(b, length, "marker_b"), [0.4, 0.3, 0.0], atol=1e-9)
    assert (length["body_a"], length["body_b"]) == (3, 1)  # the ground comes last
    push = b.measures[b.measure(("force", peg, (1.0, 2.0, 3.0), "rocker"))]
    assert (push["kind"], push["body_b"]) == (PUSH, 1)
    np.testing.assert_allclose(place(b, push, "marker_b"), [0.4, 0.3, 0.0], atol=1e-9)
    np.testing.assert_allclose(direction(b, push["axis"]), [1.0, 2.0, 3.0], atol=1e-9)
    spin = b.measures[b.measure(("moment", "rocker", (0.0, 1.0, 0.0), "ground"))]
    assert (spin["kind"], spin["body_b"]) == (SPIN, 2)
    np.testing.assert_allclose(place(b, spin, "marker_b"), [0.8, 0.0, 0.0], atol=1e-9)
    links = [b.model.compiled.body_link[x][0] for x in ("coupler", "rocker")]
    assert [push["link_b"], spin["link_b"]] == links
    slide = b.measures[b.measure(("slide", "C", 1))]
    assert slide["kind"] == SLIDE
    np.testing.assert_allclose(place(b, slide, "marker_a"), place(b, slide, "marker_b"), atol=1e-9)
    dot = b.measures[b.measure(("dot", "C", 0, 1))]
    assert dot["kind"] == DOT
    x, y = direction(b, dot["x_a"]), direction(b, dot["x_b"])
    np.testing.assert_allclose(np.cross(x, y), [0, 0, 1], atol=1e-9)
    assert (dot["body_a"], dot["body_b"]) == (1, 2)
    assert [dot["link_a"], dot["link_b"]] == links


def test_angles_of_cut_joints_count_their_turns() -> None:
    """A sum of tree coordinates, the same as the angle between the joint's frames at all poses."""
    mechanism = load("four_bar")
    b = builder(mechanism)
    (cut,) = b.model.tree.cut
    tree = next(j for j in mechanism.joints if j.name != cut.name)
    entry = b.measures[b.measure(("joint", tree.name, 0))]
    at = b.model.compiled.coordinate[tree.name, 0]
    assert entry == {"kind": COORDINATE, "q": at.q, "v": at.v}
    number = b.measure(("joint", cut.name, 0))
    entry = b.measures[number]
    assert entry["kind"] == TURNS
    y = b.model.home_y + np.linspace(0, 0.6, 5)[:, None]
    motion = solve_motion(mechanism, y)
    angle = joint_motion(motion, cut.name).coordinates[:, 0]
    terms = b.terms[entry["start"] : entry["end"]]
    found = np.full(len(y), entry["constant"])
    for measure, factor in terms:
        part = b.measures[measure]
        assert part["kind"] == COORDINATE
        assert b.model.tables.links.v[list(b.model.tables.links.q).index(part["q"], 1)] == part["v"]
        found += factor * motion.q[:, part["q"]]
    np.testing.assert_allclose(np.cos(found - angle), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.diff(found), np.diff(angle), atol=1e-9)
    # It acts between the bodies of the joint, about its axis.
    numbers = [x.name for x in mechanism.bodies] + ["ground"]
    assert (numbers[entry["body_a"]], numbers[entry["body_b"]]) == (cut.body_a, cut.body_b)
    z = direction(b, entry["axis"])
    np.testing.assert_allclose(
        np.cross(direction(b, entry["x_a"]), direction(b, entry["y_a"])), z, atol=1e-9
    )


def test_axes_that_are_not_parallel_do_not_add_up() -> None:
    """A loop with a universal and a spherical joint: no sum of coordinates is an angle."""
    mechanism = load("five_bar@isostatic")
    b = builder(mechanism)
    joint = mechanism.joint("A1")
    axis = b.direction(joint.body_a, np.array(joint.frame_a.rotation)[:, 2])
    far = b.model.compiled.body_link["coupler_2"][0]
    near = b.model.compiled.body_link["coupler_1"][0]
    assert b.around(near, far, axis) is None
    crank = b.model.compiled.body_link["crank_1"][0]
    (found,) = b.around(0, crank, axis) or [None]
    assert found is not None
    column = b.model.compiled.coordinate["A1", 0].v
    assert found == (column, 1.0)
    assert b.around(crank, 0, axis) == [(column, -1.0)]
    assert b.around(crank, crank, axis) == []
    # About the opposite axis it turns the other way.
    opposite = b.direction(joint.body_a, -np.array(joint.frame_a.rotation)[:, 2])
    assert b.around(0, crank, opposite) == [(column, -1.0)]
    tilted = b.direction(joint.body_a, np.array(joint.frame_a.rotation) @ [0.0, 0.6, 0.8])
    assert b.around(0, crank, tilted) is None
    with pytest.raises(ModelError, match="joint C has no single coordinate number 0") as caught:
        b.measure(("joint", "C", 0))
    assert caught.value.path == ("elements",)


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


def test_a_thread_counts_turns_by_its_displacement() -> None:
    b = builder(loads(SCREW))
    assert [j.name for j in b.model.tree.cut] == ["thread"]
    entry = b.measures[b.measure(("joint", "thread", 0))]
    assert (entry["kind"], entry["constant"]) == (TURNS, 0.0)
    ((measure, factor),) = b.terms[entry["start"] : entry["end"]]
    assert factor == pytest.approx(2 * np.pi / 0.25)
    assert b.measures[measure]["kind"] == SLIDE
    np.testing.assert_allclose(direction(b, b.measures[measure]["axis"]), [0, 0, 1], atol=1e-12)


PENDULUM = """
mechid: 1
name: pendulum
bodies: {bob: {frame: {origin: [0, 0, -1]}}}
joints: {pivot: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: y}}
elements:
  rope: {type: spring_damper, between: [{in: ground, at: [0, 0, -1]}, {in: bob, at: [OFF, 0, 0]}],
    stiffness: 1, damping: 0, free_length: 0.5}
coordinates: {pivot: {joint: pivot}}
"""


def test_points_of_a_spring_that_coincide() -> None:
    """Up to a billionth of the size of the mechanism."""
    size = kinematic_model(loads(PENDULUM.replace("OFF", "1"))).size
    dynamic_model(loads(PENDULUM.replace("OFF", f"{3 * COINCIDE * size:.3e}")))
    for off in ("0", f"{0.5 * COINCIDE * size:.3e}"):
        with pytest.raises(ModelError, match="coincide in the assembled pose") as caught:
            dynamic_model(loads(PENDULUM.replace("OFF", off)))
        assert caught.value.path == ("elements", "rope")
    assert COINCIDE == 1e-9


def test_columns_bodies_and_known_terms() -> None:
    model = dynamic_model(loads(RICH))
    d, mechanism = model.tables, model.mechanism
    np.testing.assert_array_equal(d.gravity, [0.5, -9.81, 0.0])
    assert len(model.columns) == 30 + len(d.columns)
    unknown = [t for t in model.terms if not t.known]
    assert [c.name for c in model.columns[30:]] == [t.column.name for t in unknown]
    assert len(d.known) == len(model.terms) - len(unknown)
    assert [row[-1] for row in d.known.tolist()] == [
        float(t.column.value or 0) for t in model.terms if t.known
    ]
    poses = link_poses(model.kinematics.compiled, model.kinematics.home_q)
    for i, body in enumerate(mechanism.bodies):
        pose = poses[d.body_link[i]]
        found = pose.translation + pose.rotation @ d.body_origin[i]
        np.testing.assert_allclose(found, body.frame.origin, atol=1e-9)
        np.testing.assert_allclose(
            pose.rotation @ d.body_rotation[i], np.array(body.frame.rotation), atol=1e-9
        )
    # One coordinate moves all links but the ground.
    assert d.reach_start[0] == 0
    counts = np.diff(d.reach_start)
    assert counts.tolist() == [0] + [1] * (len(counts) - 1)
    assert d.reach.tolist() == [0] * (len(counts) - 1)


def test_copies_generate_their_code_themselves() -> None:
    model = dynamic_model(load("pendulum"))
    assert model.gradient_code is not None
    state = model.__getstate__()
    assert not set(state) & {"path_code", "state_code", "gradient_code", "forward_code"}
    assert {"kinematics", "tables", "columns", "terms"} <= set(state)
    assert pickle.dumps(state["columns"])
