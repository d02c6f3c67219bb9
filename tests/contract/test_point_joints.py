"""Points on lines and planes in closed loops: closed forms, both formulations, ranks, reactions.

Three linkages, written as a user would: a pin in a straight slot (quick return), a pin between the
faces of a yoke, and a rod with a ball at a crank whose other end runs along a wire.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechid.base.bounds import bounds
from mechid.base.experiment import Experiment, random_states
from mechid.base.numeric import observed_base
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reference_point import joint_reactions_reference
from mechid.exact.field import field_rank
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import build, dumps, loads
from mechid.view.scene import scene
from mechid.view.tour import tour

from ..dynamics.balance import unbalanced
from ..elements import friction
from .checks import check_closed, check_formulations, check_joints
from .differences import OFFSETS, STEP
from .states import EPS, condition, random_course, solve_course

Array = npt.NDArray[np.float64]
CRANK, BASE, ROD = 0.3, 1.0, 1.3


def body(origin: list[float], mass: float) -> dict[str, Any]:
    return {
        "frame": {"origin": origin},
        "mass": mass,
        "center": [0.1, 0.05, -0.02],
        "inertia": {"xx": 0.02 * mass, "yy": 0.03 * mass, "zz": 0.04 * mass, "xy": 0.001 * mass},
    }


def linkage(name: str, cut: str | None = None) -> Mechanism:
    crank = {"type": "revolute", "between": ["ground", "crank"], "at": "O", "axis": "z"}
    points: dict[str, Any] = {"O": [0, 0, 0], "P": [CRANK, 0, 0], "D": [-BASE, 0, 0]}
    bodies, joints = {"crank": body([0, 0, 0], 1.5)}, {"crank": crank}
    match name:
        case "slot":
            bodies["lever"] = body([-BASE, 0, 0], 2.0)
            joints["lever"] = crank | {"between": ["ground", "lever"], "at": "D"}
            joints["pin"] = {"type": "point_on_line", "between": ["lever", "crank"]}
            joints["pin"] |= {"at": ["D", "P"], "axis": "x"}
        case "yoke":
            bodies["yoke"] = body([0, 0, 0], 2.0)
            joints["guide"] = {"type": "prismatic", "between": ["ground", "yoke"]}
            joints["guide"] |= {"at": "O", "axis": "x"}
            joints["pin"] = {"type": "N", "between": ["yoke", "crank"], "at": "P", "axis": "x"}
        case _:
            points |= {"W": [CRANK, 0, ROD]}
            bodies["rod"] = body([CRANK, 0, 0], 0.7)
            joints["ball"] = {"type": "spherical", "between": ["crank", "rod"], "at": "P"}
            joints["pin"] = {"type": "L", "between": ["ground", "rod"], "at": "W", "axis": "z"}
    return build(
        name=name,
        gravity=[0, -9.81, 0],
        points=points,
        bodies=bodies,
        joints=joints,
        coordinates={"crank": {"joint": "crank"}},
        cut=None if cut is None else [cut],
    )


def pin_displacement(name: str, q: Array) -> Array:
    """Where the pin stands along its line, or along y of its plane, for a crank angle q."""
    x, y = CRANK * np.cos(q), CRANK * np.sin(q)
    match name:
        case "slot":
            return np.asarray(np.hypot(BASE + x, y))
        case "yoke":
            return np.asarray(y)
    return np.asarray(np.sqrt(ROD**2 - (x - CRANK) ** 2 - y**2) - ROD)


def other_coordinate(name: str, q: Array) -> Array:
    """Angle of the lever, displacement of the yoke."""
    x, y = CRANK * np.cos(q), CRANK * np.sin(q)
    return np.asarray(np.arctan2(y, BASE + x) if name == "slot" else x - CRANK)


@cache
def moved(name: str, cut: str | None = None) -> Motion:
    model = kinematic_model(linkage(name, cut))
    course = random_course(kinematic_model(linkage(name)), np.random.default_rng(1))
    return solve_course(model, course, 1.3 + STEP * OFFSETS)


CASES = [("slot", None), ("slot", "lever"), ("yoke", None), ("yoke", "guide"), ("wire", None),
         ("wire", "ball"), ("wire", "pin")]  # fmt: skip
each_case = pytest.mark.parametrize(("name", "cut"), CASES)


@each_case
def test_closed_form(name: str, cut: str | None) -> None:
    """As tree joint and as cut joint."""
    motion = moved(name, cut)
    assert cut is None or [j.name for j in motion.model.tree.cut] == [cut]
    found = joint_motion(motion, "pin").coordinates
    values = found[:, 0]
    if name == "yoke":  # which way x and y of the plane point is left to the file
        axes = np.array(motion.model.mechanism.joint("pin").frame_a.rotation)
        values = found[:, :2] @ axes[1, :2]
    assert values == pytest.approx(pin_displacement(name, motion.y[:, 0]), abs=1e-13)
    if name != "wire":
        other = joint_motion(motion, "lever" if name == "slot" else "guide").coordinates[:, 0]
        assert other == pytest.approx(other_coordinate(name, motion.y[:, 0]), abs=1e-13)
    check_closed(motion)
    check_joints(motion)
    check_formulations(motion)


def test_mobility() -> None:
    """The slot of a planar linkage holds the pin across its plane once more than needed."""
    expected = {"slot": (1, 1, 0), "yoke": (1, 0, 0), "wire": (2, 0, 1)}
    for name, numbers in expected.items():
        m = mobility(linkage(name))
        assert (m.dof, m.redundant_constraints, m.passive_dof) == numbers, name


@pytest.mark.slow
@pytest.mark.parametrize("rubs", [False, True])
@pytest.mark.parametrize("name", ["slot", "yoke", "wire"])
def test_base_parameters(name: str, rubs: bool) -> None:
    """Bounds meet, and are the rank in floats and over prime fields; friction of the pin too."""
    mechanism = linkage(name)
    if rubs and name != "yoke":  # no exact numbers are known for x and y of a plane
        some = Coefficient(1.0, identify=True)
        mechanism = replace(mechanism, elements=(friction("f", "pin", 0, some, some),))
    found = bounds(mechanism, precision=256)
    assert found.lower == found.upper
    states = random_states(mechanism, Experiment(), 60, seed=3)
    assert observed_base(states).rank == found.upper
    assert field_rank(mechanism).rank == found.upper


@each_case
def test_reactions(name: str, cut: str | None) -> None:
    """Balance of every body, the second formulation, and nothing along the freedoms."""
    result = inverse_dynamics(moved(name, cut), reactions=True)
    found = result.reactions
    assert found is not None
    left, scale = unbalanced(result)
    bound = 100 * EPS * condition(result.motion) * scale
    size = result.motion.model.size
    assert np.abs(left[:, :, :3]).max() * size <= bound
    want = joint_reactions_reference(result.motion, result.phi, result.tau)
    assert np.abs(found.force - want.force).max() * size <= bound
    j = found.joints.index("pin")
    assert np.abs(found.moment[:, j]).max() <= bound
    if name == "yoke":  # on the crank, what the yoke's mass asks for, along x
        q, qd, qdd = (a[:, 0] for a in (result.motion.y, result.motion.yd, result.motion.ydd))
        xdd = -CRANK * (np.cos(q) * qd**2 + np.sin(q) * qdd)
        force = np.stack([-2.0 * xdd, 0 * xdd, 0 * xdd], axis=1)
        assert found.force[:, j] == pytest.approx(force, abs=bound / size)


@pytest.mark.parametrize("name", ["slot", "yoke", "wire"])
def test_drawn_and_written(name: str) -> None:
    mechanism = linkage(name)
    assert loads(dumps(mechanism)).joints == mechanism.joints
    drawn = next(j for j in scene(mechanism, tour(mechanism))["joints"] if j["name"] == "pin")
    assert drawn["glyph"]
    assert drawn["axis"] is not None


def test_independent_orientation() -> None:
    """A body on a line whose displacement and whole orientation are independent."""
    mechanism = build(
        name="bead",
        bodies={"bead": body([0, 0, 0], 1.0)},
        points={"O": [0.2, 0, 0.1]},
        joints={"J": {"type": "L", "between": ["ground", "bead"], "at": "O", "axis": [1, 2, 2],
                      "limits": [-0.4, 0.4]}},
        coordinates={"J": {"joint": "J"}},
    )  # fmt: skip
    assert [c.name for c in mechanism.coordinates] == [
        "J.displacement",
        "J.roll",
        "J.pitch",
        "J.yaw",
    ]
    assert [c.unit for c in mechanism.coordinates] == ["m", "rad", "rad", "rad"]
    motion = solve_course(
        kinematic_model(mechanism),
        random_course(kinematic_model(mechanism), np.random.default_rng(2)),
        1.0 + STEP * OFFSETS,
    )
    check_joints(motion)
    check_formulations(motion)
    along = motion.bodies().position[:, 0] + motion.bodies().rotation[:, 0] @ [0.2, 0, 0.1]
    line = np.array([1, 2, 2]) / 3
    assert along - [0.2, 0, 0.1] == pytest.approx(motion.y[:, :1] * line, abs=1e-14)


@pytest.mark.parametrize("name", ["slot", "yoke", "wire"])
def test_mirrored(name: str) -> None:
    """A mirrored copy moves as the mirror image, with displacements reversed."""
    plain = linkage(name)
    words: dict[str, Any] = {
        "points": {"O": [0, 0, 0], "P": [CRANK, 0, 0], "Q": [0.1, 0.2, 0.3]},
        "bodies": {"arm": body([0.1, 0, 0], 1.0), "bead": body([0.2, 0, 0.1], 1.0)},
        "joints": {
            "arm": {"type": "R", "between": ["ground", "arm"], "at": "O", "axis": [0, 1, 3]},
            "bead": {"type": plain.joint("pin").type, "between": ["arm", "bead"], "at": "Q",
                     "axis": [1, 2, 2]},
        },
        "coordinates": {"arm": {"joint": "arm"}, "bead": {"joint": "bead"}},
    }  # fmt: skip
    both = build(
        name="both",
        gravity=[0, -9.81, 0],
        subassemblies={"half": words},
        use={"r": {"subassembly": "half", "suffix": "_r"},
             "l": {"subassembly": "half", "suffix": "_l", "mirror": "x"}},
    )  # fmt: skip
    model = kinematic_model(both)
    n = model.n_independent // 2
    rng = np.random.default_rng(4)
    y = rng.uniform(-0.3, 0.3, n)
    joint = both.joint("bead_r")
    image = y.copy()
    image[1 + np.array(joint.kind.reversed)] *= -1
    f = solve_motion(model, np.concatenate([y, image])[None]).bodies()
    S = np.diag([-1.0, 1.0, 1.0])
    names = [b.name for b in both.bodies]
    for part in ("arm", "bead"):
        r, l_ = names.index(f"{part}_r"), names.index(f"{part}_l")
        assert f.position[0, l_] == pytest.approx(S @ f.position[0, r], abs=1e-14)
        turned = S @ f.rotation[0, r] @ np.diag([1.0, -1.0, 1.0])
        assert f.rotation[0, l_] == pytest.approx(turned, abs=1e-14)
