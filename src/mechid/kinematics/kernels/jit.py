"""How kernels are compiled, in one place."""

from numba import njit

# Divisions follow IEEE rules (a singular matrix gives inf or nan, which the callers check) instead
# of testing every divisor.
kernel = njit(cache=True, error_model="numpy")
parallel_kernel = njit(cache=True, error_model="numpy", parallel=True)
