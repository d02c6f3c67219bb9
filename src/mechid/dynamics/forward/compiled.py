"""Evaluations in independent coordinates without Python between them.

Possible where nothing that acts depends on the state. An evaluation that fails is left to
`Independent.evaluate`, which knows further ways and the errors.
"""

from __future__ import annotations

import math

import numpy as np

from mechid.dynamics.acting import Action
from mechid.dynamics.forward.dead_centre import Knot
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.integrators.task import Tableau
from mechid.dynamics.kernels.stages import Instants
from mechid.kinematics.engine.choice import least_wanted
from mechid.kinematics.tables import Floats

_MOST_STAGES = 16
# Instants that are evaluated in one call, which nothing can interrupt: some hundredths of a second.
_BLOCK = 1000


class CompiledStages:
    """Stages of Runge-Kutta steps, and instants, by kernels.

    The state is (y, ẏ, work, dissipated energy), y without the driven coordinates.
    """

    def __init__(self, engine: Engine, act: Action) -> None:
        self.engine = engine
        self._act = act
        self._split = act.split
        # what is given at some times, if it is the same at all times
        self._constant = act.given(np.zeros(1)).repeat(_MOST_STAGES, 0) if act.constant else None
        self._end: Floats | None = None  # the state of the last stage
        self.evaluations = 0
        # after so many evaluations code for the mechanism is used; infinite once it is
        self._generate_after = least_wanted()

    def _given(self, times: Floats) -> Floats:
        if self._constant is None:
            return self._act.given(times)
        if len(times) <= len(self._constant):
            return self._constant
        return np.repeat(self._constant[:1], len(times), axis=0)

    def run(
        self, table: Tableau, first: int, last: int, t: float, h: float, z: Floats, K: Floats
    ) -> Floats | None:
        """Fill rows first … last - 1 of K with ż at the stages of a step from z at t.

        Returns the state at the last of them, or None where an evaluation failed.
        """
        if self.evaluations >= self._generate_after:
            self.engine.use_code()
            self._generate_after = math.inf
        times = t + h * table.C[:last]
        given = self._given(times)
        _, self._end = self.engine.run(
            self._split, table.A, (first, last), h, times, z[None], given, K
        )
        self.evaluations += last - first
        return self._end

    def knot(self, t: float, z: Floats) -> Knot | None:
        """Return the motion at the last stage that was run, if z is its state."""
        if self._end is None or self._end[:-2].tobytes() != z.tobytes():
            return None
        return Knot(t, *self.engine.motion())

    def instants(self, times: Floats, z: Floats, first: int, columns: dict[str, Floats]) -> int:
        """Fill rows of the columns of a `Simulation` from `first` on, but for work and dissipation.

        Returns the first row whose evaluation fails, or N.
        """
        while first < len(z):
            part = slice(first, first + _BLOCK)
            out = Instants(*(columns[name][part] for name in Instants._fields))
            n, K = len(z[part]), np.empty_like(z[part])
            done, _ = self.engine.run(
                self._split, K, (0, n), 0.0, times[part], z[part], self._given(times[part]), K, out
            )
            first += done
            if done < n:
                break
        return first
