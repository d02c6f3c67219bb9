"""Driven coordinates: some independent coordinates follow a given motion in a simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import simulate
from mechid.errors import MechidError
from mechid.excitation.families import Sine, Tabulated
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load

from .formulations import EVERY, FAST
from .methods import methods

Rates = Callable[[float], tuple[float, float, float]]
TIMES = np.linspace(0.0, 0.3, 7)


def wave(home: float, a: float, w: float) -> Rates:
    """Return a + smooth motion from home, with its derivatives."""
    return lambda t: (
        home + a * np.sin(w * t),
        a * w * np.cos(w * t),
        -a * w * w * np.sin(w * t),
    )


def waves(mechanism: Mechanism) -> dict[str, Rates]:
    model = kinematic_model(mechanism)
    scale = [0.2 if k.unit == "rad" else 0.05 * model.size for k in mechanism.coordinates]
    return {
        k.name: wave(float(model.home_y[i]), scale[i], 3.0 + 2.0 * i)
        for i, k in enumerate(mechanism.coordinates)
    }


def needed(mechanism: Mechanism, motions: dict[str, Rates], times: np.ndarray) -> np.ndarray:
    """Return the forces that inverse dynamics gives for motions of all coordinates, (N, n_i)."""
    given = np.array([[motion(float(t)) for motion in motions.values()] for t in times])
    y, yd, ydd = (np.ascontiguousarray(given[:, :, k]) for k in range(3))
    return inverse_dynamics(solve_motion(mechanism, y, yd, ydd, time=times)).tau


@pytest.mark.parametrize("formulation", EVERY)
@pytest.mark.parametrize("name", ["four_bar", "five_bar", "screw_press", "quarter_vehicle"])
def test_all_driven_is_inverse_dynamics(name: str, formulation: str) -> None:
    mechanism = load(name)
    motions = waves(mechanism)
    options: dict[str, Any] = {"formulation": formulation, "rtol": 1e-10}
    if formulation == "augmented":
        options |= {"rtol": 1e-7, "atol": 1e-9}
    found = simulate(mechanism, TIMES, drive=motions, **options)
    tau = needed(mechanism, motions, TIMES)
    tolerance = 1e-4 if formulation == "augmented" else 1e-8
    assert found.tau == pytest.approx(tau, abs=tolerance * np.abs(tau).max())
    given = np.array([[motion(float(t)) for motion in motions.values()] for t in TIMES])
    assert found.y == pytest.approx(given[:, :, 0], abs=1e-8)
    assert found.ydd == pytest.approx(given[:, :, 2], abs=1e-5)
    assert found.driven == tuple(motions)
    assert np.abs(found.energy_error).max() < 1e-5 * max(1.0, np.ptp(found.work))


@pytest.mark.parametrize("formulation", FAST)
@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "quarter_vehicle"])
def test_some_driven_and_forces_on_the_others(name: str, formulation: str) -> None:
    """Forces of a known motion on the free coordinates give this motion, and the driving force."""
    mechanism = load(name)
    motions = waves(mechanism)
    first = mechanism.coordinates[0].name

    def forces(t: float, y: np.ndarray, yd: np.ndarray) -> np.ndarray:
        tau = needed(mechanism, motions, np.array([t]))[0]
        tau[0] = 0.0
        return tau

    found = simulate(
        mechanism, TIMES, drive={first: motions[first]}, forces=forces, formulation=formulation,
        yd0=np.array([motion(0.0)[1] for motion in motions.values()]), rtol=1e-9,
    )  # fmt: skip
    given = np.array([[motion(float(t)) for motion in motions.values()] for t in TIMES])
    assert found.y == pytest.approx(given[:, :, 0], abs=1e-7)
    tau = needed(mechanism, motions, TIMES)
    assert found.tau[:, 0] == pytest.approx(tau[:, 0], abs=1e-6 * np.abs(tau).max())


# A crank of length L is driven; a pendulum (mass m at c, central inertia J) hangs on its pin.
L, m, c, J, m1, c1, I1, g = 0.4, 0.7, 0.5, 0.01, 1.3, 0.15, 0.02, 9.81


def crank_and_pendulum() -> Mechanism:
    return build(
        name="crank",
        gravity=[0, -g, 0],
        bodies={
            "crank": {"frame": {"origin": [0, 0, 0]}, "mass": m1, "center": [0, -c1, 0],
                      "inertia": {"xx": I1, "yy": I1, "zz": I1}},
            "bob": {"frame": {"origin": [0, -L, 0]}, "mass": m, "center": [0, -c, 0],
                    "inertia": {"xx": J, "yy": J, "zz": J}},
        },
        joints={
            "drive": {"type": "revolute", "between": ["ground", "crank"], "at": [0, 0, 0],
                      "axis": "z"},
            "pin": {"type": "revolute", "between": ["crank", "bob"], "at": [0, -L, 0], "axis": "z"},
        },
        coordinates={"theta": {"joint": "drive"}, "psi": {"joint": "pin"}},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("formulation", EVERY)
def test_a_driven_crank_with_a_free_pendulum(formulation: str) -> None:
    """Against Lagrange's equations of the two angles θ and φ = θ + ψ, integrated by SciPy."""
    a, w = 0.8, 6.0
    crank = wave(0.0, a, w)

    def phidd(t: float, phi: float) -> float:
        theta, thetad, thetadd = crank(t)
        d = phi - theta
        moment = L * (thetadd * np.cos(d) + thetad**2 * np.sin(d)) + g * np.sin(phi)
        return -m * c * moment / (J + m * c**2)

    times = np.linspace(0.0, 0.5 if formulation == "augmented" else 2.0, 6)
    start = [0.3, crank(0.0)[1]]
    right = solve_ivp(
        lambda t, x: [x[1], phidd(t, x[0])], times[[0, -1]], start, t_eval=times,
        method="DOP853", rtol=1e-11, atol=1e-12,
    ).y  # fmt: skip
    found = simulate(
        crank_and_pendulum(), times, drive={"theta": crank}, formulation=formulation,
        y0=np.array([0.0, 0.3]), yd0=np.zeros(2), rtol=1e-9,
    )  # fmt: skip
    phi, phid = right
    theta, _, thetadd = np.array([crank(float(t)) for t in times]).T
    assert found.y[:, 1] == pytest.approx(phi - theta, abs=1e-6)
    d = phi - theta
    acceleration = np.array([phidd(float(t), p) for t, p in zip(times, phi, strict=True)])
    torque = (
        (I1 + m1 * c1**2 + m * L**2) * thetadd
        + m * L * c * (acceleration * np.cos(d) - phid**2 * np.sin(d))
        + (m1 * c1 + m * L) * g * np.sin(theta)
    )
    assert found.tau[:, 0] == pytest.approx(torque, abs=1e-5)
    assert found.tau[:, 1] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(found.energy_error).max() < 1e-6


