"""Rows written from lanes, against indices in NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from mechid.tape.functions import aligned, compiled, new_state
from mechid.tape.program import Tape
from mechid.tape.rows import NAME, Constants

N_SLOTS = 40


@pytest.fixture(scope="module", params=[2, 4, 8])
def lanes(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def write(lanes: int, state: np.ndarray, runs: np.ndarray, n: int, rows: list[int]) -> None:
    functions = compiled({"nothing": Tape().program()}, lanes)
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    function = ctypes.CFUNCTYPE(None, *kinds)(functions.addresses[NAME])
    where = np.array(rows, dtype=np.int64)
    function(state.ctypes.data, runs.ctypes.data, n, where.ctypes.data)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 16, 17, 29, 64, 131])
def test_rows_hold_slots_and_constants(lanes: int, n: int) -> None:
    rng = np.random.default_rng(n)
    slots = rng.integers(-1, N_SLOTS, n)
    values = rng.choice([0.0, 1.0, -2.5, 1e300], n)
    for begin, end in ((8, 16), (24, 51), (96, 112)):  # whole lines of zeros
        slots[begin:end], values[begin:end] = -1, 0.0
    constants = Constants(N_SLOTS)
    row = constants.rows(slots, values, lanes)
    state = new_state(N_SLOTS, lanes, constants.values)
    state[: N_SLOTS * lanes] = rng.standard_normal(N_SLOTS * lanes)
    # neighbours of the rows, and what stood there before, must not matter
    out = np.full((lanes, n + 6), np.nan)
    begin = out.ctypes.data + 8 * 3
    write(lanes, state, row.runs, row.n, [begin + 8 * (n + 6) * lane for lane in range(lanes)])
    by_lane = state.reshape(-1, lanes)[:N_SLOTS].T
    expected = np.where(slots >= 0, by_lane[:, slots], values)
    assert np.array_equal(out[:, 3 : 3 + n], expected)
    assert np.isnan(out[:, :3]).all()
    assert np.isnan(out[:, 3 + n :]).all()


def test_the_state_of_two_arrays_shares_constants() -> None:
    constants = Constants(7)
    first = constants.rows(np.array([3, -1]), np.array([0.0, 2.0]), 2)
    second = constants.rows(np.array([-1, -1, -1]), np.array([2.0, 0.0, 4.0]), 2)
    assert first.runs.tolist() == [0, 1, 3, 8, -1]
    assert second.runs.tolist() == [0, 1, 8, 7, -1, 9]
    assert constants.values.tolist() == [0.0, 2.0, 4.0]
    assert new_state(7, 2, constants.values)[14:].tolist() == [0.0, 0.0, 2.0, 2.0, 4.0, 4.0]
    assert aligned(3).ctypes.data % 64 == 0
