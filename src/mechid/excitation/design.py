"""A trajectory as a linear function of what is free in it, and the chain rule back.

y = y0 + B c per coordinate and c = c0 + Z x by the conditions: a gradient by the coordinates at all
samples becomes one by x with three products per coordinate, whatever it is the gradient of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.excitation.conditions import Condition, Reduction, reduction
from mechid.excitation.families.family import Basis, Family, Floats
from mechid.excitation.trajectory import Sampled, Trajectory, sample


@dataclass(frozen=True, eq=False)
class Design:
    """Free numbers x (n_x,) of a trajectory, sampled at fixed times.

    Attributes
    ----------
    trajectory : Trajectory
        Where it starts from.
    start : array (n_x,)
        x of that trajectory, or of the nearest one that meets the conditions.
    time : array (N,)
    reductions : tuple of Reduction
        Per coordinate: c = c0 + Z x of its part of x; without columns where nothing is free.
    bases : tuple of Basis
        Per coordinate: y, ẏ, ÿ per unit of its part of x, (N, n_x of the coordinate).
    still : Sampled
        The trajectory of x = 0.
    """

    trajectory: Trajectory
    start: Floats
    time: Floats
    reductions: tuple[Reduction, ...]
    bases: tuple[Basis, ...]
    still: Sampled

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers are free in each coordinate."""
        return tuple(r.Z.shape[1] for r in self.reductions)

    def parts(self, x: Floats) -> list[Floats]:
        """Return x split into its coordinates."""
        return np.split(np.asarray(x, dtype=float), np.cumsum(self.sizes)[:-1])

    def at(self, x: Floats) -> Trajectory:
        """Return the trajectory of x."""
        c = [r.coefficients(p) for r, p in zip(self.reductions, self.parts(x), strict=True)]
        return self.trajectory.with_coefficients(np.concatenate([np.zeros(0), *c]))

    def sample(self, x: Floats) -> Sampled:
        """Return time, y, ẏ, ÿ of x."""
        y, yd, ydd = self.still.y.copy(), self.still.yd.copy(), self.still.ydd.copy()
        for j, (basis, part) in enumerate(zip(self.bases, self.parts(x), strict=True)):
            for rows, B in zip((y, yd, ydd), basis, strict=True):
                rows[:, j] += B @ part
        return Sampled(self.time, y, yd, ydd)

    def gradient(self, g_y: Floats, g_yd: Floats, g_ydd: Floats) -> Floats:
        """Return the gradient by x, (n_x,), of what has these gradients by y, ẏ, ÿ (N, n_i)."""
        return np.concatenate([np.zeros(0), *(
            B.position.T @ g_y[:, j] + B.speed.T @ g_yd[:, j] + B.acceleration.T @ g_ydd[:, j]
            for j, B in enumerate(self.bases)
        )])  # fmt: skip


def design(
    trajectory: Trajectory,
    times: Floats,
    *,
    free: Collection[str] | None = None,
    conditions: Mapping[str, Sequence[Condition]] | None = None,
) -> Design:
    """Return what is free in a trajectory, as a linear function at fixed times.

    Parameters
    ----------
    trajectory : Trajectory
    times : array (N,)
        s.
    free : collection of str, optional
        Coordinates whose coefficients are designed; by default all that have some.
    conditions : mapping coordinate → conditions, optional
        Linear conditions that every x meets.

    Raises
    ------
    DataError
        Naming the coordinate, if it does not exist or cannot meet its conditions.
    """
    conditions = conditions or {}
    for name in (*(free or ()), *conditions):
        if name not in trajectory.names:
            raise DataError(
                f"the trajectory has no coordinate {name}",
                remedy=f"choose one of: {', '.join(trajectory.names)}",
            )
    times = np.asarray(times, dtype=float)
    found, start, bases = [], [], []
    for name, family in zip(trajectory.names, trajectory.families, strict=True):
        held = free is not None and name not in free
        r = _reduction(name, family, conditions.get(name, ()), held)
        found.append(r)
        start.append(r.nearest(family.coefficients))
        bases.append(Basis(*(np.ascontiguousarray(B @ r.Z) for B in family.basis(times))))
    c0 = np.concatenate([np.zeros(0), *(r.c0 for r in found)])
    still = sample(trajectory.with_coefficients(c0), times=times)
    x = np.concatenate([np.zeros(0), *start])
    return Design(trajectory, x, times, tuple(found), tuple(bases), still)


def _reduction(name: str, family: Family, conditions: Sequence[Condition], held: bool) -> Reduction:
    if not held:
        return reduction(family, conditions, name)
    return Reduction(family.coefficients, np.zeros((family.coefficients.size, 0)))
