"""Long series for a chart: fewer samples, all peaks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mechid.estimation.regression import Floats, Ints

SAMPLES = 4000  # of a chart, some for each pixel of its width, so that there is more to see in it


def shown_samples(curves: Sequence[Floats], most: int = SAMPLES) -> Ints:
    """Return which samples to show: in each stretch of time, the least and the largest of every
    curve, so that no peak is lost.

    Parameters
    ----------
    curves : sequence of array (N,)
        NaN where a value is missing.
    most : int
        Largest number of samples returned.
    """
    n = len(curves[0])
    if n <= most:
        return np.arange(n)
    stretches = max(most // (2 * len(curves)), 1)
    edges = np.linspace(0, n, stretches + 1).astype(int)
    taken = {0, n - 1}
    for begin, end in pairwise(edges):
        for curve in curves:
            part = curve[begin:end]
            if np.any(np.isfinite(part)):
                taken |= {begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}
    return np.array(sorted(taken))


def listed(values: Floats) -> list[float | None]:
    """Return numbers for JSON; None where a value is missing."""
    return [float(x) if np.isfinite(x) else None for x in values]
