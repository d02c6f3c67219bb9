"""Common ground of the formulations whose state is (q, v) of the spanning tree."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.forward.engine import Engine, OnTree
from mechid.dynamics.forward.formulation import Baumgarte, Instant, massive
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.tables import BALL, Floats

_RANK = 1e-10  # relative: rows that add less than this are redundant
_ROUNDING = 1e-13


class TreeFormulation:
    """State (q, v); subclasses say how accelerations and multipliers follow."""

    name = ""
    drifts = True

    def __init__(self, engine: Engine, baumgarte: Baumgarte) -> None:
        self.engine = engine
        self.baumgarte = baumgarte
        t = engine.kinematics.tables
        self._balls = [(int(x.q), int(x.v)) for x in t.links[1:] if x.kind == BALL]
        self._screws = [(int(x.q), int(x.v)) for x in t.links[1:] if x.kind != BALL]
        self._row_scale = np.array(t.rows.scale)[engine.closure]
        self._column_scale = np.array(t.columns.scale)

    def accelerations(
        self, M: Floats, force: Floats, A: Floats, b: Floats
    ) -> tuple[Floats, Floats]:
        """Return v̇ and multipliers of M v̇ = force + Aᵀ λ, A v̇ = b, with A of full rank."""
        raise NotImplementedError

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return z = (q, v)."""
        return np.concatenate([q, v])

    def tree(self, z: Floats) -> tuple[Floats, Floats]:
        """Return q and v, quaternions normalised."""
        q, v = z[: self.engine.n_q].copy(), z[self.engine.n_q :].copy()
        for j, _ in self._balls:
            q[j : j + 4] /= np.linalg.norm(q[j : j + 4])
        return q, v

    def evaluate(self, z: Floats, tau: Floats) -> Instant:
        """Return ż, multipliers of the closure rows, energies and powers."""
        q, v = self.tree(z)
        e = self.engine.tree(q, v)
        Q = self.engine.tree_forces(e, tau)
        A, b = self._closure(e, v)
        A, b, U = full_rank(A, b)
        # Scaled unknowns: angles and lengths in comparable units.
        s = self._column_scale
        mass, force = s[:, None] * e.M * s, s * (Q - e.h)
        with massive():
            vd, multipliers = self.accelerations(mass, force, A * s, b)
        vd = s * vd
        power = float(Q @ v) + e.supplied
        return Instant(
            np.concatenate([self._position_rate(q, v), vd]),
            self._row_scale * (U @ multipliers),
            e.kinetic,
            e.potential,
            power,
            e.dissipated,
        )

    def _closure(self, e: OnTree, v: Floats) -> tuple[Floats, Floats]:
        """Dimensionless rows A v̇ = b of the cut joints, with Baumgarte's terms."""
        rows = self.engine.closure
        J = e.J[rows]
        alpha, beta = self.baumgarte.alpha, self.baumgarte.beta
        b = -e.gamma[rows] - 2 * alpha * (J @ v) - beta**2 * e.values[rows]
        return J * self._row_scale[:, None], b * self._row_scale

    def _position_rate(self, q: Floats, v: Floats) -> Floats:
        rate = np.zeros_like(q)
        for j, c in self._screws:
            rate[j] = v[c]
        for j, c in self._balls:  # ė = ½ (0, w) e, with w in the outer axes
            e0, e = q[j], q[j + 1 : j + 4]
            w = v[c : c + 3]
            rate[j] = -0.5 * (w @ e)
            rate[j + 1 : j + 4] = 0.5 * (e0 * w + np.cross(w, e))
        return rate

    def independent(self, z: Floats) -> tuple[Floats, Floats]:
        """Return y and ẏ."""
        q, v = self.tree(z)
        e = self.engine.tree(q, v)
        t = self.engine.kinematics.tables
        y, yd = np.zeros(self.engine.n_i), np.zeros(self.engine.n_i)
        driven = self.engine.drivers
        y[t.rows.driver[driven]] = e.values[driven]
        yd[t.rows.driver[driven]] = e.J[driven] @ v
        y[t.direct.driver], yd[t.direct.driver] = q[t.direct.q], v[t.direct.column]
        return y, yd

    def independent_acceleration(self, z: Floats, rate: Floats) -> Floats:
        """Return ÿ: second derivatives of the driver rows and of the direct coordinates."""
        q, v = self.tree(z)
        vd = rate[self.engine.n_q :]
        e = self.engine.tree(q, v)
        t = self.engine.kinematics.tables
        ydd = np.zeros(self.engine.n_i)
        driven = self.engine.drivers
        ydd[t.rows.driver[driven]] = e.J[driven] @ vd + e.gamma[driven]
        ydd[t.direct.driver] = vd[t.direct.column]
        return ydd

    def constraint_error(self, z: Floats) -> float:
        """Return the largest closure row, dimensionless."""
        q, v = self.tree(z)
        values = self.engine.tree(q, v).values[self.engine.closure] * self._row_scale
        return float(np.abs(values).max(initial=0.0))

    def project(self, z: Floats) -> Floats:
        """Close the loops by least-squares steps, then take the nearest admissible speeds."""
        q, v = self.tree(z)
        t = self.engine.kinematics.tables
        s = self._column_scale
        rows = self.engine.closure
        for _ in range(4):
            e = self.engine.tree(q, v)
            A = e.J[rows] * self._row_scale[:, None] * s
            error = e.values[rows] * self._row_scale
            if np.abs(error).max(initial=0.0) < _ROUNDING:
                break
            advance(t, q, -s * np.linalg.lstsq(A, error, rcond=_RANK)[0], 1.0)
        else:
            A = self.engine.tree(q, v).J[rows] * self._row_scale[:, None] * s
        if A.size:
            v = v - s * np.linalg.lstsq(A, A @ (v / s), rcond=_RANK)[0]
        return np.concatenate([q, v])


def full_rank(A: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rows of full rank that say the same as A x = b, and U with A = U A_r.

    Multipliers of the given rows follow as U times those of the new ones: the ones of least norm.
    """
    if not A.size:
        return A, b, np.eye(len(A))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.sum(s > _RANK * s[0]))
    if rank == len(A):
        return A, b, np.eye(len(A))
    U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
    return s[:, None] * Vt, U.T @ b, U
