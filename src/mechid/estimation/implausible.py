"""Forces that are not what they are said to be: another unit, a dead sensor, at a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mechid.estimation.clipping import without_clipped
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Bools, Regression

# Times: degrees for radians are more than this, and what wrong CAD values explain is less.
_UNLIKE = 50.0
# A sensor is called dead if the force is predicted to vary by this part of its size, and by so many
# of its standard deviations; the least number of samples.
_VARIES, _SURE, _SAMPLES = 0.1, 3.0, 10


def unlike_cad(regression: Regression, prior: Prior) -> Mapping[str, float]:
    """Return the forces that are far from what the CAD values predict, and how many times as large.

    Forces may be as large as the CAD values and their standard deviations allow: coefficients of
    which nothing is known allow anything. A force of zero says nothing.
    """
    known = prior.select(regression.parameters)
    expected = regression.W @ known.mean + regression.known
    spread = np.einsum(
        "ndi,ij,ndj->nd", regression.W, known.base_covariance, regression.W, optimize=True
    )
    found = {}
    for j, (name, valid) in enumerate(zip(regression.channels, regression.valid.T, strict=True)):
        measured, least = (float(np.linalg.norm(x[valid, j])) for x in (regression.tau, expected))
        most = float(np.hypot(least, np.sqrt(max(float(np.sum(spread[valid, j])), 0.0))))
        if measured > 0 and least > 0 and not least / _UNLIKE < measured < most * _UNLIKE:
            found[name] = measured / least
    return found


def dead(
    regression: Regression, prior: Prior, constant: Bools | None = None
) -> Mapping[str, float]:
    """Return forces of dead sensors, and how large the CAD values predict them (rms).

    They are exactly constant where the CAD values, with their standard deviations, say that they
    are not; a coordinate that nothing drives has a force of zero in truth, and CAD values allow it.
    Parameters of zero explain a force of zero, without any noise: left to itself, a dead channel
    outweighs all others.

    Parameters
    ----------
    regression : Regression
    prior : Prior
    constant : array (n_d,) of bool, optional
        Which forces are constant; by default as the regression has them.
    """
    known = prior.select(regression.parameters)
    found = {}
    for j, (name, valid) in enumerate(zip(regression.channels, regression.valid.T, strict=True)):
        measured, W = regression.tau[valid, j], regression.W[valid, j]
        if len(measured) < _SAMPLES or not (
            np.ptp(measured) == 0 if constant is None else constant[j]
        ):
            continue
        expected = W @ known.mean + regression.known[valid, j]
        spread = np.einsum("ni,ij,nj->n", W, known.base_covariance, W, optimize=True)
        size, sigma = (float(np.sqrt(np.mean(x))) for x in (expected**2, np.maximum(spread, 0.0)))
        if np.std(expected) > max(_VARIES * size, _SURE * sigma):
            found[name] = size
    return found


def dead_words(name: str, size: float, unit: str) -> str:
    """Return why a force was not used."""
    return (
        f"force {name}, which is constant where the CAD values predict {size:.2g} {unit} (rms), "
        "was not used: check its sensor"
    )


def plausible(regression: Regression, prior: Prior | None) -> tuple[Regression, tuple[str, ...]]:
    """Return the problem without forces of another order than the CAD values predict, and without
    samples at the limits of a sensor, and why.

    Such a force is in another unit, of another machine, or of a dead sensor, and would spoil what
    the others say.
    """
    if prior is None:
        return regression, ()
    regression, clipped = without_clipped(regression, prior)
    units = dict(zip(regression.channels, regression.units, strict=True))
    # What most of a force may be is among what the machine may have.
    unlike = {} if regression.possible else unlike_cad(regression, prior)
    wrong = {
        name: f"force {name}, {ratio:.2g} times what the CAD values predict, was not used"
        for name, ratio in unlike.items()
    } | {
        name: dead_words(name, size, units[name]) for name, size in dead(regression, prior).items()
    }
    if not 0 < len(wrong) < len(regression.channels):
        return regression, clipped
    used = np.array([name not in wrong for name in regression.channels])
    return replace(regression, valid=regression.valid & used), (*clipped, *wrong.values())
