"""Recorded numbers: the same results as plain ones, with nothing recorded that is not needed."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.mechanism import element_laws
from mechid.tape.branches import all_ways
from mechid.tape.functions import aligned, compiled
from mechid.tape.number import Number, RecordingError, larger, select
from mechid.tape.program import Program, Tape

N_INPUTS = 3
SMALL = st.floats(-3.0, 3.0, allow_subnormal=False)

Expression = Callable[[list[Any]], Any]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 5) -> Expression:
    """Draw a formula of three numbers, with constants that fold and cancel."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            i = draw(st.integers(0, N_INPUTS - 1))
            return lambda x: x[i]
        c = draw(st.sampled_from([0.0, 1.0, -1.0, 2.5, -0.3]))
        return lambda x: c
    a, b = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    made: list[Expression] = [
        lambda x: a(x) + b(x),
        lambda x: a(x) - b(x),
        lambda x: a(x) * b(x),
        lambda x: a(x) / (b(x) * b(x) + 1.5),
        lambda x: -a(x),
        lambda x: abs(a(x)),
        lambda x: np_like("sin")(a(x)),
        lambda x: np_like("cos")(a(x)),
        lambda x: np_like("sqrt")(a(x) * a(x) + 0.5),
        lambda x: np_like("tanh")(a(x)),
    ]
    return draw(st.sampled_from(made))


def np_like(name: str) -> Callable[[Any], Any]:
    return lambda x: getattr(x, name)() if isinstance(x, Number) else getattr(math, name)(x)


def recorded(function: Expression, at: list[float]) -> Program:
    tape = Tape()
    x = tape.input(np.arange(N_INPUTS), at)
    tape.output([N_INPUTS], [function(list(x))])
    return tape.program()


def in_lanes(program: Program, inputs: np.ndarray, lanes: int) -> np.ndarray:
    """Run a program of N_INPUTS inputs and one output on (lanes, N_INPUTS) numbers."""
    functions = compiled({"f": program}, lanes)
    state, memory = aligned((N_INPUTS + 1) * lanes), aligned(functions.memory)
    state[: N_INPUTS * lanes] = inputs.T.ravel()
    call_function(functions.addresses["f"], state, memory)
    return state[N_INPUTS * lanes :].copy()


def call_function(address: int, state: np.ndarray, memory: np.ndarray) -> None:
    import ctypes

    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    kind(address)(state.ctypes.data, memory.ctypes.data)


@settings(max_examples=60)
@given(expressions(), st.lists(SMALL, min_size=N_INPUTS, max_size=N_INPUTS), st.data())
def test_a_program_gives_what_the_formula_gives(
    function: Expression, at: list[float], data: st.DataObject
) -> None:
    other = data.draw(st.lists(SMALL, min_size=N_INPUTS, max_size=N_INPUTS))
    program = recorded(function, at)
    state = np.array([*other, 0.0])
    program.run(state)
    assert state[-1] == pytest.approx(function(other), rel=1e-12, abs=1e-12)


