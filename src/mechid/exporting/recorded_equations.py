"""Programs for the equations of motion of one mechanism, recorded from the kernels.

The closure rows and their matrix are recorded, not the elimination: code that runs far from the
home pose, with no kernels to fall back on, has to choose its pivots where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import equations, measures
from mechid.exporting.recorded import Function, Recorded, Taped, lively
from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, numbers
from mechid.kinematics.kernels import closure, rows
from mechid.kinematics.model import KinematicModel
from mechid.tape.number import known_zero
from mechid.tape.plain import plain_tables
from mechid.tape.program import Tape

BRANCHING = (measures.law_value, measures.law_slope, equations.law_potential)


@dataclass(frozen=True)
class RecordedEquations:
    """What the equations of motion of a mechanism are made of.

    Rows are closure rows and drivers in the order of solution, n_r of them, made dimensionless;
    so are the columns of J, by `scale`.

    Attributes
    ----------
    programs : mapping of str to Function
        "closure_rows" (y, q → gap (n_r,), J (n_r, n_v)), "row_rates" (q, v → second derivatives
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

    programs: Mapping[str, Function]
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
            "closure_rows": _closure_rows(model, place_of_row),
            "row_rates": _row_rates(model, place_of_row),
            "advanced": _advanced(model),
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


def _placed(taped: Taped, y: np.ndarray) -> RecordedPose:
    """Return everything placed at the input q; nothing is factored."""
    k = taped.model.kinematics
    run = RecordedKernels(taped.tape.recorder, BRANCHING)
    t, order = plain_tables(k.tables), plain_tables(k.order)
    q = taped.input("q", k.home_q)
    work = run(closure.make_work, t, order, q)
    for piece in order.pieces:
        run(closure.place_piece, t, order, piece, q, work)
    return RecordedPose(k, run, t, order, q, y, work, 1.0)


def _closure_rows(model: DynamicModel, order_of_rows: list[int]) -> Function:
    taped = Taped(model)
    pose = _placed(taped, taped.input("y", model.kinematics.home_y))
    t, order, work = pose.t, pose.order, pose.work
    for p in order.pieces:
        pose.run(
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
    J = numbers(len(order_of_rows), t.columns.size)
    for i, r in enumerate(order_of_rows):
        for x in order.before[order.before_start[r] : order.before_start[r + 1]]:
            J[i, x.column] += work.entries[x.entry] * (t.rows[r].scale * t.columns[x.column].scale)
    at, first = {}, 0
    for p in order.pieces:
        m, n = p.row_end - p.row_start, p.column_end - p.column_start
        for i in range(m if n else 0):
            for j in range(n):
                at[p.factors + i * n + j] = (first + i, int(order.items[p.column_start + j]))
        first += m if n else 0
    for x in order.inside:
        J[at[x.at]] += work.entries[x.entry] * x.scale
    taped.output("gap", [pose.gaps[r] * t.rows[r].scale for r in order_of_rows])
    taped.output("J", J)
    return taped.function()


def _row_rates(model: DynamicModel, order_of_rows: list[int]) -> Function:
    taped = Taped(model)
    pose = _placed(taped, numbers(0))
    v = taped.input("v", lively(pose.t.columns.size, 0))
    bias = numbers(pose.t.rows.size)
    pose.run(closure.convective, pose.t, v, numbers(len(v)), bias, pose.work)
    taped.output("rate", [bias[r] * pose.t.rows[r].scale for r in order_of_rows])
    return taped.function()


def _advanced(model: DynamicModel) -> Function:
    taped = Taped(model)
    pose = _placed(taped, numbers(0))
    taped.output("q_new", pose.advanced(taped.input("step", lively(pose.t.columns.size, 0))))
    return taped.function()


def _equations(model: DynamicModel, inverse: bool) -> Function:
    taped, n = Taped(model), model.kinematics.n_independent
    pose = _placed(taped, numbers(0))
    n_v, work = pose.t.columns.size, pose.work
    v, vd = taped.input("v", lively(n_v, 0)), taped.input("vd", lively(n_v, 1))
    R = taped.input("R", np.ones((n, n_v)))
    R[~_admissible(model.kinematics)] = 0.0
    phi = taped.input("phi", np.ones(len(model.columns)))
    M, h = Recorded(model).equations(pose, R, v, vd, phi)
    taped.output("h", h)
    if not inverse:
        d = plain_tables(model.tables)
        # only the values of the measures are wanted: they do not depend on partial velocities
        idle, values = numbers(n, pose.t.links.size, 3), numbers(d.measures.size, 3)
        partial = numbers(d.measures.size, n)
        place = (work.rotation, work.vectors)
        pose.run(measures.read_measures, d, pose.q, v, vd, R, *place, idle, idle, values, partial)
        taped.output("M", M)
        taped.output("energy", pose.run(equations.energies, d, phi, *place, values)[:2])
    return taped.function()


def _admissible(model: KinematicModel) -> np.ndarray:
    """Return which entries of R (n_i, n_v) are not zero in all poses."""
    tape = Tape()
    run = RecordedKernels(tape.recorder)
    q = tape.input(np.arange(len(model.home_q)), model.home_q)
    y = tape.input(np.arange(model.n_independent), model.home_y)
    R = RecordedPose.record(model, run, q, y).admissible()
    return np.array([not known_zero(x) for x in R.ravel()], dtype=bool).reshape(R.shape)
