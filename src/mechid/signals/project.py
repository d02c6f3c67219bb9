"""Independent coordinates from other measured quantities, by least squares on the closure.

Any joint coordinate, point coordinate or distance may be measured, and more of them than there are
independent coordinates. Every pose on the way is closed, so the result is a motion that the
mechanism can perform. First some samples, one after the other, each from the one before; then all
of them at once, from what lies between those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.quantities import independent_index, quantity_motion, quantity_partials
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import IndependentCoordinate, Mechanism

_NODES = 60  # samples that are solved one after the other
_STEPS = 30
_CONVERGED = 1e-9  # last step, in units of the size of the mechanism or rad
# Smallest singular value of the derivatives by the coordinates, both in units of their size: errors
# of what was measured come out a thousand times larger.
_WEAK = 1e-3
_HALVINGS = 5


@dataclass(frozen=True, eq=False)
class Projection:
    """Independent coordinates (N, n_i), with speeds and accelerations if they were given.

    `misfit` (m,) is the root mean square of what remains between measured and projected quantities
    (m or rad); `free` is the number of measured quantities beyond the independent coordinates.
    """

    y: Floats
    yd: Floats | None
    ydd: Floats | None
    misfit: Floats
    free: int


def project(
    mechanism: Mechanism,
    quantities: tuple[IndependentCoordinate, ...],
    values: Floats,
    *,
    speeds: Floats | None = None,
    accelerations: Floats | None = None,
    sigma: Floats | None = None,
    time: Floats | None = None,
) -> Projection:
    """Return the independent coordinates that fit measured quantities best.

    Parameters
    ----------
    mechanism : Mechanism
    quantities : tuple of IndependentCoordinate
        What was measured, m of them; names and forces do not matter.
    values : array (N, m)
        m or rad; angles may be off by turns.
    speeds, accelerations : arrays (N, m), optional
        Rates of the same quantities; accelerations count only together with speeds.
    sigma : array (m,), optional
        Standard deviations that weigh the quantities; default: the same for all, relative to the
        size of the mechanism for lengths.
    time : array (N,), optional
        For messages.

    Raises
    ------
    DataError
        If the quantities do not determine the coordinates, or no pose fits them.
    """
    model = kinematic_model(mechanism)
    task = _Task.of(model, quantities, values, sigma, time)
    task.refuse_weak(task.partials(task.solved(model.home_y[None])))
    y = task.all_samples(task.some_samples())
    motion = task.solved(y)
    J = task.partials(motion)
    task.refuse_weak(J)
    misfit = np.sqrt(np.mean(task.residuals(motion) ** 2, axis=0))
    yd = ydd = None
    if speeds is not None:
        yd = task.solve(J, speeds)
        if accelerations is not None:
            still = solve_motion(model, y, yd, time=time)
            ydd = task.solve(J, accelerations - task.biases(still))
    return Projection(y, yd, ydd, misfit, len(quantities) - model.n_independent)


@dataclass(frozen=True, eq=False)
class _Task:
    model: KinematicModel
    quantities: tuple[IndependentCoordinate, ...]
    own: tuple[int | None, ...]
    values: Floats
    weight: Floats
    size: Floats
    scale: Floats
    time: Floats | None

    @staticmethod
    def of(
        model: KinematicModel,
        quantities: tuple[IndependentCoordinate, ...],
        values: Floats,
        sigma: Floats | None,
        time: Floats | None,
    ) -> _Task:
        n_i = model.n_independent
        if len(quantities) < n_i:
            names = ", ".join(c.name for c in model.mechanism.coordinates)
            raise DataError(
                f"{len(quantities)} measured quantities do not determine {n_i} independent "
                f"coordinates ({names})",
                remedy="measure more joints, points or distances, or hold coordinates that stand "
                "still (held: true in the model file)",
            )
        size = {"m": model.size, "rad": 1.0}
        own_size = np.array([size[q.unit] for q in quantities])
        deviations = own_size if sigma is None else sigma
        return _Task(
            model,
            quantities,
            tuple(independent_index(model.mechanism, q) for q in quantities),
            values,
            np.min(deviations) / deviations,
            own_size,
            np.array([size[c.unit] for c in model.mechanism.coordinates]),
            time,
        )

    def some_samples(self) -> tuple[np.ndarray, Floats]:
        """Return samples and their coordinates, found one after the other."""
        n = len(self.values)
        stride = max(1, n // _NODES)
        while True:
            samples = np.unique([*range(0, n, stride), n - 1])
            try:
                return samples, self._in_order(samples)
            except KinematicsError:
                if stride == 1:
                    raise
                stride = max(1, stride // 4)

    def _in_order(self, samples: np.ndarray) -> Floats:
        y, q = self.model.home_y, self.model.home_q
        found: list[Floats] = []
        for k in samples:
            # The motion goes on as before: where quantities turn back, their poses are two.
            ahead = 2 * found[-1] - found[-2] if len(found) > 1 else y
            y, q = self._one(int(k), y, q, ahead)
            found.append(y)
        return np.array(found)

    def _one(self, k: int, y: Floats, q: Floats, ahead: Floats) -> tuple[Floats, Floats]:
        """Solve one sample by damped Gauss-Newton steps from a near pose."""
        try:
            motion = solve_motion(self.model, ahead[None], start=q)
        except KinematicsError:
            motion = solve_motion(self.model, y[None], start=q)
        size = np.inf
        for _ in range(_STEPS):
            residual = self.residuals(motion, slice(k, k + 1))
            step = self.solve(self.partials(motion), residual)[0]
            size = float(np.abs(step / self.scale).max())
            motion = self._damped(motion, step, residual, k)
            if size < _CONVERGED:
                return motion.y[0], motion.q[0]
        raise self._no_fit(k, size)

    def _damped(self, motion: Motion, step: Floats, residual: Floats, k: int) -> Motion:
        before = float(np.sum((self.weight * residual) ** 2))
        failure: MechidError | None = None
        for halving in range(_HALVINGS):
            try:
                moved = solve_motion(self.model, motion.y + step * 0.5**halving, start=motion.q[0])
            except KinematicsError as error:
                failure = error
                continue
            after = self.residuals(moved, slice(k, k + 1))
            if float(np.sum((self.weight * after) ** 2)) <= before or halving == _HALVINGS - 1:
                return moved
        raise self._no_fit(k, float(np.abs(step / self.scale).max())) from failure

    def all_samples(self, some: tuple[np.ndarray, Floats]) -> Floats:
        """Return the coordinates of all samples, from those of some."""
        from scipy.interpolate import CubicSpline

        samples, found = some
        n = len(self.values)
        if len(samples) == n:
            return found
        y = CubicSpline(samples, found, axis=0)(np.arange(n))
        size = np.inf
        for _ in range(_STEPS):
            motion = self.solved(y)
            step = self.solve(self.partials(motion), self.residuals(motion))
            y = y + step
            worst = np.abs(step / self.scale).max(axis=1)
            size = float(worst.max())
            if size < _CONVERGED:
                return np.asarray(y)
        raise self._no_fit(int(np.argmax(worst)), size)

    def solved(self, y: Floats) -> Motion:
        return solve_motion(self.model, y, time=self.time if len(y) > 1 else None)

    def residuals(self, motion: Motion, samples: slice = slice(None)) -> Floats:
        """Return measured less computed quantities, (N, m); angles to the nearest turn."""
        out = np.empty((len(motion.y), len(self.quantities)))
        for j, (quantity, own) in enumerate(zip(self.quantities, self.own, strict=True)):
            found = quantity_motion(motion, quantity)[0] if own is None else motion.y[:, own]
            out[:, j] = self.values[samples, j] - found
            if quantity.unit == "rad":
                out[:, j] -= 2 * np.pi * np.rint(out[:, j] / (2 * np.pi))
        return out

    def biases(self, motion: Motion) -> Floats:
        """Return the accelerations of the quantities when the coordinates have none, (N, m)."""
        out = np.zeros((len(motion.y), len(self.quantities)))
        for j, (quantity, own) in enumerate(zip(self.quantities, self.own, strict=True)):
            if own is None:
                out[:, j] = quantity_motion(motion, quantity)[2]
        return out

    def partials(self, motion: Motion) -> Floats:
        """Return the derivatives of the quantities by the coordinates, (N, m, n_i)."""
        out = np.zeros((len(motion.y), len(self.quantities), motion.y.shape[1]))
        others = [j for j, own in enumerate(self.own) if own is None]
        out[:, others] = quantity_partials(motion, [self.quantities[j] for j in others])
        for j, own in enumerate(self.own):
            if own is not None:
                out[:, j, own] = 1.0
        return out

    def solve(self, J: Floats, right: Floats) -> Floats:
        """Return the weighted least-squares solutions of J x = right, (N, n_i)."""
        A = self.weight[:, None] * J * self.scale
        inverse = np.linalg.pinv(A, rcond=np.finfo(float).eps)
        x = np.einsum("nim,nm->ni", inverse, self.weight * right)
        return np.asarray(x * self.scale)

    def refuse_weak(self, J: Floats) -> None:
        """Reject poses where the quantities do not determine some coordinate."""
        A = J * self.scale / self.size[:, None]
        _, s, Vt = np.linalg.svd(A, full_matrices=False)
        weak = s[:, -1] < _WEAK
        if A.shape[1] == A.shape[2]:  # passed between two samples
            sign = np.sign(np.linalg.det(A))
            weak[1:] |= sign[1:] != sign[:-1]
        if weak.any():
            k = int(np.argmax(weak))
            blind = int(np.argmax(np.abs(Vt[k, -1])))
            raise DataError(
                "the measured quantities do not determine the independent coordinate "
                f"{self.model.mechanism.coordinates[blind].name} in this pose",
                where=self._place(k),
                remedy="measure other joints, points or distances, or exclude this pose",
            )

    def _no_fit(self, k: int, size: float) -> KinematicsError:
        return KinematicsError(
            f"no pose matches the measured quantities (last step {size:.1e} of the size)",
            where=self._place(k),
            remedy="check signs, offsets and units of the measured quantities",
            sample=k,
            time=None if self.time is None else float(self.time[k]),
        )

    def _place(self, k: int) -> str:
        return f"sample {k}" if self.time is None else f"t = {self.time[k]:g} s"
