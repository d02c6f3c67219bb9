"""Samples that are unrelated, by generated code: one program on blocks of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.kernels.lanes import Scattered, run_blocks, scattered
from mechid.kinematics.tables import Floats
from mechid.kinematics.threads import spread
from mechid.tape.functions import Functions, aligned, compiled
from mechid.tape.program import Program

# Blocks of lanes that are worth a thread.
_SHORTEST_PART = 16


@dataclass(frozen=True)
class BatchCode:
    """A compiled program whose inputs and outputs are rows of arrays, a row per sample."""

    functions: Functions
    n_slots: int
    inputs: tuple[Scattered, ...]
    outputs: tuple[Scattered, ...]

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
        return BatchCode(
            compiled({"batch": program}, lanes),
            n_slots,
            tuple(scattered(slots) for slots in needed),
            tuple(scattered(slots) for slots in outputs),
        )

    def run(self, inputs: tuple[Floats, ...], outputs: tuple[Floats, ...]) -> None:
        """Fill the outputs (N, …) for inputs (N, …)."""
        n, lanes = len(inputs[0]), self.functions.lanes
        given = tuple(np.ascontiguousarray(x.reshape(n, -1)) for x in inputs)
        wanted = tuple(x.reshape(n, -1) for x in outputs)
        address = self.functions.addresses["batch"]

        def part(first: int, last: int) -> None:
            state, memory = aligned(self.n_slots * lanes), aligned(self.functions.memory)
            run_blocks(
                address, lanes, first, last, self.inputs, given, self.outputs, wanted, state, memory
            )

        if n:
            spread(part, -(-n // lanes), _SHORTEST_PART)
