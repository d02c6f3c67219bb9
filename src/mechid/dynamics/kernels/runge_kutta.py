"""Error and interpolant of a step of an explicit Runge-Kutta method, from its stages."""

import numpy as np

from mechid.kinematics.kernels.jit import kernel


@kernel
def error_norm(K, E5, E3, h, z, end, rtol, atol):
    """Return the estimated error of a step relative to what is allowed: at most 1 is accepted.

    That of DOP853, with the errors of its formulas of fifth and third order; where E3 is zero,
    the root mean square of the one with E5.
    """
    fifth, third = 0.0, 0.0
    for i in range(z.size):
        x5, x3 = 0.0, 0.0
        for s in range(E5.size):
            x5 += E5[s] * K[s, i]
            x3 += E3[s] * K[s, i]
        scale = atol[i] + rtol * max(abs(z[i]), abs(end[i]))
        fifth += (x5 / scale) ** 2
        third += (x3 / scale) ** 2
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return h * fifth / np.sqrt((fifth + 0.01 * third) * z.size)


@kernel
def interpolate(K, P, h, z, x, out):
    """Fill out (N, n) with z + h Σ_sk P[s, k] x^(k+1) K[s] at parts x (N,) of the step."""
    for m in range(x.size):
        for i in range(z.size):
            out[m, i] = z[i]
        for s in range(P.shape[0]):
            weight = 0.0
            for k in range(P.shape[1] - 1, -1, -1):
                weight = (weight + P[s, k]) * x[m]
            for i in range(z.size):
                out[m, i] += h * weight * K[s, i]
