"""The kernels' equations of motion behind plain calls, with their scratch arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels.equations import (
    energies,
    make_room,
    reduced_equations,
    tree_equations,
)
from mechid.errors import SingularPoseError, UnreachablePoseError
from mechid.kinematics.kernels.closure import SINGULAR, make_work
from mechid.kinematics.tables import Floats


@dataclass(frozen=True)
class Reduced:
    """M ÿ + h = τ + load at (y, ẏ); the closed tree state that belongs to it; energies."""

    M: Floats
    h: Floats
    load: Floats
    q: Floats
    v: Floats
    kinetic: float
    potential: float
    dissipated: float


@dataclass(frozen=True)
class OnTree:
    """M v̇ + h = Q + load + Jᵀ λ at (q, v); rows have values and J v̇ + gamma; energies.

    `h` is without the loads. Rows of closure and of drivers stand together; `closure` and
    `drivers` tell them apart.
    """

    M: Floats
    h: Floats
    load: Floats
    J: Floats
    gamma: Floats
    values: Floats
    kinetic: float
    potential: float
    dissipated: float


class Engine:
    """Equations of motion of one mechanism with given parameters.

    Not for use by several threads at a time: it keeps scratch arrays, and the last closed pose
    as the start of the next closure.
    """

    def __init__(self, model: DynamicModel, phi: Floats) -> None:
        self.model = model
        self.phi = np.ascontiguousarray(phi, dtype=float)
        k = model.kinematics
        self.kinematics = k
        t = k.tables
        self.n_i, self.n_v, self.n_q = k.n_independent, k.compiled.n_v, k.compiled.n_q
        self.closure = np.flatnonzero(t.rows.driver < 0)
        self.drivers = np.flatnonzero(t.rows.driver >= 0)
        self._every = np.arange(
            max(t.links.size, t.marker_link.size, t.direction_link.size, t.rows.size)
        )
        self._work = make_work(t, k.order, k.home_q)
        self._reduced = make_room(t, model.tables, self.n_i)
        self._tree = make_room(t, model.tables, self.n_v)
        self._reach_start, self._reach = _ancestors(t)
        self.pose = k.home_q.copy()

    def reduced(self, y: Floats, yd: Floats) -> Reduced:
        """Return the equations in the independent speeds; closes the loops from the last pose.

        Raises
        ------
        UnreachablePoseError, SingularPoseError
            If no pose near the last one has these coordinates.
        """
        k, d = self.kinematics, self.model.tables
        M, h, load = np.zeros((self.n_i, self.n_i)), np.zeros(self.n_i), np.zeros(self.n_i)
        q, v, vd = self.pose.copy(), np.zeros(self.n_v), np.zeros(self.n_v)
        status = reduced_equations(
            k.tables, k.order, d, self.phi, y, yd, q, v, vd, self._work, self._reduced, M, h, load
        )
        if status:
            values = ", ".join(
                f"{c.name} = {x:.6g} {c.unit}"
                for c, x in zip(k.mechanism.coordinates, y, strict=True)
            )
            if status == SINGULAR:
                raise SingularPoseError(f"singular pose at {values}")
            raise UnreachablePoseError(f"no pose near the last one has {values}")
        self.pose = q
        energy = energies(
            d, self.phi, self._work.rotation, self._work.vectors, self._reduced.values
        )
        return Reduced(M, h + load, load, q, v, *energy)

    def tree(self, q: Floats, v: Floats) -> OnTree:
        """Return the equations in the tree speeds at any state, closed or not."""
        k, d = self.kinematics, self.model.tables
        n, m = self.n_v, k.tables.rows.size
        M, h, load = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        values, J, gamma = np.zeros(m), np.zeros((m, n)), np.zeros(m)
        tree_equations(
            k.tables,
            d,
            self._every,
            self._reach_start,
            self._reach,
            self.phi,
            q,
            v,
            self._work,
            self._tree,
            M,
            h,
            load,
            values,
            J,
            gamma,
        )
        energy = energies(d, self.phi, self._work.rotation, self._work.vectors, self._tree.values)
        return OnTree(M, h + load, load, J, gamma, values, *energy)

    def tree_forces(self, equations: OnTree, tau: Floats) -> Floats:
        """Return the generalised forces on the tree of τ on the independent coordinates, (n_v,)."""
        t = self.kinematics.tables
        Q = np.zeros(self.n_v)
        np.add.at(Q, t.direct.column, tau[t.direct.driver])
        drivers = equations.J[self.drivers]
        return np.asarray(Q + drivers.T @ tau[t.rows.driver[self.drivers]])


def _ancestors(t: object) -> tuple[np.ndarray, np.ndarray]:
    """Columns that move each link, as slices of one list."""
    chains: list[list[int]] = [[]]
    links, columns = t.links, t.columns  # type: ignore[attr-defined]
    for k in range(1, links.size):
        own = [int(c) for c in np.flatnonzero(columns.link == k)]
        chains.append(chains[int(links.parent[k])] + own)
    start = np.array([0, *np.cumsum([len(c) for c in chains])], dtype=np.int64)
    return start, np.array([c for chain in chains for c in chain], dtype=np.int64)
