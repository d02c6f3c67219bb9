"""Programs as C99: every operation, nan, and whole mechanisms, against the list of operations."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.observation_code import record_observation
from mechid.modelfile import load
from mechid.tape.emit_c import Array, c_function, c_prelude
from mechid.tape.number import RecordingError, larger, select, smaller
from mechid.tape.program import Program, Tape

from .compiled_c import compiled, pointer

HEAD = "#include <math.h>\n"


def every_operation() -> Program:
    tape = Tape()
    x, y = tape.input([0, 1], [0.3, 1.7])
    found = [
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        abs(x),
        smaller(x, y),
        larger(x, y),
        y.sqrt(),
        x.sin(),
        x.cos(),
        x.exp(),
        x.tanh(),
        y**1.5,
        x.arctan2(y),
        select(x < y, x, 2.0),
        select(y <= x, math.inf, -1e-300),
        x,
        0.1,
    ]
    tape.output(np.arange(2, 2 + len(found)), np.array(found, dtype=object))
    return tape.program()


def run(program: Program, state: np.ndarray, folder: Path) -> np.ndarray:
    slots = range(state.size)
    n = len(program.output_slots)
    text = c_function(program, "f", (Array("x", slots[:-n]), Array("out", slots[-n:])))
    out = np.full(n, np.nan)
    compiled(HEAD + c_prelude() + text, folder).f(pointer(state), pointer(out))
    return out


@pytest.mark.parametrize("x", [(0.3, 1.7), (2.5, 0.7), (0.3, math.nan), (math.nan, 0.3)])
def test_every_operation(x: tuple[float, float], tmp_path: Path) -> None:
    program = every_operation()
    a, b = x
    expected = [
        a + b, a - b, a * b, a / b, -a, abs(a),
        math.nan if math.isnan(a + b) else min(a, b),
        math.nan if math.isnan(a + b) else max(a, b),
        math.sqrt(b), math.sin(a), math.cos(a), math.exp(a), math.tanh(a), math.pow(b, 1.5),
        math.atan2(a, b), a if a < b else 2.0, math.inf if b <= a else -1e-300, a, 0.1,
    ]  # fmt: skip
    state = np.concatenate([x, np.zeros(len(expected))])
    np.testing.assert_allclose(run(program, state, tmp_path), expected, rtol=4e-16)


def test_a_slot_that_stands_nowhere_is_refused() -> None:
    with pytest.raises(RecordingError, match=r"slots \[1\] of the function f are in no array"):
        c_function(every_operation(), "f", (Array("x", [0]), Array("out", range(2, 40))))


@pytest.mark.parametrize("name", ["four_bar", "screw_press", "quarter_vehicle"])
def test_stages_of_a_path(name: str, tmp_path: Path) -> None:
    """All three stages in one file, with one array as state, do what the lists say."""
    stages = record_observation(dynamic_model(load(name)))
    n = stages.layout.count
    rng = np.random.default_rng(0)
    programs = {"predict": stages.predict, "correct": stages.correct, "finish": stages.finish}
    text = HEAD + c_prelude()
    for word, program in programs.items():
        assert program is not None
        text += c_function(program, word, (Array("state", range(n)),))
    library = compiled(text, tmp_path)
    for word, program in programs.items():
        assert program is not None
        state = rng.uniform(0.1, 0.5, n)
        expected = state.copy()
        program.run(expected)
        getattr(library, word)(pointer(state))
        # products and sums may be contracted; determinants and steps amplify that
        np.testing.assert_allclose(state, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


def test_arrays_with_a_stride(tmp_path: Path) -> None:
    tape = Tape()
    x = tape.input([0, 1], [1.0, 2.0])
    tape.output([2, 3], np.array([x[0] + x[1], x[0] * x[1]], dtype=object))
    arrays = (Array("x", [0, 1], "n"), Array("out", [2, 3], "n"))
    text = c_function(tape.program(), "f", arrays, parameters=("long n",))
    given, out = np.array([3.0, 0.0, 5.0, 0.0]), np.full(4, -1.0)
    compiled(HEAD + c_prelude() + text, tmp_path).f(pointer(given), pointer(out), ctypes.c_long(2))
    np.testing.assert_array_equal(out, [8.0, -1.0, 15.0, -1.0])
