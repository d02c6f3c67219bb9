"""Programs as CUDA source, for NVRTC or, with a thin shim, for any C++ compiler."""

from __future__ import annotations

from mechid.tape import lanes_math
from mechid.tape.emit_c import Dialect, literal

CUDA = Dialect(
    "static __device__ __forceinline__ void",
    "static __device__ __forceinline__ double",
    "__restrict__",
    sincos="near_sincos",
)
# NVRTC has the mathematical functions built in, but not the constants of math.h.
_CONSTANTS = """\
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
"""


def _polynomial(coefficients: tuple[float, ...]) -> str:
    text = literal(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        text = f"({text}) * z + {literal(c)}"
    return text


def _sincos() -> str:
    """Return sine and cosine of angles within ±LARGEST_ANGLE, as in `lanes_math`.

    The function of CUDA also knows larger angles, and spends registers on them.
    """
    reduced = "".join(f" - turns * {literal(part)}" for part in lanes_math.PARTS)
    return f"""\
{CUDA.function} near_sincos(double x, double *sine, double *cosine)
{{
    const double turns = rint(x * {literal(lanes_math.TWO_OVER_PI)});
    const int quadrant = (int)turns;
    const double r = x{reduced}, z = r * r;
    const double s = r + r * z * ({_polynomial(lanes_math.SINE)});
    const double w = 1.0 - 0.5 * z;
    const double c = w + ((1.0 - w) - 0.5 * z + z * z * ({_polynomial(lanes_math.COSINE)}));
    const double s_turned = quadrant & 1 ? c : s, c_turned = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -s_turned : s_turned;
    *cosine = (quadrant + 1) & 2 ? -c_turned : c_turned;
}}
"""


CUDA_HEAD = _CONSTANTS + _sincos()
