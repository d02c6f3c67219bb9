"""Long series for a chart: fewer samples, all peaks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mechid.estimation.regression import Floats, Ints

SAMPLES = 4000  # of a chart, some for each pixel of its width, so that there is more to see in it


def shown_samples(courses: Sequence[Floats], most: int = SAMPLES) -> Ints:
    """Return which samples to show: in each stretch of time, the least and the largest of every
    course, so that no peak is lost.

    Parameters
    ----------
    courses : sequence of array (N,)
        Not a number where there is none.
    most : int
        Of samples that are returned, if there are more.
    """
    n = len(courses[0])
    if n <= most:
        return np.arange(n)
    stretches = max(most // (2 * len(courses)), 1)
    edges = np.linspace(0, n, stretches + 1).astype(int)
    taken = {0, n - 1}
    for begin, end in pairwise(edges):
        for course in courses:
            part = course[begin:end]
            if np.any(np.isfinite(part)):
                taken |= {begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}
    return np.array(sorted(taken))


def listed(values: Floats) -> list[float | None]:
    """Return numbers for JSON; None where there is none."""
    return [float(x) if np.isfinite(x) else None for x in values]
