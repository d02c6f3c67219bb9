"""What has been recorded, as a list that is ready to be emitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechid.tape.number import FUNCTIONS, Number, Op, Recorder


@dataclass(frozen=True)
class Program:
    """Operations in the order of their execution, with inputs and outputs in slots of a state.

    Attributes
    ----------
    ops : tuple of Op
        Operands stand before the operations that use them. An input has its slot as `a`.
    outputs : tuple of int
        Places of the outputs among the operations.
    output_slots : tuple of int
        Where they go.
    """

    ops: tuple[Op, ...]
    outputs: tuple[int, ...]
    output_slots: tuple[int, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each operation occurs."""
        return Counter(op.name for op in self.ops)

    @property
    def n_operations(self) -> int:
        """Number of operations, without inputs and constants."""
        return sum(op.name not in ("input", "constant") for op in self.ops)

    def run(self, state: np.ndarray) -> None:
        """Fill the outputs of a state (n_slots,), slowly: what the emitted code has to give."""
        values: list[float] = []
        for op in self.ops:
            if op.name == "input":
                values.append(float(state[op.a]))
            elif op.name == "constant":
                values.append(op.constant)
            else:
                values.append(FUNCTIONS[op.name](*(values[i] for i in operands(op))))
        for place, slot in zip(self.outputs, self.output_slots, strict=True):
            state[slot] = values[place]


def operands(op: Op) -> tuple[int, ...]:
    """Return the places of the operands of an operation."""
    if op.name in ("input", "constant"):
        return ()
    return tuple(i for i in (op.a, op.b, op.c) if i >= 0)


class Tape:
    """Records one program: inputs as arrays, then whatever is done with them, then outputs."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.inputs: dict[int, int] = {}  # slot by place
        self.outputs: dict[int, int] = {}  # place by slot

    def input(self, slots: Any, values: Any) -> np.ndarray:
        """Return an array of new inputs, with their values at the state of the recording."""
        array = np.empty(np.shape(values), dtype=object)
        where = np.broadcast_to(np.asarray(slots), array.shape)
        for i, x in np.ndenumerate(np.asarray(values, dtype=float)):
            number = self.recorder.input(x)
            array[i] = number
            self.inputs[number.place] = int(where[i])
        return array

    def output(self, slots: Any, values: Any) -> None:
        """Say where numbers go; slots below zero are none."""
        slots, values = np.ravel(slots), np.ravel(np.asarray(values, dtype=object))
        for slot, x in zip(slots, values, strict=True):
            if slot >= 0:
                self.outputs[int(slot)] = self.recorder.place(x)

    def program(self) -> Program:
        """Return what the outputs need; the rest is dropped."""
        ops = self.recorder.ops
        needed = set(self.outputs.values())
        for place in range(len(ops) - 1, -1, -1):
            if place in needed:
                needed.update(operands(ops[place]))
        new: dict[int, int] = {}
        kept: list[Op] = []
        for place in sorted(needed):
            op = ops[place]
            if op.name == "input":
                op = Op("input", self.inputs[place])
            elif op.name != "constant":
                op = Op(op.name, *(new[i] for i in operands(op)))
            new[place] = len(kept)
            kept.append(op)
        slots = tuple(sorted(self.outputs))
        return Program(tuple(kept), tuple(new[self.outputs[i]] for i in slots), slots)


class Slots:
    """Hands out slots of a state, group by group."""

    def __init__(self) -> None:
        self.count = 0

    def take(self, *shape: int) -> np.ndarray:
        """Return new slots in the given shape."""
        n = int(np.prod(shape, dtype=int))
        first, self.count = self.count, self.count + n
        return np.arange(first, first + n).reshape(shape)

    def varying(self, values: Any) -> np.ndarray:
        """Return a new slot for each number that depends on inputs, and -1 for constants."""
        values = np.asarray(values, dtype=object)
        slots = np.full(values.shape, -1)
        for i, x in np.ndenumerate(values):
            if isinstance(x, Number):
                slots[i] = self.take(1)[0]
        return slots


def constants(values: Any) -> np.ndarray:
    """Return the numbers that do not depend on inputs; zero for the others."""
    values = np.asarray(values, dtype=object)
    return np.array([0.0 if isinstance(x, Number) else float(x) for x in values.ravel()]).reshape(
        values.shape
    )
