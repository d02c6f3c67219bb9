"""What becomes of parameters that are not estimated: zero, or their CAD values.

The sources set them to zero. Their CAD values are a better guess: forces that are known to be there
then need not be explained by other parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.linear import least_squares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

Rest: TypeAlias = Literal["zero", "cad"]


def rest_values(
    parameters: Sequence[str], rest: Rest = "zero", prior: Prior | None = None
) -> Floats:
    """Return the values that parameters have when they are not estimated, (b,)."""
    if rest == "zero":
        return np.zeros(len(parameters))
    if rest != "cad":
        raise DataError(f"rest must be zero or cad, got {rest}")
    if prior is None:
        raise DataError(
            "eliminated parameters cannot keep their CAD values without a prior",
            remedy='give prior, or rest="zero"',
        )
    return prior.select(parameters).mean


def restrict(
    regression: Regression,
    kept: Sequence[str],
    *,
    rest: Rest = "zero",
    prior: Prior | None = None,
) -> Regression:
    """Return the problem of some of the parameters.

    Parameters
    ----------
    regression : Regression
    kept : sequence of str
        Parameters that are estimated.
    rest : "zero" or "cad"
        What the others are; forces of CAD values go to `known`.
    prior : Prior, optional
        Needed for "cad".
    """
    fixed = rest_values(regression.parameters, rest, prior)
    inside = set(kept)
    fixed = np.where([name in inside for name in regression.parameters], 0.0, fixed)
    found = regression.select(kept)
    return found.with_known(regression, fixed) if fixed.any() else found


def completed(estimate: Estimate, regression: Regression, prior: Prior) -> Estimate:
    """Return an estimate of some parameters together with the CAD values of the others.

    Errors of the CAD values move the estimated parameters too: in first order by -C Aᵀ Ω⁻¹ A_rest
    times the error, with C the covariance of the estimate and Ω that of the noise. Where C holds
    more than noise, it is taken as large as noise alone makes it: a parameter that is less certain
    for other reasons does not follow the rest any further. The covariance that is returned holds
    both.

    Parameters
    ----------
    estimate : Estimate
        Of the problem that `restrict(…, rest="cad")` gives.
    regression : Regression
        The problem before that, with all parameters.
    prior : Prior
    """
    names = regression.parameters
    kept = set(estimate.parameters)
    others = tuple(name for name in names if name not in kept)
    if not others:
        return estimate
    cad = prior.select(others)
    errors = estimate.errors
    A, _, channel = regression.select(estimate.parameters).stacked()
    A_rest = regression.select(others).stacked()[0]
    noise = estimate.noise[channel]
    if np.all(noise > 0):
        if errors is not None and errors.cross is not None:  # offsets give way too
            A, A_rest = (_less_mean(rows, regression) for rows in (A, A_rest))
        G = -_response(estimate.covariance, A / noise[:, None], A_rest / noise[:, None])
    else:  # no noise, so the estimate is the solution of the equations
        G = -np.column_stack([least_squares(A, column).x for column in A_rest.T])
    P = cad.base_covariance
    cross = G @ P
    at = {name: i for i, name in enumerate((*estimate.parameters, *others))}
    order = [at[name] for name in names]

    words = f"{len(others)} of {len(names)} parameters at their CAD values, not estimated"

    def among_rest(rows: Floats | None) -> Floats | None:
        """Nothing is said of offsets and gains together with errors of CAD values."""
        return None if rows is None else _with_others(rows, len(others))[order]

    if errors is not None:
        crosses = among_rest(errors.cross), among_rest(errors.cross_gain)
        errors = replace(errors, cross=crosses[0], cross_gain=crosses[1])
    return replace(
        estimate,
        errors=errors,
        parameters=names,
        values=np.concatenate([estimate.values, cad.mean])[order],
        covariance=np.block([[estimate.covariance + cross @ G.T, cross], [cross.T, P]])[
            np.ix_(order, order)
        ],
        known=(*estimate.known, words),
        resting=(*estimate.resting, *others),
        doubted=among_rest(estimate.doubted),
    )


def _with_others(rows: Floats, n: int) -> Floats:
    """Return rows of the estimated parameters, and zeros of n others."""
    return np.vstack([rows, np.zeros((n, rows.shape[1]))])


def _less_mean(rows: Floats, regression: Regression) -> Floats:
    """Return valid rows (m, k) less their mean over each force in each log: what offsets leave."""
    sample, channel = np.nonzero(regression.valid)
    series = regression.logs[sample] * len(regression.channels) + channel
    number = np.bincount(series)
    sums = np.array([np.bincount(series, column) for column in rows.T]).reshape(-1, len(number))
    return np.asarray(rows - (sums / np.maximum(number, 1)).T[series])


def _response(C: Floats, A: Floats, rows: Floats) -> Floats:
    """Return C Aᵀ rows, with C no larger than (Aᵀ A)⁻¹ in any direction.

    With A = Q R and R C Rᵀ = V v Vᵀ, that is C Rᵀ V min(1, 1/v) Vᵀ Qᵀ rows.
    """
    Q, R = np.linalg.qr(A)
    v, V = np.linalg.eigh(R @ C @ R.T)
    return np.asarray(C @ R.T @ (V / np.maximum(v, 1.0)) @ (V.T @ (Q.T @ rows)))
