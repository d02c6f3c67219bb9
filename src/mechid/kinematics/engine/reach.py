"""Reaching a pose from home along a straight line in y; each stage a recorded program.

What `follow` does for unrelated samples, with the pivots of the home pose, in equal steps that are
chosen beforehand. The first prediction has the derivatives of home, which are constants; a later
one is a step of Newton's method from the pose before. A sample that is not `fine` is left to the
kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, largest, numbers
from mechid.kinematics.engine.stages import AT_REST, PIVOT_RATIO
from mechid.kinematics.kernels.closure import CLOSED
from mechid.kinematics.kernels.follow import TRUSTED_PART, TRUSTED_SIZE
from mechid.kinematics.model import KinematicModel
from mechid.tape.lanes_math import LARGEST_ANGLE
from mechid.tape.number import Value, select, value_of
from mechid.tape.program import Program, Slots, Tape

# What is computed of a sample, as a list of numbers: from its pose, R, v and v̇.
Results: TypeAlias = Callable[
    [RecordedPose, np.ndarray, np.ndarray, np.ndarray], Sequence[Value] | np.ndarray
]


@dataclass(frozen=True)
class ReachSlots:
    """Slots of the state of a sample; n_u are the tree speeds that are not independent ones."""

    y: np.ndarray  # (n_i,)
    yd: np.ndarray
    ydd: np.ndarray
    change: np.ndarray  # (n_i,) of y in this step
    q: np.ndarray  # (n_q,)
    q_next: np.ndarray
    step: np.ndarray  # (n_u,) of Newton's method
    first: np.ndarray  # (n_u,) the predicted step
    moved: np.ndarray  # (n_u,) sum of the corrections after it
    size: np.ndarray  # (1,) of `step`
    predicted: np.ndarray  # (2,) size of the predicted step, and that in details of the equations
    fine: np.ndarray  # (1,) 1 or 0
    out: np.ndarray  # results


@dataclass(frozen=True)
class Reach:
    """Programs that lead from the home pose to a sample, and what is computed there.

    Attributes
    ----------
    leave : Program
        From home to second order: q_next, first and predicted.
    correct : Program or None
        A step of Newton's method: q_next, step and size; None where there is nothing to close.
    measure : Program
        Size of a predicted step: predicted, from first and change.
    between : Program
        Whether all is as it should be at a pose on the way: fine.
    finish : Program
        The same and the results of the sample: fine and out.
    """

    slots: ReachSlots
    home_q: np.ndarray
    home_y: np.ndarray
    leave: Program
    correct: Program | None
    measure: Program
    between: Program
    finish: Program


def record_reach(model: KinematicModel, results: Results, branching: tuple[Any, ...] = ()) -> Reach:
    """Record how samples of a model are reached.

    `results` says what is computed of a sample; `branching` are kernels with branches it calls.
    """
    return _Recording(model, branching).reach(results)


class _Recording:
    """Records the programs of one model; the home pose is a constant in all of them."""

    def __init__(self, model: KinematicModel, branching: tuple[Any, ...]) -> None:
        self.model, self.branching = model, branching
        self.unknown = np.setdiff1d(np.arange(model.compiled.n_v), model.tables.direct.column)
        run = RecordedKernels(Tape().recorder, branching)
        q, y = (np.asarray(x.tolist(), dtype=object) for x in (model.home_q, model.home_y))
        self.home = RecordedPose.record(model, run, q, y)
        columns = list(zip(self.home.order.columns, self.home.t.columns, strict=True))
        self.weights = [place.weight for place, _ in columns]
        self.details = [place.weight / column.detail for place, column in columns]
        n_i, n_q, n_u = model.n_independent, model.compiled.n_q, self.unknown.size
        self.slots = Slots()
        sizes = (n_i, n_i, n_i, n_i, n_q, n_q, n_u, n_u, n_u, 1, 2, 1, 0)
        self.at = ReachSlots(*(self.slots.take(n) for n in sizes))

    def reach(self, results: Results) -> Reach:
        finish, at = self._finish(results)
        return Reach(
            slots=at,
            home_q=self.model.home_q,
            home_y=self.model.home_y,
            leave=self._leave(),
            correct=self._correct() if self.home.rows else None,
            measure=self._measure(),
            between=self._between(),
            finish=finish,
        )

    def _pose(self, tape: Tape) -> RecordedPose:
        run = RecordedKernels(tape.recorder, self.branching)
        q = tape.input(self.at.q, self.model.home_q)
        return RecordedPose.record(self.model, run, q, tape.input(self.at.y, self.model.home_y))

    def _sizes(self, step: np.ndarray) -> list[Value]:
        return [largest(step, self.weights), largest(step, self.details)]

    def _leave(self) -> Program:
        tape = Tape()
        home = replace(self.home, run=RecordedKernels(tape.recorder, self.branching))
        change = tape.input(self.at.y, self.model.home_y) - home.y
        R = home.admissible()
        step = _product(R, change)
        predicted = self._sizes(step)
        # b of the speeds δy is the second derivative along the line
        bend = home.rates(R, change, numbers(change.size))[2] * 0.5
        usable = largest(bend, self.weights) <= predicted[0] * TRUSTED_PART + TRUSTED_SIZE
        bend = np.array([select(usable, x, 0.0) for x in bend], dtype=object)
        tape.output(self.at.q_next, home.advanced(step + bend))
        tape.output(self.at.first, step[self.unknown])
        tape.output(self.at.predicted, predicted)
        return tape.program()

    def _correct(self) -> Program:
        tape = Tape()
        pose = self._pose(tape)
        step = pose.closing_step()
        tape.output(self.at.q_next, pose.advanced(step))
        tape.output(self.at.step, step[self.unknown])
        tape.output(self.at.size, [largest(step, self.weights)])
        return tape.program()

    def _measure(self) -> Program:
        tape = Tape()
        step = numbers(self.model.compiled.n_v)
        change = tape.input(self.at.change, np.ones(self.at.change.size))
        for direct in self.home.t.direct:
            step[direct.column] = change[direct.driver]
        step[self.unknown] = tape.input(self.at.first, np.ones(self.at.first.size))
        tape.output(self.at.predicted, self._sizes(step))
        return tape.program()

    def _between(self) -> Program:
        tape = Tape()
        pose = self._pose(tape)
        tape.output(self.at.fine, [self._fine(tape, pose, pose.admissible())])
        return tape.program()

    def _finish(self, results: Results) -> tuple[Program, ReachSlots]:
        tape = Tape()
        pose, at = self._pose(tape), self.at
        R = pose.admissible()
        lively = np.random.default_rng(0).uniform(0.5, 1.5, (2, at.yd.size))  # none is special
        v, vd, _ = pose.rates(R, tape.input(at.yd, lively[0]), tape.input(at.ydd, lively[1]))
        found = np.ravel(np.asarray(results(pose, R, v, vd), dtype=object))
        at = replace(at, out=self.slots.take(found.size))
        tape.output(at.out, found)
        tape.output(at.fine, [self._fine(tape, pose, R)])
        return tape.program(), at

    def _fine(self, tape: Tape, pose: RecordedPose, R: np.ndarray) -> Value:
        """Return 1 where everything is as it should be, else 0; nan is not (see `stages`)."""
        at = self.at
        first, moved = (tape.input(s, np.ones(s.size)) for s in (at.first, at.moved))
        change = tape.input(at.change, np.ones(at.change.size))
        turned = _product(R, change)[self.unknown] - first
        weights = [self.weights[c] for c in self.unknown]
        trusted = tape.input(at.predicted[:1], [1.0])[0] * TRUSTED_PART + TRUSTED_SIZE
        conditions: list[Any] = [
            pose.ratio >= PIVOT_RATIO,
            pose.largest_gap() <= CLOSED,
            pose.size(pose.closing_step()) <= AT_REST,
            largest(moved, weights) <= trusted,
            largest(turned, weights) <= trusted,
            largest(pose.q, [1.0] * pose.q.size) <= LARGEST_ANGLE,
        ]
        for new, old in zip(pose.determinants, self.home.determinants, strict=True):
            conditions.append(new > 0.0 if value_of(old) > 0.0 else new < 0.0)
        fine: Value = 1.0
        for condition in conditions:
            fine = select(condition, fine, 0.0)
        return fine


def _product(R: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return R (n_i, n_v) times a change of y, (n_v,)."""
    return np.array([sum((column * change).tolist(), 0.0) for column in R.T], dtype=object)
