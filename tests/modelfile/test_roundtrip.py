"""What is saved and loaded again is equal, digit by digit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mechid.errors import ModelError
from mechid.mechanism.records import JOINT_KINDS, Mechanism
from mechid.modelfile import build, dumps, load, loads, save

number = st.floats(-3, 3, allow_nan=False).map(lambda x: float(x) if abs(x) > 1e-6 else 0.1)
vector = st.tuples(number, number, number).map(list)
scalar = st.one_of(number, st.sampled_from(["l", "-l/2", "l*cos(a)", "30 deg", "1e-5", "2*h + l"]))
place = st.tuples(scalar, scalar, scalar).map(list)
positive = st.floats(1e-3, 5)
AXES = [["x", "y"], ["y", "z"], ["z", "x"], ["y", "x"], ["z", "y"], ["x", "z"]]


@st.composite
def inertias(draw: st.DrawFn) -> dict[str, float]:
    """Draw the inertia of six point masses in general position: always possible."""
    r = np.array(draw(st.lists(vector, min_size=6, max_size=6)))
    r -= r.mean(axis=0)
    inertia = np.eye(3) * (r * r).sum() - r.T @ r + 1e-3 * np.eye(3)
    keys = {"xx": (0, 0), "xy": (0, 1), "xz": (0, 2), "yy": (1, 1), "yz": (1, 2), "zz": (2, 2)}
    return {key: float(inertia[ij]) for key, ij in keys.items()}


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    words: dict[str, Any] = {}
    if draw(st.booleans()):
        first, second = draw(st.sampled_from(AXES))
        one, other = draw(vector), draw(vector)
        if np.linalg.norm(np.cross(one, other)) < 0.1:
            one, other = [1, 2, 3], [3, -1, 0.5]
        words["frame"] = {"origin": draw(place), first: one, second: other}
    match draw(st.sampled_from(["massless", "unknown", "known"])):
        case "massless":
            words["massless"] = True
        case "known":
            words |= {"mass": draw(positive), "center": draw(place), "inertia": draw(inertias())}
            if draw(st.booleans()):
                words["uncertainty"] = {"mass": "5 %", "center": draw(positive), "inertia": "7 %"}
    if draw(st.booleans()):
        words["color"] = draw(st.sampled_from(["#4477aa", "red", "no"]))
        words["shapes"] = [
            {"wheel": {"center": draw(place), "axis": draw(vector), "radius": 0.3, "width": 0.1}},
            {"box": {"center": draw(vector), "size": [0.1, "h", 0.3]}},
        ]
    return words


@st.composite
def joints(draw: st.DrawFn, a: str, b: str) -> dict[str, Any]:
    joint_type = draw(st.sampled_from(sorted(JOINT_KINDS)))
    words: dict[str, Any] = {"type": joint_type, "between": draw(st.permutations([a, b]))}
    kind = JOINT_KINDS[joint_type]
    if "at" in kind.needs:
        words["at"] = draw(st.one_of(st.just("P"), place))
    if "axes" in kind.needs:
        first, second = draw(st.sampled_from(AXES))
        words["axes"] = [first, second]
    if "axis" in kind.needs:
        words["axis"] = draw(vector)
    if "zero" in kind.needs:
        words |= {"axis": [1, 2, 2], "zero": [[2, 1, 0], [0, 1, 2]]}
    if "pitch" in kind.needs:
        words["pitch"] = draw(scalar)
    if "limits" in kind.takes:
        ranges = st.sampled_from([[-1, 1], [None, "l"], ["-30 deg", None]])
        several = [draw(ranges) for _ in range(kind.n_scalars)]
        words["limits"] = several if len(several) > 1 else several[0]
    words["hidden"] = draw(st.booleans())
    return words


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    names = ["b1", "b2", "b3"][: draw(st.integers(1, 3))]
    words: dict[str, Any] = {
        "name": "random",
        "title": draw(
            st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=12)
        ),
        "gravity": draw(vector),
        "parameters": {
            "l": {"value": draw(positive), "unit": "m", "source": "drawn: at random"},
            "h": "l/3",
            "a": "40 deg",
        },
        "points": {
            "P": draw(place),
            "Q": {"in": "b1", "at": draw(place)},
            "M": {"between": ["P", "Q"], "fraction": 0.3},
        },
        "bodies": {name: draw(bodies()) for name in names},
        "joints": {},
        "elements": {},
        "coordinates": {},
    }
    for i, name in enumerate(names):
        parent = draw(st.sampled_from(["ground", *names[:i]]))
        words["joints"][f"j{i}"] = joint = draw(joints(parent, name))
        if joint["type"] != "fixed":
            words["coordinates"][f"q{i}"] = {"joint": f"j{i}"}
        if joint["type"] in ("revolute", "prismatic"):
            coefficient = draw(
                st.sampled_from([0.3, {"identify": True}, {"value": 2, "uncertainty": "3 %"}])
            )
            words["elements"][f"f{i}"] = {
                "type": "friction",
                "joint": f"j{i}",
                "viscous": coefficient,
            }
    words["bodies"][names[-1]]["points"] = ["M"]
    words["elements"]["push"] = {"type": "force", "body": "b1", "at": "Q", "vector": draw(vector)}
    words["elements"]["spring"] = {
        "type": "spring_damper",
        "between": ["ground.P", "b1.Q"],
        "stiffness": {"value": draw(positive), "identify": True},
        "free_length": "l",
    }
    words["coordinates"]["z"] = {"point": "b1.Q", "along": draw(vector)}
    words["coordinates"]["s"] = {"distance": ["ground.P", "b1.Q"]}
    words["start"] = {"positions": {"z": draw(scalar)}, "speeds": {"s": draw(number)}}
    if draw(st.booleans()):
        words["cut"] = ["j0"]
    return build(**words)


@pytest.mark.slow
@given(mechanisms())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_saved_and_loaded_again_is_equal(m: Mechanism) -> None:
    text = dumps(m)
    again = loads(text)
    assert again == m
    assert dumps(again) == text


def small() -> Mechanism:
    return build(
        name="m",
        parameters={"l": 0.3},
        bodies={"b": {"frame": {"origin": ["l", 0, 0]}}},
        joints={"j": {"type": "R", "between": ["ground", "b"], "at": ["l", 0, 1], "axis": "z"}},
    )


def test_file(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    save(small(), file)
    assert load(file) == small()
    assert load(str(file)) == small()


def test_expressions_that_no_longer_fit_are_kept_beside_the_numbers() -> None:
    m = small()
    changed = replace(m, parameters=(replace(m.parameters[0], value=0.5),))
    again = loads(dumps(changed))
    assert again == changed
    assert again.joint("j").frame_a.origin == (0.3, 0, 1)


def test_rotation_with_expressions() -> None:
    row = {"link": 1, "antecedent": 0, "type": "R", "alpha": "tilt", "d": 1}
    m = build(name="m", parameters={"tilt": 0.4}, denavit_hartenberg=[row])
    assert m.joint("q1").frame_a.rotation_expr is not None
    assert loads(dumps(m)) == m
    changed = replace(m, parameters=(replace(m.parameters[0], value=0.5),))
    assert loads(dumps(changed)) == changed


def test_parameter_that_contradicts_its_expression() -> None:
    m = build(
        name="m",
        parameters={"l": 0.3, "h": "2*l"},
        bodies={"b": {}},
        joints={"j": {"type": "F", "between": ["ground", "b"]}},
    )
    wrong = replace(m, parameters=(m.parameters[0], replace(m.parameters[1], value=1.0)))
    with pytest.raises(ModelError, match=r"^parameters\.h: the value 1\.0 is not that of"):
        dumps(wrong)


def test_point_of_an_element_that_is_not_listed() -> None:
    m = build(
        name="m",
        bodies={"b": {}},
        joints={"j": {"type": "F", "between": ["ground", "b"]}},
        elements={"push": {"type": "force", "body": "b", "at": [1, 2, 3], "vector": [1, 0, 0]}},
    )
    assert loads(dumps(replace(m, points=()))) == m


def test_frames_spelled_out() -> None:
    m = build(
        name="m",
        bodies={"b": {}},
        joints={
            "j": {
                "type": "R",
                "between": ["ground", "b"],
                "frames": [
                    {"origin": [1, 2, 3], "rotation": [[0, 0, 1], [1, 0, 0], [0, 1, 0]]},
                    {"origin": {"rounded": [0.5, 0, 0]}},
                ],
            }
        },
    )
    joint = m.joint("j")
    assert joint.frame_a.origin == (1, 2, 3)
    assert joint.frame_a.origin_expr == ("1", "2", "3")
    assert joint.frame_a.rotation == ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    assert (joint.frame_b.origin, joint.frame_b.origin_expr) == ((0.5, 0, 0), None)


def test_sources_are_kept() -> None:
    row = {"link": 1, "antecedent": "b", "type": "R", "d": 1, "source": "drawing 7"}
    m = build(
        name="m",
        points={
            "P": {"at": [1, 0, 0], "source": "measured: P"},
            "Q": {"in": "b", "at": [0, 0, 1], "source": "chosen"},
            "M": {"between": ["P", "Q"], "source": "computed"},
            "plain": [0, 0, 0],
        },
        bodies={
            "b": {"source": "CAD, revision 3", "points": ["M", "plain"]},
            "link_1": {"source": "catalogue"},
        },
        joints={"j": {"type": "S", "between": ["ground", "b"], "at": "P", "source": "table 2"}},
        denavit_hartenberg=[row],
    )
    assert {p.name: p.source for p in m.points} == {
        "P": "measured: P",
        "Q": "chosen",
        "M": "computed",
        "plain": "",
    }
    assert [b.source for b in m.bodies] == ["catalogue", "CAD, revision 3"]
    assert [j.source for j in m.joints] == ["drawing 7", "table 2"]
    assert loads(dumps(m)) == m
