"""How kernels are compiled, in one place."""

from typing import Any

from numba import njit

# Divisions follow IEEE rules (a singular matrix gives inf or nan, which the callers check) instead
# of testing every divisor.
_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}

# Kernels that make no arrays do without Numba's reference counting: counting the two dozen arrays
# of the tables at every call took ten times as long as the arithmetic (half a microsecond a call).
_plain: dict[str, Any] = _options | {"_nrt": False}
# (Not inlined unless it says so: else it would depend on which of its callers is compiled first.)
kernel: Any = njit(**_plain | {"forceinline": False})
# The tables are passed by value, two kilobytes a call: what is called for every piece of every
# sample becomes part of its caller.
inlined_kernel: Any = njit(**_plain | {"forceinline": True})
# Kernels that run over many samples make their scratch arrays themselves, and let other threads run
# meanwhile (see `threads.py`).
allocating_kernel: Any = njit(**_options | {"nogil": True})
