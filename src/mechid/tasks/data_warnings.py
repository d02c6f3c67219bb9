"""What makes measured forces doubtful before anything is estimated from them."""

from __future__ import annotations

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression

_UNLIKE = 50.0  # times: less than degrees for radians, more than wrong CAD values explain


def too_few(regression: Regression) -> tuple[str, ...]:
    """Warn of fewer measured forces than parameters."""
    n, b = int(np.count_nonzero(regression.valid)), len(regression.parameters)
    if n >= b:
        return ()
    return (f"{n} measured values of forces are too few for {b} parameters; measure more samples",)


def unlike_cad(regression: Regression, prior: Prior) -> tuple[str, ...]:
    """Warn of forces of another order than those of the CAD values: a unit may be wrong."""
    predicted = regression.W @ prior.select(regression.parameters).mean + regression.known
    words = []
    for j, name in enumerate(regression.channels):
        valid = regression.valid[:, j]
        measured, expected = (np.linalg.norm(x[valid, j]) for x in (regression.tau, predicted))
        # A force of zero says nothing.
        if not (measured > 0 and expected > 0):
            continue
        ratio = float(measured / expected)
        if not 1 / _UNLIKE < ratio < _UNLIKE:
            words.append(
                f"the force {name} is {ratio:.2g} times what the CAD values predict: check its "
                "unit and scale, and those of time and positions"
            )
    return tuple(words)
