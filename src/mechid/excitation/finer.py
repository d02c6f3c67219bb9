"""The last check of a designed motion: its limits between the samples, and how the motion is shrunk
to keep them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.excitation.design import Design
from mechid.excitation.families.family import Basis
from mechid.excitation.problem import DesignProblem
from mechid.excitation.trajectory import sample
from mechid.kinematics.tables import Floats

FINER = 20  # times as many samples for the last check of the limits
# What a motion is made smaller by, in this order, until it keeps the limits between its samples.
_CUTS = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
_HALVINGS = 3  # of the last step between them, towards the larger motion
ROUNDING = 1e-9  # of the range of a limit: smaller violations are ignored


def finer(problem: DesignProblem) -> DesignProblem:
    """Return the problem with more samples, over the whole duration."""
    d = problem.design
    first, last = float(d.time[0]), max(float(d.time[-1]), d.trajectory.duration)
    step = (float(d.time[-1]) - first) / max(len(d.time) - 1, 1)
    parts = max(round((last - first) / step), 1) if step > 0 else 1
    times = np.linspace(first, last, FINER * parts + 1)
    return replace(problem, design=_resampled(d, times))


def within(problem: DesignProblem, fine: DesignProblem, x: Floats, inside: Floats) -> Floats | None:
    """Return the motion, shrunk towards another until it keeps the limits between the samples too.

    None if that takes away most of it.
    """

    def smaller(cut: float) -> Floats | None:
        tried = x + cut * (inside - x)
        kept = all(p.feasible(tried, tolerance=ROUNDING) for p in (problem, fine))
        return tried if kept else None

    for before, cut in zip((0.0, *_CUTS), _CUTS, strict=False):
        found = smaller(cut)
        if found is None:
            continue
        low, high = before, cut
        for _ in range(_HALVINGS if cut > 0 else 0):
            middle = 0.5 * (low + high)
            better = smaller(middle)
            low, high = (middle, high) if better is None else (low, middle)
            found = found if better is None else better
        return found
    return None


def _resampled(d: Design, times: Floats) -> Design:
    """Return the same design at other times."""
    bases = tuple(
        Basis(*(np.ascontiguousarray(B @ r.Z) for B in family.basis(times)))
        for family, r in zip(d.trajectory.families, d.reductions, strict=True)
    )
    c0 = np.concatenate([np.zeros(0), *(r.c0 for r in d.reductions)])
    still = sample(d.trajectory.with_coefficients(c0), times=times)
    return replace(d, time=times, bases=bases, still=still)
