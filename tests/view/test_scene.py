"""The scene of a mechanism: everything where an independent computation puts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.reference_point import follow
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load, zoo
from mechid.spatial.rotations import matrix_from_quaternion
from mechid.tables import points_of
from mechid.view import render_page, scene, tour
from mechid.view.scene import up_direction

MODELS = [entry.name for entry in zoo()]
VARIANTS = [f"{entry.name}@{variant}" for entry in zoo() for variant, _ in entry.variants]
PICKED = 7


def placed(drawn: dict[str, Any], sample: int, body: int, local: list[float]) -> np.ndarray:
    """Where a point of a body is in the ground frame, read from the scene alone."""
    pose = np.array(drawn["motion"]["poses"][sample][body])
    return np.asarray(pose[:3] + matrix_from_quaternion(pose[3:]) @ np.array(local))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MODELS, *VARIANTS])
def test_every_model_has_a_page(name: str) -> None:
    mechanism = load(name)
    drawn = scene(mechanism, tour(mechanism))
    assert len(drawn["motion"]["time"]) <= 600
    assert drawn["title"] in render_page(drawn).replace("&#x27;", "'").replace("&amp;", "&")
    assert [body["name"] for body in drawn["bodies"]] == [
        "ground",
        *(body.name for body in mechanism.bodies),
    ]
    still = scene(mechanism)
    assert len(still["motion"]["time"]) == 1
    assert render_page(still)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_points_are_where_the_other_formulation_puts_them(name: str) -> None:
    mechanism = load(name)
    motion = tour(mechanism)
    drawn = scene(mechanism, motion)
    y = np.array([c["values"] for c in drawn["motion"]["coordinates"]]).T
    # The other formulation takes an angle the shorter way round: less than half a turn at a time.
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(y, axis=0)).max(axis=1))])
    steps = max(PICKED, int(way[-1] / 2.5) + 2)
    samples = np.unique(np.searchsorted(way, np.linspace(0, way[-1], steps)))
    other = follow(mechanism, y[samples])
    size = drawn["size"]
    for k, sample in enumerate(samples):
        for number, body in enumerate(drawn["bodies"][1:]):
            for local in body["points"]:
                expected = other.position[k, number] + other.rotation[k, number] @ np.array(local)
                found = placed(drawn, sample, number + 1, local)
                assert np.abs(found - expected).max() < 1e-9 * size


@pytest.mark.parametrize("name", MODELS)
def test_joints_stay_on_both_bodies(name: str) -> None:
    mechanism = load(name)
    drawn = scene(mechanism, tour(mechanism))
    index = {body["name"]: k for k, body in enumerate(drawn["bodies"])}
    last = len(drawn["motion"]["time"]) // 3
    for joint in drawn["joints"]:
        record = mechanism.joint(joint["name"])
        assert joint["body"] == index[record.body_a]
        assert joint["body2"] == index[record.body_b]
        for sample in (0, last):
            at = placed(drawn, sample, joint["body"], joint["point"])
            b = placed(drawn, sample, joint["body2"], list(record.frame_b.origin))
            axis = joint["axis"]
            if axis is not None:
                R = matrix_from_quaternion(
                    np.array(drawn["motion"]["poses"][sample][joint["body"]][3:])
                )
                axis = R @ np.array(axis)
            match record.type:
                case "revolute" | "spherical" | "universal" | "fixed":
                    assert at == pytest.approx(b, abs=1e-9)
                case "prismatic" | "cylindrical" | "helical":
                    assert np.cross(b - at, axis) == pytest.approx(np.zeros(3), abs=1e-9)
                case "planar":
                    assert (b - at) @ axis == pytest.approx(0.0, abs=1e-9)
        if record.type == "universal":
            R = matrix_from_quaternion(np.array(drawn["motion"]["poses"][last][joint["body2"]][3:]))
            Ra = matrix_from_quaternion(np.array(drawn["motion"]["poses"][last][joint["body"]][3:]))
            crossing = (Ra @ np.array(joint["axis"])) @ (R @ np.array(joint["axis2"]))
            assert crossing == pytest.approx(0.0, abs=1e-9)


def test_long_motions_are_thinned_and_keep_their_ends() -> None:
    mechanism = load("pendulum")
    t = np.linspace(3.0, 9.0, 5001)
    motion = solve_motion(mechanism, np.sin(t)[:, None], time=t)
    drawn = scene(mechanism, motion)["motion"]
    assert len(drawn["time"]) == 600
    assert (drawn["time"][0], drawn["time"][-1]) == (3.0, 9.0)
    assert drawn["coordinates"][0]["values"] == pytest.approx(np.sin(drawn["time"]))
    assert drawn["coordinates"][0]["unit"] == "rad"


def test_a_motion_without_times_gets_some() -> None:
    mechanism = load("pendulum")
    motion = solve_motion(mechanism, np.linspace(0, 1, 4)[:, None])
    assert scene(mechanism, motion)["motion"]["time"] == pytest.approx([0, 0.02, 0.04, 0.06])


def test_traces_are_points_of_bodies() -> None:
    mechanism = load("sla_suspension")
    drawn = scene(mechanism, traces=["wheel_r.K_r", mechanism.point("N_l", "ground")])
    assert [trace["name"] for trace in drawn["traces"]] == ["wheel_r.K_r", "ground.N_l"]
    assert drawn["traces"][0]["body"] == 5
    with pytest.raises(DataError, match="no point"):
        scene(mechanism, traces=["wheel_r.Q"])


def test_elements_are_drawn_where_they_act() -> None:
    drawn = {e["name"]: e for e in scene(load("sla_suspension"))["elements"]}
    assert drawn["strut_r"]["kind"] == "spring_damper"
    assert (drawn["strut_r"]["body_a"], drawn["strut_r"]["body_b"]) == (0, 7)
    assert drawn["strut_r"]["point_a"] == pytest.approx([0.37, -0.05, 0.6])
    pendulum = scene(load("pendulum@spring"))["elements"]
    assert {e["kind"] for e in pendulum} == {"torsion", "moment"}
    assert all(np.linalg.norm(e["vector"]) > 0 for e in pendulum)
    press = {e["kind"]: e for e in scene(load("screw_press"))["elements"]}
    assert press["force"]["axes"] == 0
    assert press["force"]["vector"][2] != 0


def test_a_distance_constraint_is_a_rod() -> None:
    rod = next(e for e in scene(load("rssr_linkage"))["elements"] if e["kind"] == "rod")
    assert (rod["name"], rod["body_a"], rod["body_b"]) == ("rod", 1, 2)
    assert rod["point_a"] == pytest.approx([0.06, -0.025, 0])


def spring(stiffness: float, damping: float) -> str:
    mechanism = build(
        name="m",
        bodies={"bob": {}},
        points={"A": [0, 0, 0], "B": [1, 0, 0], "C": [1, 0, 1]},
        joints={"hinge": {"type": "R", "between": ["ground", "bob"], "at": "A", "axis": "y"}},
        elements={
            "s": {"type": "spring_damper", "between": ["ground.C", "bob.B"], "free_length": 1,
                  "stiffness": stiffness, "damping": damping}
        },
        coordinates={"q": {"joint": "hinge"}},
    )  # fmt: skip
    kind: str = scene(mechanism)["elements"][0]["kind"]
    return kind


def test_springs_and_dampers_look_like_what_they_do() -> None:
    assert [spring(1, 0), spring(0, 1), spring(1, 1)] == ["spring", "damper", "spring_damper"]


def test_hidden_joints_are_not_drawn() -> None:
    mechanism = load("four_bar")
    hidden = replace(mechanism.joints[0], hidden=True)
    fewer = replace(mechanism, joints=(hidden, *mechanism.joints[1:]))
    assert len(scene(fewer)["joints"]) == len(mechanism.joints) - 1
    assert scene(fewer)["bodies"] == scene(mechanism)["bodies"]


def test_points_in_one_place_are_drawn_once_under_their_name() -> None:
    drawn = {body["name"]: body for body in scene(load("four_bar"))["bodies"]}
    assert drawn["bar_1"]["labels"] == ["O", "A"]
    assert drawn["bar_2"]["labels"] == ["B", "q2"]  # the pin of q2 has no name on bar 2


def test_a_free_joint_needs_no_foot_in_the_air() -> None:
    mechanism = load("double_wishbone@free")
    assert points_of(mechanism, "ground")
    assert scene(mechanism)["bodies"][0]["points"] == []


@pytest.mark.parametrize(
    ("name", "gravity", "up"),
    [
        ("four_bar", None, [0, 1, 0]),
        ("planar_3rrr", None, [0, 0, 1]),
        ("four_bar", (0.0, 0.0, 0.0), [0, 1, 0]),
        ("delta", (0.0, 0.0, 0.0), [0, 0, 1]),
        ("delta", (3.0, 0.0, -4.0), [-0.6, 0, 0.8]),
    ],
)
def test_up_is_against_gravity(
    name: str, gravity: tuple[float, float, float] | None, up: list[float]
) -> None:
    mechanism: Mechanism = load(name)
    if gravity is not None:
        mechanism = replace(mechanism, gravity=gravity)
    assert up_direction(mechanism) == pytest.approx(up)


def test_slides_are_drawn_between_their_ends() -> None:
    mechanism = load("stewart_platform")
    model = kinematic_model(mechanism)
    drawn = scene(mechanism)
    slide = next(joint for joint in drawn["joints"] if joint["kind"] == "prismatic")
    record = mechanism.joint(slide["name"])
    ends = [
        placed(drawn, 0, slide["body"], list(record.frame_a.origin)),
        placed(drawn, 0, slide["body2"], list(record.frame_b.origin)),
    ]
    middle = placed(drawn, 0, slide["body"], slide["point"])
    assert middle == pytest.approx(np.mean(ends, axis=0), abs=1e-9 * model.size)
