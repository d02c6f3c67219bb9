"""Motions that have a formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.linalg import expm

from mechid.dynamics.simulate import Simulation, simulate
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load
from mechid.spatial.rotations import skew

from .formulations import EVERY, FAST

Array = npt.NDArray[np.float64]
every_formulation = pytest.mark.parametrize("formulation", EVERY)
every_fast_formulation = pytest.mark.parametrize("formulation", FAST)
# Integration with rtol 1e-10 over a few dozen steps; formulas are exact.
TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
WITHIN = 1e-8


def agm(a: float, b: float) -> float:
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, (a * b) ** 0.5
    return a


def free_body(gravity: npt.ArrayLike, inertia: tuple[float, float, float]) -> Mechanism:
    xx, yy, zz = inertia
    return build(
        name="free",
        gravity=list(np.asarray(gravity, float)),
        bodies={
            "ball": {
                "frame": {"origin": [0, 0, 0]},
                "mass": 2.5,
                "center": [0, 0, 0],
                "inertia": {"xx": xx, "yy": yy, "zz": zz},
            }
        },
        joints={"J": {"type": "free", "between": ["ground", "ball"]}},
        coordinates={"J": {"joint": "J"}},
    )


def rotations(found: Simulation) -> Array:
    motion = solve_motion(found.model.kinematics, found.y, found.yd)
    return np.asarray(motion.bodies().rotation[:, 0])


@every_formulation
def test_free_fall_with_spin(formulation: str) -> None:
    """A ball falls on a parabola and turns evenly about a fixed axis."""
    g, v, w = np.array([0.3, -0.2, -9.81]), np.array([1.0, 2.0, 3.0]), np.array([1.2, 0.3, -0.5])
    body = free_body(g, (0.4, 0.4, 0.4))
    times = np.linspace(0, 1, 6)
    found = simulate(
        body, times, yd0=np.concatenate([v, w]), formulation=formulation, **TIGHT
    )  # at zero angles the rates of roll, pitch, yaw are ω
    t = times[:, None]
    assert found.y[:, :3] == pytest.approx(v * t + g * t**2 / 2, abs=WITHIN)
    turn = np.array([expm(skew(w) * s) for s in times])
    assert np.abs(rotations(found) - turn).max() < WITHIN
    assert found.kinetic == pytest.approx(
        1.25 * np.sum((v + g * t) ** 2, axis=1) + 0.2 * w @ w, rel=WITHIN
    )


@every_formulation
def test_symmetric_top_without_torque(formulation: str) -> None:
    """Steady precession: R = exp(H t / A) exp(-λ t z), λ = (C - A)/A ω3, H = I ω at the start."""
    A, C, w = 0.3, 0.5, np.array([0.4, 0.0, 1.1])
    times = np.linspace(0, 2, 5)
    found = simulate(
        free_body([0, 0, 0], (A, A, C)),
        times,
        yd0=np.concatenate([np.zeros(3), w]),
        formulation=formulation,
        **TIGHT,
    )
    H, rate = np.array([A, A, C]) * w, (C - A) / A * w[2]
    want = [expm(skew(H / A) * t) @ expm(-rate * t * skew(np.array([0, 0, 1.0]))) for t in times]
    assert np.abs(rotations(found) - want).max() < WITHIN


def test_exact_period_of_a_pendulum() -> None:
    pendulum = load("pendulum@point-mass-like")
    body = pendulum.bodies[0].inertia
    assert body is not None
    length, amplitude = 0.5, np.pi / 3
    inertia = body.mass * length**2 + body.inertia_center[3]
    slow = np.sqrt(inertia / (body.mass * 9.81 * length))
    period = 2 * np.pi * slow / agm(1.0, np.cos(amplitude / 2))
    found = simulate(pendulum, period * np.array([0, 0.25, 0.5, 0.75, 1]), **TIGHT)
    assert found.y[:, 0] == pytest.approx(amplitude * np.array([1, 0, -1, 0, 1]), abs=WITHIN)
    fastest = 2 * np.sin(amplitude / 2) / slow
    assert found.yd[:, 0] == pytest.approx(fastest * np.array([0, -1, 0, 1, 0]), abs=WITHIN)
    # An event finds the quarter too.
    event = simulate(pendulum, np.linspace(0, 2, 9), events=[lambda t, y, yd: y[0]], **TIGHT)
    assert event.time[-1] == pytest.approx(period / 4, abs=WITHIN)
    assert event.events == ((event.time[-1], 0),)


@every_fast_formulation
def test_massless_rod(formulation: str) -> None:
    """A bob at the end of a rod without mass, fixed to it: the mathematical pendulum."""
    length, amplitude = 0.7, 1.0
    rod = build(
        name="rod",
        gravity=[0, 0, -9.81],
        points={"O": [0, 0, 0], "E": [0, 0, -length]},
        bodies={
            "rod": {"frame": {"origin": "O"}, "massless": True},
            "bob": {
                "frame": {"origin": "E"},
                "mass": 3,
                "center": [0, 0, 0],
                "inertia": {"xx": 1e-9, "yy": 1e-9, "zz": 1e-9},
            },
        },
        joints={
            "O": {"type": "revolute", "between": ["ground", "rod"], "at": "O", "axis": "y"},
            "E": {"type": "fixed", "between": ["rod", "bob"], "at": "E"},
        },
        coordinates={"O": {"joint": "O"}},
    )
    slow = np.sqrt((3 * length**2 + 1e-9) / (3 * 9.81 * length))
    quarter = np.pi / 2 * slow / agm(1.0, np.cos(amplitude / 2))
    found = simulate(
        rod, quarter * np.arange(3), y0=np.array([amplitude]), formulation=formulation, **TIGHT
    )
    assert found.y[:, 0] == pytest.approx([amplitude, 0, -amplitude], abs=WITHIN)


def carriage(**elements: dict[str, Any]) -> Mechanism:
    """A mass of 2 kg that slides along x; its peg is 1 m from the post at the start."""
    return build(
        name="carriage",
        gravity=[1.5, 0, -9.81],
        points={"post": [-1, 0, 0], "peg": {"in": "block", "at": [0, 0, 0]}},
        bodies={
            "block": {
                "frame": {"origin": [0, 0, 0]},
                "mass": 2,
                "center": [0.1, 0.2, 0.3],
                "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1},
            }
        },
        joints={
            "rail": {"type": "prismatic", "between": ["ground", "block"], "at": "peg", "axis": "x"}
        },
        elements=elements,
        coordinates={"x": {"joint": "rail"}},
    )


@every_fast_formulation
@pytest.mark.parametrize("identify", [False, True])
@pytest.mark.parametrize("kind", ["spring_damper", "torsion_spring"])
def test_damped_oscillator(kind: str, identify: bool, formulation: str) -> None:
    """m ẍ + c ẋ + k (x - x0) = m g, whether the numbers are known or parameters."""
    k, c, m, free = 50.0, 3.0, 2.0, 0.8
    place = (
        {"between": ["ground.post", "block.peg"]} if kind == "spring_damper" else {"joint": "rail"}
    )
    start = 0.0 if kind == "spring_damper" else -1.0  # s = 1 + x, or s = x
    rest = {"free_length" if kind == "spring_damper" else "free_angle": free + start}
    model = carriage(
        spring={
            "type": kind,
            **place,
            "stiffness": {"value": k, "identify": identify},
            "damping": {"value": c, "identify": identify},
            **{name: {"value": x, "identify": identify} for name, x in rest.items()},
        }
    )
    times = np.linspace(0, 3, 7)
    found = simulate(model, times, formulation=formulation, **TIGHT)
    mean = free - 1 + m * 1.5 / k
    decay = c / (2 * m)
    w = np.sqrt(k / m - decay**2)
    x = mean - mean * np.exp(-decay * times) * (np.cos(w * times) + decay / w * np.sin(w * times))
    assert found.y[:, 0] == pytest.approx(x, abs=WITHIN)
    # Gravity along x is potential energy, so nothing is fed in.
    assert np.abs(found.energy_error).max() < WITHIN
    assert found.dissipated[-1] > 0.1


@every_fast_formulation
def test_friction_stops_a_carriage(formulation: str) -> None:
    """From v, Coulomb friction F less m g along the rail: stop after m v / F, on m v² / 2 F."""
    friction, v = 7.0, 0.9
    brake = friction - 2 * 1.5
    model = carriage(drag={"type": "friction", "joint": "rail", "viscous": 0, "coulomb": friction})
    found = simulate(
        model,
        np.linspace(0, 1, 5),
        yd0=np.array([v]),
        formulation=formulation,
        events=[lambda t, y, yd: yd[0] - 1e-12],
        **TIGHT,
    )
    assert found.time[-1] == pytest.approx(2 * v / brake, abs=WITHIN)
    assert found.y[-1, 0] == pytest.approx(2 * v**2 / (2 * brake), abs=WITHIN)
    assert found.dissipated[-1] == pytest.approx(friction * found.y[-1, 0], abs=WITHIN)


@every_fast_formulation
def test_loads_and_forces_drive(formulation: str) -> None:
    """A constant load and a force that is a function of t, x and ẋ: ẍ = 1.5 + (4 + F)/2."""
    model = carriage(push={"type": "force", "body": "block", "at": "peg", "vector": [4, 1, 0]})
    w = 3.0

    def control(t: float, y: Array, yd: Array) -> Array:
        assert y.shape == yd.shape == (1,)
        return -2 * w**2 * y - 2 * 2 * w * yd + np.array([np.exp(-t)])

    times = np.linspace(0, 2, 5)
    found = simulate(model, times, forces=control, formulation=formulation, **TIGHT)
    # ẍ + 2 w ẋ + w² x = 3.5 + e⁻ᵗ / 2: constant, exponential and critically damped parts
    fixed, forced = 3.5 / w**2, 0.5 / (1 - 2 * w + w**2)
    a = -(fixed + forced)
    b = forced + w * a
    x = fixed + forced * np.exp(-times) + (a + b * times) * np.exp(-w * times)
    assert found.y[:, 0] == pytest.approx(x, abs=WITHIN)
    assert np.abs(found.energy_error).max() < WITHIN
    assert found.tau[:, 0] == pytest.approx(
        [control(t, y, yd)[0] for t, y, yd in zip(times, found.y, found.yd, strict=True)]
    )
