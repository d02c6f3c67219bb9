"""Calls of functions in memory from kernels, and what they need of arrays."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def call(typing_context: Any, address: Any, state: Any, memory: Any) -> Any:
    """Call the function at an address with the beginnings of two arrays of numbers."""
    signature = types.void(types.int64, state, memory)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = _beginnings(context, builder, signature.args[1:], args[1:])
        return _call(context, builder, args[0], arrays)

    return signature, generate


@intrinsic
def call_writer(typing_context: Any, address: Any, state: Any, runs: Any, n: Any, rows: Any) -> Any:
    """Call `write_rows` at an address (see `rows.py`): runs and addresses are arrays of int64."""
    signature = types.void(types.int64, state, runs, types.int64, rows)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        first, second = _beginnings(context, builder, kinds[1:3], args[1:3])
        last = _beginnings(context, builder, kinds[4:], args[4:])
        return _call(context, builder, args[0], [first, second, args[3], *last])

    return signature, generate


@intrinsic
def address_of(typing_context: Any, array: Any) -> Any:
    """Return where an array begins in memory."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (begin,) = _beginnings(context, builder, signature.args, args)
        return builder.ptrtoint(begin, ir.IntType(64))

    return types.int64(array), generate


@intrinsic
def number_at(typing_context: Any, address: Any) -> Any:
    """Return the number at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], ir.DoubleType().as_pointer()))

    return types.float64(types.int64), generate


@intrinsic
def copy_numbers(typing_context: Any, array: Any, source: Any, target: Any, n: Any) -> Any:
    """Copy array[source : source + n] to array[target : target + n], which is another part."""
    signature = types.void(array, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (begin,) = _beginnings(context, builder, signature.args[:1], args[:1])
        source, target = (builder.gep(begin, [i]) for i in args[1:3])
        cgutils.raw_memcpy(builder, target, source, args[3], 8)
        return context.get_dummy_value()

    return signature, generate


def _beginnings(context: Any, builder: Any, kinds: Any, arrays: Any) -> list[Any]:
    return [
        context.make_array(kind)(context, builder, value=x).data
        for kind, x in zip(kinds, arrays, strict=True)
    ]


def _call(context: Any, builder: Any, address: Any, args: list[Any]) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [x.type for x in args])
    builder.call(builder.inttoptr(address, kind.as_pointer()), args)
    return context.get_dummy_value()
