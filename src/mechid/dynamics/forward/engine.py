"""The kernels' equations of motion behind plain calls, with their scratch arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.forward.dead_centre import REMEDY
from mechid.dynamics.kernels.equations import (
    DISSIPATED,
    GAP,
    KINETIC,
    POTENTIAL,
    POWER,
    Anchor,
    Room,
    State,
    anchor_again,
    anchor_state,
    energies,
    make_room,
    tree_equations,
)
from mechid.dynamics.kernels.stages import (
    MASSLESS,
    Code,
    Instants,
    Split,
    no_code,
    read_motion,
    run_stages,
)
from mechid.errors import SingularPoseError, UnreachablePoseError
from mechid.kinematics.kernels.closure import CROSSED, OK, SINGULAR, make_work
from mechid.kinematics.kernels.follow import LONGEST_PREDICTION, reading_size
from mechid.kinematics.kernels.held import Held, hold
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.refusals import values_of
from mechid.kinematics.tables import Floats, Ints, Tables

# Leaps across a singular pose: correction and change of the tangent are at most this part of them;
# shorter ones than this part of the way are not tried.
_STRAIGHT = 0.1
_SHORTEST_LEAP = 1 / 64


@dataclass(frozen=True)
class Reduced:
    """M ÿ + h = τ at (y, ẏ); the closed tree state that belongs to it; energies.

    The tree accelerations are v̇ = Rᵀ ÿ + bias, with R of shape (n_i, n_v); `supplied` is the power
    of the loads, `gap` the largest closure row, relative to the size of the mechanism.
    """

    M: Floats
    h: Floats
    q: Floats
    v: Floats
    R: Floats
    bias: Floats
    kinetic: float
    potential: float
    dissipated: float
    supplied: float
    gap: float


@dataclass(frozen=True)
class Accelerated:
    """ÿ at (y, ẏ) under forces τ; energies; `power` of the forces and the loads.

    `tau` includes the forces that drive coordinates whose accelerations are given.
    """

    ydd: Floats
    tau: Floats
    kinetic: float
    potential: float
    power: float
    dissipated: float


@dataclass(frozen=True)
class OnTree:
    """M v̇ + h = Q + Jᵀ λ at (q, v); rows have values and J v̇ + gamma; energies.

    `supplied` is the power of the loads. Rows of closure and of drivers stand together; `closure`
    and `drivers` tell them apart.
    """

    M: Floats
    h: Floats
    J: Floats
    gamma: Floats
    values: Floats
    kinetic: float
    potential: float
    dissipated: float
    supplied: float


class _Direct(NamedTuple):
    """Independent coordinates that are tree coordinates: their numbers there."""

    driver: Ints
    q: Ints
    column: Ints


class Engine:
    """Equations of motion of one mechanism with given parameters.

    Not for use by several threads at a time: it keeps scratch arrays, and the last closed pose,
    from which the next one is followed so that it stays on its branch.
    """

    def __init__(self, model: DynamicModel, phi: Floats) -> None:
        self.model = model
        self.phi = np.array(phi, dtype=float)
        k = model.kinematics
        self.kinematics = k
        t = k.tables
        self.n_i, self.n_v, self.n_q = k.n_independent, k.compiled.n_v, k.compiled.n_q
        self.closure = np.flatnonzero(t.rows.driver < 0)
        self.drivers = np.flatnonzero(t.rows.driver >= 0)
        self._by_row = np.array(t.rows.driver[self.drivers])
        # fields of record arrays take microseconds to look up
        self._direct = _Direct(*(np.array(t.direct[name]) for name in _Direct._fields))
        n_i, n_v = self.n_i, self.n_v
        self._state = State(
            t=t,
            order=k.order,
            d=model.tables,
            phi=self.phi,
            anchor=Anchor(np.zeros(n_i), np.zeros(self.n_q), np.zeros((n_i, n_v))),
            work=make_work(t, k.order, k.home_q),
            room=make_room(t, model.tables, n_i),
            y=np.zeros(n_i),
            yd=np.zeros(n_i),
            tau=np.zeros(n_i),
            q=np.zeros(self.n_q),
            v=np.zeros(n_v),
            vd=np.zeros(n_v),
            M=np.zeros((n_i, n_i)),
            h=np.zeros(n_i),
            ydd=np.zeros(n_i),
            factors=np.zeros(n_i * n_i),
            pivots=np.zeros(n_i, dtype=np.int64),
            numbers=np.zeros(6),
            clock=np.full(1, np.nan),
        )
        self._held: Held = hold(self._state)
        self._whole: Held | None = None  # the same with all rows in one piece, once it is needed
        self._anchored = False  # whether the work arrays of the order of solution are at the anchor
        self._at: tuple[object, ...] = ()  # what the state has been solved for
        self._last_tree: tuple[bytes, OnTree] | None = None
        self._nothing = hold(Instants(*(np.zeros((0, 0)),) * 6, *(np.zeros(0),) * 3))
        self._plans: list[tuple[Code, Split, Held]] = []
        self._no_code = self._code = no_code()
        self._never = np.full(1, np.nan)  # an evaluation that is not one of a motion
        self._all_free = Split(np.arange(n_i), np.zeros(0, np.int64), np.zeros(0, np.int64))
        self.anchor(k.home_y, k.home_q)

    def anchor(self, y: Floats, q: Floats) -> None:
        """Start from the closed pose q, which has the independent coordinates y."""
        s = self._state
        s.y[:], s.q[:] = y, q
        self._at = ()
        self._anchored = anchor_state(self._held) == OK
        if not self._anchored:
            anchor_state(self._in_one_piece())

    def change(self, places: Ints, values: Floats) -> None:
        """Change some of the parameters."""
        self.phi[places] = values
        self._at, self._last_tree = (), None

    def accelerate(
        self,
        y: Floats,
        yd: Floats,
        tau: Floats,
        split: Split | None = None,
        ydd_driven: Floats = np.zeros(0),  # noqa: B008 - never written to
    ) -> Accelerated:
        """Return the accelerations in the independent coordinates under the forces τ.

        Coordinates `split.driven` have the accelerations `ydd_driven`.

        Raises
        ------
        UnreachablePoseError, SingularPoseError
            If these coordinates cannot be reached from the last pose.
        LinAlgError
            If the mass matrix is singular.
        """
        s = self._state
        if self._solve(y, yd, tau, split or self._all_free, ydd_driven) == MASSLESS:
            raise np.linalg.LinAlgError("singular mass matrix")
        x = s.numbers.tolist()
        return Accelerated(
            ydd=s.ydd.copy(),
            tau=s.tau.copy(),
            kinetic=x[KINETIC],
            potential=x[POTENTIAL],
            power=x[POWER],
            dissipated=x[DISSIPATED],
        )

    def use_code(self) -> None:
        """Evaluate several rows by code that is generated for the mechanism, where it serves."""
        code = self.model.forward_code
        self._code = self._no_code if code is None else code.code()

    def run(
        self,
        split: Split,
        A: Floats,
        rows: tuple[int, int],
        h: float,
        times: Floats,
        z: Floats,
        given: Floats,
        K: Floats,
        out: Instants | None = None,
    ) -> tuple[int, Floats | None]:
        """Evaluate several rows as `kernels.stages.run_stages` does.

        Returns the number of rows that are done, and the state of the last one if all are.
        """
        self._at = ()
        if not self._anchored and self._code is self._no_code:
            return rows[0], None
        state = np.empty(z.shape[1])
        done, _, self._anchored = run_stages(
            self._held,
            self._plan(self._code, split),
            self._anchored,
            A,
            *rows,
            h,
            times,
            z,
            given,
            state,
            K,
            self._nothing if out is None else hold(out),
        )
        return done, state if done == rows[1] else None

    def _plan(self, code: Code, split: Split) -> Held:
        """Return both, held."""
        for known_code, known_split, held in self._plans:
            if known_code is code and known_split is split:
                return held
        self._plans.append((code, split, hold((code, split))))
        return self._plans[-1][2]

    def motion(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """Return y, ẏ, ÿ (n_i,), v, v̇ and the largest ∂q/∂y (n_v,) of the last accelerations."""
        n, m = self.n_i, self.n_v
        x = np.empty(3 * (n + m))
        read_motion(self._held, x)
        k = 3 * n
        return x[:n], x[n : 2 * n], x[2 * n : k], x[k : k + m], x[k + m : k + 2 * m], x[k + 2 * m :]

    def reduced(self, y: Floats, yd: Floats) -> Reduced:
        """Return the equations in the independent speeds; the pose is followed from the last one.

        Raises
        ------
        UnreachablePoseError, SingularPoseError
            If these coordinates cannot be reached from the last pose.
        """
        s = self._state
        if self._at[:2] != (y.tobytes(), yd.tobytes()):
            self._solve(y, yd, s.tau, self._all_free, np.zeros(0))
        x = s.numbers.tolist()
        return Reduced(
            M=s.M.copy(),
            h=s.h.copy(),
            q=s.q.copy(),
            v=s.v.copy(),
            R=s.anchor.R.copy(),
            bias=s.vd.copy(),
            kinetic=x[KINETIC],
            potential=x[POTENTIAL],
            dissipated=x[DISSIPATED],
            supplied=x[POWER] - float(s.tau @ s.yd),
            gap=x[GAP],
        )

    def _solve(self, y: Floats, yd: Floats, tau: Floats, split: Split, ydd_driven: Floats) -> int:
        """Fill the state for y, ẏ and τ, or raise; return OK or MASSLESS."""
        asked = (y.tobytes(), yd.tobytes(), tau.tobytes(), ydd_driven.tobytes(), id(split))
        if self._at == asked:
            return OK
        f, d = split.free, split.driven
        z = np.concatenate([y[f], yd[f], [0.0, 0.0]])[None]
        given = np.concatenate([tau, y[d], yd[d], ydd_driven])[None]

        def solve(held: Held) -> int:
            found = run_stages(
                held,
                self._plan(self._no_code, split),
                True,
                z,
                0,
                1,
                0.0,
                self._never,
                z,
                given,
                z[0],
                np.empty_like(z),
                self._nothing,
            )
            return int(found[1])

        self._at = ()
        if not self._anchored:
            self._anchored = anchor_again(self._held) == OK
        status = solve(self._held) if self._anchored else SINGULAR
        if status > 0:
            # The order of solution fails where the rows chosen for it are weak: all rows together.
            whole = self._in_one_piece()
            found = solve(whole) if anchor_again(whole) == OK else SINGULAR
            if found <= 0:
                self._anchored, status = False, found
        if status > 0 and self._cross(y):
            status = solve(self._held)
        if status > 0:
            values = values_of(self.kinematics, y)
            if status in (SINGULAR, CROSSED):
                raise SingularPoseError(f"singular pose near {values}", remedy=REMEDY)
            raise UnreachablePoseError(f"no pose on this branch has {values}", remedy=REMEDY)
        self._at = asked if status == OK else ()
        return status

    def _cross(self, y: Floats) -> bool:
        """Carry the anchor to y across a singular pose; tell whether that succeeds.

        Branches that meet in a singular pose have different tangents, and speeds are continuous:
        the motion goes on where the tangent changes little.
        """
        start = Anchor(*(x.copy() for x in self._state.anchor))
        reached, part = 0.0, 1.0
        while reached < 1.0:
            target = min(reached + part, 1.0)
            if self._leap(start.y + target * (y - start.y) if target < 1.0 else y):
                reached, part = target, 2 * part
            elif part > _SHORTEST_LEAP:
                part *= 0.5
            else:
                self._return_to(start)
                return False
        return True

    def _leap(self, y: Floats) -> bool:
        """Make y the anchor if the way there from the last one is nearly straight."""
        s = self._state
        before = Anchor(*(x.copy() for x in s.anchor))
        way = (y - before.y) @ before.R
        size = reading_size(s.order, way)
        if not size <= LONGEST_PREDICTION:
            return False
        s.y[:], s.q[:] = y, before.q
        advance(s.t, s.q, way, 1.0)
        self._anchored = anchor_state(self._held) == OK
        turned = (y - before.y) @ (s.anchor.R - before.R)
        off = max(reading_size(s.order, x) for x in (s.work.moved, turned))
        if self._anchored and off <= _STRAIGHT * size:
            return True
        self._return_to(before)
        return False

    def _return_to(self, anchor: Anchor) -> None:
        for x, kept in zip(self._state.anchor, anchor, strict=True):
            x[:] = kept
        self._anchored = False

    def _in_one_piece(self) -> Held:
        if self._whole is None:
            k = self.kinematics
            work = make_work(k.tables, k.one_piece, k.home_q)
            self._whole = hold(self._state._replace(order=k.one_piece, work=work))
        return self._whole

    @cached_property
    def _tree(self) -> tuple[Room, Ints, Ints, Ints]:
        """Scratch arrays, numbers of everything, and the columns that move each link."""
        t = self.kinematics.tables
        most = max(t.links.size, t.marker_link.size, t.direction_link.size, t.rows.size)
        return make_room(t, self.model.tables, self.n_v), np.arange(most), *_ancestors(t)

    def tree(self, q: Floats, v: Floats) -> OnTree:
        """Return the equations in the tree speeds at any state, closed or not."""
        if self._last_tree is not None and self._last_tree[0] == _key(q, v):
            return self._last_tree[1]
        k, d = self.kinematics, self.model.tables
        n, m = self.n_v, k.tables.rows.size
        M, h = np.zeros((n, n)), np.zeros(n)
        values, J, gamma = np.zeros(m), np.zeros((m, n)), np.zeros(m)
        room, every, reach_start, reach = self._tree
        self._anchored, self._at = False, ()  # the work arrays are used for another pose
        tree_equations(
            k.tables,
            d,
            every,
            reach_start,
            reach,
            self.phi,
            q,
            v,
            self._state.work,
            room,
            M,
            h,
            values,
            J,
            gamma,
        )
        work = self._state.work
        kinetic, potential, dissipated, supplied = energies(
            d, self.phi, work.rotation, work.vectors, room.values
        )
        found = OnTree(
            M=M,
            h=h,
            J=J,
            gamma=gamma,
            values=values,
            kinetic=kinetic,
            potential=potential,
            dissipated=dissipated,
            supplied=supplied,
        )
        self._last_tree = (_key(q, v), found)
        return found

    def coordinates_on_tree(self, equations: OnTree, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Return y (n_i,) at a tree state, D (n_i, n_v) and c (n_i,) of ẏ = D v, ÿ = D v̇ + c."""
        e, rows = equations, self.drivers
        y, D, c = np.zeros(self.n_i), np.zeros((self.n_i, self.n_v)), np.zeros(self.n_i)
        y[self._direct.driver] = q[self._direct.q]
        D[self._direct.driver, self._direct.column] = 1.0
        y[self._by_row], D[self._by_row], c[self._by_row] = e.values[rows], e.J[rows], e.gamma[rows]
        return y, D, c

    def tree_forces(self, equations: OnTree, tau: Floats) -> Floats:
        """Return the generalised forces on the tree of τ on the independent coordinates, (n_v,)."""
        _, D, _ = self.coordinates_on_tree(equations, np.zeros(self.n_q))
        return np.asarray(D.T @ tau)


def _key(y: Floats, yd: Floats) -> bytes:
    return y.tobytes() + yd.tobytes()


def _ancestors(t: Tables) -> tuple[Ints, Ints]:
    """Columns that move each link, as slices of one list."""
    parent, owner = t.links.parent.tolist(), t.columns.link.tolist()
    chains: list[list[int]] = [[]]
    for k in range(1, len(parent)):
        chains.append(chains[parent[k]] + [c for c, link in enumerate(owner) if link == k])
    start = np.array([0, *np.cumsum([len(c) for c in chains])], dtype=np.int64)
    return start, np.array([c for chain in chains for c in chain], dtype=np.int64)
