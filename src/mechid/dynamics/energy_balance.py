"""The balance of energy of a simulation, against the tolerance that was asked for.

E - E(0) - work + dissipated is zero but for errors of the steps. Each step may be wrong by rtol of
the state, so that the balance may be off by some multiple of rtol times the number of steps, in
parts of the energy that is exchanged. What is off by more did not follow the equations of motion:
energy came from nowhere, at a singular pose or an impact that a step leapt over.

Where nothing moves nothing is exchanged, and both sides are rounding and tolerance: the energy of
the motion that they cannot tell from rest (`Rest`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.simulation import SimulationOptions
from mechid.errors import MechidError
from mechid.kinematics.tables import Floats

_PER_STEP = 1e3  # in parts of rtol: how far a step may be off
_MOST = 0.05  # of the exchanged energy, whatever the tolerance
_ROUNDING = 1e-9  # of the potential energy, which may be large and change little
_CLOSED = 1e-13  # parts of the size to which loops are closed

REMEDY = (
    "decrease rtol, or choose another formulation or integrator; near singular poses, the "
    "formulation independent with a coordinate that drives the mechanism there too"
)


@dataclass(frozen=True)
class Energies:
    """Energies and what was fed in and taken since the start, J; numbers or arrays (N,)."""

    kinetic: Floats
    potential: Floats
    work: Floats
    dissipated: Floats

    @property
    def error(self) -> Floats:
        """Energy that came from nowhere: E - E(0) - work + dissipated."""
        energy = self.kinetic + self.potential
        return np.asarray(energy - energy[0] - self.work + self.dissipated)

    @property
    def exchanged(self) -> float:
        """Energy that took part: kinetic at the start, what was stored, fed in and taken."""
        ranges = sum(float(np.ptp(e)) for e in (self.potential, self.work, self.dissipated))
        return float(self.kinetic[0]) + ranges


@dataclass(frozen=True)
class Rest:
    """The mechanism at rest on its tree: mass matrix, static forces, what loops are closed to."""

    mass: Floats
    forces: Floats
    closed: Floats

    @staticmethod
    def of(engine: Engine, q: Floats) -> Rest:
        """Return what a closed pose is known to, and what its energy makes of it."""
        e = engine.tree(q, np.zeros(engine.n_v))
        scale = np.array(engine.kinematics.tables.columns.scale)
        return Rest(np.abs(e.M), np.abs(e.h), _CLOSED * scale)

    def energy(self, atol: float, steps: int) -> float:
        """Return the energy of a motion that such steps cannot tell from rest, J."""
        speed = steps * atol + self.closed
        return float(0.5 * speed @ self.mass @ speed + self.forces @ self.closed)


def allowed(energies: Energies, options: SimulationOptions, steps: int, rest: Rest) -> float:
    """Return how far the balance may be off after so many steps, J."""
    part = min(_PER_STEP * options.rtol * max(steps, 1), _MOST)
    rounding = _ROUNDING * float(np.abs(energies.potential).max(initial=0.0))
    # Steps are as wrong as atol where little moves.
    little = _PER_STEP * options.atol * max(steps, 1) * max(1.0, energies.exchanged)
    rounding += rest.energy(options.atol, steps)
    return part * energies.exchanged + rounding + min(little, _MOST * energies.exchanged)


def refusal(error: float, energies: Energies) -> MechidError:
    """Return the error for a balance that is off."""
    return MechidError(
        f"energy of {abs(error):.2g} J {'came from' if error > 0 else 'went'} nowhere "
        f"({energies.exchanged:.2g} J are exchanged)",
        remedy=REMEDY,
    )


class EnergyGate:
    """Looks at the balance on the way, every now and then."""

    EVERY = 64  # steps

    def __init__(self, options: SimulationOptions, rest: Rest) -> None:
        self._options = options
        self._rest = rest
        self._steps = 0
        self._seen: list[tuple[float, float, float, float]] = []

    def due(self) -> bool:
        """Count a step; return whether its end is to be looked at."""
        self._steps += 1
        return self._steps % self.EVERY == 0

    def see(self, kinetic: float, potential: float, work: float, dissipated: float) -> None:
        """Take the energies at the start or at the end of a step; refuse a balance that is far off.

        Whether it is as good as asked for is decided at the end: what else goes wrong on the way,
        a dead centre for instance, says better why.
        """
        self._seen.append((kinetic, potential, work, dissipated))
        energies = Energies(*np.array(self._seen).T)
        error = float(energies.error[-1])
        most = allowed(energies, self._options, self._steps, self._rest)
        if self._steps and abs(error) > max(most, _MOST * energies.exchanged):
            raise refusal(error, energies)
