"""A tuple of arrays as a structure of Numba; see `held.py`."""

from operator import attrgetter

from numba import types
from numba.experimental import structref

from mechid.kinematics.kernels.jit import allocating_kernel


@structref.register
class HeldType(types.StructRef):
    """Type of `HeldStructure`, by the type of what it holds."""


class HeldStructure(structref.StructRefProxy):
    """The tuple as `value`, in kernels that allow references (`allocating_kernel`)."""

    # What every call asks for, without a function of Python.
    _numba_type_ = property(attrgetter("_type"))


structref.define_proxy(HeldStructure, HeldType, ["value"])


@allocating_kernel
def hold(value):
    """Return the tuple as a structure."""
    return HeldStructure(value)
