"""Common ground of the formulations whose state is (q, v) of the spanning tree.

Driven coordinates are further constraints, D v̇ + c = ÿ(t); their multipliers are the forces that
drive. Baumgarte's terms and projection hold them at their motion as they hold the loops.

How many of the constraints are independent is known from the assembled pose, and not asked anew at
every state: loops that are open by an error of integration make redundant rows look independent.

Near a singular pose, where the smallest singular value σ of the constraints goes to zero, errors of
the state would be divided by σ, steps would creep towards the pose, and rounding would decide on
which branch the motion goes on. So equations are evaluated at the closed state next to the given
one there, and errors are those of rounding. Speeds are continuous across the pose: a
motion whose speeds jump has left on another branch, and is refused (`Crossing`).

Singular poses on the way: the branch on which a motion goes on.

Where the constraints lose rank, branches of the mechanism meet. Forces are finite, so that speeds
are continuous there: the motion goes on along the branch to which its speed belongs. On any other
branch the speeds differ at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.drive import Driven, nothing_driven
from mechid.dynamics.forward.engine import Engine, OnTree
from mechid.dynamics.forward.formulation import Baumgarte, Instant, massive
from mechid.errors import SingularPoseError
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.tables import BALL, Floats

# Smallest singular value of the constraints, in parts of that of the assembled pose.
_CLOSE = 0.05
# Change of speed across the pose, in parts of the speed, that accelerations do not explain.
_JUMP = 0.5

REMEDY = "use the formulation independent with a coordinate that drives the mechanism there too"


class Crossing:
    """Sees every evaluation; tells whether speeds jumped near a singular pose."""

    def __init__(self, scale: Floats) -> None:
        self._scale = scale
        self._least = np.inf  # since the last step
        self._before: tuple[float, Floats, Floats] | None = None
        self._last: tuple[float, Floats, Floats, float] | None = None

    def see(self, least: float, t: float, v: Floats, vd: Floats) -> None:
        """Take an evaluation: singular value in parts of its usual one, time, speeds."""
        self._least = min(self._least, least)
        self._last = (t, v / self._scale, vd / self._scale, least)

    def step(self, t: float) -> None:
        """Take the end of a step, the state evaluated last; refuse one beyond a jump of speeds."""
        if self._last is None:
            return
        _, v, vd, least = self._last
        met, before = self._least < _CLOSE, self._before
        if met and least < _CLOSE and before is not None:
            return  # still inside: what was before counts
        self._least = np.inf
        if not met or before is None:
            self._before = (t, v, vd)
            return
        change = v - before[1] - 0.5 * (t - before[0]) * (vd + before[2])
        speed = max(float(np.linalg.norm(v)), float(np.linalg.norm(before[1])))
        if float(np.linalg.norm(change)) > _JUMP * speed:
            raise SingularPoseError(
                f"the mechanism passes a singular pose after t = {before[0]:.6g} s, where several "
                "branches meet, and would go on along another one",
                remedy=REMEDY,
                time=before[0],
            )
        self._before = (t, v, vd)


_RANK = 1e-9  # relative, at the assembled pose: rows that add less than this are redundant
_ROUNDING = 1e-13
_LEAST = 5e-16  # near singular poses, where errors of the closure are divided by σ³
# Smallest singular value of the constraints, in parts of that of the assembled pose: where a
# singular pose is near, below which speeds are left as they are integrated (rounding of the pose,
# divided by σ², would move them by more than 5e-10), and where the pose is reached (rounding hides
# what the constraint says). Accelerations need the constraint as long as it says anything: where
# links are off by 1e-10, branches do not meet, and the motion turns sharply from one to the other.
_NEAR = 0.05
_SPEEDS = 1e-3
_REACHED = 1e-6


@dataclass(frozen=True)
class _Rows:
    """Constraints A v̇ + bias = 0 with their errors of position and of speed."""

    A: Floats
    bias: Floats
    error: Floats
    speed: Floats


class TreeFormulation:
    """State (q, v); subclasses say how accelerations and multipliers follow."""

    name = ""
    drifts = True

    def __init__(self, engine: Engine, baumgarte: Baumgarte, driven: Driven | None = None) -> None:
        self.engine = engine
        self.baumgarte = baumgarte
        self.driven = driven or nothing_driven(engine.n_i)
        t = engine.kinematics.tables
        self._balls = [(int(x.q), int(x.v)) for x in t.links[1:] if x.kind == BALL]
        screws = t.links[1:][t.links.kind[1:] != BALL]
        self._screws = np.array(screws.q), np.array(screws.v)
        coordinates = engine.model.mechanism.coordinates
        self._angle = np.array(
            [coordinates[i].unit == "rad" for i in self.driven.index], dtype=bool
        )
        driver_scale = np.where(self._angle, 1.0, 1.0 / engine.kinematics.size)
        self._row_scale = np.concatenate([np.array(t.rows.scale)[engine.closure], driver_scale])
        self._column_scale = np.array(t.columns.scale)
        self._rank, self._least = self._regular()
        self.crossing = Crossing(self._column_scale)

    def _regular(self) -> tuple[int, float]:
        """Return how many constraints are independent, and their smallest singular value, at home.

        Driven coordinates are independent of the loops.
        """
        k = self.engine.kinematics
        e = self.engine.tree(k.home_q, np.zeros(self.engine.n_v))
        n = len(self.engine.closure)
        A = e.J[self.engine.closure] * self._row_scale[:n, None] * self._column_scale
        s = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
        loops = int(np.sum(s > _RANK * s[0])) if s.size else 0
        if not self.driven:
            return loops, float(s[loops - 1]) if loops else 0.0
        _, D, _ = self.engine.coordinates_on_tree(e, k.home_q)
        driver = self._row_scale[n:, None] * D[self.driven.index] * self._column_scale
        s = np.linalg.svd(np.vstack([A, driver]), compute_uv=False)
        rank = min(loops + len(driver), len(s))
        return rank, float(s[rank - 1])

    def accelerations(
        self, M: Floats, force: Floats, A: Floats, b: Floats
    ) -> tuple[Floats, Floats]:
        """Return v̇ and multipliers of M v̇ = force + Aᵀ λ, A v̇ = b, with A of full rank."""
        raise NotImplementedError

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return z = (q, v)."""
        return np.concatenate([q, v])

    def tree(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return q and v, quaternions normalised."""
        q, v = z[: self.engine.n_q].copy(), z[self.engine.n_q :].copy()
        for j, _ in self._balls:
            q[j : j + 4] /= np.linalg.norm(q[j : j + 4])
        return q, v

    def evaluate(self, z: Floats, tau: Floats, t: float = 0.0) -> Instant:
        """Return ż, multipliers of the closure rows, energies and powers."""
        q, v = self.tree(z)
        e = self.engine.tree(q, v)
        rows = self._rows(e, q, v, t)
        # Scaled unknowns: angles and lengths in comparable units.
        s = self._column_scale
        independent = Independent.of(rows.A * s, self._rank)
        if independent.least < _NEAR * self._least:
            q, v = self.tree(self.project(z, t))
            e = self.engine.tree(q, v)
            rows = self._rows(e, q, v, t)
            independent = Independent.of(rows.A * s, self._rank, _REACHED * self._least)
        Q = self.engine.tree_forces(e, tau)
        A, b, U = independent.rows(self._right(rows))
        mass, force = s[:, None] * e.M * s, s * (Q - e.h)
        with massive():
            vd, multipliers = self.accelerations(mass, force, A, b)
        vd = s * vd
        self.crossing.see(independent.least / self._least if self._rank else np.inf, t, v, vd)
        found = self._row_scale * (U @ multipliers)
        n = len(self.engine.closure)
        if self.driven:
            tau = tau.copy()
            tau[self.driven.index] = found[n:]
            Q = self.engine.tree_forces(e, tau)
        return Instant(
            rate=np.concatenate([self._position_rate(q, v), vd]),
            tau=tau,
            multipliers=found[:n],
            kinetic=e.kinetic,
            potential=e.potential,
            power=float(Q @ v) + e.supplied,
            dissipated=e.dissipated,
        )

    def nearly_singular(self, q: Floats, v: Floats, t: float) -> bool:
        """Tell whether a singular pose is near."""
        rows = self._rows(self.engine.tree(q, v), q, v, t)
        return Independent.of(rows.A * self._column_scale, self._rank).least < _NEAR * self._least

    def _rows(self, e: OnTree, q: Floats, v: Floats, t: float) -> _Rows:
        """Dimensionless constraints: the cut joints, then the driven coordinates."""
        rows, s = self.engine.closure, self._row_scale
        A, bias, error = e.J[rows], e.gamma[rows], e.values[rows]
        speed = A @ v
        if self.driven:
            d = self.driven.index
            y, D, c = self.engine.coordinates_on_tree(e, q)
            wanted, rate, acceleration = self.driven.at(t)
            off = y[d] - wanted
            off = np.where(self._angle, np.remainder(off + np.pi, 2 * np.pi) - np.pi, off)
            A, bias = np.vstack([A, D[d]]), np.concatenate([bias, c[d] - acceleration])
            error, speed = np.concatenate([error, off]), np.concatenate([speed, D[d] @ v - rate])
        return _Rows(A * s[:, None], bias * s, error * s, speed * s)

    def _right(self, rows: _Rows) -> Floats:
        """Right side of A v̇ = b, with Baumgarte's terms."""
        alpha, beta = self.baumgarte.alpha, self.baumgarte.beta
        return -rows.bias - 2 * alpha * rows.speed - beta**2 * rows.error

    def _position_rate(self, q: Floats, v: Floats) -> Floats:
        rate = np.zeros_like(q)
        rate[self._screws[0]] = v[self._screws[1]]
        for j, c in self._balls:  # ė = ½ (0, w) e, with w in the outer axes
            e0, e1, e2, e3 = q[j : j + 4].tolist()
            w1, w2, w3 = (0.5 * v[c : c + 3]).tolist()
            rate[j : j + 4] = (
                -w1 * e1 - w2 * e2 - w3 * e3,
                e0 * w1 + w2 * e3 - w3 * e2,
                e0 * w2 + w3 * e1 - w1 * e3,
                e0 * w3 + w1 * e2 - w2 * e1,
            )
        return rate

    def independent(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return y and ẏ."""
        q, v = self.tree(z)
        y, D, _ = self.engine.coordinates_on_tree(self.engine.tree(q, v), q)
        return y, np.asarray(D @ v)

    def independent_acceleration(self, z: Floats, rate: Floats, t: float = 0.0) -> Floats:
        """Return ÿ: second derivatives of the driver rows and of the direct coordinates."""
        q, v = self.tree(z)
        _, D, c = self.engine.coordinates_on_tree(self.engine.tree(q, v), q)
        return np.asarray(D @ rate[self.engine.n_q :] + c)

    def constraint_error(self, z: Floats, t: float = 0.0) -> float:
        """Return the largest closure row, dimensionless."""
        q, v = self.tree(z)
        rows = self.engine.closure
        values = self.engine.tree(q, v).values[rows] * self._row_scale[: len(rows)]
        return float(np.abs(values).max(initial=0.0))

    def project(self, z: Floats, t: float = 0.0) -> Floats:
        """Close the loops by least-squares steps, then take the nearest admissible speeds."""
        q, v = self.tree(z)
        tables = self.engine.kinematics.tables
        s = self._column_scale
        for left in reversed(range(5)):
            rows = self._rows(self.engine.tree(q, v), q, v, t)
            found = Independent.of(rows.A * s, self._rank)
            near = found.least < _NEAR * self._least
            if not left or np.abs(rows.error).max(initial=0.0) < (_LEAST if near else _ROUNDING):
                break
            advance(tables, q, -s * found.solve(rows.error, bent=True), 1.0)
        if rows.A.size:
            v = v - s * found.solve(rows.speed, _SPEEDS * self._least)
        return np.concatenate([q, v])


@dataclass(frozen=True)
class Independent:
    """Constraints A x = b of known rank, as A = U diag(s) Vᵀ without what is redundant."""

    A: Floats
    U: Floats
    s: Floats
    Vt: Floats
    rank: int

    @staticmethod
    def of(A: Floats, rank: int, reached: float = 0.0) -> Independent:
        """Take the rank that is known, or less where the constraints fall below `reached`."""
        if not A.size:
            return Independent(A, np.zeros((0, 0)), np.zeros(0), A, 0)
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        kept = min(rank, int(np.sum(s > max(reached, 1e-14 * s[0]))))
        return Independent(A, U, s, Vt, kept)

    @property
    def least(self) -> float:
        """The smallest singular value that counts."""
        return float(self.s[self.rank - 1]) if self.rank else np.inf

    def rows(self, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Return rows of full rank that say the same as A x = b, and U with A = U A_r.

        Multipliers of the given rows follow as U times those of the new ones: the ones of least
        norm.
        """
        k = self.rank
        if k == len(self.A):
            return self.A, b, np.eye(k)
        U = self.U[:, :k]
        return self.s[:k, None] * self.Vt[:k], U.T @ b, U

    def solve(self, b: Floats, reached: float = 0.0, *, bent: bool = False) -> Floats:
        """Return the shortest x with A x = b.

        Without directions whose singular value is below `reached`, and, where the constraints are
        `bent`, without those for which a linear step says nothing: it would be longer than the
        singular value that it is divided by.
        """
        k = self.rank
        s, right = self.s[:k], self.U[:, :k].T @ b
        good = s > reached
        if bent:
            good &= np.abs(right) < s * s
        return np.asarray(self.Vt[:k][good].T @ (right[good] / s[good]))
