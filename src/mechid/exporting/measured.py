"""Independent coordinates from measured quantities, as recorded programs.

What `signals.project` does with a log, one sample at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mechid.dynamics.compile import DynamicModel, MeasureBuilder
from mechid.dynamics.kernels import measures, observe, partials
from mechid.dynamics.tables import SLIDE
from mechid.exporting.pivoting import PivotingKernels
from mechid.exporting.recorded import Function, Taped, lively
from mechid.kinematics.engine.record import RecordedPose, largest, numbers
from mechid.kinematics.kernels import links
from mechid.kinematics.quantities import independent_index
from mechid.mechanism.records import (
    GROUND,
    DistanceCoordinate,
    IndependentCoordinate,
    JointCoordinate,
    Point,
)
from mechid.tape.number import Value, value_of
from mechid.tape.plain import plain_tables


class _Read(NamedTuple):
    """s, s̈ (m,) and ∂s/∂y (m, n_i) of quantities at a pose."""

    value: np.ndarray
    acceleration: np.ndarray
    partial: np.ndarray


def record_fit(model: DynamicModel, quantities: tuple[IndependentCoordinate, ...]) -> Function:
    """Record (q, y, s) → change, weak: the change of y that least squares ask for at a pose.

    Residuals of angles are taken to the nearest turn. `weak` has the size of the change and the
    smallest pivot of ∂s/∂y, both dimensionless.
    """
    taped = Taped(model)
    pose = taped.pose()
    R = pose.admissible()
    still, zero = numbers(R.shape[1]), numbers(len(R))
    read = _read(model, quantities, pose, R, still, still, zero)
    s = taped.input("s", [value_of(x) + 0.1 for x in read.value])
    residual = [
        _nearest(x) if c.unit == "rad" else x
        for x, c in zip(s - read.value, quantities, strict=True)
    ]
    change, pivot = _least_squares(model, quantities, pose, read.partial, residual)
    scale = [1.0 / size for size in _sizes(model, model.mechanism.coordinates)]
    taped.output("change", change)
    taped.output("weak", [largest(change, scale), pivot])
    return taped.function()


def record_fit_rates(
    model: DynamicModel, quantities: tuple[IndependentCoordinate, ...]
) -> Function:
    """Record (q, y, sd, sdd) → yd, ydd, at the pose that fits."""
    taped = Taped(model)
    pose = taped.pose()
    R = pose.admissible()
    still, zero, m = numbers(R.shape[1]), numbers(len(R)), len(quantities)
    sd, sdd = (taped.input(name, lively(m, i)) for i, name in enumerate(("sd", "sdd")))
    S = _read(model, quantities, pose, R, still, still, zero).partial
    yd, _ = _least_squares(model, quantities, pose, S, sd)
    v, vd, _ = pose.rates(R, yd, zero)
    bias = _read(model, quantities, pose, R, v, vd, zero).acceleration
    ydd, _ = _least_squares(model, quantities, pose, S, sdd - bias)
    taped.output("yd", yd)
    taped.output("ydd", ydd)
    return taped.function()


def _nearest(x: Any) -> Any:
    """Return an angle within half a turn."""
    return np.arctan2(np.sin(x), np.cos(x))


def _sqrt(x: Any) -> Any:
    return np.sqrt(x)


def _sizes(model: DynamicModel, quantities: Sequence[IndependentCoordinate]) -> list[float]:
    return [1.0 if c.unit == "rad" else model.kinematics.size for c in quantities]


def _read(
    model: DynamicModel,
    quantities: tuple[IndependentCoordinate, ...],
    pose: RecordedPose,
    R: np.ndarray,
    v: np.ndarray,
    vd: np.ndarray,
    ydd: np.ndarray,
) -> _Read:
    builder = MeasureBuilder(model.kinematics)
    own = [independent_index(model.mechanism, x) for x in quantities]
    places = [_place(builder, x) if i is None else -1 for x, i in zip(quantities, own, strict=True)]
    d = plain_tables(model.tables._replace(**builder.tables()._asdict()))
    work, n = pose.work, len(R)
    sight = pose.run(observe.make_sight, pose.t, d, n, pose.q)
    moved = (sight.partial_velocity, sight.partial_omega)
    pose.run(links.move_links, pose.t, v, vd, work.vectors, work.axes)
    pose.run(
        partials.place_partials,
        pose.t, d.reach_start, d.reach, R, work.vectors[0], work.axes, *moved,
    )  # fmt: skip
    pose.run(
        measures.read_measures,
        d, pose.q, v, vd, R, work.rotation, work.vectors, *moved, sight.values, sight.partial,
    )  # fmt: skip
    read = _Read(numbers(len(own)), numbers(len(own)), numbers(len(own), n))
    for k, (place, i) in enumerate(zip(places, own, strict=True)):
        if i is None:
            read.value[k], read.acceleration[k] = sight.values[place, 0], sight.values[place, 2]
            read.partial[k] = sight.partial[place]
        else:
            read.value[k], read.acceleration[k], read.partial[k, i] = pose.y[i], ydd[i], 1.0
    return read


def _place(builder: MeasureBuilder, quantity: IndependentCoordinate) -> int:
    """Enter a quantity as a measure and return its number."""
    match quantity:
        case JointCoordinate():
            return builder.measure(("joint", quantity.joint, quantity.index))
        case DistanceCoordinate():
            return builder.measure(("length", quantity.point_a, quantity.point_b))
        case _:
            entry = builder.apart(SLIDE, Point("", GROUND, (0.0, 0.0, 0.0)), quantity.point)
            axis = builder.direction(GROUND, quantity.direction)
            builder.measures.append(entry | {"axis": axis})
            return len(builder.measures) - 1


def _least_squares(
    model: DynamicModel,
    quantities: tuple[IndependentCoordinate, ...],
    pose: RecordedPose,
    S: np.ndarray,
    right: Sequence[Value] | np.ndarray,
) -> tuple[np.ndarray, Value]:
    """Return x of S x = right, all relative to their sizes, and the smallest pivot."""
    own = np.array(_sizes(model, model.mechanism.coordinates))
    over = 1.0 / np.array(_sizes(model, quantities))
    A, b = S * own * over[:, None], np.array(list(right), dtype=object) * over
    m, n = A.shape
    if m > n:
        A, b = A.T @ A, A.T @ b
    run = pose.run
    assert isinstance(run, PivotingKernels)
    x, pivot = run.solve(A, b)
    return x * own, pivot if m == n else _sqrt(pivot)
