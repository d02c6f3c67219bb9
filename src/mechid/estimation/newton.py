"""Newton's method for a smooth function of few variables between bounds.

Searches that start near the minimum, as those of loops do that change little from turn to turn,
need two or three evaluations; quasi-Newton methods learn the curvature anew each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mechid.estimation.regression import Floats

_STEPS, _HALVINGS = 100, 30
# The largest gradient at a minimum, the longest step, and the decrease of a step as a part of that
# of its tangent.
_FLAT, _LONGEST, _DECREASE = 1e-6, 2.0, 1e-4
# Curvature at least, as a part of the largest; decreases below this part of the function are lost
# in its rounding.
_CURVED, _ROUNDING = 1e-10, 1e-12


class Expansion(NamedTuple):
    """Value, gradient (n,) and second derivatives (n, n) of a function at a point."""

    value: float
    gradient: Floats
    hessian: Floats


def minimum_in_box(
    function: Callable[[Floats], Expansion], start: Floats, low: Floats, high: Floats
) -> Floats:
    """Return where a function is smallest, near a start, between bounds.

    Parameters
    ----------
    function : callable
    start, low, high : arrays (n,)
    """
    x = np.clip(start, low, high)
    here = function(x)
    for _ in range(_STEPS):
        g = here.gradient
        free = ~(((x <= low) & (g > 0)) | ((x >= high) & (g < 0)))
        if np.max(np.abs(g[free]), initial=0.0) <= _FLAT:
            break
        step = np.zeros_like(x)
        step[free] = _downhill(g[free], here.hessian[np.ix_(free, free)])
        if -g @ step <= _ROUNDING * (1.0 + abs(here.value)):
            return np.clip(x + step, low, high)  # what is left cannot be seen in the value
        found = _shorter(function, x, here, step, low, high)
        if found is None:
            break
        x, here = found
    return x


def _downhill(gradient: Floats, hessian: Floats) -> Floats:
    """Return Newton's step; where the function is curved downwards, as if it were upwards."""
    curvature, V = np.linalg.eigh(hessian)
    size = np.abs(curvature)
    size = np.maximum(size, max(_CURVED * float(size.max()), np.finfo(float).tiny))
    step = -V @ ((V.T @ gradient) / size)
    return np.asarray(step * min(1.0, _LONGEST / max(float(np.max(np.abs(step))), 1e-300)))


def _shorter(
    function: Callable[[Floats], Expansion],
    x: Floats,
    here: Expansion,
    step: Floats,
    low: Floats,
    high: Floats,
) -> tuple[Floats, Expansion] | None:
    """Return the first of ever shorter steps that leads down; None if there is none."""
    for k in range(_HALVINGS):
        to = np.clip(x + 0.5**k * step, low, high)
        slope = float(here.gradient @ (to - x))
        there = function(to)
        if there.value <= here.value + _DECREASE * slope:
            return to, there
    return None
