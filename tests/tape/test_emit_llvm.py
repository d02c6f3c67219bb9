"""Programs in lanes that read and write the same slots, against the slow way through the list."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.tape.functions import aligned, compiled
from mechid.tape.number import select
from mechid.tape.parts import PART
from mechid.tape.program import Program, Tape

from .test_number import call_function

N_SLOTS = 12


def random_program(seed: int, n_operations: int) -> Program:
    """Return operations on numbers within ±1, whose outputs overwrite most of the inputs."""
    rng = np.random.default_rng(seed)
    tape = Tape()
    # two slots are read twice, as two inputs
    read = [*range(10), 3, 7]
    numbers = list(tape.input(read, rng.uniform(-1, 1, len(read))))
    for k in range(n_operations):
        a, b = (numbers[i] for i in rng.integers(max(0, len(numbers) - 60), len(numbers), 2))
        if k % 7 == 0:  # inputs are needed to the end
            b = numbers[int(rng.integers(len(read)))]
        kinds = (
            lambda a, b: 0.5 * (a + b),
            lambda a, b: a * b - 0.3 * (b * b),
            lambda a, b: a * b,
            lambda a, b: select(a < b, a, -b),
            lambda a, b: (2.0 * a).sin() * 0.9,
            lambda a, b: (a + b).cos(),
        )
        numbers.append(kinds[int(rng.integers(len(kinds)))](a, b))
    found = [numbers[int(i)] for i in rng.integers(len(read), len(numbers), 8)]
    # a constant, an input that goes to another slot, and one that was overwritten
    tape.output([0, 1, 2, 3, 4, 5, 10, 11], found)
    tape.output([6, 8, 9], [0.25, numbers[0], numbers[8]])
    return tape.program()


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("n_operations", [5, 40, 3 * PART])
@pytest.mark.parametrize("seed", range(4))
def test_slots_are_read_before_they_are_written(lanes: int, n_operations: int, seed: int) -> None:
    program = random_program(seed, n_operations)
    functions = compiled({"f": program}, lanes)
    rng = np.random.default_rng(seed)
    state, memory = aligned(N_SLOTS * lanes), aligned(functions.memory)
    state[:] = rng.uniform(-1, 1, state.size)
    expected = state.reshape(N_SLOTS, lanes).copy()
    for lane in range(lanes):
        column = expected[:, lane].copy()
        program.run(column)
        expected[:, lane] = column
    call_function(functions.addresses["f"], state, memory)
    np.testing.assert_allclose(state.reshape(N_SLOTS, lanes), expected, rtol=1e-9, atol=1e-12)
