"""Designing a motion as an optimisation problem: value, exact gradient, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import KinematicsError
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.criteria.criterion import Look, Objective
from mechid.excitation.design import Design
from mechid.excitation.limits import Slack, least_slacks, slacks
from mechid.excitation.observe import all_columns
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.tables import Floats, Ints
from mechid.mechanism.records import Mechanism


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """What is designed: the free numbers of a trajectory, for a criterion, within limits.

    Attributes
    ----------
    mechanism : Mechanism
    design : Design
    places : array of int (b,)
        Columns of the base parameters in the observation matrix (`BaseSet.places`).
    criterion : Objective
        To be made small.
    limits : tuple of MotionLimit
    """

    mechanism: Mechanism
    design: Design
    places: Ints
    criterion: Objective
    limits: tuple[MotionLimit, ...]

    @cached_property
    def model(self) -> DynamicModel:
        """The compiled mechanism."""
        return dynamic_model(self.mechanism)

    def motion(self, x: Floats) -> Motion:
        """Return the solved motion of x, or raise a KinematicsError where it does not close."""
        s = self.design.sample(x)
        return solve_motion(self.model.kinematics, s.y, s.yd, s.ydd, time=s.time)

    def value(self, motion: Motion) -> float:
        """Return the criterion of a motion."""
        return self._look(motion).value

    def value_and_gradient(self, motion: Motion) -> tuple[float, Floats]:
        """Return the criterion and its gradient by x."""
        found = self._look(motion)
        G = all_columns(found.by_W, self.places, len(self.model.columns))
        by_motion = observation_gradient(self.model, motion, G, found.by_known)
        return found.value, self.design.gradient(*by_motion)

    def _look(self, motion: Motion) -> Look:
        seen = observation_matrix(motion, self.model)
        return self.criterion.look(seen.W.take(self.places, axis=2), seen.known)

    def constraints(self, motion: Motion) -> tuple[Floats, Floats]:
        """Return all slacks, (m,), and their gradients by x, (m, n_x)."""
        found = slacks(self.limits, motion)
        if not found:
            return np.zeros(0), np.zeros((0, len(self.design.start)))
        values = np.concatenate([s.values for s in found])
        return values, np.vstack([self._rows(s) for s in found])

    def worst(self, motion: Motion) -> Slack | None:
        """Return the limit that is violated most, or has the least left."""
        found = slacks(self.limits, motion, gradients=False)
        return min(found, key=lambda s: s.worst) if found else None

    def slack(self, x: Floats, *, every: bool = False) -> Floats | None:
        """Return the least slack of each limit along the motion of x; None if it does not close.

        As `least_slacks` does: inf for what was not looked at.
        """
        try:
            return least_slacks(self.limits, self.motion(x), every=every)
        except KinematicsError:
            return None

    def feasible(self, x: Floats, tolerance: float = 0.0) -> bool:
        """Return whether the motion of x closes and keeps all limits."""
        slack = self.slack(x)
        return slack is not None and bool(np.all(slack >= -tolerance))

    def _rows(self, s: Slack) -> Floats:
        """Return the gradients of a slack by x, (m, n_x)."""
        n = s.samples
        parts: Sequence[Floats] = [
            b.position[n] * s.by_y[:, j, None]
            + b.speed[n] * s.by_yd[:, j, None]
            + b.acceleration[n] * s.by_ydd[:, j, None]
            for j, b in enumerate(self.design.bases)
        ]
        return np.hstack([np.zeros((len(n), 0)), *parts])
