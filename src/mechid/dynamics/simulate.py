"""Forward simulation: from forces, and motions of driven coordinates, to motion."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mechid.dynamics.acting import Action, action
from mechid.dynamics.columns import element_terms
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.drive import Drive, Driven, driven_coordinates
from mechid.dynamics.energy_balance import Energies, EnergyGate, Rest, allowed, refusal
from mechid.dynamics.forward.augmented import Augmented
from mechid.dynamics.forward.compiled import CompiledStages
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.explicit_gibbs_appell import ExplicitGibbsAppell
from mechid.dynamics.forward.formulation import Baumgarte, Formulation
from mechid.dynamics.forward.gibbs_appell import GibbsAppell
from mechid.dynamics.forward.independent import Independent
from mechid.dynamics.forward.on_tree import TreeFormulation
from mechid.dynamics.forward.remembering import Remembering
from mechid.dynamics.forward.rubbing import Rubbing
from mechid.dynamics.forward.udwadia_kalaba import UdwadiaKalaba
from mechid.dynamics.hysteresis import remembered
from mechid.dynamics.integrate import ONE_STEP, integrate
from mechid.dynamics.integrators.task import IntegrationError, Trace
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.loads import Forces
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.simulation import Simulation, SimulationError, SimulationOptions
from mechid.dynamics.timed_loads import timed_loads
from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_laws import FRICTION
from mechid.mechanism.records import Mechanism

_DRIFTING = {c.name: c for c in (GibbsAppell, ExplicitGibbsAppell, UdwadiaKalaba, Augmented)}
FORMULATIONS = ("independent", *_DRIFTING)
STABILISATIONS = ("none", "baumgarte", "projection")
# A pose out of reach may mean a step that was too long. After so many of them, with less progress
# than this part of the time between, the motion itself leads there.
_MOST_REFUSALS = 200
_PROGRESS = 1e-4

Event = Callable[[float, Floats, Floats], float]


def simulate(
    mechanism: Mechanism | DynamicModel,
    times: Floats,
    options: SimulationOptions = SimulationOptions(),  # noqa: B008 - frozen
    *,
    forces: Forces | Floats | None = None,
    drive: Drive | None = None,
    phi: Floats | None = None,
    y0: Floats | None = None,
    yd0: Floats | None = None,
    events: Sequence[Event] = (),
    watch: Callable[[float], None] | None = None,
    **settings: Any,
) -> Simulation:
    """Simulate a mechanism under given forces.

    Parameters
    ----------
    mechanism : Mechanism or DynamicModel
    times : array (N,)
        Increasing; results are given at these times, the first one is the start.
    options : SimulationOptions
        Formulation, integrator, tolerances.
    forces : array (n_i,) or callable (t, y, ẏ) -> (n_i,), optional
        Forces on the independent coordinates, besides the loads of the model. Default: none. A
        function is called at every evaluation; with tables (`table_forces`) that is not needed.
    drive : mapping coordinate → motion, optional
        Coordinates that follow a given motion: a function of time that returns position, speed and
        acceleration, or a number. The forces they need are part of `tau` of the result.
    phi : array (p,), optional
        Parameters in the order of `model.columns`; default: CAD values.
    y0, yd0 : arrays (n_i,), optional
        Start; default: what the model file says, else the assembled reference pose at rest. Driven
        coordinates start with their motion.
    events : callables (t, y, ẏ) -> float
        The simulation ends at the first zero of one of them.
    watch : callable (t), optional
        Called after every step, for progress; an exception in it ends the simulation.
    settings :
        Single options by name, e.g. ``integrator="Radau"``, instead of those of `options`.

    Raises
    ------
    SimulationError
        If the integration stops early; `error.partial` is the simulation so far.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> from scipy.special import ellipk
    >>> model = mechid.load("pendulum@point-mass-like")  # starts at 60 deg, at rest
    >>> period = 4 * np.sqrt(0.5 / 9.81) * ellipk(np.sin(np.pi / 6) ** 2)
    >>> swing = mechid.simulate(model, np.array([0.0, period / 2, period]))
    >>> np.allclose(swing.y[:, 0], np.array([1, -1, 1]) * np.pi / 3, atol=1e-6)  # rad
    True
    """
    model = mechanism if isinstance(mechanism, DynamicModel) else dynamic_model(mechanism)
    options = options.changed(settings)
    values = parameter_values(model, phi)
    driven = driven_coordinates(model.mechanism, drive)
    rubbing = load_friction(model.mechanism)
    behind = model if rubbing is None else rubbing.model
    past = remembered(behind.mechanism)
    given = (behind, values) if past is None else (past.model, past.parameters(values))
    timed = timed_loads(given[0].mechanism)
    engine = Engine(*given)
    if timed is not None:
        engine = Engine(timed.model, timed.parameters(given[1]))
    chosen, stabilisation = _formulation(engine, options, driven)
    if past is not None:
        places = past.forces if timed is None else timed.others[past.forces]
        chosen = Remembering(chosen, past, past.sizes(values), places)
    if rubbing is not None:
        chosen = Rubbing(chosen, rubbing, driven)
    wanted = _times(times)
    q, v = initial_state(model, y0, yd0, driven, float(wanted[0]))
    duration = float(wanted[-1] - wanted[0])
    rest = Rest.of(engine, q)
    act = action(engine, forces, driven, timed)
    compiled = isinstance(chosen, Independent) and not act.by_state
    run = _Run(
        chosen=chosen,
        act=act,
        refused=_Refusals(_PROGRESS * duration),
        stages=CompiledStages(engine, act) if compiled else None,
    )
    z0 = np.concatenate([chosen.start(q, v), [0.0, 0.0]])
    began = clock.perf_counter()
    failure: IntegrationError | None = None
    try:
        # A state that runs away overflows: that is for the integrator to see, not a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            trace = integrate(
                run.rate,
                z0,
                wanted,
                method=options.integrator,
                rtol=options.rtol,
                atol=options.atol,
                max_step=options.max_step,
                project=run.project if stabilisation == "projection" else None,
                events=[run.event(g) for g in events],
                inspect=run.inspector(float(wanted[0]), z0, duration, options, rest),
                watch=watch,
                stages=run.stages,
            )
    except IntegrationError as error:
        failure, trace = error, error.trace
    seconds = clock.perf_counter() - began
    chosen.start(q, v)  # instants are followed from the start again
    columns, left = run.collect(trace)
    result = Simulation(
        model=model,
        options=options,
        stabilisation=stabilisation,
        time=trace.time[: len(columns["y"])],
        phi=values,
        driven=driven.names,
        evaluations=run.evaluations,
        steps=trace.steps,
        seconds=seconds,
        events=trace.events,
        **columns,
    )
    if left is not None:
        raise _stopped(float(trace.time[len(result.time)]), left, result)
    if failure is not None:
        raise _stopped(failure.time, run.reason(failure), result)
    _refuse_free_energy(result, rest)
    return result


def _refuse_free_energy(result: Simulation, rest: Rest) -> None:
    """Reject a result whose energy came from nowhere; what was right before it is kept."""
    balance = Energies(result.kinetic, result.potential, result.work, result.dissipated)
    wrong = np.flatnonzero(
        ~(np.abs(balance.error) <= allowed(balance, result.options, result.steps, rest))
    )
    if wrong.size:
        k = int(wrong[0])
        raise _stopped(
            float(result.time[k]), refusal(float(balance.error[k]), balance), result.until(k)
        )


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


@dataclass
class _Run:
    """A formulation as an integrator sees it: its state, then work and dissipated energy."""

    chosen: Formulation
    act: Action
    refused: _Refusals
    stages: CompiledStages | None = None
    one_by_one: int = 0  # evaluations
    cause: list[tuple[float, MechidError]] = field(default_factory=list)  # the last refusal

    @property
    def evaluations(self) -> int:
        """Of the equations of motion, during the integration."""
        return self.one_by_one + (self.stages.evaluations if self.stages else 0)

    def rate(self, t: float, z: Floats) -> Floats:
        """Return ż, and the powers that make work and dissipated energy."""
        self.one_by_one += 1
        if not np.all(np.isfinite(z)):  # follows from nan of an earlier stage of the same step
            return np.full(z.size, np.nan)
        state = z[:-2]
        # Some formulations would have to compute the coordinates.
        y, yd = self.chosen.independent(state, t) if self.act.by_state else (state, state)
        try:
            now = self.chosen.evaluate(state, self.act(t, y, yd), t)
        except KinematicsError as error:
            # Perhaps the step was only too long: nan makes the integrator try a shorter one.
            self.cause[:] = [(t, error)]
            if self.refused.too_many(t):
                raise
            return np.full(z.size, np.nan)
        return np.concatenate([now.rate, [now.power, now.dissipated]])

    def project(self, t: float, z: Floats) -> Floats:
        """Return the nearest closed state."""
        return np.concatenate([self.chosen.project(z[:-2], t), z[-2:]])

    def event(self, g: Event) -> Callable[[float, Floats], float]:
        """Return an event as a function of the state."""
        return lambda t, z: g(t, *self.chosen.independent(z[:-2], t))

    def inspector(
        self, start: float, z: Floats, duration: float, options: SimulationOptions, rest: Rest
    ) -> Callable[[float, Floats], None]:
        """Return what has to see the end of every step."""
        see = self._watcher(duration)
        gate = EnergyGate(options, rest)

        def balance(t: float, z: Floats) -> None:
            state = z[:-2]
            now = self.chosen.evaluate(state, self.act(t, *self.chosen.independent(state, t)), t)
            gate.see(now.kinetic, now.potential, float(z[-2]), float(z[-1]))

        def inspect(t: float, z: Floats) -> None:
            see(t, z)
            if gate.due():
                balance(t, z)

        see(start, z)
        balance(start, z)
        return inspect

    def _watcher(self, duration: float) -> Callable[[float, Floats], None]:
        """Return what looks for dead centres and jumps from branch to branch."""
        chosen, behind = self.chosen, 2
        forces: Forces = self.act
        if isinstance(chosen, Rubbing):
            rubbing, chosen = chosen, chosen.inner
            forces = rubbing.behind(self.act)
        if isinstance(chosen, Remembering):
            behind, chosen = 2 + len(chosen.sizes), chosen.inner
        if isinstance(chosen, Independent):
            see = chosen.inspector(forces, duration, self.stages)
            return lambda t, z: see(t, z[:-behind])
        if not isinstance(chosen, TreeFormulation):
            return lambda t, z: None

        def cross(t: float, z: Floats) -> None:
            self.rate(t, z)
            chosen.crossing.step(t)

        return cross

    def reason(self, failure: IntegrationError) -> MechidError:
        """Return why the integration stopped."""
        if isinstance(failure.__cause__, MechidError):
            return failure
        # Integrators give up because poses were rejected ahead; those before are forgotten.
        refusals = [error for t, error in self.cause if t >= failure.time]
        if refusals:
            return refusals[0]
        if failure.last is not None and self._branches_meet(failure.time, failure.last):
            return MechidError(
                f"{failure.what}; branches of the mechanism meet there",
                remedy="choose an integrator of long steps (DOP853), or end the simulation before",
            )
        sharp = self._sharp_friction()
        if not sharp:
            return failure
        return MechidError(
            f"{failure.what}; the friction of {', '.join(sharp)} changes its sign at once",
            remedy="give the friction elements a smoothing speed, e.g. smoothing: 0.001",
        )

    def _branches_meet(self, t: float, z: Floats) -> bool:
        """Tell whether a singular pose is near, where the equations lose their digits."""
        engine = self.chosen.engine
        try:
            q, v = self.chosen.tree(z[:-2], t)
        except KinematicsError:
            return False
        return TreeFormulation(engine, Baumgarte()).nearly_singular(q, v, t)

    def _sharp_friction(self) -> list[str]:
        """Return the elements whose friction jumps where the speed changes its sign."""
        terms = element_terms(self.chosen.engine.model.mechanism)
        sharp = (t.column.owner for t in terms if t.law == FRICTION and not t.shape[0])
        return list(dict.fromkeys(sharp))

    def collect(self, trace: Trace) -> tuple[dict[str, Floats], KinematicsError | None]:
        """Return what is known at the instants, and why it ends before the trace does, if so."""
        n, left = len(trace.time), None
        first = self._instant(trace.time[0], trace.z[0])
        columns = {name: np.zeros((n, *np.shape(value))) for name, value in first.items()}
        columns["work"][:], columns["dissipated"][:] = trace.z[:, -2:].T
        row, k = first, 0
        while k < n:
            for name, value in row.items():
                columns[name][k] = value
            k += 1
            if self.stages is not None:
                k = self.stages.instants(trace.time, trace.z, k, columns)
            if k < n:
                try:
                    row = self._instant(trace.time[k], trace.z[k])
                except KinematicsError as error:
                    left = error
                    break
        return {name: values[:k] for name, values in columns.items()}, left

    def _instant(self, t: float, z: Floats) -> dict[str, Any]:
        state, chosen = z[:-2], self.chosen
        y, yd = chosen.independent(state, t)
        now = chosen.evaluate(state, self.act(t, y, yd), t)
        q, v = chosen.tree(state, t)
        return {
            "y": y,
            "yd": yd,
            "ydd": chosen.independent_acceleration(state, now.rate, t),
            "q": q,
            "v": v,
            "tau": now.tau,
            "multipliers": now.multipliers,
            "kinetic": now.kinetic,
            "potential": now.potential,
            "work": z[-2],
            "dissipated": z[-1],
            "constraint_error": chosen.constraint_error(state, t),
        }


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


def initial_state(
    model: DynamicModel,
    y0: Floats | None,
    yd0: Floats | None,
    driven: Driven | None = None,
    start: float = 0.0,
) -> tuple[Floats, Floats]:
    """Return the closed tree state at the start time, (n_q,) and (n_v,)."""
    k = model.kinematics
    names = [c.name for c in k.mechanism.coordinates]
    y, yd = k.home_y.copy(), np.zeros(k.n_independent)
    for name, value in k.mechanism.start.positions:
        y[names.index(name)] = value
    for name, value in k.mechanism.start.speeds:
        yd[names.index(name)] = value
    y = y if y0 is None else np.array(y0, dtype=float)
    yd = yd if yd0 is None else np.array(yd0, dtype=float)
    if driven and y.shape == yd.shape == (k.n_independent,):
        driven.set(start, y, yd)
    motion = solve_motion(k, y[None], yd[None], ordered=False)
    return motion.q[0], motion.v[0]


def _formulation(
    engine: Engine, options: SimulationOptions, driven: Driven
) -> tuple[Formulation, str]:
    name, stabilise = options.formulation, options.stabilise
    if name not in FORMULATIONS:
        raise MechidError(
            f"unknown formulation '{name}'", remedy=f"choose one of {', '.join(FORMULATIONS)}"
        )
    if stabilise is None:
        stabilise = "projection" if options.integrator in ONE_STEP else "baumgarte"
    if stabilise not in STABILISATIONS:
        raise MechidError(
            f"unknown stabilisation '{stabilise}'",
            remedy=f"choose one of {', '.join(STABILISATIONS)}",
        )
    if name == "independent":
        return Independent(engine, driven), "none"
    terms = Baumgarte(options.alpha, options.beta) if stabilise == "baumgarte" else Baumgarte()
    return _DRIFTING[name](engine, terms, driven), stabilise
