"""Sine and cosine of lanes against ball arithmetic."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx

from mechid.tape.functions import aligned, compiled
from mechid.tape.lanes_math import LARGEST_ANGLE
from mechid.tape.program import Tape

from .test_number import call_function


def units_in_the_last_place(found: float, exact: arb) -> float:
    size = float(np.spacing(abs(float(exact.mid()))))
    return abs(float((arb(found) - exact) / size))


def angles() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([
        rng.uniform(-1, 1, 200),
        rng.uniform(-10, 10, 200),
        rng.uniform(-LARGEST_ANGLE, LARGEST_ANGLE, 200),
        np.arange(-40, 40) * (np.pi / 4),
        np.arange(1, 40) * (np.pi / 2) * (1 + 1e-15),
        [0.0, 5e-324, 1e-300, 1e-8, LARGEST_ANGLE, -LARGEST_ANGLE],
    ])  # fmt: skip


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_to_the_last_place(lanes: int) -> None:
    tape = Tape()
    x = tape.input([0], [0.5])[0]
    tape.output([1, 2], [x.sin(), x.cos()])
    functions = compiled({"f": tape.program()}, lanes)
    state, memory = aligned(3 * lanes), aligned(functions.memory)
    worst = 0.0
    values = angles()
    values = np.concatenate([values, np.zeros(-len(values) % lanes)])
    with ctx.workprec(200):
        for a, b in pairwise(range(0, len(values) + 1, lanes)):
            state[:lanes] = values[a:b]
            call_function(functions.addresses["f"], state, memory)
            for k, angle in enumerate(values[a:b].tolist()):
                exact = arb(angle)
                worst = max(
                    worst,
                    units_in_the_last_place(state[lanes + k], exact.sin()),
                    units_in_the_last_place(state[2 * lanes + k], exact.cos()),
                )
    assert worst < 1.5
