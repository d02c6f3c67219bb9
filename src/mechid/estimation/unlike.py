"""Forces of another order than the CAD values predict: a unit may be wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression

# Times: degrees for radians are more than this, and what wrong CAD values explain is less.
_UNLIKE = 50.0


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
