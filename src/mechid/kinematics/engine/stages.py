"""The three stages of a sample on a path: predict, correct, finish; each a recorded program.

They do what `kernels/follow.py` does along a path whose steps need not be shortened, and report
with each sample whether that was so. A sample that is not `fine` is left to the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, largest, numbers
from mechid.kinematics.kernels.closure import CLOSED
from mechid.kinematics.kernels.follow import (
    LONGEST_PREDICTION,
    MOST_DIFFERENCES,
    TRUSTED_PART,
    TRUSTED_SIZE,
)
from mechid.kinematics.model import KinematicModel
from mechid.tape.lanes_math import LARGEST_ANGLE
from mechid.tape.number import Condition, Value, select, smaller
from mechid.tape.program import Program, Slots, Tape, constants

# The pivots of the recording are good enough while their ratio is larger than this: solutions lose
# four digits at most.
PIVOT_RATIO = 1e-4
# At the final pose Newton's method would move by rounding only.
AT_REST = 1e-11

# What is computed of a sample, as arrays of numbers: from its pose, R, v and v̇.
Results: TypeAlias = Callable[
    [RecordedPose, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]
]


@dataclass(frozen=True)
class Placed:
    """Where the entries of an array stand: in a slot, or -1 for the given constant."""

    slots: np.ndarray
    constants: np.ndarray

    @staticmethod
    def of(values: np.ndarray, slots: Slots) -> Placed:
        """Return new slots for the entries that vary."""
        return Placed(slots.varying(values), constants(values))

    def read(self, tape: Tape) -> np.ndarray:
        """Return the entries as inputs of another program."""
        values = self.constants.astype(object)
        varying = self.slots >= 0
        values[varying] = tape.input(self.slots[varying], self.constants[varying])
        return values


@dataclass(frozen=True)
class Trail:
    """Slots of what leads from sample to sample.

    n_u are the tree speeds that are not independent ones.
    """

    q: np.ndarray  # (n_q,)
    moved: np.ndarray  # (n_u,) sum of the corrections
    differences: np.ndarray  # (MOST_DIFFERENCES, n_u) of errors of the prediction, backwards
    second: np.ndarray  # (n_u,) second-order part of the prediction
    bend: np.ndarray  # (n_u,) the same with the extrapolated error
    n_known: np.ndarray  # (1,) how many differences are known; -1 at the start

    @staticmethod
    def take(slots: Slots, n_q: int, n_u: int) -> Trail:
        """Return new slots."""
        return Trail(
            slots.take(n_q),
            slots.take(n_u),
            slots.take(MOST_DIFFERENCES, n_u),
            slots.take(n_u),
            slots.take(n_u),
            slots.take(1),
        )


@dataclass(frozen=True)
class Layout:
    """Slots of the state of a lane."""

    y: np.ndarray  # (n_i,)
    yd: np.ndarray
    ydd: np.ndarray
    y_before: np.ndarray
    half: np.ndarray  # (1,) half the squared time since the sample before
    trail: Trail
    step: np.ndarray  # (1,) size of the last correction
    trusted: np.ndarray  # (1,) how far corrections may go; negative: the prediction was too long
    determinants: np.ndarray
    determinants_at_start: np.ndarray
    fine: np.ndarray  # (1,) 1 or 0
    R: Placed
    b: Placed
    results: tuple[Placed, ...]
    count: int


@dataclass(frozen=True)
class Stages:
    """Programs and slots of a path; `correct` is None where there is nothing to close."""

    layout: Layout
    predict: Program
    correct: Program | None
    finish: Program


def record_stages(
    model: KinematicModel, results: Results, branching: tuple[Any, ...] = ()
) -> Stages:
    """Record the stages of a path of a model.

    `results` says what is computed of a sample; `branching` are kernels with branches it calls.
    """
    slots = Slots()
    n_i, n_q, n_u = model.n_independent, model.compiled.n_q, _unknown(model).size
    y, yd, ydd, y_before = (slots.take(n_i) for _ in range(4))
    half, step, trusted, fine = (slots.take(1) for _ in range(4))
    trail = Trail.take(slots, n_q, n_u)

    tape, run = _tape(branching)
    pose = _pose(model, run, tape, trail, y)
    R = pose.admissible()
    rates = (tape.input(s, _lively(n_i, i)) for i, s in enumerate((yd, ydd)))
    v, vd, b = pose.rates(R, *rates)
    found = results(pose, R, v, vd)
    placed_R, placed_b = Placed.of(R, slots), Placed.of(b, slots)
    placed_results = tuple(Placed.of(x, slots) for x in found)
    determinants = slots.take(len(pose.determinants))
    layout = Layout(
        y=y,
        yd=yd,
        ydd=ydd,
        y_before=y_before,
        half=half,
        trail=trail,
        step=step,
        trusted=trusted,
        determinants=determinants,
        determinants_at_start=slots.take(determinants.size),
        fine=fine,
        R=placed_R,
        b=placed_b,
        results=placed_results,
        count=slots.count,
    )
    for placed, values in zip((placed_R, placed_b, *placed_results), (R, b, *found), strict=True):
        tape.output(placed.slots, values)
    tape.output(determinants, pose.determinants)
    tape.output(fine, _fine(tape, pose, R, layout))
    return Stages(
        layout,
        _predict(model, layout, branching),
        _correct(model, layout, branching) if pose.rows else None,
        tape.program(),
    )


def _tape(branching: tuple[Any, ...]) -> tuple[Tape, RecordedKernels]:
    tape = Tape()
    return tape, RecordedKernels(tape.recorder, branching)


def _unknown(model: KinematicModel) -> np.ndarray:
    """Return the tree speeds that are not independent ones themselves."""
    return np.setdiff1d(np.arange(model.compiled.n_v), model.tables.direct.column)


def _whole(part: np.ndarray, unknown: np.ndarray, n: int) -> np.ndarray:
    """Return (n,) with the given numbers at the unknown speeds and zeros elsewhere."""
    whole = numbers(n)
    whole[unknown] = part
    return whole


def _lively(n: int, seed: int) -> np.ndarray:
    """Return speeds or accelerations none of which is special."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n)


