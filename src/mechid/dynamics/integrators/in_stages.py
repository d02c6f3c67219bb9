"""SciPy's explicit Runge-Kutta methods, with all stages of a step evaluated in one call."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.integrate import DOP853, RK23, RK45

from mechid.dynamics.integrators.task import Stages, Tableau
from mechid.dynamics.kernels.runge_kutta import error_norm, interpolate
from mechid.kinematics.tables import Floats

# Control of the step, as SciPy does it: the next one is this part of what the error allows, and
# changes by these factors at most.
_SAFETY = 0.9
_LEAST, _MOST = 0.2, 10.0


class _InStages:
    """Steps of a `scipy.integrate` class, which is the other base.

    Where the stages cannot be evaluated together, the step is SciPy's.
    """

    TOO_SMALL_STEP: str

    def __init__(self: Any, *arguments: Any, stages: Stages, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._stages = stages
        self._plain = type(self).__mro__[2]
        self._table = tableau(self._plain)
        self._K = np.zeros((len(self._table.A), self.n))
        self._tolerances = float(self.rtol), np.broadcast_to(self.atol, self.n).copy()

    def _step_impl(self: Any) -> Any:
        t, z, K, table = float(self.t), self.y, self._K, self._table
        shortest = 10 * (math.nextafter(t, math.inf) - t)
        length = min(max(float(self.h_abs), shortest), self.max_step)
        most = _MOST
        K[0] = self.f
        while length >= shortest:
            end = min(t + length, float(self.t_bound))
            h = end - t
            state = self._stages.run(table, 1, table.last + 1, t, h, z, K)
            if state is None:
                self.h_abs, self._together = length, False
                return self._plain._step_impl(self)
            error = error_norm(K, table.E5, table.E3, h, z, state, *self._tolerances)
            factor = _SAFETY * error**self.error_exponent if error else _MOST
            if error < 1:
                self.h_previous, self.y_old, self._together = h, z, True
                self.t, self.y, self.f = end, state, K[table.last].copy()
                self.h_abs = h * min(most, factor)
                return True, None
            most = 1.0  # not longer again after a step that was too long
            length = h * (factor if factor > _LEAST else _LEAST)  # nan: the least
        return False, self.TOO_SMALL_STEP

    def _dense_output_impl(self: Any) -> Any:
        table, h, z, K = self._table, self.h_previous, self.y_old, self._K
        if self._together:
            first, last = table.last + 1, len(K)
            if (
                first == last
                or self._stages.run(table, first, last, self.t_old, h, z, K) is not None
            ):
                return _Interpolant(self.t_old, self.t, table.P, z, K)
            self.K[:] = K[: len(self.K)]
        return self._plain._dense_output_impl(self)


class _Interpolant:
    """The polynomial of a step, called as a `DenseOutput`; valid until the next one."""

    def __init__(self, t_old: float, t: float, P: Floats, z: Floats, K: Floats) -> None:
        self.t_old = t_old
        self._step = K, P, t - t_old, z

    def __call__(self, t: Floats | float) -> Floats:
        part = np.asarray((t - self.t_old) / self._step[2])
        out = np.empty((part.size, self._step[3].size))
        interpolate(*self._step, part.reshape(-1), out)
        return out.T if part.ndim else out[0]


class _RK23(_InStages, RK23):  # type: ignore[misc]
    pass


class _RK45(_InStages, RK45):  # type: ignore[misc]
    pass


class _DOP853(_InStages, DOP853):  # type: ignore[misc]
    pass


IN_STAGES: dict[str, Any] = {"RK23": _RK23, "RK45": _RK45, "DOP853": _DOP853}


@cache
def tableau(method: Any) -> Tableau:
    """Return the coefficients of an explicit Runge-Kutta method of SciPy."""
    n = method.n_stages
    extra = getattr(method, "A_EXTRA", np.zeros((0, n + 1)))
    A = np.zeros((n + 1 + len(extra), n + 1 + len(extra)))
    A[:n, : method.A.shape[1]] = method.A
    A[n, :n] = method.B
    A[n + 1 :, : extra.shape[1]] = extra
    C = np.concatenate([method.C, [1.0], getattr(method, "C_EXTRA", [])])
    if method is not DOP853:
        return Tableau(A, C, n, method.P.copy(), method.E.copy(), np.zeros(n + 1))
    # SciPy nests: x (F_0 + (1 - x) (F_1 + x (F_2 + (1 - x) …))), each F linear in the stages
    B, first, last = A[n], np.eye(len(A))[0], np.eye(len(A))[n]
    F = [B, first - B, 2 * B - last - first, *method.D]
    x, factor = Polynomial([0, 1]), Polynomial([1])
    P = np.zeros((len(A), len(F)))
    for i, row in enumerate(F):
        factor = factor * ((1 - x) if i % 2 else x)
        P[:, : i + 1] += np.outer(row, factor.coef[1:])
    return Tableau(A, C, n, P, method.E5.copy(), method.E3.copy())
