"""Simulations of a study: forces as expressions of time, and what results are compared with."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.loads import Forces, ForcesOverTime, table_forces
from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import Simulation, SimulationError, SimulationOptions
from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.studies.experiments.shared import mechanism, words_key
from mechid.textfile.words import hint
from mechid.trajectoryfile import Expression


@dataclass(frozen=True)
class Simulated:
    """A simulation.

    Attributes
    ----------
    model : str
        Mechanism: a name of the zoo or a file; it says where the motion starts.
    seconds, rate : float
        Duration (s) and samples per second (Hz) of the result.
    formulation, integrator, stabilise : str
    rtol, atol, alpha, beta, max_step : float
        As in `mechid.SimulationOptions`.
    forces : mapping force → expression of t
        N or N m, besides the loads of the model.
    hold : bool
        Whether the forces that hold the home pose are added.
    follow : mapping coordinate → expression of t
        A motion of all coordinates; the forces that it needs, by inverse dynamics, sampled 1000
        times a second and interpolated by a cubic spline, act open loop.
    expected : mapping coordinate → expression of t, or list of [time, value]
        What the motion should be.
    reference : mapping option → value, optional
        Another simulation that the motion is compared with: the same but for these options.
    quantities : sequence of str
        What a time history reports: coordinates, joints (their first coordinate), forces,
        `kinetic`, `potential`, `work`, `constraint error` (m), `energy error` and `difference`
        (from what is expected, or from the reference; largest of all coordinates).
    """

    model: str
    seconds: float = 1.0
    rate: float = 100.0
    formulation: str = "independent"
    integrator: str = "DOP853"
    stabilise: str | None = None
    rtol: float = 1e-9
    atol: float = 1e-11
    alpha: float = 50.0
    beta: float = 50.0
    max_step: float | None = None
    forces: Mapping[str, str | float] = field(default_factory=dict)
    hold: bool = False
    follow: Mapping[str, str | float] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    reference: Mapping[str, Any] = field(default_factory=dict)
    quantities: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return the hash of all of it as text: forces are mappings."""
        return hash(words_key(asdict(self)))

    def shared(self) -> Hashable:
        """Key of the work that cells share: the mechanism."""
        return self.model


_OPTIONS = ("formulation", "integrator", "stabilise", "rtol", "atol", "alpha", "beta")
_FOLLOWED = 1000.0  # Hz


def simulated(s: Simulated) -> Simulation:
    """Simulate; what stops early is returned as far as it came."""
    return _simulated(replace(s, expected={}, reference={}, quantities=()))


@lru_cache(maxsize=16)
def _simulated(s: Simulated) -> Simulation:
    model = mechanism(s.model)
    times = np.linspace(0.0, s.seconds, round(s.rate * s.seconds) + 1)
    options = SimulationOptions(
        **{name: getattr(s, name) for name in _OPTIONS},
        max_step=np.inf if s.max_step is None else s.max_step,
    )
    try:
        return simulate(model, times, options, forces=_forces(model, s))
    except SimulationError as error:
        return error.partial


def differences(s: Simulated, found: Simulation) -> Floats | None:
    """Return how far the motion is from what is expected or from the reference, at each time.

    The largest of all coordinates that are compared; NaN at times for which nothing is expected,
    None if nothing is compared.
    """
    names = [c.name for c in found.model.mechanism.coordinates]
    off = np.full((len(found.time), len(names)), np.nan)
    for name, values in s.expected.items():
        _check("coordinate", name, names, s.model)
        i = names.index(name)
        if isinstance(values, str):
            off[:, i] = np.abs(found.y[:, i] - Expression(values).given(found.time).position)
            continue
        for t, value in values:
            k = int(np.argmin(np.abs(found.time - t)))
            if abs(found.time[k] - t) < 1e-6 / s.rate:
                off[k, i] = abs(found.y[k, i] - value)
    if s.reference:
        other = simulated(replace(s, **_known(s.reference)))
        n = min(len(found.time), len(other.time))
        off[:n] = np.abs(found.y[:n] - other.y[:n])
    if np.all(np.isnan(off)):
        return None
    filled = np.where(np.isnan(off), -np.inf, off).max(axis=1)
    return np.where(np.isinf(filled), np.nan, filled)


def relative_energy_error(s: Simulation) -> Floats:
    """Return the energy that came from nowhere, relative to the range of the energies, (N,)."""
    span = max(float(np.ptp(x)) for x in (s.kinetic, s.potential, s.work, s.dissipated))
    return np.abs(s.energy_error) / (span or 1.0)


def _known(words: Mapping[str, Any]) -> dict[str, Any]:
    for name in words:
        _check("option", name, [*_OPTIONS, "max_step"], "reference")
    return dict(words)


def _forces(model: Mechanism, s: Simulated) -> Forces | Floats:
    names = [c.force for c in model.coordinates]
    if s.follow:
        return _following(model, s)
    hold = np.zeros(len(names))
    if s.hold:
        home = kinematic_model(model).home_y
        hold = inverse_dynamics(solve_motion(model, home[None])).tau[0]
    for name in s.forces:
        _check("force", name, names, s.model)
    laws = {names.index(n): Expression(str(text)) for n, text in s.forces.items()}

    def at(t: float) -> Floats:
        tau = hold.copy()
        for i, law in laws.items():
            tau[i] += law.given(np.array([t])).position[0]
        return tau

    return ForcesOverTime(at) if laws else hold


def _following(model: Mechanism, s: Simulated) -> Forces:
    names = [c.name for c in model.coordinates]
    for name in (*s.follow, *names):
        _check("coordinate", name, names if name in s.follow else list(s.follow), s.model)
    t = np.linspace(0.0, s.seconds, round(_FOLLOWED * s.seconds) + 1)
    rates = [Expression(str(s.follow[n])).given(t) for n in names]
    y, yd, ydd = (np.column_stack([r[k] for r in rates]) for k in range(3))
    tau = inverse_dynamics(solve_motion(model, y, yd, ydd, time=t)).tau
    return table_forces(t, tau, "cubic")


def _check(what: str, name: str, known: Sequence[str], where: str) -> None:
    if name not in known:
        raise DataError(f"there is no {what} {name}", where=where, remedy=hint(name, list(known)))
