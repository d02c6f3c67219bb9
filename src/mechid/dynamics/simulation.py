"""Records of a simulation: options, result, and the error of one that did not reach its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reactions import JointReactions
from mechid.errors import DataError, MechidError
from mechid.kinematics.motion import Motion, rates
from mechid.kinematics.tables import Floats
from mechid.shown import Plotted, Tabular, span


@dataclass(frozen=True)
class SimulationOptions:
    """How to simulate.

    Attributes
    ----------
    formulation : str
        One of `mechid.dynamics.simulate.FORMULATIONS`.
    stabilise : "none", "baumgarte" or "projection", optional
        What keeps the loops closed; default: projection after every step where the formulation
        can drift, Baumgarte's terms where the integrator cannot follow a projection.
    alpha, beta : float
        Baumgarte's coefficients, Φ'' + 2 α Φ' + β² Φ = 0, 1/s.
    integrator : str
        One of `mechid.dynamics.integrate.METHODS`.
    rtol, atol : float
        Relative and absolute tolerance of the state.
    max_step : float
        Longest step of the integrator, s.
    """

    formulation: str = "independent"
    stabilise: str | None = None
    alpha: float = 50.0
    beta: float = 50.0
    integrator: str = "DOP853"
    rtol: float = 1e-9
    atol: float = 1e-11
    max_step: float = np.inf

    def changed(self, settings: Mapping[str, Any]) -> SimulationOptions:
        """Return the options with other values of the named ones.

        Raises
        ------
        DataError
            For a name that is not an option.
        """
        known = [f.name for f in fields(self)]
        for name in settings:
            if name not in known:
                raise DataError(
                    f"unknown option '{name}' of a simulation",
                    remedy=f"choose one of: {', '.join(known)}",
                )
        return replace(self, **settings)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Plotted, Tabular):
    """Result of a simulation; N instants.

    Attributes
    ----------
    model : DynamicModel
    options : SimulationOptions
    time : array (N,)
        s.
    y, yd, ydd : arrays (N, n_i)
        Independent coordinates, speeds, accelerations.
    q, v : arrays (N, n_q), (N, n_v)
        Tree coordinates and speeds.
    tau : array (N, n_i)
        Forces on the independent coordinates: those that were applied, and those that driven
        coordinates needed.
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
    driven : tuple of str
        Coordinates whose motion was given.
    stabilisation : str
        What was done to keep the loops closed.
    evaluations, steps : int
    seconds : float
        That the integration took.
    events : tuple of (time, number)
        Events that ended it.
    """

    model: DynamicModel
    options: SimulationOptions
    stabilisation: str
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
    driven: tuple[str, ...]
    evaluations: int
    steps: int
    seconds: float
    events: tuple[tuple[float, int], ...] = ()

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        mechanism = self.model.mechanism
        return {
            "mechanism": mechanism.name,
            "instants": f"{len(self.time)}, {span(self.time, 's')}",
            "method": f"{self.options.formulation}, {self.options.integrator}, "
            f"stabilisation {self.stabilisation}",
            "steps": f"{self.steps}, {self.evaluations} evaluations, {self.seconds:.3g} s",
            "errors": f"closure {self.constraint_error.max():.2g} of the size, "
            f"energy {np.abs(self.energy_error).max():.2g} J",
            **{c.name: span(self.y[:, i], c.unit) for i, c in enumerate(mechanism.coordinates)},
        }

    def until(self, n: int) -> Simulation:
        """Return the first n instants."""
        arrays = {
            f.name: getattr(self, f.name)[:n]
            for f in fields(self)
            if isinstance(getattr(self, f.name), np.ndarray) and f.name != "phi"
        }
        return replace(self, **arrays)

    @property
    def formulation(self) -> str:
        """The formulation that was used."""
        return self.options.formulation

    @property
    def integrator(self) -> str:
        """The integrator that was used."""
        return self.options.integrator

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


def simulated_motion(simulation: Simulation) -> Motion:
    """Return the states of a simulation as a motion.

    The tree states are those of the simulation, drift included; v̇ = R ÿ + b follows from them.

    Parameters
    ----------
    simulation : Simulation

    Examples
    --------
    >>> import mechid, numpy as np
    >>> swing = mechid.simulate(mechid.load("pendulum"), np.linspace(0, 1, 11))
    >>> motion = mechid.simulated_motion(swing)
    >>> np.allclose(mechid.inverse_dynamics(motion).tau, 0, atol=1e-8)  # it swings by itself
    True
    """
    s = simulation
    still = np.zeros_like(s.v)
    q, v = np.ascontiguousarray(s.q), np.ascontiguousarray(s.v)
    y, yd, ydd = (np.ascontiguousarray(a) for a in (s.y, s.yd, s.ydd))
    motion = Motion(s.model.kinematics, s.time, y, yd, ydd, q, v, still, ordered=True)
    linear = rates(motion)
    vd = np.einsum("nvi,ni->nv", linear.R, ydd) + linear.bias
    return Motion(s.model.kinematics, s.time, y, yd, ydd, q, v, vd, ordered=True)


def simulated_reactions(simulation: Simulation) -> JointReactions:
    """Return the forces and moments in every joint, at all instants of a simulation.

    They belong to the accelerations of the simulation, with the parameters it was made with.

    Parameters
    ----------
    simulation : Simulation

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("pendulum@point-mass-like")
    >>> swing = mechid.simulate(model, np.linspace(0, 1, 51))
    >>> pull = np.linalg.norm(mechid.simulated_reactions(swing).force[:, 0], axis=1)
    >>> angle, speed = swing.y[:, 0], swing.yd[:, 0]
    >>> np.allclose(pull, 1.2 * (9.81 * np.cos(angle) + 0.5 * speed**2), atol=1e-6)  # N
    True
    """
    result = inverse_dynamics(simulated_motion(simulation), simulation.phi, reactions=True)
    assert result.reactions is not None
    return result.reactions
