"""What acts on a mechanism during a simulation: forces, driven coordinates, loads over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.drive import Driven
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.kernels.stages import Split
from mechid.dynamics.loads import Forces, ForcesOverTime
from mechid.dynamics.timed_loads import TimedLoads
from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism


@dataclass(frozen=True, eq=False)
class Action:
    """Forces on the independent coordinates; asking for them sets the loads over time.

    Attributes
    ----------
    forces : array (n_i,) or callable (t, y, ẏ) -> (n_i,)
    """

    engine: Engine
    forces: Forces | Floats
    driven: Driven
    timed: TimedLoads | None

    @property
    def by_state(self) -> bool:
        """Whether forces may depend on the state."""
        return callable(self.forces) and not isinstance(self.forces, ForcesOverTime)

    def __call__(self, t: float, y: Floats, yd: Floats) -> Floats:
        """Return τ (n_i,)."""
        if self.timed is not None:
            self.engine.change(self.timed.places, self.timed.at(np.array([t]))[0])
        if not callable(self.forces):
            return self.forces
        return checked_forces(self.engine.model.mechanism, self.driven, self.forces(t, y, yd))

    @property
    def split(self) -> Split:
        """What the columns of `given` belong to."""
        timed = np.zeros(0, dtype=np.int64) if self.timed is None else self.timed.places
        return Split(self.driven.free, self.driven.index, timed)

    @property
    def constant(self) -> bool:
        """Whether nothing changes with time."""
        return not (callable(self.forces) or self.driven or self.timed)

    def given(self, times: Floats) -> Floats:
        """Return what is given at some times beforehand, a row for each; see `kernels.stages`.

        Forces must not depend on the state.
        """
        return np.array([self._row(t) for t in times.tolist()])

    def _row(self, t: float) -> Floats:
        parts = [self(t, np.zeros(0), np.zeros(0))]
        if self.driven:
            parts += self.driven.at(t)
        if self.timed is not None:
            parts.append(self.engine.phi[self.timed.places])
        return np.concatenate(parts)


def action(
    engine: Engine,
    forces: Forces | Floats | None,
    driven: Driven,
    timed: TimedLoads | None,
) -> Action:
    """Return what acts, constant forces checked."""
    if not callable(forces):
        values = np.zeros(engine.n_i) if forces is None else forces
        forces = checked_forces(engine.model.mechanism, driven, values)
    return Action(engine, forces, driven, timed)


def checked_forces(mechanism: Mechanism, driven: Driven, values: object) -> Floats:
    """Return forces on the independent coordinates, (n_i,).

    Raises
    ------
    DataError
        For a wrong shape, numbers that are not finite, and forces on driven coordinates.
    """
    n = len(mechanism.coordinates)
    tau = np.asarray(values, dtype=float)
    if tau.shape != (n,):
        raise DataError(f"forces must have shape ({n},), got {tau.shape}")
    if not np.all(np.isfinite(tau)):
        raise DataError(f"forces must be finite numbers, got {tau}")
    for i in driven.index[tau[driven.index] != 0]:
        c = mechanism.coordinates[i]
        raise DataError(
            f"the force {c.force} is given, but {c.name} is driven: its force is a result",
            remedy="remove the force, or do not drive the coordinate",
        )
    return tau
