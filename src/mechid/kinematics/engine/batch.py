"""Samples that are unrelated, by generated code: one program on blocks of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.kernels.lanes import (
    BatchAddresses,
    Chosen,
    Wanted,
    chosen,
    run_blocks,
    wanted,
)
from mechid.kinematics.tables import Floats, Ints
from mechid.kinematics.threads import spread
from mechid.tape.functions import Functions, aligned, compiled, new_state
from mechid.tape.program import Program
from mechid.tape.rows import NAME as WRITER
from mechid.tape.rows import Constants

# Blocks of lanes that are worth a thread.
_SHORTEST_PART = 16


@dataclass(frozen=True)
class BatchCode:
    """A compiled program whose inputs and outputs are rows of arrays, a row per sample."""

    functions: Functions
    n_slots: int
    inputs: Chosen
    outputs: Wanted
    constants: Floats

    @staticmethod
    def compile(
        program: Program,
        n_slots: int,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        lanes: int | None = None,
        *,
        fixed: Sequence[np.ndarray] | None = None,
    ) -> BatchCode:
        """Generate code, or take it from disk; `inputs` and `outputs` are slots of each array.

        Where an output has no slot (-1), it is the number of `fixed` at its place.
        """
        read = {op.a for op in program.ops if op.name == "input"}
        needed = [np.where(np.isin(slots, list(read)), slots, -1) for slots in inputs]
        functions, constants = compiled({"batch": program}, lanes), Constants(n_slots)
        values = [np.zeros(x.shape) for x in outputs] if fixed is None else fixed
        rows = [
            constants.rows(x, there, functions.lanes)
            for x, there in zip(outputs, values, strict=True)
        ]
        return BatchCode(functions, n_slots, chosen(needed), wanted(rows), constants.values)

    def run(self, inputs: tuple[Floats, ...], outputs: tuple[Floats, ...]) -> None:
        """Fill the outputs (N, …), contiguous in memory, for inputs (N, …)."""
        assert all(x.flags.c_contiguous and x.dtype == float for x in outputs)
        n, lanes = len(inputs[0]), self.functions.lanes
        given = [np.ascontiguousarray(x.reshape(n, -1)) for x in inputs]
        begins, widths = _addresses(given), np.array([x.shape[1] for x in given])
        at = self.functions.addresses
        code = BatchAddresses(at["batch"], at[WRITER], lanes)

        def part(first: int, last: int) -> None:
            state = new_state(self.n_slots, lanes, self.constants)
            memory = aligned(self.functions.memory)
            results = (self.outputs, _addresses(outputs), state, memory)
            run_blocks(code, first, last, n, self.inputs, begins, widths, *results)

        if n:
            spread(part, -(-n // lanes), _SHORTEST_PART)


def _addresses(arrays: Sequence[Floats]) -> Ints:
    """Return where contiguous arrays begin in memory."""
    return np.array([x.ctypes.data for x in arrays], dtype=np.int64)