@settings(max_examples=10)
@given(expressions(), st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_lanes_give_what_the_formula_gives(lanes: int, function: Expression, seed: int) -> None:
    inputs = np.random.default_rng(seed).uniform(-3, 3, (lanes, N_INPUTS))
    found = in_lanes(recorded(function, [0.1, 0.2, 0.3]), inputs, lanes)
    for x, value in zip(inputs.tolist(), found, strict=True):
        # products and sums may be contracted, which rounds differently
        assert value == pytest.approx(function(x), rel=1e-11, abs=1e-11)


def test_constants_fold_zeros_drop_and_equal_terms_are_shared() -> None:
    program = recorded(lambda x: (0.0 * x[0] + 1.0 * x[1] * x[2]) + (x[2] * x[1] - 0.0), [1, 2, 3])
    assert dict(program.counts) == {"input": 2, "mul": 1, "add": 1}
    assert recorded(lambda x: x[0] - x[0] + 2.0 * 3.0, [1, 2, 3]).n_operations == 0


def test_what_no_output_needs_is_dropped() -> None:
    def wasteful(x: list[Any]) -> Any:
        x[0].sin()
        return x[1] + 1.0

    assert dict(recorded(wasteful, [1, 2, 3]).counts) == {"input": 1, "constant": 1, "add": 1}


def test_a_branch_on_a_recorded_number_is_refused() -> None:
    with pytest.raises(RecordingError, match="branches"):
        recorded(lambda x: x[0] if x[0] > x[1] else x[1], [1, 2, 3])
    with pytest.raises(RecordingError, match="equals"):
        recorded(lambda x: x[0] if x[0] == x[1] else x[1], [1, 2, 3])


def test_a_list_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechid.tape.number.MOST_OPERATIONS", 5)
    with pytest.raises(RecordingError, match="more than 5 operations"):
        recorded(lambda x: sum((x[0] + float(i)) * x[1] for i in range(9)), [1, 2, 3])


def test_both_sides_of_a_selection() -> None:
    program = recorded(lambda x: select(x[0] < x[1], x[0] * 2.0, x[1]), [1, 2, 3])
    for x in ([1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [1.0, 1.0, 0.0]):
        state = np.array([*x, 0.0])
        program.run(state)
        assert state[-1] == (2 * x[0] if x[0] < x[1] else x[1])


SHAPES = [
    (element_laws.SPRING, (0.2, 3.0, 0.0, 0.0)),
    (element_laws.SLOPE, (0.1, -0.5, 0.7, 0.0)),
    (element_laws.DAMPER, (0.0, 2.0, 0.0, 0.0)),
    (element_laws.SPEED_SLOPE, (0.0, 0.25, math.inf, 0.0)),
    (element_laws.FRICTION, (0.0, 0.0, 0.0, 0.0)),
    (element_laws.FRICTION, (0.1, 0.0, 0.0, 1.0)),
    (element_laws.FRICTION, (0.0, 0.3, 2.0, -1.0)),
    (element_laws.HYSTERESIS, (0.1, 0.0, 0.0, 0.0)),
    (element_laws.CONSTANT, (0.0, 0.0, 0.0, 0.0)),
]
AT = [-2.0, -0.5, -0.4, -1e-9, 0.0, 1e-9, 0.25, 0.35, 0.7, 0.8, 2.0]


@pytest.mark.parametrize(("law", "shape"), SHAPES)
@pytest.mark.parametrize("function", [element_laws.law_value, element_laws.law_slope])
def test_every_way_through_a_law(
    law: int, shape: tuple[float, ...], function: Callable[..., float]
) -> None:
    from mechid.tape.plain import uncompiled

    tape = Tape()
    x = tape.input(np.arange(1), [0.123])
    explored = all_ways(uncompiled(function, {}), tape.recorder)
    tape.output([1], [explored(law, x[0], *shape)])
    program = tape.program()
    for value in AT:
        state = np.array([value, 0.0])
        program.run(state)
        assert state[1] == pytest.approx(function(law, value, *shape), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_the_largest_of_sizes(lanes: int) -> None:
    """Guards compare the largest of absolute values: nan must come through, in either place."""
    tape = Tape()
    a, b = tape.input([0, 1], [1.0, 2.0])
    tape.output([2, 3], [larger(larger(abs(a), 0.5), abs(b)), larger(abs(b), larger(0.5, abs(a)))])
    code = compiled({"f": tape.program()}, lanes)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.addresses["f"])
    special = [0.0, -0.0, 0.3, -7.0, 1e300, -np.inf, np.nan, -np.nan, 5e-324]
    state, memory = aligned(4 * lanes), aligned(max(1, code.memory))
    for x in special:
        for y in special:
            state[:lanes], state[lanes : 2 * lanes] = x, y
            run(state.ctypes.data, memory.ctypes.data)
            expected = np.max(np.abs([x, y, 0.5]))  # nan if one is
            assert np.array_equal(state[2 * lanes :], np.full(2 * lanes, expected), equal_nan=True)