def _pose(
    model: KinematicModel, run: RecordedKernels, tape: Tape, trail: Trail, y: np.ndarray
) -> RecordedPose:
    q = tape.input(trail.q, model.home_q)
    return RecordedPose.record(model, run, q, tape.input(y, model.home_y))


def _predict(model: KinematicModel, layout: Layout, branching: tuple[Any, ...]) -> Program:
    """Learn from the last sample, and predict the pose of the next one."""
    tape, run = _tape(branching)
    trail, n_v, unknown = layout.trail, model.compiled.n_v, _unknown(model)
    pose = _pose(model, run, tape, trail, layout.y_before)

    def given(slots: np.ndarray) -> np.ndarray:
        return tape.input(slots, np.zeros(slots.shape))

    moved, old = given(trail.moved), given(trail.differences)
    second, bend, n_known = given(trail.second), given(trail.bend), given(trail.n_known)[0]
    # the error of the last prediction enters the differences
    error = bend - second + moved
    new = numbers(MOST_DIFFERENCES, unknown.size)
    for i in range(MOST_DIFFERENCES):
        new[i] = error
        error = error - old[i]
    known = smaller(n_known + 1.0, float(MOST_DIFFERENCES))
    # R δy + b dt²/2, exact to second order, and the extrapolated error
    R, b = layout.R.read(tape), layout.b.read(tape)
    next_second = b[unknown] * given(layout.half)[0]
    weights = [pose.order.columns[c].weight for c in unknown]
    next_bend = _extrapolated(next_second, new, known, weights)
    change = given(layout.y) - pose.y
    step = np.array([sum((R[:, c] * change).tolist(), 0.0) for c in range(n_v)], dtype=object)
    size, detailed = pose.size(step), _detailed(pose, step)
    trusted = size * TRUSTED_PART + TRUSTED_SIZE
    usable = _at_most(largest(next_bend, weights), trusted)
    next_bend = np.array([select(usable, x, 0.0) for x in next_bend], dtype=object)
    tape.output(trail.q, pose.advanced(step + _whole(next_bend, unknown, n_v)))
    tape.output(trail.moved, np.zeros(unknown.size))
    tape.output(trail.differences, new)
    tape.output(trail.n_known, [known])
    tape.output(trail.second, next_second)
    tape.output(trail.bend, next_bend)
    tape.output(layout.trusted, [select(_at_most(detailed, LONGEST_PREDICTION), trusted, -1.0)])
    return tape.program()


