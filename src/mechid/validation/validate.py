"""One model on one motion: errors, whiteness of what is left, and whether intervals hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate, Prediction, predict
from mechid.estimation.linear import condition
from mechid.estimation.regression import Floats, Regression
from mechid.validation.errors import ForceErrors, force_errors
from mechid.validation.whiteness import Whiteness, whiteness


@dataclass(frozen=True, eq=False)
class Validation:
    """What a model says of a motion, and what was measured.

    Attributes
    ----------
    errors : ForceErrors
    whiteness : Whiteness
    level : float
        Of the intervals, as 0.95.
    coverage : array (n_d,)
        Part of the measured forces inside the intervals of that level; NaN for forces
        that were never measured, or not used by the estimate.
    condition : float
        Condition number of the columns of the model for this motion, columns of unit length.
    prediction : Prediction
        Forces with their standard deviations.
    """

    errors: ForceErrors
    whiteness: Whiteness
    level: float
    coverage: Floats
    condition: float
    prediction: Prediction


def validate(
    estimate: Estimate,
    regression: Regression,
    *,
    level: float = 0.95,
    lags: int | None = None,
    own_log: bool = False,
) -> Validation:
    """Validate a model on a motion, be it the one of identification or another.

    Parameters
    ----------
    estimate : Estimate
    regression : Regression
        With all parameters of the estimate.
    level : float
        Of the intervals, between 0 and 1.
    lags : int, optional
        Of the test for whiteness.
    own_log : bool
        Whether the estimate comes from this motion.
    """
    found = predict(estimate, regression, own_log=own_log)
    e = np.where(regression.valid, regression.tau - found.forces, np.nan)
    A = regression.select(estimate.parameters).stacked()[0]
    return Validation(
        force_errors(found.forces, regression),
        whiteness(e, lags=lags, colour=estimate.colour),
        level,
        # Nothing is known of the noise of a force that was not used.
        coverage(np.where(np.isnan(estimate.noise), np.nan, e), found.by_same_sensors, level),
        condition(A),
        found,
    )


def coverage(residuals: Floats, sigma: Floats, level: float = 0.95) -> Floats:
    """Return which part of residuals (N, …) lies within the interval of a level, (…).

    Residuals that are NaN do not count; intervals of standard deviations (N, …) that are NaN cover
    nothing.
    """
    if not 0 < level < 1:
        raise DataError(
            f"the level of an interval must be between 0 and 1, got {level:g}",
            remedy="0.95 stands for 95 %",
        )
    here = np.isfinite(residuals)
    wide = float(ndtri(0.5 + level / 2)) * sigma
    inside = np.count_nonzero(np.abs(np.where(here, residuals, np.inf)) <= wide, axis=0)
    n = np.count_nonzero(here, axis=0)
    return np.where(n > 0, inside / np.maximum(n, 1), np.nan)
