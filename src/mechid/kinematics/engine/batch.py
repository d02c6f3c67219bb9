"""Samples that are unrelated, by generated code: one program on blocks of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.kernels.lanes import BatchAddresses, Chosen, chosen, run_blocks
from mechid.kinematics.tables import Floats
from mechid.kinematics.threads import spread
from mechid.tape.functions import Functions, aligned, compiled, new_state
from mechid.tape.program import Program
from mechid.tape.rows import NAME as WRITER
from mechid.tape.rows import Constants, Rows

# Blocks of lanes that are worth a thread.
_SHORTEST_PART = 16


@dataclass(frozen=True)
class BatchCode:
    """A compiled program whose inputs and outputs are rows of arrays, a row per sample."""

    functions: Functions
    n_slots: int
    inputs: tuple[Chosen, ...]
    outputs: tuple[Rows, ...]
    constants: Floats

    @staticmethod
    def compile(
        program: Program,
        n_slots: int,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        lanes: int | None = None,
    ) -> BatchCode:
        """Generate code, or take it from disk; `inputs` and `outputs` are slots of each array."""
        read = {op.a for op in program.ops if op.name == "input"}
        needed = [np.where(np.isin(slots, list(read)), slots, -1) for slots in inputs]
        functions, constants = compiled({"batch": program}, lanes), Constants(n_slots)
        rows = [constants.rows(x, np.zeros(x.shape), functions.lanes) for x in outputs]
        read_slots = tuple(chosen(slots) for slots in needed)
        return BatchCode(functions, n_slots, read_slots, tuple(rows), constants.values)

    def run(self, inputs: tuple[Floats, ...], outputs: tuple[Floats, ...]) -> None:
        """Fill the outputs (N, …) for inputs (N, …)."""
        n, lanes = len(inputs[0]), self.functions.lanes
        given = tuple(np.ascontiguousarray(x.reshape(n, -1)) for x in inputs)
        wanted = tuple(x.reshape(n, -1) for x in outputs)
        at = self.functions.addresses
        code = BatchAddresses(at["batch"], at[WRITER], lanes)

        def part(first: int, last: int) -> None:
            spare = np.zeros(max(rows.n for rows in self.outputs))
            state = new_state(self.n_slots, lanes, self.constants)
            memory = aligned(self.functions.memory)
            run_blocks(
                code, first, last, self.inputs, given, self.outputs, wanted, spare, state, memory
            )

        if n:
            spread(part, -(-n // lanes), _SHORTEST_PART)
