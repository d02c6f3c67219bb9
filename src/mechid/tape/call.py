"""Calls of functions in memory from kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call(typing_context: Any, address: Any, state: Any, memory: Any) -> Any:
    """Call the function at an address with the beginnings of two arrays of numbers."""
    signature = types.void(types.int64, state, memory)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.PointerType(ir.DoubleType())
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        function = builder.inttoptr(args[0], kind.as_pointer())
        arrays = [
            context.make_array(t)(context, builder, value=x).data
            for t, x in zip(signature.args[1:], args[1:], strict=True)
        ]
        builder.call(function, arrays)
        return context.get_dummy_value()

    return signature, generate
