"""What exported code computes, as recorded programs of one mechanism.

Programs read and write named arrays; the language that they are written in adds the loop of
Newton's method and the guards (`templates/`). Parameters are inputs, so they stay variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import equations, observe
from mechid.dynamics.observation_code import BRANCHING
from mechid.exporting.pivoting import PivotingKernels
from mechid.kinematics.engine.record import RecordedPose, largest, numbers
from mechid.tape.number import Value, known_zero, value_of
from mechid.tape.plain import plain_tables
from mechid.tape.program import Program, Slots, Tape


@dataclass(frozen=True)
class Function:
    """A program with the arrays that it reads and writes, in the order of its arguments."""

    program: Program
    arrays: Mapping[str, np.ndarray]
    outputs: tuple[str, ...]


@dataclass
class Taped:
    """A function that is being recorded: arrays get their slots as they are named."""

    model: DynamicModel
    tape: Tape = field(default_factory=Tape)
    slots: Slots = field(default_factory=Slots)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)

    def input(self, name: str, values: Any) -> np.ndarray:
        """Return a new array of inputs, with their values at the state of the recording."""
        self.arrays[name] = self.slots.take(*np.shape(values))
        return self.tape.input(self.arrays[name], values)

    def output(self, name: str, values: Any) -> None:
        """Say what an array is filled with."""
        self.arrays[name] = self.slots.take(*np.shape(values))
        self.tape.output(self.arrays[name], values)
        self.outputs.append(name)

    def pose(self) -> RecordedPose:
        """Return the pose at the inputs q and y."""
        k = self.model.kinematics
        run = PivotingKernels(self.tape.recorder, BRANCHING)
        q, y = self.input("q", k.home_q), self.input("y", k.home_y)
        return RecordedPose.record(k, run, q, y)

    def rates(self, pose: RecordedPose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return R, v and v̇ at the inputs ẏ and ÿ."""
        n, R = self.model.kinematics.n_independent, pose.admissible()
        yd, ydd = (self.input(name, lively(n, i)) for i, name in enumerate(("yd", "ydd")))
        return R, *pose.rates(R, yd, ydd)[:2]

    def function(self) -> Function:
        """Return what has been recorded."""
        return Function(self.tape.program(), self.arrays, tuple(self.outputs))


def lively(n: int, seed: int) -> np.ndarray:
    """Return speeds or accelerations none of which is special."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n)


@dataclass(frozen=True)
class Recorded:
    """Programs of a mechanism, each recorded when it is asked for.

    Functions are given as (inputs) → outputs, arrays by name. q and y are those of a closed pose,
    but for `correct`.
    """

    model: DynamicModel

    @cached_property
    def tangent(self) -> Function:
        """(q, y, change) → trial, step, guard, determinants: along a change of y, at a closed pose.

        `trial` are the coordinates at the end of the tangent, `step` the dimensionless change of
        those that equations read. `guard` has the ratio of pivots, the largest gap of the closure,
        and the size of the step: dimensionless, and in the details of the equations.
        """
        taped = Taped(self.model)
        pose = taped.pose()
        change = taped.input("change", np.ones(self.model.kinematics.n_independent))
        R = pose.admissible()
        step = np.array([sum((R[:, c] * change).tolist(), 0.0) for c in range(R.shape[1])], object)
        weights = [column.weight for column in pose.order.columns]
        columns = zip(weights, pose.t.columns, strict=True)
        detailed = largest(step, [weight / column.detail for weight, column in columns])
        taped.output("trial", pose.advanced(step))
        scaled = [x * weight for x, weight in zip(step, weights, strict=True) if weight]
        taped.output("step", scaled or [0.0])
        taped.output("guard", [pose.ratio, pose.largest_gap(), pose.size(step), detailed])
        taped.output("determinants", _signed(pose) or [1.0])
        return taped.function()

    @cached_property
    def signs(self) -> list[float]:
        """Signs of the determinants at home: they stay the same on the branch."""
        pose = Taped(self.model).pose()
        return [float(np.sign(value_of(x))) for x in _signed(pose)] or [1.0]

    @cached_property
    def correct(self) -> Function | None:
        """(q, y) → next, size: a step of Newton's method; None where there is nothing to close."""
        taped = Taped(self.model)
        pose = taped.pose()
        if not pose.rows:
            return None
        step = pose.closing_step()
        taped.output("next", pose.advanced(step))
        taped.output("size", [pose.size(step)])
        return taped.function()

    @cached_property
    def place(self) -> Function:
        """(q, y) → next: coordinates of the tree where there is nothing to close."""
        taped = Taped(self.model)
        taped.output("next", taped.pose().q)
        return taped.function()

    @cached_property
    def forces(self) -> Function:
        """(q, y, yd, ydd, phi) → tau."""
        taped = Taped(self.model)
        pose = taped.pose()
        R, v, vd = taped.rates(pose)
        phi = taped.input("phi", np.ones(len(self.model.columns)))
        taped.output("tau", self.equations(pose, R, v, vd, phi)[1])
        return taped.function()

    @cached_property
    def observation(self) -> Function:
        """(q, y, yd, ydd) → W, known."""
        taped = Taped(self.model)
        pose = taped.pose()
        R, v, vd = taped.rates(pose)
        n, d = len(R), plain_tables(self.model.tables)
        W, known = numbers(n, len(self.model.columns)), numbers(n)
        sight = pose.run(observe.make_sight, pose.t, d, n, pose.q)
        pose.run(observe.observe_sample, pose.t, d, pose.q, v, vd, R, pose.work, sight, W, known)
        taped.output("W", W)
        taped.output("known", known)
        return taped.function()

    @cached_property
    def motion(self) -> Function:
        """(q, y, yd, phi) → M, h: M ÿ + h = τ."""
        taped = Taped(self.model)
        pose = taped.pose()
        n, R = self.model.kinematics.n_independent, pose.admissible()
        yd = taped.input("yd", lively(n, 0))
        v, vd, _ = pose.rates(R, yd, numbers(n))
        phi = taped.input("phi", np.ones(len(self.model.columns)))
        M, h = self.equations(pose, R, v, vd, phi)
        taped.output("M", M)
        taped.output("h", h)
        return taped.function()

    def equations(
        self, pose: RecordedPose, R: np.ndarray, v: np.ndarray, vd: np.ndarray, phi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mass matrix, and the forces at accelerations v̇ of the tree."""
        n, d = len(R), plain_tables(self.model.tables)
        room = pose.run(equations.make_room, pose.t, d, n)
        room = type(room)(*(x.astype(object) for x in room))._replace(R=R)
        M, h = numbers(n, n), numbers(n)
        pose.run(
            equations._assemble,
            pose.t, d, d.reach_start, d.reach, phi, pose.q, v, vd, pose.work, room, M, h,
        )  # fmt: skip
        return M, h


def _signed(pose: RecordedPose) -> list[Value]:
    """Return the determinants of systems without redundant rows."""
    return [x for x in pose.determinants if not known_zero(x)]
