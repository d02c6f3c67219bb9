"""A tuple of arrays as a structure of Numba; see `held.py`."""

from operator import attrgetter
from typing import Any

from numba import types
from numba.experimental import structref
from numba.extending import intrinsic

from mechid.kinematics.kernels.jit import allocating_kernel


@structref.register
class HeldType(types.StructRef):
    """Type of `HeldStructure`, by the type of what it holds."""


class HeldStructure(structref.StructRefProxy):
    """The tuple as `value`, in kernels that allow references (`allocating_kernel`)."""

    # What every call asks for, without a function of Python.
    _numba_type_ = property(attrgetter("_type"))


structref.define_boxing(HeldType, HeldStructure)


@intrinsic
def _structure(typing_context: Any, value: Any) -> Any:
    """Return a new structure (what Numba would make of it is a function to be compiled)."""
    kind = HeldType((("value", value),))
    new, allocate = structref.new._defn(typing_context, types.TypeRef(kind))

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        structure = allocate(context, builder, new, ())
        context.nrt.incref(builder, value, args[0])
        structref._Utils(context, builder, kind).get_data_struct(structure).value = args[0]
        return structure

    return kind(value), generate


@allocating_kernel
def hold(value):
    """Return the tuple as a structure."""
    return _structure(value)
