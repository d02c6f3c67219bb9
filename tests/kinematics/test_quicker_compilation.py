"""Shorter compilations: Numba finds what it finds by itself, and is left as it was."""

from __future__ import annotations

import gc
import operator

import pytest
from numba import types
from numba.core.registry import cpu_target

from mechid.kinematics.kernels.quicker import looked_up_once, seldom_collecting

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


def test_numba_and_python_are_left_as_they_were() -> None:
    before = types.Function.get_call_type, gc.get_threshold()
    with looked_up_once(), seldom_collecting():
        assert types.Function.get_call_type != before[0]
        assert gc.get_threshold() != before[1]
    assert (types.Function.get_call_type, gc.get_threshold()) == before
    with pytest.raises(ZeroDivisionError), looked_up_once(), seldom_collecting():
        1 / 0  # noqa: B018
    assert (types.Function.get_call_type, gc.get_threshold()) == before
