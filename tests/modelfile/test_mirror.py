"""A mirrored copy equals the mirror image written by hand, and moves as one."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import JOINT_KINDS
from mechid.mechanism.records import Joint, Mechanism
from mechid.modelfile import build, dumps, loads
from mechid.modelfile.dump import document_of
from mechid.spatial.rotations import axis_rotation, matrix_from_quaternion
from mechid.textfile.expressions import evaluate_text

FLIP = np.diag([1.0, -1.0, 1.0])


def words(s: int) -> dict[str, Any]:
    """Return an assembly (s = 1) and, written by hand, its mirror image across x = 0 (s = -1)."""

    def n(value: float) -> float:
        return 0 if value == 0 else s * value

    def point(x: float, y: float, z: float) -> list[float]:  # S p
        return [n(x), y, z]

    def local(x: float, y: float, z: float) -> list[float]:  # body frames map to (Sx, -Sy, Sz)
        return [x, n(y), z]

    def turning(x: float, y: float, z: float) -> list[float]:  # axes of rotation map by -S
        return [x, n(y), n(z)]

    sliding = point
    reverse = (
        (lambda lower, upper: [lower, upper]) if s > 0 else (lambda lower, upper: [-upper, -lower])
    )
    return {
        "parameters": {"d": n(0.25)},
        "points": {
            "A": point(0.3, 0.1, 0.2),
            "B": point(0.7, -0.2, 0.4),
            "C": point(1.0, 0.3, 0.1),
            "D": {"in": "arm", "at": local(0.2, 0.3, -0.1)},
            "M": {"between": ["A", "B"]},
        },
        "directions": {
            "lean": point(0.1, 0.2, 1.0),
            "pin": {"in": "arm", "along": local(0, 1, 0.5)},
        },
        "bodies": {
            "arm": {
                "frame": {"origin": "A", "x": {"from": "A", "to": "B"}, "z": "lean"},
                "mass": 2,
                "center": local(0.1, 0.02, 0.03),
                "inertia": {
                    "xx": 0.02,
                    "yy": 0.03,
                    "zz": 0.04,
                    "xy": n(0.001),
                    "xz": 0.002,
                    "yz": n(-0.003),
                },
                "uncertainty": {"mass": "5 %", "center": [0.1, 0.2, 0.3], "inertia": "10 %"},
                "points": ["M", "C"],
                "shapes": [
                    {"cylinder": {"from": "A", "to": local(0.1, 0.2, 0.3), "radius": 0.1}},
                    {
                        "wheel": {
                            "center": "D",
                            "axis": local(0.6, 0.8, 0),
                            "radius": 1,
                            "width": 0.1,
                        }
                    },
                ],
            },
            "rod": {"frame": {"origin": "B"}}
            if s > 0
            else {"frame": {"origin": "B", "x": "-x", "z": "z"}},
            "cup": {"frame": {"origin": "C", "z": "lean", "x": "pin"}},
        },
        "joints": {
            "R": {
                "type": "revolute",
                "between": ["ground", "arm"],
                "at": "A",
                "axis": turning(0.1, 1, 0.2),
                "zero": [turning(1, 0, 0), turning(0.2, 0.1, 1)],
                "limits": [-0.5, 1],
            },
            "P": {
                "type": "prismatic",
                "between": ["arm", "rod"],
                "at": ["D", "B"],
                "axis": sliding(0.3, 0.1, 0.2),
                "zero": [sliding(1, 0, 0), sliding(1, 0, 0)],
                "limits": [-0.1, 0.4],
            },
            "C": {
                "type": "cylindrical",
                "between": ["rod", "cup"],
                "at": "C",
                "axis": turning(0, 0, 1),
                "zero": [turning(1, 1, 0), turning(1, 2, 0)],
                "limits": [[-1, 2], reverse(-0.1, 0.2)],
            },
            "H": {
                "type": "helical",
                "between": ["cup", "ground"],
                "at": "C",
                "axis": turning(0, 1, 1),
                "zero": [turning(1, 0, 0), turning(1, 0, 0)],
                "pitch": n(0.01),
            },
            "E": {
                "type": "planar",
                "between": ["arm", "cup"],
                "at": "C",
                "axis": turning(1, 0, 1),
                "zero": [turning(0, 1, 0), turning(0, 1, 0)],
                "limits": [reverse(-1, 2), reverse(0, 3), [-1, 1]],
            },
            "U": {
                "type": "universal",
                "between": ["arm", "cup"],
                "at": "B",
                "axes": [turning(0, 0, 1), turning(1, 0.5, 0)],
            },
            "S": {"type": "spherical", "between": ["arm", "cup"], "at": "B"},
            "X": {"type": "fixed", "between": ["rod", "cup"], "at": ["B", "C"]},
            "F": {"type": "free", "between": ["ground", "rod"]},
        },
        "elements": {
            "spring": {
                "type": "spring_damper",
                "between": ["ground.A", "rod.C"],
                "stiffness": 10,
                "free_length": 0.3,
            },
            "coil": {
                "type": "torsion_spring",
                "joint": "C.displacement",
                "stiffness": 1,
                "free_angle": "d",
            },
            "push": {"type": "force", "body": "arm", "at": "D", "vector": point(1, 2, 3)},
            "thrust": {
                "type": "force",
                "body": "arm",
                "at": "A",
                "vector": local(1, 2, 3),
                "axes": "body",
            },
            "twist": {"type": "moment", "body": "arm", "vector": turning(1, 2, 3)},
            "torque": {
                "type": "moment",
                "body": "arm",
                "vector": [n(1), 2, n(3)] if s > 0 else [-1, 2, -3],
                "axes": "body",
            },
            "gear": {
                "type": "transmission",
                "coordinates": ["R", "C.displacement"],
                "motors": {"m": {"inertia": 1}, "k": {"inertia": 2}},
                "matrix": [[3, n(4)], [5, n(6)]],
            },
        },
        "coordinates": {
            "q": {"joint": "R"},
            "z": {"point": "arm.D", "along": point(0.2, 0, 1)},
            "s": {"distance": ["ground.A", "cup.B"]},
        },
    }


def copy(s: int, **use: Any) -> Mechanism:
    return build(
        name="m", subassemblies={"part": words(s)}, use={"u": {"subassembly": "part", **use}}
    )


def hand(s: int) -> Mechanism:
    return build(name="m", **words(s))


def without_parameters(m: Mechanism) -> Mechanism:
    return replace(m, parameters=())


@pytest.mark.parametrize("s", [1, -1])
def test_mirrored_copy_equals_the_mirror_image_written_by_hand(s: int) -> None:
    mirrored, written = copy(s, mirror="x"), hand(-s)
    assert mirrored.bodies == written.bodies
    assert mirrored.points == written.points
    assert mirrored.coordinates == written.coordinates
    assert mirrored.elements == written.elements
    for joint, other in zip(mirrored.joints, written.joints, strict=True):
        assert joint == other
    assert without_parameters(mirrored) == without_parameters(written)


def test_unmirrored_copy_is_the_assembly() -> None:
    assert copy(1) == hand(1)


def test_plane_given_by_point_and_normal() -> None:
    plane = {"point": [0, 5, -3], "normal": [-2, 0, 0]}
    assert copy(1, mirror=plane) == copy(1, mirror="x")
    far = copy(1, mirror={"point": ["1/2", 0, 0], "normal": [1, 0, 0]})
    assert far.point("A", "ground").local == (2 * 0.5 - 0.3, 0.1, 0.2)
    assert far.point("A", "ground").expr == ("2 * (1 / 2) - 0.3", "0.1", "0.2")
    assert far.point("D", "arm") == copy(1, mirror="x").point("D", "arm")


def test_slanted_plane() -> None:
    normal = np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
    S = np.eye(3) - 2 * np.outer(normal, normal)
    m, base = copy(1, mirror={"normal": [1, 2, -1]}), hand(1)
    for body in ("arm", "rod", "cup"):
        p, R = np.array(base.body(body).frame.origin), np.array(base.body(body).frame.rotation)
        assert np.array(m.body(body).frame.origin) == pytest.approx(S @ p)
        assert np.array(m.body(body).frame.rotation) == pytest.approx(S @ R @ FLIP)


def test_inertia_signs() -> None:
    inertia = copy(1, mirror="y").body("arm").inertia
    assert inertia is not None
    assert inertia.center == (0.1, -0.02, 0.03)
    assert inertia.inertia_center == (0.02, -0.001, 0.002, 0.03, 0.003, 0.04)


# ------------------------------------------------------------------------ motion


def relative_motion(joint: Joint, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of frame b in frame a, from the table in NOTATION.md."""
    zero, eye, angle = np.zeros(3), np.eye(3), np.asarray
    match joint.type:
        case "revolute":
            return zero, axis_rotation(2, angle(q[0]))
        case "prismatic":
            return np.array([0, 0, q[0]]), eye
        case "helical":
            return np.array([0, 0, q[0] * joint.pitch / (2 * np.pi)]), axis_rotation(2, angle(q[0]))
        case "cylindrical":
            return np.array([0, 0, q[1]]), axis_rotation(2, angle(q[0]))
        case "universal":
            return zero, axis_rotation(2, angle(q[0])) @ axis_rotation(0, angle(q[1]))
        case "planar":
            return np.array([q[0], q[1], 0]), axis_rotation(2, angle(q[2]))
        case "spherical":
            return zero, matrix_from_quaternion(np.array(q))
        case "free":
            return np.array(q[:3]), matrix_from_quaternion(np.array(q[3:]))
    return zero, eye


