"""Warnings about estimated values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.whitening import fit_colour, stretches

# Residuals are called coloured if the ones before explain a fifth of their variance.
_COLOURED = 1 / np.sqrt(0.8)
OTHER_FRICTION = "other friction (--friction auto)"  # a part of the advice
# Residuals below this fraction of the forces are rounding of data without noise.
_EXACT = float(np.sqrt(np.finfo(float).eps))


def estimate_warnings(
    names: Sequence[str],
    values: Floats,
    sigma: Floats,
    condition: float,
    unseen: int,
    *,
    prior: bool = False,
) -> tuple[str, ...]:
    """Return warnings about values and their uncertainty.

    Parameters
    ----------
    names : sequence of str
    values, sigma : array (b,)
    condition : float
        Rows in units of the noise, columns of unit length.
    unseen : int
        Combinations of parameters that the data do not show beyond rounding.
    prior : bool
        Whether a prior was used.
    """
    found = []
    b = len(names)
    if unseen:
        found.append(
            f"{unseen} of {b} combinations of parameters are not visible in the data; they "
            "were set to zero and their standard deviations are meaningless: use another "
            "motion or a prior, or reduce the model"
        )
    vague = np.flatnonzero(sigma > np.abs(values))
    if vague.size and not prior:
        shown = ", ".join(names[i] for i in vague[:3]) + (", …" if vague.size > 3 else "")
        found.append(
            f"{vague.size} of {b} parameters have a relative standard deviation above 100 % "
            f"({shown}; condition number {condition:.2g}): their values are mostly noise, "
            "and forces of other motions may be predicted badly; use a prior, or reduce the "
            "model"
        )
    return tuple(found)


def coloured_residuals(regression: Regression, e: Floats) -> tuple[str, ...]:
    """Return a warning if residuals e (m,) of the valid rows are coloured and taken as white."""
    found, worst = [], 1.0
    forces = regression.target[regression.valid]
    where = stretches(regression)
    names = regression.channels * (len(where) // len(regression.channels))
    for name, parts in zip(names, where, strict=True):
        rounding = all(np.linalg.norm(e[p]) <= _EXACT * np.linalg.norm(forces[p]) for p in parts)
        colour = fit_colour([e[part] for part in parts])
        if colour.ratio > _COLOURED and not rounding:
            found += [name] if name not in found else []
            # Against slow columns of W, noise counts by its spectrum at low frequencies.
            slow = 1.0 / np.abs(1.0 - np.sum(colour.coefficients))
            worst = max(worst, float(slow / colour.ratio))
    if not found:
        return ()
    return (
        f"the residuals of force {', '.join(found)} are coloured: samples are "
        "correlated, and standard deviations for white noise are too small by a factor of up to "
        f"{worst:.2g}; most often the model lacks something: try offsets, {OTHER_FRICTION}, or "
        "several logs of different motions",
    )


def enough(rows: int, parameters: int) -> None:
    """Reject a problem with fewer rows than parameters."""
    if rows < parameters:
        raise DataError(
            f"{rows} measured values are too few for {parameters} parameters",
            remedy="measure longer, reduce the model, or use a prior",
        )
