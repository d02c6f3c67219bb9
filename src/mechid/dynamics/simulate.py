"""Forward simulation: from forces to motion."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.forward.augmented import Augmented
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.explicit_gibbs_appell import ExplicitGibbsAppell
from mechid.dynamics.forward.formulation import Baumgarte, Formulation
from mechid.dynamics.forward.gibbs_appell import GibbsAppell
from mechid.dynamics.forward.independent import Independent
from mechid.dynamics.forward.udwadia_kalaba import UdwadiaKalaba
from mechid.dynamics.integrate import ONE_STEP, IntegrationError, Trace, integrate
from mechid.dynamics.loads import Forces
from mechid.dynamics.parameters import parameter_values
from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.represent import short_repr

_DRIFTING = {c.name: c for c in (GibbsAppell, ExplicitGibbsAppell, UdwadiaKalaba, Augmented)}
FORMULATIONS = ("independent", *_DRIFTING)
STABILISATIONS = ("none", "baumgarte", "projection")
# A pose out of reach may mean a step that was too long. After so many of them, with less progress
# than this part of the time between, the motion itself leads there.
_MOST_REFUSALS = 200
_PROGRESS = 1e-4


@dataclass(frozen=True)
class Simulation:
    """Result of a simulation; N instants.

    Attributes
    ----------
    time : array (N,)
    y, yd, ydd : arrays (N, n_i)
        Independent coordinates, speeds, accelerations.
    q, v : arrays (N, n_q), (N, n_v)
        Tree coordinates and speeds.
    tau : array (N, n_i)
        Applied forces on the independent coordinates.
    multipliers : array (N, m)
        Of the closure rows; empty for the formulation "independent". For the forces in joints see
        `mechid.simulated_reactions`.
    kinetic, potential : arrays (N,)
        Energies, J.
    work, dissipated : arrays (N,)
        Work of forces and loads since the start, and what dampers and friction took, J.
    constraint_error : array (N,)
        Largest closure row, relative to the size of the mechanism.
    phi : array (p,)
        The parameters that were simulated with.
    evaluations, steps : int
    seconds : float
    """

    model: DynamicModel
    formulation: str
    stabilisation: str
    integrator: str
    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats
    q: Floats
    v: Floats
    tau: Floats
    multipliers: Floats
    kinetic: Floats
    potential: Floats
    work: Floats
    dissipated: Floats
    constraint_error: Floats
    phi: Floats
    evaluations: int
    steps: int
    seconds: float
    events: tuple[tuple[float, int], ...] = ()

    __repr__ = short_repr

    @property
    def energy_error(self) -> Floats:
        """Energy that came from nowhere, J: E - E(0) - work + dissipated."""
        energy = self.kinetic + self.potential
        return np.asarray(energy - energy[0] - self.work + self.dissipated)


class SimulationError(MechidError):
    """The simulation could not be carried to its end; `partial` holds what was computed."""

    def __init__(
        self, what: str, partial: Simulation, *, where: str = "", remedy: str = ""
    ) -> None:
        self.partial = partial
        super().__init__(what, where=where, remedy=remedy)


def simulate(
    mechanism: Mechanism | DynamicModel,
    times: Floats,
    *,
    forces: Forces | Floats | None = None,
    phi: Floats | None = None,
    y0: Floats | None = None,
    yd0: Floats | None = None,
    formulation: str = "independent",
    stabilise: str | None = None,
    alpha: float = 50.0,
    beta: float = 50.0,
    integrator: str = "DOP853",
    rtol: float = 1e-9,
    atol: float = 1e-11,
    max_step: float = np.inf,
    events: Sequence[Callable[[float, Floats, Floats], float]] = (),
    watch: Callable[[float], None] | None = None,
) -> Simulation:
    """Simulate a mechanism under given forces.

    Parameters
    ----------
    times : array (N,)
        Increasing; results are given at these times, the first one is the start.
    forces : array (n_i,) or callable (t, y, ẏ) -> (n_i,), optional
        Forces on the independent coordinates, besides the loads of the model. Default: none.
    phi : array (p,), optional
        Parameters in the order of `model.columns`; default: CAD values.
    y0, yd0 : arrays (n_i,), optional
        Start; default: what the model file says, else the assembled reference pose at rest.
    formulation : one of FORMULATIONS
    stabilise : "none", "baumgarte" or "projection"
        Default: projection after every step where the formulation can drift.
    alpha, beta : float
        Baumgarte's coefficients, Φ'' + 2 α Φ' + β² Φ = 0.
    integrator, rtol, atol, max_step :
        See `integrate`.
    events : callables (t, y, ẏ) -> float
        The simulation ends at the first zero of one of them.

    Raises
    ------
    SimulationError
        If the integration stops early; `error.partial` is the simulation so far.
    """
    model = mechanism if isinstance(mechanism, DynamicModel) else dynamic_model(mechanism)
    values = parameter_values(model, phi)
    chosen, stabilisation = _formulation(
        model, values, formulation, stabilise, alpha, beta, integrator
    )
    wanted = _times(times)
    q, v = initial_state(model, y0, yd0)
    z0 = np.concatenate([chosen.start(q, v), [0.0, 0.0]])
    act = _forces(model, forces)
    count = [0]
    cause: list[tuple[float, MechidError]] = []
    refused = _Refusals(_PROGRESS * float(wanted[-1] - wanted[0]))

    def rate(t: float, z: Floats) -> Floats:
        count[0] += 1
        if not np.all(np.isfinite(z)):  # follows from nan of an earlier stage of the same step
            return np.full(z.size, np.nan)
        state = z[:-2]
        # Constant forces need no coordinates, which some formulations would have to compute.
        y, yd = chosen.independent(state) if callable(forces) else (state, state)
        try:
            now = chosen.evaluate(state, act(t, y, yd))
        except KinematicsError as error:
            # Perhaps the step was only too long: nan makes the integrator try a shorter one.
            cause[:] = [(t, error)]
            if refused.too_many(t):
                raise
            return np.full(z.size, np.nan)
        return np.concatenate([now.rate, [now.power, now.dissipated]])

    def project(z: Floats) -> Floats:
        return np.concatenate([chosen.project(z[:-2]), z[-2:]])

    inspect = None
    if isinstance(chosen, Independent):
        see = chosen.inspector(act, float(wanted[-1] - wanted[0]))
        see(float(wanted[0]), z0[:-2])
        inspect = lambda t, z: see(t, z[:-2])  # noqa: E731
    began = clock.perf_counter()
    failure: IntegrationError | None = None
    try:
        # A state that runs away overflows: that is for the integrator to see, not a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            trace = integrate(
                rate,
                z0,
                wanted,
                method=integrator,
                rtol=rtol,
                atol=atol,
                max_step=max_step,
                project=project if stabilisation == "projection" else None,
                events=[_event(chosen, g) for g in events],
                inspect=inspect,
                watch=watch,
            )
    except IntegrationError as error:
        failure, trace = error, error.trace
    seconds = clock.perf_counter() - began
    chosen.start(q, v)  # instants are followed from the start again
    result, left = _collect(
        model, values, chosen, stabilisation, integrator, trace, act, count[0], seconds
    )
    if left is not None:
        raise _stopped(float(trace.time[len(result.time)]), left, result)
    if failure is not None:
        # Integrators give up because poses were refused ahead; those before are forgotten.
        refusals = [error for t, error in cause if t >= failure.time]
        why = failure if isinstance(failure.__cause__, MechidError) else (*refusals, failure)[0]
        raise _stopped(failure.time, why, result)
    return result


def _stopped(time: float, why: MechidError, partial: Simulation) -> SimulationError:
    return SimulationError(
        f"the simulation stopped at t = {time:g} s: {why.what}", partial, remedy=why.remedy
    )


@dataclass
class _Refusals:
    """Counts evaluations that found no pose, anew after every `progress` seconds."""

    progress: float
    since: float = -np.inf
    count: int = 0

    def too_many(self, t: float) -> bool:
        if t > self.since + self.progress:
            self.since, self.count = t, 0
        self.count += 1
        return self.count > _MOST_REFUSALS


def _times(times: Floats) -> Floats:
    wanted = np.asarray(times, dtype=float)
    if wanted.ndim != 1 or not wanted.size:
        raise DataError(f"times must have shape (N,), got {wanted.shape}")
    if not np.all(np.isfinite(wanted)) or np.any(np.diff(wanted) <= 0):
        raise DataError(
            "times must be finite numbers that increase",
            remedy="sort the times and keep each of them once",
        )
    return wanted


def _event(
    chosen: Formulation, g: Callable[[float, Floats, Floats], float]
) -> Callable[[float, Floats], float]:
    return lambda t, z: g(t, *chosen.independent(z[:-2]))


def initial_state(
    model: DynamicModel, y0: Floats | None, yd0: Floats | None
) -> tuple[Floats, Floats]:
    """Return the closed tree state at the start, (n_q,) and (n_v,)."""
    k = model.kinematics
    names = [c.name for c in k.mechanism.coordinates]
    y, yd = k.home_y.copy(), np.zeros(k.n_independent)
    for name, value in k.mechanism.start.positions:
        y[names.index(name)] = value
    for name, value in k.mechanism.start.speeds:
        yd[names.index(name)] = value
    y = y if y0 is None else np.asarray(y0, dtype=float)
    yd = yd if yd0 is None else np.asarray(yd0, dtype=float)
    motion = solve_motion(k, y[None], yd[None], ordered=False)
    return motion.q[0], motion.v[0]


def _formulation(
    model: DynamicModel,
    phi: Floats,
    name: str,
    stabilise: str | None,
    alpha: float,
    beta: float,
    integrator: str,
) -> tuple[Formulation, str]:
    if name not in FORMULATIONS:
        raise MechidError(
            f"unknown formulation '{name}'", remedy=f"choose one of {', '.join(FORMULATIONS)}"
        )
    if stabilise is None:
        stabilise = "projection" if integrator in ONE_STEP else "baumgarte"
    if stabilise not in STABILISATIONS:
        raise MechidError(
            f"unknown stabilisation '{stabilise}'",
            remedy=f"choose one of {', '.join(STABILISATIONS)}",
        )
    baumgarte = Baumgarte(alpha, beta) if stabilise == "baumgarte" else Baumgarte()
    engine = Engine(model, phi)
    if name == "independent":
        return Independent(engine), "none"
    return _DRIFTING[name](engine, baumgarte), stabilise


def _forces(model: DynamicModel, forces: Forces | Floats | None) -> Forces:
    n = model.kinematics.n_independent

    def checked(values: object) -> Floats:
        tau = np.asarray(values, dtype=float)
        if tau.shape != (n,):
            raise DataError(f"forces must have shape ({n},), got {tau.shape}")
        if not np.all(np.isfinite(tau)):
            raise DataError(f"forces must be finite numbers, got {tau}")
        return tau

    if callable(forces):
        return lambda t, y, yd: checked(forces(t, y, yd))
    constant = checked(np.zeros(n) if forces is None else forces)
    return lambda t, y, yd: constant


def _collect(
    model: DynamicModel,
    phi: Floats,
    chosen: Formulation,
    stabilisation: str,
    integrator: str,
    trace: Trace,
    act: Forces,
    evaluations: int,
    seconds: float,
) -> tuple[Simulation, KinematicsError | None]:
    """Return the simulation, and why it ends before its trace does, if it does."""
    rows: list[tuple[Any, ...]] = []
    left: KinematicsError | None = None
    for t, z in zip(trace.time, trace.z, strict=True):
        state = z[:-2]
        y, yd = chosen.independent(state)
        tau = act(float(t), y, yd)
        try:
            now = chosen.evaluate(state, tau)
        except KinematicsError as error:
            if not rows:
                raise
            left = error
            break
        q, v = chosen.tree(state)
        ydd = chosen.independent_acceleration(state, now.rate)
        energies = (now.kinetic, now.potential, z[-2], z[-1])
        gap = chosen.constraint_error(state)
        rows.append((y, yd, ydd, q, v, tau, now.multipliers, *energies, gap))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    y, yd, ydd, q, v, tau, multipliers, kinetic, potential, work, dissipated, errors = columns
    found = Simulation(
        model=model,
        formulation=chosen.name,
        stabilisation=stabilisation,
        integrator=integrator,
        time=trace.time[: len(rows)],
        y=y,
        yd=yd,
        ydd=ydd,
        q=q,
        v=v,
        tau=tau,
        multipliers=multipliers,
        kinetic=kinetic,
        potential=potential,
        work=work,
        dissipated=dissipated,
        constraint_error=errors,
        phi=phi,
        evaluations=evaluations,
        steps=trace.steps,
        seconds=seconds,
        events=trace.events,
    )
    return found, left
