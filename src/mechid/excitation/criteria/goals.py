"""Goal attainment: several criteria at once, each relative to its goal.

The value is the worst of (f_i - goal_i) / weight_i, made smooth from above; it is negative when all
goals are reached. Where criteria are logarithms, goals are too, and the value is the logarithm of
the factor by which the worst goal is missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.excitation.criteria.criterion import Look, Objective
from mechid.excitation.criteria.root import Floats

_SHARP = 20.0  # the smooth worst is above the worst by at most log(n) / 20


@dataclass(frozen=True, eq=False)
class Goals:
    """Criteria, their goals, and the weights that say how much missing each of them counts."""

    criteria: tuple[Objective, ...]
    goals: tuple[float, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Reject goals that do not belong to the criteria."""
        sizes = {len(self.criteria), len(self.goals), len(self.weights or self.goals)}
        if len(sizes) != 1 or not self.criteria:
            raise DataError(
                "goals and weights must be given once per criterion, for at least one criterion"
            )
        if any(not w > 0 for w in self.weights or ()):
            raise DataError("weights of goals must be > 0")

    def look(self, W: Floats, known: Floats) -> Look:
        """Return the value, and its gradients by W_b and by the known forces."""
        found = [c.look(W, known) for c in self.criteria]
        value, shares = self.combined(np.array([x.value for x in found]))
        return Look(
            float(value),
            np.asarray(sum(s * x.by_W for s, x in zip(shares, found, strict=True))),
            np.asarray(sum(s * x.by_known for s, x in zip(shares, found, strict=True))),
        )

    def combined(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the value for those of the criteria (k, …), and its derivatives by them."""
        shape = (-1,) + (1,) * (values.ndim - 1)
        weights = np.reshape(self.weights or np.ones(len(values)), shape)
        missed = (values - np.reshape(self.goals, shape)) / weights
        worst = missed.max(axis=0)
        parts = np.exp(_SHARP * (missed - worst))
        total = parts.sum(axis=0)
        return np.asarray(worst + np.log(total) / _SHARP), parts / total / weights
