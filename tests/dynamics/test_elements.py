"""Force elements: closed forms, power, the two formulations, recovery of every coefficient."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reference_point import observation_matrix_reference
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.dynamics.simulate import simulate
from mechid.errors import MechidError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.mechanism.records import Coefficient, ForceElement, Mechanism
from mechid.modelfile import build

from ..contract.states import random_course, solve_course
from ..property.generate import random_elements
from .formulations import EVERY
from .virtual_power import WRITTEN_TWICE, VirtualPower

Array = npt.NDArray[np.float64]
TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
AXES = ("x", "y", "z", "roll", "pitch", "yaw")


def floating(**elements: Any) -> Mechanism:
    """A body on a free joint without weight."""
    return build(
        name="floating",
        gravity=[0, 0, 0],
        bodies={"b": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 3, "yy": 4, "zz": 5}}},
        joints={"J": {"type": "free", "between": ["ground", "b"]}},
        elements=elements,
        coordinates={"p": {"joint": "J"}},
    )


def slider(**elements: Any) -> Mechanism:
    """A block of 2 kg on a rail, 1 m from a post along it."""
    return build(
        name="slider",
        gravity=[0, 0, 0],
        points={"post": [0, 0, 0], "peg": [1, 0, 0]},
        bodies={"b": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={
            "rail": {"type": "prismatic", "between": ["ground", "b"], "at": "peg", "axis": "x"}
        },
        elements=elements,
        coordinates={"x": {"joint": "rail"}},
    )


def forces(model: Mechanism, y: Any, yd: Any = None) -> Array:
    """What actuators supply at rest or at a speed, without acceleration."""
    k = kinematic_model(model)
    motion = solve_motion(k, np.atleast_2d(y), None if yd is None else np.atleast_2d(yd))
    return inverse_dynamics(motion).tau


# ---------------------------------------------------------------------- bushing

K, C, F = [100, 200, 300, 10, 20, 30], [1, 2, 3, 0.1, 0.2, 0.3], [4, 5, 6, 0.4, 0.5, 0.6]


def test_bushing_along_and_about_one_axis() -> None:
    model = floating(e={"type": "bushing", "joint": "J", "stiffness": K, "damping": C})
    y = np.diag([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    speed = np.diag([1.0, 2, 3, 4, 5, 6])
    x, v = np.diag(y), np.diag(speed)
    static = forces(model, y)
    want = np.array(K) * x
    # The turn is sin θ, so its moment is k sin θ cos θ.
    want[3:] = np.array(K[3:]) * np.sin(x[3:]) * np.cos(x[3:])
    np.testing.assert_allclose(static, np.diag(want), atol=1e-12)
    drag = forces(model, y, speed)[range(6), range(6)] - want
    share = np.array([1, 1, 1, *np.cos(x[3:]) ** 2])
    np.testing.assert_allclose(drag, np.array(C) * v * share, atol=1e-12)


def test_preload_of_a_bushing_pushes_body_b() -> None:
    model = floating(e={"type": "bushing", "joint": "J", "preload": F})
    np.testing.assert_allclose(forces(model, np.zeros(6)), [-np.array(F, float)], atol=1e-14)


def test_a_bushing_swings_like_springs() -> None:
    """A block on a spring with k along z, and one that turns against a weak bushing."""
    model = floating(e={"type": "bushing", "joint": "J", "stiffness": K})
    model = replace(model, start=replace(model.start, positions=(("p.z", 0.01), ("p.yaw", 1e-4))))
    time = np.linspace(0, 0.5, 6)
    for formulation in ("independent", "augmented"):
        found = simulate(model, time, formulation=formulation, **TIGHT)
        np.testing.assert_allclose(found.y[:, 2], 0.01 * np.cos(np.sqrt(150) * time), atol=1e-9)
        np.testing.assert_allclose(found.y[:, 5], 1e-4 * np.cos(np.sqrt(6) * time), atol=1e-9)


def test_a_bushing_closes_a_loop() -> None:
    """A free joint beside a hinge holds nothing: the bushing in it pushes with what it is bent."""
    model = build(
        name="arm",
        gravity=[0, 0, 0],
        points={"O": [0, 0, 0], "tip": [0.5, 0, 0]},
        bodies={"arm": {"mass": 1, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={
            "hinge": {"type": "revolute", "between": ["ground", "arm"], "at": "O", "axis": "z"},
            "mount": {"type": "free", "between": ["ground", "arm"], "at": ["tip", "tip"]},
        },
        elements={"e": {"type": "bushing", "joint": "mount", "stiffness": K}},
        coordinates={"q": {"joint": "hinge"}},
    )
    q = 0.3
    c, s = np.cos(q), np.sin(q)
    x, y = 0.5 * (c - 1), 0.5 * s
    by_hand = K[0] * x * -0.5 * s + K[1] * y * 0.5 * c + K[5] * s * c
    assert forces(model, q)[0, 0] == pytest.approx(by_hand, rel=1e-13)


# ---------------------------------------------------------------------- springs and dampers

ENDS = {"between": ["ground.post", "b.peg"]}
JOINT = {"joint": "rail"}


@pytest.mark.parametrize(("place", "free"), [(ENDS, 0.9), (JOINT, -0.1)])
def test_polynomial(place: dict[str, Any], free: float) -> None:
    e = {"stiffness": [10, -20, 300], "damping": [1, 2], "preload": 5, "free": free}
    model = slider(e={"type": "polynomial_spring_damper", **place, **e})
    for y, v in ((0.2, -1.5), (-0.3, 2.0)):
        x = y + 0.1
        want = 10 * x - 20 * x**2 + 300 * x**3 - 5 + v + 2 * abs(v) * v
        assert forces(model, y, v)[0, 0] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(("place", "free"), [(ENDS, 1.0), (JOINT, 0.0)])
def test_bump_stops_and_a_digressive_damper(place: dict[str, Any], free: float) -> None:
    e = {
        "stiffness": [5000, 100, 8000],
        "knots": [-0.05, 0.08],
        "free": free,
        "damping": [300, 1500, 800, 200],
        "speed_knots": [-0.1, 0, 0.2],
    }
    model = slider(e={"type": "piecewise_spring_damper", **place, **e})
    found = [forces(model, y)[0, 0] for y in (-0.07, -0.02, 0.05, 0.1)]
    np.testing.assert_allclose(found, [-5 - 100, -2, 5, 8 + 160], rtol=1e-12)
    drag = [forces(model, 0.0, v)[0, 0] for v in (-0.3, -0.05, 0.1, 0.5)]
    np.testing.assert_allclose(drag, [-150 - 60, -75, 80, 160 + 60], rtol=1e-12)


def test_a_bump_stop_stores_energy() -> None:
    """A block at 1 m/s meets a stop of 800 N/m after 0.1 m: it turns back after √(m/k) π."""
    model = slider(
        e={
            "type": "piecewise_spring_damper",
            **JOINT,
            "stiffness": [0, 800],
            "knots": [0.1],
            "free": 0,
        }
    )
    model = replace(model, start=replace(model.start, speeds=(("x", 1.0),)))
    contact = np.pi * np.sqrt(2 / 800)
    found = simulate(model, [0, 0.1 + contact / 2, 0.2 + contact], max_step=1e-3, **TIGHT)
    assert found.y[1, 0] == pytest.approx(0.1 + np.sqrt(2 / 800), abs=1e-6)
    assert found.y[2, 0] == pytest.approx(0, abs=1e-6)
    assert np.abs(found.energy_error).max() < 1e-6


# ---------------------------------------------------------------------- friction and loads


def test_friction_by_hand() -> None:
    e = {"viscous": 2, "stribeck": 3, "stribeck_speed": 0.5, "stribeck_exponent": 1.5}
    one = slider(e={"type": "friction", **JOINT, **e, "coulomb": 4})
    two = slider(e={"type": "friction", **JOINT, **e, "coulomb_positive": 4, "coulomb_negative": 7})
    soft = slider(e={"type": "friction", **JOINT, "coulomb": 4, "smoothing": 0.1})
    for v in (0.3, -0.3):
        drop = 3 * np.exp(-(0.6**1.5))
        assert forces(one, 0, v)[0, 0] == pytest.approx(2 * v + np.sign(v) * (4 + drop))
        sided = 4 if v > 0 else 7
        assert forces(two, 0, v)[0, 0] == pytest.approx(2 * v + np.sign(v) * (sided + drop))
        assert forces(soft, 0, v)[0, 0] == pytest.approx(4 * np.tanh(v / 0.1))


def test_loads_to_identify() -> None:
    unknown = {"value": 6, "identify": True}
    model = slider(
        a={"type": "force", "body": "b", "at": "peg", "direction": [3, 0, 4], "magnitude": unknown},
        b={"type": "joint_force", **JOINT, "force": unknown},
    )
    assert forces(model, 0)[0, 0] == pytest.approx(-6 * 0.6 - 6)
    columns = dynamic_model(model).columns[10:]
    assert [(c.name, c.unit) for c in columns] == [("force_a", "N"), ("force_b", "N")]
    turning = floating(
        m={"type": "moment", "body": "b", "direction": [0, 0, 2], "magnitude": unknown}
    )
    np.testing.assert_allclose(forces(turning, np.zeros(6)), [[0, 0, 0, 0, 0, -6]], atol=1e-14)


# ---------------------------------------------------------------------- all kinds at once


def arm(seed: int, kinds: tuple[str, ...] = tuple(ELEMENT_KINDS)) -> Mechanism:
    """An open chain of four bodies, one of them in space, with an element of every kind."""
    body = {"center": [0.1, 0, 0.05], "inertia": {"xx": 0.2, "yy": 0.3, "zz": 0.4}}
    at = {"A": [0, 0, 0], "B": [0.5, 0.1, 0], "C": [0.9, 0, 0.2], "D": [1.2, 0.3, 0.1]}
    joints = {
        "A": {"type": "revolute", "axis": [0, 0.6, 0.8]},
        "B": {"type": "cylindrical", "axis": "x"},
        "C": {"type": "universal", "axes": ["z", "x"]},
        "D": {"type": "free"},
    }
    bodies = ["ground", "b1", "b2", "b3", "b4"]
    for i, (name, spec) in enumerate(joints.items()):
        spec["between"] = bodies[i : i + 2]
        spec["at"] = [name, name] if name == "D" else name
    points = {f"P{i}": {"in": b, "at": [0.3, 0.2 * i, 0.1]} for i, b in enumerate(bodies)}
    mechanism = build(
        name="arm",
        points={**at, **points},
        bodies={b: {"mass": 1.5, **body} for b in bodies[1:]},
        joints=joints,
        coordinates={f"y{name}": {"joint": name} for name in joints},
    )
    own = tuple(p for p in mechanism.points if p.name.startswith("P"))
    bare = replace(mechanism, points=own)
    return replace(bare, elements=random_elements(bare, np.random.default_rng(seed), kinds))


def moved(mechanism: Mechanism, seed: int, n: int = 5) -> Motion:
    k = kinematic_model(mechanism)
    course = random_course(k, np.random.default_rng(seed))
    return solve_course(k, course, np.linspace(0.3, 5, n))


@pytest.mark.parametrize("seed", range(4))
def test_two_formulations_agree(seed: int) -> None:
    mechanism = arm(seed)
    motion, model = moved(mechanism, seed), dynamic_model(mechanism)
    seen, other = observation_matrix(motion, model), observation_matrix_reference(mechanism, motion)
    size = np.abs(seen.W).max(axis=(0, 1))
    assert np.abs(seen.W - other.W).max(axis=(0, 1)) == pytest.approx(0, abs=1e-11 * size.max())
    assert np.abs(seen.known - other.known).max() < 1e-11 * np.abs(seen.known).max()


@pytest.mark.parametrize("seed", range(4))
def test_virtual_power(seed: int) -> None:
    mechanism = arm(seed, WRITTEN_TWICE)
    motion, model = moved(mechanism, seed), dynamic_model(mechanism)
    seen = observation_matrix(motion, model)
    tau = seen.W @ cad_parameters(model) + seen.known
    power = VirtualPower(motion).inverse
    assert np.all(np.abs(tau - power.force) <= 1e-12 * power.size)


@pytest.mark.parametrize("formulation", EVERY)
def test_power_balance(formulation: str) -> None:
    """What is fed in is stored or lost, with every kind of element."""
    found = simulate(arm(3), np.linspace(0, 0.3, 4), formulation=formulation, rtol=1e-9, atol=1e-11)
    assert np.abs(found.dissipated).max() > 1e-3
    assert np.abs(found.work).max() > 1e-3
    scale = np.abs(found.kinetic).max() + np.abs(found.dissipated).max()
    assert np.abs(found.energy_error).max() < 1e-5 * scale  # friction has a jump


def unknown(e: ForceElement) -> ForceElement:
    """The element with every coefficient to be identified."""

    def open_(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(open_(x) for x in value)
        if not isinstance(value, Coefficient):
            return value
        return Coefficient(value.value or 0.7, identify=True)

    parts = (
        replace(part, values=tuple((key, open_(value)) for key, value in part.values))
        for part in e.parts
    )
    return replace(e, parts=tuple(parts))


@pytest.mark.parametrize("word", ELEMENT_KINDS)
def test_every_coefficient_is_recovered(word: str) -> None:
    """From exact forces: each coefficient, but for those that the null space of W mixes."""
    bare = arm(11, ())
    motion = moved(bare, 1, 200)
    tip = bare.point("P4")
    (e,) = random_elements(bare, np.random.default_rng(11), (word,))
    match ELEMENT_KINDS[word].attachment:
        case "points" | "line":
            e = replace(e, points=(bare.point("P0"), tip), coordinates=())
        case "frames":
            e = replace(e, coordinates=(("D", 0),))
        case "force":
            e = replace(e, points=(tip,), body="b4")
        case "moment":
            e = replace(e, body="b4")
    if word == "piecewise_spring_damper":  # every slope is used
        s, rate = VirtualPower(motion)._length(*e.points)[:2]
        free = float(np.median(s))
        values = dict(unknown(e).parts[0].values) | {"free": free}
        for key, x, slopes in (("knots", s - free, "stiffness"), ("speed_knots", rate, "damping")):
            values[key] = tuple(np.quantile(x, [0.3, 0.7]).tolist())
            values[slopes] = (Coefficient(2.0, identify=True),) * 3
        e = replace(e, parts=(replace(e.parts[0], values=tuple(values.items())),))
    mechanism = replace(bare, elements=(unknown(e),))
    motion, model = moved(mechanism, 1, 200), dynamic_model(mechanism)
    seen = observation_matrix(motion, model)
    phi = cad_parameters(model)
    W, tau = seen.W.reshape(-1, len(phi)), (seen.W @ phi).ravel()
    size = np.linalg.norm(W, axis=0)
    size[size == 0] = 1
    U, s, V = np.linalg.svd(W / size, full_matrices=False)
    rank = int((s > 1e-10 * s[0]).sum())
    found = (V[:rank].T @ ((U[:, :rank].T @ tau) / s[:rank])) / size
    mixed = np.abs(V[rank:]).max(axis=0, initial=0.0) > 1e-7
    own = np.arange(len(phi)) >= 10 * len(mechanism.bodies)
    clear = own & ~mixed
    np.testing.assert_allclose(found[clear], phi[clear], rtol=1e-6)
    # Both sides of friction together are its whole, which the file would refuse.
    assert mixed[own].sum() == (3 if word == "friction" else 0)


def test_forces_beyond_the_range_of_numbers_are_refused() -> None:
    powers = [0] * 8 + [{"value": 1, "identify": True}]
    model = slider(e={"type": "polynomial_spring_damper", "joint": "rail", "stiffness": powers,
                      "free": 0})  # fmt: skip
    still = np.zeros((1, 1))
    motion = solve_motion(kinematic_model(model), np.full((1, 1), 1e40), still, still)
    with pytest.raises(MechidError, match="slider: the force of k9_e is not a finite number"):
        observation_matrix(motion)


@pytest.mark.parametrize("cut", ["thread", "guide"])
def test_a_spring_on_a_thread_counts_turns_wherever_the_loop_is_cut(cut: str) -> None:
    """The thread turns by -q: its spring asks for k (q + free). The guide turns about another axis
    than the thread, so no angles of the tree add up to that of the thread."""
    body = {"mass": 1, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    between = {"at": [0, 0, 0], "axis": "z"}
    screw = build(
        name="screw",
        gravity=[0, 0, 0],
        bodies={"spindle": body, "nut": body},
        joints={
            "bearing": {"type": "revolute", "between": ["ground", "spindle"], **between},
            "guide": {
                "type": "planar",
                "between": ["ground", "nut"],
                "at": [0, 0, 0],
                "axis": "x",
                "zero": ["y", "y"],
            },
            "thread": {
                "type": "helical",
                "between": ["spindle", "nut"],
                **between,
                "pitch": 0.01,
            },
        },
        elements={
            "s": {"type": "torsion_spring", "joint": "thread", "stiffness": 3, "free_angle": 0.5}
        },
        coordinates={"q": {"joint": "bearing"}},
        cut=[cut],
    )
    q = np.linspace(0, 20, 101)[:, None]
    still = np.zeros_like(q)
    found = inverse_dynamics(solve_motion(screw, q, still, still)).tau
    np.testing.assert_allclose(found, 3 * (q + 0.5), rtol=1e-9)