@pytest.mark.parametrize("integrator", methods("BDF", "Radau", "CVODE"))
def test_baumgarte_and_projection_hold_driven_coordinates(integrator: str) -> None:
    """Also where the state is integrated step by step with errors of its own."""
    found = simulate(
        crank_and_pendulum(), np.linspace(0, 1, 11), drive={"theta": wave(0.0, 0.8, 6.0)},
        formulation="gibbs-appell", integrator=integrator, rtol=1e-5, atol=1e-7,
    )  # fmt: skip
    assert found.y[:, 0] == pytest.approx(0.8 * np.sin(6 * found.time), abs=2e-4)


def test_families_and_numbers_are_motions() -> None:
    """A sine, a table of it, and a coordinate that stands still."""
    mechanism = crank_and_pendulum()
    times = np.linspace(0, 1, 11)
    sine = Sine(0.8, 1.0)
    t = np.linspace(0, 1, 201)
    table = Tabulated(tuple(t), *(tuple(x) for x in sine.rates(t)))
    by_sine = simulate(mechanism, times, drive={"theta": sine})
    by_table = simulate(mechanism, times, drive={"theta": table})
    assert by_table.y == pytest.approx(by_sine.y, abs=1e-7)
    still = simulate(mechanism, times, drive={"theta": 0.2}, y0=np.array([0.0, 0.1]))
    assert still.y[:, 0] == pytest.approx(0.2, abs=0)
    with pytest.raises(MechidError, match=r"no motion at t = 1.* goes from 0 s to 1 s"):
        simulate(mechanism, np.array([0.0, 2.0]), drive={"theta": table}, integrator="RK45")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drive": {"x": 1.0}}, "no independent coordinate x to drive.*choose one of: theta, psi"),
        ({"drive": {"theta": lambda t: 1.0}}, "motion of theta must give three finite numbers"),
        ({"drive": {"theta": lambda t: (1.0, 0.0, np.nan)}}, "three finite numbers"),
        (
            {"drive": {"theta": 0.0}, "forces": np.array([1.0, 0.0])},
            "force M_theta is given, but theta is driven",
        ),
        ({"tolerance": 1e-3}, "unknown option 'tolerance'.*choose one of: formulation"),
    ],
)
def test_wrong_drives_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(MechidError, match=words):
        simulate(crank_and_pendulum(), np.array([0.0, 0.1]), **options)
