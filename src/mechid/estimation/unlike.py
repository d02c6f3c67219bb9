"""Forces that are not what the CAD values predict: a unit may be wrong, or a sensor dead."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

# Times: degrees for radians are more than this, and what wrong CAD values explain is less.
_UNLIKE = 50.0
# Part of its size by which a predicted force varies at least if it is called dead where the
# measured one does not, and the least number of samples.
_VARIES, _SAMPLES = 0.1, 10


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


def dead(regression: Regression, prior: Prior) -> Mapping[str, float]:
    """Return forces that are exactly constant where the CAD values predict that they vary, and how
    large these predict them (rms).

    Parameters of zero explain a force of zero, without any noise: left to itself, such a channel
    outweighs all others.
    """
    expected = regression.W @ prior.select(regression.parameters).mean + regression.known
    sizes = {
        name: dead_size(regression.tau[valid, j], expected[valid, j])
        for j, (name, valid) in enumerate(zip(regression.channels, regression.valid.T, strict=True))
    }
    return {name: size for name, size in sizes.items() if size}


def dead_size(measured: Floats, expected: Floats) -> float:
    """Return the rms of an expected force (N,) that varies where the measured one is exactly
    constant; 0 if it is not."""
    if len(measured) < _SAMPLES or np.ptp(measured) > 0:
        return 0.0
    size = float(np.sqrt(np.mean(expected**2)))
    return size if np.std(expected) > _VARIES * size else 0.0


def dead_words(name: str, size: float, unit: str) -> str:
    """Return why a force was not used."""
    return (
        f"force {name}, which is constant where the model predicts {size:.2g} {unit} (rms), was "
        "not used: check its sensor"
    )
