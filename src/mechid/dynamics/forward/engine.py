"""The kernels' equations of motion behind plain calls, with their scratch arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels.equations import (
    Anchor,
    energies,
    make_room,
    reduced_equations,
    set_anchor,
    tree_equations,
)
from mechid.errors import SingularPoseError, UnreachablePoseError
from mechid.kinematics.kernels.closure import CROSSED, SINGULAR, make_work
from mechid.kinematics.tables import Floats, Ints, Tables


@dataclass(frozen=True)
class Reduced:
    """M ÿ + h = τ + load at (y, ẏ); the closed tree state that belongs to it; energies.

    The tree accelerations are v̇ = Rᵀ ÿ + bias, with R of shape (n_i, n_v).
    """

    M: Floats
    h: Floats
    load: Floats
    q: Floats
    v: Floats
    R: Floats
    bias: Floats
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

    Not for use by several threads at a time: it keeps scratch arrays, and the last closed pose,
    from which the next one is followed so that it stays on its branch.
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
        self._anchor = Anchor(
            np.zeros(self.n_i),
            np.zeros(self.n_q),
            np.zeros((self.n_i, self.n_v)),
        )
        self.anchor(k.home_y, k.home_q)

    def anchor(self, y: Floats, q: Floats) -> None:
        """Start from the closed pose q, which has the independent coordinates y."""
        k = self.kinematics
        set_anchor(k.tables, k.order, y, q, self._anchor, self._work)

    def reduced(self, y: Floats, yd: Floats) -> Reduced:
        """Return the equations in the independent speeds; the pose is followed from the last one.

        Raises
        ------
        UnreachablePoseError, SingularPoseError
            If these coordinates cannot be reached from the last pose.
        """
        k, d = self.kinematics, self.model.tables
        M, h, load = np.zeros((self.n_i, self.n_i)), np.zeros(self.n_i), np.zeros(self.n_i)
        q, v, vd = np.zeros(self.n_q), np.zeros(self.n_v), np.zeros(self.n_v)
        status = reduced_equations(
            k.tables,
            k.order,
            d,
            self.phi,
            y,
            yd,
            self._anchor,
            q,
            v,
            vd,
            self._work,
            self._reduced,
            M,
            h,
            load,
        )
        if status:
            values = ", ".join(
                f"{c.name} = {x:.6g} {c.unit}"
                for c, x in zip(k.mechanism.coordinates, y, strict=True)
            )
            remedy = "look at the motion before: it runs into a dead centre or out of reach"
            if status in (SINGULAR, CROSSED):
                raise SingularPoseError(f"singular pose near {values}", remedy=remedy)
            raise UnreachablePoseError(f"no pose on this branch has {values}", remedy=remedy)
        energy = energies(
            d, self.phi, self._work.rotation, self._work.vectors, self._reduced.values
        )
        return Reduced(M, h + load, load, q, v, self._anchor.R.copy(), vd, *energy)

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


def _ancestors(t: Tables) -> tuple[Ints, Ints]:
    """Columns that move each link, as slices of one list."""
    chains: list[list[int]] = [[]]
    links, columns = t.links, t.columns
    for k in range(1, links.size):
        own = [int(c) for c in np.flatnonzero(columns.link == k)]
        chains.append(chains[int(links.parent[k])] + own)
    start = np.array([0, *np.cumsum([len(c) for c in chains])], dtype=np.int64)
    return start, np.array([c for chain in chains for c in chain], dtype=np.int64)
