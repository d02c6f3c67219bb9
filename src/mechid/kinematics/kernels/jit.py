"""How kernels are compiled, in one place."""

from functools import partial
from typing import Any

from numba import config

from mechid.kinematics.kernels.compiling import Kernel


def _kernel(options: dict[str, Any], function: Any) -> Any:
    return function if config.DISABLE_JIT else Kernel(function, options)  # type: ignore[attr-defined]


# Divisions follow IEEE rules (a singular matrix gives inf or nan, which the callers check) instead
# of testing every divisor.
_options: dict[str, Any] = {"error_model": "numpy"}

# Kernels that make no arrays do without Numba's reference counting: counting the two dozen arrays
# of the tables at every call took ten times as long as the arithmetic (half a microsecond a call).
_plain: dict[str, Any] = _options | {"_nrt": False}
# (Not inlined unless it says so: else it would depend on which of its callers is compiled first.)
kernel: Any = partial(_kernel, _plain | {"forceinline": False})
# The tables are passed by value, two kilobytes a call: what is called for every piece of every
# sample becomes part of its caller.
inlined_kernel: Any = partial(_kernel, _plain | {"forceinline": True})
# Kernels that run over many samples make their scratch arrays themselves, and let other threads run
# meanwhile (see `threads.py`).
allocating_kernel: Any = partial(_kernel, _options | {"nogil": True})
