"""What to plot over time: motions, forces, simulations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mechid.dynamics.inverse import InverseDynamics
from mechid.dynamics.simulation import Simulation
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import IndependentCoordinate
from mechid.plots.panels import Panel
from mechid.tables.forces import force_unit

TIME = "time / s"
_NAMES = {
    "m": "position / m",
    "m/s": "speed / (m/s)",
    "m/s²": "acceleration / (m/s²)",
    "rad": "angle / rad",
    "rad/s": "speed / (rad/s)",
    "rad/s²": "acceleration / (rad/s²)",
    "N": "force / N",
    "N m": "moment / N m",
}


def simulation_panels(simulation: Simulation) -> list[Panel]:
    """Return coordinates, applied forces (if any), energies and constraint error over time."""
    s = simulation
    coordinates = s.model.mechanism.coordinates
    panels = by_unit(s.time, TIME, [(c.name, c.unit, s.y[:, i]) for i, c in enumerate(coordinates)])
    panels += by_unit(s.time, TIME, [f for f in _forces(coordinates, s.tau) if np.any(f[2])])
    energies = {"kinetic": s.kinetic}
    if np.any(s.potential):
        energies |= {"potential": s.potential, "sum": s.kinetic + s.potential}
    if np.any(s.work):
        energies["work"] = s.work
    if np.any(s.dissipated):
        energies["dissipated"] = s.dissipated
    panels.append(Panel("energy / J", s.time, energies, dashed=("work", "dissipated")))
    size = s.model.kinematics.size
    panels.append(Panel("constraint error / m", s.time, {"": size * s.constraint_error}, log=True))
    return panels


def inverse_panels(result: InverseDynamics) -> list[Panel]:
    """Return the generalised forces over time (over samples, if the motion has no times)."""
    forces = _forces(result.motion.model.mechanism.coordinates, result.tau)
    return by_unit(*times(result.motion.time, len(result.tau)), forces)


def motion_panels(
    names: Sequence[tuple[str, str]], time: Floats | None, rates: Sequence[Floats]
) -> list[Panel]:
    """Return coordinates, speeds and accelerations over time.

    Parameters
    ----------
    names : sequence of (name, unit)
        Of the n coordinates.
    time : array (N,), optional
    rates : sequence of array (N, n)
        Coordinates, and as many of their derivatives as there are.
    """
    where, label = times(time, len(rates[0]))
    panels = []
    for rate, per, values in zip(("", ".d", ".dd"), ("", "/s", "/s²"), rates, strict=False):
        curves = [(name + rate, unit + per, values[:, i]) for i, (name, unit) in enumerate(names)]
        panels += by_unit(where, label, curves)
    return panels


def times(time: Floats | None, n: int) -> tuple[Floats, str]:
    """Return what to draw n samples over, and its label: times, or numbers of samples."""
    return (np.arange(n, dtype=float), "sample") if time is None else (time, TIME)


def _forces(
    coordinates: Iterable[IndependentCoordinate], tau: Floats
) -> list[tuple[str, str, Floats]]:
    return [(c.force, force_unit(c), tau[:, i]) for i, c in enumerate(coordinates)]


def by_unit(time: Floats, x: str, curves: list[tuple[str, str, Floats]]) -> list[Panel]:
    """One panel per unit; a single curve is named by its axis."""
    panels = []
    for unit in dict.fromkeys(unit for _, unit, _ in curves):
        mine = {name: values for name, own, values in curves if own == unit}
        per = f"({unit})" if "/" in unit else unit
        label = f"{next(iter(mine))} / {per}" if len(mine) == 1 else _NAMES.get(unit, unit)
        panels.append(Panel(label, time, mine, x=x))
    return panels
