"""The suspensions of the sources: drift of the constraints, and motion under pulses of force."""

from __future__ import annotations

import numpy as np
from mujoco_peer import upright_travel
from report import table

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import Forces, Simulation, simulate
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load
from mechid.plots import Panel

# (name of the run, options): the source's coefficients are α = 50, β = 0.5 in the same form.
STIFF = {"integrator": "CVODE", "rtol": 1e-8, "atol": 1e-8}
QUARTER = (
    ("none", STIFF | {"stabilise": "none"}),
    ("Baumgarte, α = 50, β = 0.5", STIFF | {"stabilise": "baumgarte", "alpha": 50.0, "beta": 0.5}),
    ("projection", {"integrator": "DOP853", "rtol": 1e-8, "atol": 1e-8, "stabilise": "projection"}),
)
LOOSE = {"integrator": "DOP853", "rtol": 1e-6, "atol": 1e-8, "max_step": 0.02}
PULSES = (
    ("none", LOOSE | {"stabilise": "none"}),
    ("Baumgarte, α = β = 50", LOOSE | {"stabilise": "baumgarte", "alpha": 50.0, "beta": 50.0}),
    ("projection", LOOSE | {"stabilise": "projection"}),
)
HEAD = ("stabilisation", "integrator", "evaluations", "seconds", "largest constraint error, m",
        "energy error / range")  # fmt: skip


def quarter_vehicle(formulation: str = "augmented") -> tuple[str, list[Panel]]:
    """Return table and plots: drift by three ways to stabilise, and the upright beside MuJoCo."""
    mechanism = load("quarter_vehicle")
    times = np.linspace(0.0, 2.0, 401)
    runs = {
        name: simulate(mechanism, times, formulation=formulation, **options)
        for name, options in QUARTER
    }
    other = upright_travel(mechanism, times)
    travel = {"mechid": runs["projection"].y[:, 0], "MuJoCo": other}
    off = {name: np.abs(s.y[:, 0] - other) for name, s in runs.items()}
    panels = [
        _drift(times, runs, "quarter vehicle, released from rest"),
        Panel("height of E / m", times, travel, dashed=("MuJoCo",)),
        Panel("difference / m", times, off, log=True),
    ]
    rows = [(*row, f"{off[row[0]].max():.0e}") for row in _rows(runs)]
    return table((*HEAD, "off MuJoCo, m"), rows, words=2), panels


def pulsed(name: str, formulation: str = "explicit-gibbs-appell") -> tuple[str, list[Panel]]:
    """Return table and plots of a suspension that is held in its reference pose and then hit."""
    mechanism = load(name)
    forces = _sla(mechanism) if name == "sla_suspension" else _pushrod(mechanism)
    times = np.linspace(0.0, 1.5, 601)
    runs = {
        label: simulate(mechanism, times, forces=forces, formulation=formulation, **options)
        for label, options in PULSES
    }
    best = simulate(mechanism, times, forces=forces, rtol=1e-10, max_step=0.02)
    rows = [
        (*row, f"{np.abs(runs[row[0]].y[:, :2] - best.y[:, :2]).max():.0e}") for row in _rows(runs)
    ]
    panels = [_drift(times, runs, mechanism.title), *_motion(best)]
    return table((*HEAD, "off the independent formulation, m"), rows, words=2), panels


def _rows(runs: dict[str, Simulation]) -> list[tuple[str, ...]]:
    out = []
    for name, s in runs.items():
        span = max(np.ptp(part) for part in (s.kinetic, s.potential, s.work, s.dissipated))
        error = s.model.kinematics.size * s.constraint_error.max()
        energy = np.abs(s.energy_error).max() / span
        seconds = f"{s.seconds:.2g}"
        out.append(
            (name, s.integrator, str(s.evaluations), seconds, f"{error:.0e}", f"{energy:.0e}")
        )
    return out


def _drift(times: Floats, runs: dict[str, Simulation], title: str) -> Panel:
    curves = {name: s.model.kinematics.size * s.constraint_error for name, s in runs.items()}
    return Panel("constraint error / m", times, curves, log=True, title=title)


def _motion(s: Simulation) -> list[Panel]:
    """Return travel, the rack if there is one, spin if there is any, and the pulses."""
    names = [c.name for c in s.model.mechanism.coordinates]
    heights = [i for i, name in enumerate(names) if name.startswith("z_")]
    travel = {names[i]: 1e3 * (s.y[:, i] - s.y[0, i]) for i in heights}
    panels = [Panel("travel / mm", s.time, travel)]
    if "rack" in names:
        panels.append(Panel("rack / mm", s.time, {"rack": 1e3 * s.y[:, names.index("rack")]}))
    if np.ptp(s.yd[:, names.index("spin_l")]) > 1.0:
        speeds = {n: s.yd[:, names.index(n)] for n in ("spin_l", "spin_r")}
        panels.append(Panel("spin / rad/s", s.time, speeds))
    for unit, label in (("m", "pulses / N"), ("rad", "pulse / N m")):
        pulses = {
            c.force: s.tau[:, i] - s.tau[0, i]
            for i, c in enumerate(s.model.mechanism.coordinates)
            if c.unit == unit and np.ptp(s.tau[:, i])
        }
        if pulses:
            panels.append(Panel(label, s.time, pulses))
    return panels


def _sla(mechanism: Mechanism) -> Forces:
    """A bump under the right wheel at 0.1 s, then the rack is pushed to and fro from 0.6 s on."""
    hold = _holding(mechanism)

    def forces(t: float, y: Floats, yd: Floats) -> Floats:
        return hold + np.array([2500 * _bump(t, 0.1, 0.1), 0, 100 * _swing(t, 0.6, 0.3), 0, 0])

    return forces


def _pushrod(mechanism: Mechanism) -> Forces:
    """A bump under the left wheel, then one under the right while the left one spins up."""
    hold = _holding(mechanism)

    def forces(t: float, y: Floats, yd: Floats) -> Floats:
        left, right = 3000 * _bump(t, 0.1, 0.05), 3000 * _bump(t, 0.6, 0.05)
        return hold + np.array([left, right, 40 * _bump(t, 0.6, 0.3), 0])

    return forces


def _holding(mechanism: Mechanism) -> Floats:
    """Return the forces that hold the reference pose."""
    model = kinematic_model(mechanism)
    return inverse_dynamics(solve_motion(model, model.home_y[None])).tau[0]


def _bump(t: float, start: float, length: float) -> float:
    x = (t - start) / length
    return float(np.sin(np.pi * x) ** 2) if 0 < x < 1 else 0.0


def _swing(t: float, start: float, length: float) -> float:
    x = (t - start) / length
    return float(np.sin(2 * np.pi * x)) if 0 < x < 1 else 0.0
