"""How kernels are compiled, in one place."""

from functools import partial
from typing import Any

import numba
from numba import config, njit

# Versions of Numba whose inner parts `compiling.py` is known to fit. With others kernels are
# compiled in Numba's own way: the same code, after a longer wait.
_KNOWN = ("0.68.",)


def _kernel(options: dict[str, Any], function: Any) -> Any:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    if not numba.__version__.startswith(_KNOWN):
        return njit(cache=True, **options)(function)
    from mechid.kinematics.kernels.compiling import Kernel

    return Kernel(function, options)


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
