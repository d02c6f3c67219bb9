"""A tuple of arrays that kernels can be called with at the price of one number.

A call from Python looks at every array of its arguments, which takes tens of microseconds for the
tables and scratch arrays of a mechanism: longer than the arithmetic of one pose. A held tuple has
been looked at once.
"""

from typing import Any

from numba import config, types
from numba.experimental import structref

from mechid.kinematics.kernels.jit import allocating_kernel

if config.DISABLE_JIT:  # type: ignore[attr-defined]

    class Held:
        """The tuple as `value`."""

        def __init__(self, value: Any) -> None:
            self.value = value

else:

    @structref.register
    class HeldType(types.StructRef):
        """Type of `Held`, by the type of what it holds."""

    class Held(structref.StructRefProxy):  # type: ignore[no-redef]
        """The tuple as `value`, in kernels that allow references (`allocating_kernel`)."""

    structref.define_proxy(Held, HeldType, ["value"])


@allocating_kernel
def hold(value):
    """Return the tuple, held for later calls; the arrays in it may change, but not be replaced."""
    return Held(value)
