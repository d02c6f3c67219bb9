"""How kernels are compiled, in one place."""

from typing import Any

from numba import njit

# Divisions follow IEEE rules (a singular matrix gives inf or nan, which the callers check) instead
# of testing every divisor.
_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}

# Kernels that make no arrays do without Numba's reference counting: counting the two dozen arrays
# of the tables at every call took ten times as long as the arithmetic (half a microsecond a call).
kernel: Any = njit(**_options | {"_nrt": False})
allocating_kernel: Any = njit(**_options)
parallel_kernel: Any = njit(**_options | {"parallel": True})