def pose_of_b(m: Mechanism, joint: Joint, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of body b in the ground, with body a in its reference pose."""
    frame = m.body(joint.body_a).frame
    p, R = np.array(frame.origin), np.array(frame.rotation)
    p, R = p + R @ np.array(joint.frame_a.origin), R @ np.array(joint.frame_a.rotation)
    shift, turn = relative_motion(joint, q)
    p, R = p + R @ shift, R @ turn
    R = R @ np.array(joint.frame_b.rotation).T
    return p - R @ np.array(joint.frame_b.origin), R


@functools.cache
def pair(axis: str) -> tuple[Mechanism, Mechanism]:
    return hand(1), copy(1, mirror=axis)


REVERSED = {"C": [1], "E": [0, 1]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["R", "P", "H", "C", "U", "E"])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
@given(q=st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_equal_coordinates_are_mirror_images(name: str, axis: str, q: list[float]) -> None:
    S = np.eye(3) - 2 * np.diag(np.eye(3)["xyz".index(axis)])
    base, mirrored = pair(axis)
    p, R = pose_of_b(base, base.joint(name), q)
    image = [-v if i in REVERSED.get(name, []) else v for i, v in enumerate(q)]
    p_m, R_m = pose_of_b(mirrored, mirrored.joint(name), image)
    ground = base.joint(name).body_b == "ground"
    assert p_m == pytest.approx(S @ p, abs=1e-13)
    assert R_m == pytest.approx(S @ R @ (S if ground else FLIP), abs=1e-13)


def test_ball_joints_keep_ground_axes() -> None:
    m = copy(1, mirror="x")
    joint = m.joint("S")
    for body, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b)):
        R = np.array(m.body(body).frame.rotation) @ np.array(frame.rotation)
        assert pytest.approx(np.eye(3), abs=1e-14) == R


# --------------------------------------------------- what stands outside the copy


def with_rack(**use: Any) -> Mechanism:
    part = {
        "points": {"J": [0.3, 0.1, 0.2]},
        "bodies": {"rod": {"frame": {"origin": [0.6, 0.1, 0.2]}}},
        "joints": {
            "J": {
                "type": "universal",
                "between": ["rack", "rod"],
                "at": "J",
                "axes": ["rack.z", "rod.y"],
            }
        },
    }
    return build(
        name="m",
        points={"O": [0.1, 0.1, 0.2]},
        bodies={"rack": {"frame": {"origin": "O"}}},
        joints={"guide": {"type": "P", "between": ["ground", "rack"], "at": "O", "axis": "x"}},
        subassemblies={"part": part},
        use={"u": {"subassembly": "part", **use}},
    )


def test_bodies_of_the_file_stay_where_they_are() -> None:
    m = with_rack(mirror="x", suffix="_l")
    assert m.body("rack").frame.origin == (0.1, 0.1, 0.2)
    joint = m.joint("J_l")
    assert joint.frame_a.origin == pytest.approx((-0.4, 0, 0))
    assert joint.frame_a.origin_expr == ("-0.3 - 0.1", "0", "0")
    assert joint.frame_b.origin == pytest.approx((-0.3, 0, 0))
    assert [row[2] for row in joint.frame_a.rotation] == [0, 0, -1]
    assert m.point("J_l", "rack").local == joint.frame_a.origin


def test_point_of_the_file_used_in_a_mirrored_copy_is_mirrored_and_renamed() -> None:
    part = {
        "bodies": {"b": {}},
        "joints": {"S": {"type": "S", "between": ["ground", "b"], "at": "J"}},
    }
    m = build(
        name="m",
        points={"J": [0.3, 0, 0]},
        subassemblies={"part": part},
        use={
            "r": {"subassembly": "part", "suffix": "_r"},
            "l": {"subassembly": "part", "suffix": "_l", "mirror": "x"},
        },
    )
    assert m.point("J", "ground").local == (0.3, 0, 0)
    assert m.point("J_l", "ground").local == (-0.3, 0, 0)
    assert m.body("b_r").frame.origin == (0.3, 0, 0)
    assert m.body("b_l").frame.origin == (-0.3, 0, 0)
    assert m.body("b_l").frame.rotation == ((-1, 0, 0), (0, -1, 0), (0, 0, 1))


def test_point_given_in_a_body_of_the_file_is_mirrored_in_space() -> None:
    part = {
        "points": {"J": {"in": "rack", "at": [0.5, 0.1, 0]}},
        "directions": {"d": {"in": "rack", "along": [3, 4, 0]}},
        "bodies": {"rod": {}},
        "joints": {
            "J": {"type": "C", "between": ["rack", "rod"], "at": "J", "axis": "d"},
        },
    }
    # The rack stands turned by 90 degrees about z: its x axis is y of the ground.
    m = build(
        name="m",
        bodies={"rack": {"frame": {"origin": [1, 0, 0], "x": "y", "y": "-x"}}},
        joints={"free": {"type": "F", "between": ["ground", "rack"]}},
        subassemblies={"part": part},
        use={"u": {"subassembly": "part", "mirror": "x"}},
    )
    # In the ground J is (0.9, 0.5, 0), its image (-0.9, 0.5, 0); the direction (-4, 3, 0) / 5
    # becomes (4, 3, 0) / 5 and, as an axis of rotation, turns round.
    assert m.joint("J").frame_a.origin == pytest.approx((0.5, 1.9, 0))
    assert [row[2] for row in m.joint("J").frame_a.rotation] == pytest.approx([-0.6, 0.8, 0])
    assert m.body("rod").frame.origin == pytest.approx((-0.9, 0.5, 0))


def test_body_of_a_copy_takes_its_origin_from_a_joint_of_the_file() -> None:
    m = build(
        name="m",
        points={"P": [0.2, 0.3, 0.4]},
        joints={"J": {"type": "S", "between": ["ground", "b_l"], "at": "P"}},
        subassemblies={"part": {"bodies": {"b": {}}}},
        use={"u": {"subassembly": "part", "suffix": "_l", "mirror": "x"}},
    )
    assert m.body("b_l").frame.origin == (0.2, 0.3, 0.4)
    assert m.body("b_l").frame.rotation == ((-1, 0, 0), (0, -1, 0), (0, 0, 1))
    assert m.joint("J").frame_b.origin == (0, 0, 0)


def test_image_of_a_point_needs_a_name_of_its_own() -> None:
    part = {
        "bodies": {"b": {}},
        "joints": {"S": {"type": "S", "between": ["ground", "b"], "at": "J"}},
    }
    with pytest.raises(ModelError, match="two different points would be called J on ground; give"):
        build(
            name="m",
            points={"J": [0.3, 0, 0]},
            subassemblies={"part": part},
            use={
                "r": {"subassembly": "part", "suffix": "_r"},
                "l": {"subassembly": "part", "mirror": "x"},
            },
        )


def test_file_may_use_what_a_copy_defines() -> None:
    part = words(1)
    m = build(
        name="m",
        subassemblies={"part": part},
        use={"u": {"subassembly": "part", "suffix": "_l", "mirror": "x"}},
        bodies={"disc": {"frame": {"origin": "D_l", "x": "-arm_l.y", "z": "arm_l.z"}}},
        joints={"K": {"type": "R", "between": ["arm_l", "disc"], "at": "D_l", "axis": "pin_l"}},
    )
    arm = m.body("arm_l").frame
    R = np.array(arm.rotation)
    assert m.joint("K").frame_a.origin == (0.2, -0.3, -0.1)
    assert np.array(m.body("disc").frame.origin) == pytest.approx(
        np.array(arm.origin) + R @ [0.2, -0.3, -0.1]
    )
    assert np.array(m.body("disc").frame.rotation)[:, 0] == pytest.approx(-R[:, 1])
    z = np.array(m.joint("K").frame_a.rotation)[:, 2]
    assert z == pytest.approx(FLIP @ np.array([0, 1, 0.5]) / np.sqrt(1.25))


# ------------------------------------------------------------ frames spelled out


def spelled_out(m: Mechanism) -> dict[str, Any]:
    """Return an assembly as a subassembly in which every frame is a matrix."""
    data = document_of(m)
    return {k: v for k, v in data.items() if k not in ("mechid", "name", "gravity")}


def copy_of(part: dict[str, Any], **use: Any) -> Mechanism:
    return build(name="m", subassemblies={"part": part}, use={"u": {"subassembly": "part", **use}})


@pytest.mark.parametrize("plane", ["x", "y", "z", {"point": [0.1, 0.2, 0], "normal": [1, 2, -1]}])
def test_spelled_out_frames_are_mirrored_as_points_and_directions_are(plane: Any) -> None:
    mirrored, from_points = copy_of(spelled_out(hand(1)), mirror=plane), copy(1, mirror=plane)
    close = {"abs": 1e-14}
    for body, other in zip(mirrored.bodies, from_points.bodies, strict=True):
        assert np.array(body.frame.origin) == pytest.approx(np.array(other.frame.origin), **close)
        assert np.array(body.frame.rotation) == pytest.approx(
            np.array(other.frame.rotation), **close
        )
        assert body.inertia == other.inertia
    for joint, image in zip(mirrored.joints, from_points.joints, strict=True):
        assert joint.limits == image.limits
        assert joint.pitch == image.pitch
        if joint.type == "free":  # from points, its frames are those of the bodies
            continue
        for frame, as_points in ((joint.frame_a, image.frame_a), (joint.frame_b, image.frame_b)):
            assert np.array(frame.origin) == pytest.approx(np.array(as_points.origin), **close)
            if joint.type not in ("spherical", "fixed"):
                assert np.array(frame.rotation) == pytest.approx(
                    np.array(as_points.rotation), **close
                )


ROUGH = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0], [0.48, 0.64, 0.6]]
OTHER = [["cos(t)", 0, "sin(t)"], [0, 1, 0], ["-sin(t)", 0, "cos(t)"]]


@functools.cache
def explicit(joint_type: str, axis: str | None) -> Mechanism:
    frames = [
        {"origin": [0.1, 0.2, 0.3], "rotation": ROUGH},
        {"origin": ["t", 0.1, -0.2], "rotation": OTHER},
    ]
    joint = {"type": joint_type, "between": ["a", "b"], "frames": frames}
    part = {
        "parameters": {"t": 0.4},
        "bodies": {
            "a": {"frame": {"origin": [0.3, -0.1, 0.2], "x": [1, 2, 2], "y": [-2, 1, 0.5]}},
            "b": {"frame": {"origin": [0.7, 0.1, 0.4], "z": [1, 0, 1], "x": "y"}},
        },
        "joints": {
            "base": {"type": "free", "between": ["ground", "a"]},
            "J": joint | ({"pitch": 0.02} if joint_type == "helical" else {}),
        },
    }
    return copy_of(part, **({"mirror": axis} if axis else {}))


SEVEN = st.lists(st.floats(-2, 2), min_size=7, max_size=7)


@pytest.mark.slow
@pytest.mark.parametrize("joint_type", JOINT_KINDS)
@pytest.mark.parametrize("axis", ["x", "z"])
@given(q=SEVEN)
def test_frames_spelled_out_move_as_mirror_images(
    joint_type: str, axis: str, q: list[float]
) -> None:
    S = np.eye(3) - 2 * np.diag(np.eye(3)["xyz".index(axis)])
    base, mirrored = explicit(joint_type, None), explicit(joint_type, axis)
    e = np.array(q[3:]) if np.linalg.norm(q[3:]) > 1e-3 else np.eye(4)[0]
    q = [*q[:3], *(e / np.linalg.norm(e))] if joint_type == "free" else q
    q = list(e / np.linalg.norm(e)) if joint_type == "spherical" else q
    reverses = {"cylindrical": [1], "planar": [0, 1], "free": [0, 1, 2]}.get(joint_type, [])
    p, R = pose_of_b(base, base.joint("J"), q)
    image = [-v if i in reverses else v for i, v in enumerate(q)]
    p_m, R_m = pose_of_b(mirrored, mirrored.joint("J"), image)
    assert p_m == pytest.approx(S @ p, abs=1e-13)
    assert R_m == pytest.approx(S @ R @ FLIP, abs=1e-13)


def test_expressions_of_mirrored_frames_are_kept() -> None:
    for axis in "xyz":
        m = explicit("revolute", axis)
        frame = m.joint("J").frame_b
        assert frame.origin_expr == ("t", "-0.1", "-0.2")
        assert frame.rotation_expr is not None
        for row, texts in zip(frame.rotation, frame.rotation_expr, strict=True):
            assert [evaluate_text(text, {"t": 0.4}) for text in texts] == pytest.approx(list(row))
        assert loads(dumps(m)) == m


# ------------------------------------------------------------------ copies in copies


def nested(inner: dict[str, Any], outer: dict[str, Any], **more: Any) -> Mechanism:
    """Return the assembly as a copy inside a copy."""
    return build(
        name="m",
        subassemblies={
            "part": words(1),
            "holder": {"use": {"v": {"subassembly": "part", **inner}}} | more,
        },
        use={"u": {"subassembly": "holder", **outer}},
    )


def test_copy_in_a_copy() -> None:
    assert nested({}, {}) == hand(1)
    assert without_parameters(nested({"mirror": "x"}, {})) == without_parameters(hand(-1))
    assert without_parameters(nested({}, {"mirror": "x"})) == without_parameters(hand(-1))
    twice = nested({"mirror": "x"}, {"mirror": "x"})
    assert without_parameters(twice) == without_parameters(hand(1))


def test_mirrored_twice_is_moved_rigidly() -> None:
    """Two reflections across planes at an angle α turn by 2 α; local numbers stay."""
    m = nested({"mirror": "x"}, {"mirror": {"point": [0, 1, 0], "normal": [1, 1, 0]}})
    base = hand(1)
    S1, n = np.diag([-1.0, 1, 1]), np.array([1, 1, 0]) / np.sqrt(2)
    S2 = np.eye(3) - 2 * np.outer(n, n)
    shift = 2 * n * (n @ np.array([0, 1, 0]))
    Q = S2 @ S1
    for body, other in zip(m.bodies, base.bodies, strict=True):
        assert np.array(body.frame.origin) == pytest.approx(
            Q @ np.array(other.frame.origin) + shift, abs=1e-14
        )
        assert np.array(body.frame.rotation) == pytest.approx(
            Q @ np.array(other.frame.rotation), abs=1e-14
        )
        assert body.inertia == other.inertia
        assert body.shapes == other.shapes
    for joint, before in zip(m.joints, base.joints, strict=True):
        assert (joint.limits, joint.pitch) == (before.limits, before.pitch)
        if joint.type in ("spherical", "fixed", "free"):
            continue
        p, R = pose_of_b(base, before, [0.3, 0.2, 0.1])
        moved, turned = pose_of_b(m, joint, [0.3, 0.2, 0.1])
        if joint.body_b == "ground":
            assert np.array(joint.frame_b.rotation) == pytest.approx(
                Q @ np.array(before.frame_b.rotation)
            )
        else:
            assert moved == pytest.approx(Q @ p + shift, abs=1e-13)
            assert turned == pytest.approx(Q @ R, abs=1e-13)
    for element, before in zip(m.elements, base.elements, strict=True):
        if element.kind in ("force", "moment") and element.axes_of == "ground":
            assert np.array(element.direction) == pytest.approx(Q @ np.array(before.direction))
        elif element.kind != "spring_damper":
            assert element == before


def test_names_of_copies_in_copies() -> None:
    """A holder with a bracket of its own holds two arms, left as a mirror image of right."""
    arm = {
        "parameters": {"l": 0.4},
        "points": {"root": ["l", 0.1, 0], "hip": "anchor"},
        "bodies": {"arm": {"frame": {"origin": "root"}}},
        "joints": {
            "hinge": {"type": "R", "between": ["bracket", "arm"], "at": "root", "axis": "y"}
        },
        "coordinates": {"q": {"joint": "hinge"}},
    }
    holder = {
        "parameters": {"reach": 0.2, "w": 0.05},
        "points": {"anchor": [0, 0, "reach"]},
        "bodies": {"bracket": {"frame": {"origin": "anchor"}}},
        "joints": {
            "seat": {"type": "X", "between": ["ground", "bracket"], "at": "anchor"},
            "brace": {"type": "S", "between": ["arm_r", "bracket"], "at": "root_r"},
        },
        "use": {
            "right": {"subassembly": "arm", "suffix": "_r", "parameters": {"l": "2*reach"}},
            "left": {
                "subassembly": "arm",
                "suffix": "_l",
                "mirror": {"point": ["w", 0, 0], "normal": [1, 0, 0]},
            },
        },
    }
    m = build(
        name="m",
        subassemblies={"arm": arm, "holder": holder},
        use={
            "front": {"subassembly": "holder", "prefix": "f_", "rename": {"arm_l": "special"}},
            "rear": {"subassembly": "holder", "prefix": "b_", "mirror": "y"},
        },
    )
    names = ["f_arm_r", "special", "f_bracket", "b_arm_r", "b_arm_l", "b_bracket"]
    assert [b.name for b in m.bodies] == names
    values = {p.name: p.value for p in m.parameters}
    assert values["f_l_r"] == 0.4
    assert values["b_l_l"] == 0.4
    # The left arm mirrors (0.4, 0.1, 0) across x = 0.05; the rear holder mirrors y.
    assert m.body("special").frame.origin == pytest.approx((-0.3, 0.1, 0))
    assert m.body("b_arm_l").frame.origin == pytest.approx((-0.3, -0.1, 0))
    assert m.body("b_arm_r").frame.origin == pytest.approx((0.4, -0.1, 0))
    # Mirrored twice: a turn by 180 degrees about z, and axes of rotation with it.
    assert np.array(m.body("b_arm_l").frame.rotation) == pytest.approx(np.diag([-1, -1, 1]))
    axis = np.array(m.joint("b_hinge_l").frame_b.rotation)[:, 2]
    assert axis == pytest.approx([0, 1, 0])
    # The bracket is outside the arms, inside the holder: at (0, 0, reach), its frame flipped.
    p = np.array(m.joint("b_hinge_l").frame_a.origin)
    R = np.array(m.body("b_bracket").frame.rotation)
    assert R @ p + [0, 0, 0.2] == pytest.approx([-0.3, -0.1, 0])
    assert m.joint("b_brace").body_a == "b_arm_r"
    assert loads(dumps(m)) == m


def test_subassembly_that_contains_itself() -> None:
    one = {"use": {"u": {"subassembly": "two"}}}
    two = {"use": {"u": {"subassembly": "one"}}}
    with pytest.raises(
        ModelError,
        match=r"two\.use\.u\.subassembly: a subassembly contains itself: one -> two -> one; use",
    ):
        build(name="m", subassemblies={"one": one, "two": two}, use={"u": {"subassembly": "one"}})