def _extrapolated(
    second: np.ndarray, differences: np.ndarray, known: Value, weights: list[float]
) -> np.ndarray:
    """Return the second-order part and the error that it will have (see `follow.extrapolate`)."""
    best: Value = np.inf
    sum_so_far, chosen = second, second
    for i in range(MOST_DIFFERENCES):
        size = select(_at_most(i + 1.0, known), largest(differences[i], weights), np.inf)
        better = _below(size, best)
        chosen = np.array(
            [select(better, x, y) for x, y in zip(sum_so_far, chosen, strict=True)], dtype=object
        )
        best = select(better, size, best)
        sum_so_far = sum_so_far + differences[i]
    return chosen


def _correct(model: KinematicModel, layout: Layout, branching: tuple[Any, ...]) -> Program:
    """One step of Newton's method."""
    tape, run = _tape(branching)
    trail = layout.trail
    pose = _pose(model, run, tape, trail, layout.y)
    step = pose.closing_step()
    tape.output(trail.q, pose.advanced(step))
    moved = tape.input(trail.moved, np.zeros(trail.moved.size))
    tape.output(trail.moved, moved + step[_unknown(model)])
    tape.output(layout.step, [pose.size(step)])
    return tape.program()


def _fine(tape: Tape, pose: RecordedPose, R: np.ndarray, layout: Layout) -> list[Value]:
    """Return 1 where everything is as it should be, else 0; nan is not."""

    def given(slots: np.ndarray, value: float = 1.0) -> np.ndarray:
        return tape.input(slots, np.full(slots.shape, value))

    trusted = given(layout.trusted)[0]
    before = layout.R.read(tape)
    change = pose.y - given(layout.y_before)
    turned = np.array(
        [sum(((R - before)[:, c] * change).tolist(), 0.0) for c in range(R.shape[1])], dtype=object
    )
    moved = _whole(given(layout.trail.moved), _unknown(pose.model), R.shape[1])
    conditions = [
        _at_most(PIVOT_RATIO, pose.ratio),
        _at_most(pose.largest_gap(), CLOSED),
        _at_most(pose.size(pose.closing_step()), AT_REST),
        _at_most(pose.size(moved), trusted),
        _at_most(pose.size(turned), trusted),
        _at_most(largest(pose.q, [1.0] * pose.q.size), LARGEST_ANGLE),
    ]
    at_start = given(layout.determinants_at_start)
    for new, old in zip(pose.determinants, at_start, strict=True):
        conditions.append(_below(0.0, new * old))
    fine: Value = 1.0
    for condition in conditions:
        fine = select(condition, fine, 0.0)
    return [fine]


def _detailed(pose: RecordedPose, step: np.ndarray) -> Value:
    """Return the size of a step in the details of the equations (see `follow.predict`)."""
    columns = zip(pose.order.columns, pose.t.columns, strict=True)
    return largest(step, [place.weight / column.detail for place, column in columns])


def _at_most(x: Value, y: Value) -> Condition | bool:
    return x <= y


def _below(x: Value, y: Value) -> Condition | bool:
    return x < y
