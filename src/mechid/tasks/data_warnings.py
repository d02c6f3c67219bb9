"""What makes measured forces doubtful before anything is estimated from them."""

from __future__ import annotations

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.unlike import unlike_cad


def too_few(regression: Regression) -> tuple[str, ...]:
    """Warn of fewer measured forces than parameters."""
    n, b = int(np.count_nonzero(regression.valid)), len(regression.parameters)
    if n >= b:
        return ()
    return (f"{n} measured values of forces are too few for {b} parameters; measure more samples",)


def wrong_order(regression: Regression, prior: Prior) -> tuple[str, ...]:
    """Warn of forces of another order than those of the CAD values: a unit may be wrong."""
    return tuple(
        f"the force {name} is {ratio:.2g} times what the CAD values predict: check its unit and "
        "scale, those of time and positions, and whether the model has the friction of its joint"
        for name, ratio in unlike_cad(regression, prior).items()
    )
