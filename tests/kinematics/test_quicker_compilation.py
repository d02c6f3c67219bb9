"""Shorter compilations: Numba finds what it finds by itself, and is left as it was."""

from __future__ import annotations

import operator
import subprocess
import sys

import pytest
from numba import types
from numba.core.registry import cpu_target

from mechid.kinematics.kernels.quicker import looked_up_once

ROWS = types.Array(types.float64, 2, "C")
CALLS = [
    (operator.mul, (types.float64, types.float64)),
    (operator.mul, (types.int64, types.complex128)),
    (operator.getitem, (ROWS, types.Tuple((types.int64, types.literal(1))))),
    (operator.getitem, (ROWS, types.literal(1))),
    (operator.setitem, (ROWS, types.UniTuple(types.int64, 2), types.float64)),
    # of a tuple with different items the place must be known
    (operator.getitem, (types.Tuple((types.int64, types.float64)), types.literal(0))),
    (operator.getitem, (types.Tuple((types.int64, types.float64)), types.literal(1))),
]


@pytest.mark.parametrize(("operation", "args"), CALLS)
def test_signatures_are_those_of_numba(operation: object, args: tuple[types.Type, ...]) -> None:
    context = cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(operation)
    by_itself = function.get_call_type(context, args, {})
    with looked_up_once():
        assert function.get_call_type(context, args, {}) == by_itself
        again = function.get_call_type(context, args, {})
        assert again == by_itself
        assert function.get_call_type(context, args, {}) is again
        assert function.get_impl_key(again) is not None


# In a process of its own: another thread of this one may be compiling.
LEFT = """
import gc, threading
from numba import types
from mechid.kinematics.kernels.quicker import looked_up_once, seldom_collecting
def now():
    return types.Function.get_call_type, gc.get_threshold()
before = now()
with looked_up_once(), seldom_collecting():
    assert all(a != b for a, b in zip(now(), before))
assert now() == before
try:
    with looked_up_once(), seldom_collecting():
        1 / 0
except ZeroDivisionError:
    pass
assert now() == before
first, second = threading.Event(), threading.Event()
def other():
    with looked_up_once(), seldom_collecting():
        first.set()
        second.wait()
thread = threading.Thread(target=other)
with looked_up_once(), seldom_collecting():
    thread.start()
    first.wait()
assert all(a != b for a, b in zip(now(), before))  # the other thread is still compiling
second.set()
thread.join()
assert now() == before
"""


@pytest.mark.slow
def test_numba_and_python_are_left_as_they_were() -> None:
    found = subprocess.run(
        [sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stderr


# Functions of others, compiled while helpers are parts and afterwards, with helpers in common.
HELPERS = """
import numba, numpy as np
from numba.core.typing.templates import _OverloadFunctionTemplate as template
from mechid.kinematics.kernels.compiling import _helpers
def now():
    return template._get_jit_decorator
def function(n):
    x = np.zeros(n) + 2.0
    return np.cumsum(x).max() + np.linalg.norm(x) + len(np.where(x > 1)[0])
before = now()
with _helpers.made():
    assert now() is not before
    assert numba.njit(function)(4) == function(4)
assert now() is before
assert numba.njit(function)(4) == function(4)
assert numba.njit(error_model="numpy")(function)(9) == function(9)
"""


@pytest.mark.slow
def test_helpers_of_others_are_right() -> None:
    found = subprocess.run(
        [sys.executable, "-c", HELPERS], capture_output=True, text=True, timeout=300, check=False
    )
    assert found.returncode == 0, found.stderr
