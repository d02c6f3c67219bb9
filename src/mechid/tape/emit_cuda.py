"""Programs as CUDA source, for NVRTC or, with a thin shim, for any C++ compiler."""

from __future__ import annotations

from mechid.tape.emit_c import Dialect

CUDA = Dialect(
    "static __device__ __forceinline__ void",
    "static __device__ __forceinline__ double",
    "__restrict__",
    sincos=True,
)
# NVRTC has the mathematical functions built in, but not the constants of math.h.
CUDA_HEAD = """\
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
"""
