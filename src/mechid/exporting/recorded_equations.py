"""Programs for the equations of motion of one mechanism, recorded from the kernels.

The closure rows and their matrix are recorded, not the elimination: code that runs far from the
home pose, with no kernels to fall back on, has to choose its pivots where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import equations, measures
from mechid.dynamics.kernels.equations import Room
from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, numbers
from mechid.kinematics.kernels import closure, links, rows
from mechid.kinematics.model import KinematicModel
from mechid.tape.emit_c import Array
from mechid.tape.number import known_zero
from mechid.tape.plain import plain_tables
from mechid.tape.program import Program, Slots, Tape

BRANCHING = (measures.law_value, measures.law_slope, equations.law_potential)


@dataclass(frozen=True)
class Recorded:
    """A program and the arrays that it reads and fills."""

    program: Program
    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class RecordedEquations:
    """What the equations of motion of a mechanism are made of.

    Rows are closure rows and drivers in the order of solution, n_r of them, made dimensionless;
    so are the columns of J, by `scale`.

    Attributes
    ----------
    programs : mapping of str to Recorded
        "closure_rows" (q, y → gap (n_r,), J (n_r, n_v)), "row_rates" (q, v → second derivatives
        of the rows at v̇ = 0), "advanced" (q, step → q_new), and "equations"
        (q, v, vd, R (n_i, n_v), phi → h, M, energy) or "forces" (the same → h).
    pieces : array (n_p, 4) of int
        First and last row and column of each system of equations, one after the other.
    column : array (n_v,) of int
        Tree speeds in the order of solution, independent ones first.
    direct : array (n_d, 3) of int
        Tree coordinate, speed and number of independent coordinates that are in the tree.
    driver : array (n_r,) of int
        Independent coordinate of a row, or -1.
    row_scale, scale, weight, detail : arrays
        See `kinematics.tables`.
    """

    programs: Mapping[str, Recorded]
    pieces: np.ndarray
    column: np.ndarray
    direct: np.ndarray
    driver: np.ndarray
    row_scale: np.ndarray
    scale: np.ndarray
    weight: np.ndarray
    detail: np.ndarray


def record_equations(model: DynamicModel, inverse: bool = False) -> RecordedEquations:
    """Record the equations of motion of a mechanism, for accelerations or for forces.

    Raises
    ------
    RecordingError
        If a kernel does what a list of operations cannot hold.
    """
    k = model.kinematics
    t, order = k.tables, k.order
    solved = [p for p in order.pieces if p["column_end"] > p["column_start"]]
    place_of_row = [r for p in solved for r in order.items[p["row_start"] : p["row_end"]]]
    columns = [
        *t.direct.column,
        *(c for p in solved for c in order.items[p["column_start"] : p["column_end"]]),
    ]
    pieces, row, column = [], 0, len(t.direct)
    for p in solved:
        m, n = p["row_end"] - p["row_start"], p["column_end"] - p["column_start"]
        pieces.append((row, row + m, column, column + n))
        row, column = row + m, column + n
    return RecordedEquations(
        programs={
            "closure_rows": _closure_rows(k, place_of_row, np.array(columns)),
            "row_rates": _row_rates(k, place_of_row),
            "advanced": _advanced(k),
            "forces" if inverse else "equations": _equations(model, inverse),
        },
        pieces=np.array(pieces, dtype=int).reshape(-1, 4),
        column=np.array(columns, dtype=int),
        direct=np.array([t.direct.q, t.direct.column, t.direct.driver]).T,
        driver=t.rows.driver[place_of_row],
        row_scale=t.rows.scale[place_of_row],
        scale=t.columns.scale,
        weight=order.columns.weight,
        detail=t.columns.detail,
    )


class _Recording:
    """One program: inputs by name, poses in `work`, outputs by name."""

    def __init__(self, model: KinematicModel) -> None:
        self.model = model
        self.tape, self.slots = Tape(), Slots()
        self.run = RecordedKernels(self.tape.recorder, BRANCHING)
        self.t, self.order = plain_tables(model.tables), plain_tables(model.order)
        self.arrays: list[Array] = []

    def input(self, name: str, values: Any) -> np.ndarray:
        values = np.asarray(values, dtype=float)
        slots = self.slots.take(*values.shape)
        self.arrays.append(Array(name, slots.ravel()))
        return self.tape.input(slots, values)

    def output(self, name: str, values: np.ndarray) -> None:
        """Name an output; entries that are zero whatever the inputs are stay untouched."""
        values = np.asarray(values, dtype=object)
        slots = self.slots.take(*values.shape)
        kept = np.array([not known_zero(x) for x in values.ravel()], dtype=bool)
        self.tape.output(np.where(kept, slots.ravel(), -1), values)
        self.arrays.append(Array(name, slots.ravel()))

    def placed(self, q: np.ndarray) -> Any:
        """Return work with everything placed at q."""
        work = self.run(closure.make_work, self.t, self.order, q)
        for piece in self.order.pieces:
            self.run(closure.place_piece, self.t, self.order, piece, q, work)
        return work

    def done(self) -> Recorded:
        return Recorded(self.tape.program(), tuple(self.arrays))


def _closure_rows(model: KinematicModel, order_of_rows: list[int], columns: np.ndarray) -> Recorded:
    r = _Recording(model)
    q, y = r.input("q", model.home_q), r.input("y", model.home_y)
    work = r.placed(q)
    t, order = r.t, r.order
    for p in order.pieces:
        r.run(
            rows.row_entries,
            t,
            order.items,
            p.row_start,
            p.row_end,
            work.vectors[closure.ORIGIN],
            work.axes,
            work.markers,
            work.directions,
            work.entries,
        )
    gap, J = numbers(len(order_of_rows)), numbers(len(order_of_rows), t.columns.size)
    for i, n in enumerate(order_of_rows):
        value = r.run(rows.row_value, t, n, q, work.markers, work.directions)
        driver = t.rows[n].driver
        gap[i] = (value - y[driver] if driver >= 0 else value) * t.rows[n].scale
        for x in order.before[order.before_start[n] : order.before_start[n + 1]]:
            J[i, x.column] += work.entries[x.entry] * (t.rows[n].scale * t.columns[x.column].scale)
    at, first = {}, 0
    for p in order.pieces:
        m, n = p.row_end - p.row_start, p.column_end - p.column_start
        for i in range(m if n else 0):
            for j in range(n):
                at[p.factors + i * n + j] = (first + i, int(order.items[p.column_start + j]))
        first += m if n else 0
    for x in order.inside:
        J[at[x.at]] += work.entries[x.entry] * x.scale
    r.output("gap", gap)
    r.output("J", J)
    return r.done()


def _row_rates(model: KinematicModel, order_of_rows: list[int]) -> Recorded:
    r = _Recording(model)
    q = r.input("q", model.home_q)
    v = r.input("v", _lively(model.compiled.n_v))
    work = r.placed(q)
    bias = numbers(r.t.rows.size)
    r.run(closure.convective, r.t, v, numbers(len(v)), bias, work)
    r.output("rate", np.array([bias[n] * r.t.rows[n].scale for n in order_of_rows], dtype=object))
    return r.done()


def _advanced(model: KinematicModel) -> Recorded:
    r = _Recording(model)
    q = r.input("q", model.home_q)
    step = r.input("step", _lively(model.compiled.n_v))
    q = q.copy()
    r.run(links.advance, r.t, q, step, 1.0)
    r.output("q_new", q)
    return r.done()


def _equations(model: DynamicModel, inverse: bool) -> Recorded:
    k = model.kinematics
    r = _Recording(k)
    n, n_v = k.n_independent, k.compiled.n_v
    d = plain_tables(model.tables)
    q = r.input("q", k.home_q)
    v, vd = r.input("v", _lively(n_v)), r.input("vd", _lively(n_v))
    R = r.input("R", np.ones((n, n_v)))
    R[~_admissible(k)] = 0.0
    phi = r.input("phi", _lively(len(model.columns)))
    work = r.placed(q)
    room = Room(
        R=R,
        partial_velocity=numbers(n, r.t.links.size, 3),
        partial_omega=numbers(n, r.t.links.size, 3),
        values=numbers(d.measures.size, 3),
        partial=numbers(d.measures.size, n),
        scratch=numbers(n, 12),
        bias=numbers(r.t.rows.size),
        zero=numbers(max(n, n_v)),
        R_new=numbers(n, n_v),
        step=numbers(n_v),
        y=numbers(n),
    )
    M, h = numbers(n, n), numbers(n)
    r.run(equations._assemble, r.t, d, d.reach_start, d.reach, phi, q, v, vd, work, room, M, h)
    r.output("h", h)
    if not inverse:
        energy = r.run(equations.energies, d, phi, work.rotation, work.vectors, room.values)
        r.output("M", M)
        r.output("energy", np.array(energy[:2], dtype=object))
    return r.done()


def _admissible(model: KinematicModel) -> np.ndarray:
    """Return which entries of R (n_i, n_v) are not zero in all poses."""
    tape = Tape()
    run = RecordedKernels(tape.recorder)
    q = tape.input(np.arange(len(model.home_q)), model.home_q)
    y = tape.input(np.arange(model.n_independent), model.home_y)
    R = RecordedPose.record(model, run, q, y).admissible()
    return np.array([not known_zero(x) for x in R.ravel()], dtype=bool).reshape(R.shape)


def _lively(n: int) -> np.ndarray:
    """Return numbers none of which is special."""
    return np.random.default_rng(n).uniform(0.5, 1.5, n)
