"""Ridge regression: least squares with a penalty on the size of the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.iteration import NoiseOption, Transform, finish, iterate, weigh
from mechid.estimation.linear import Solution, least_squares, lengths, rank_floor, with_prior
from mechid.estimation.options import not_negative
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

# Number of penalties that are tried.
_TRIED = 60


@dataclass(frozen=True)
class Ridge:
    """Minimise |A x - t|² + λ |D x|², rows in units of the noise, D the lengths of the columns.

    That is maximum a posteriori with parameters of mean zero and standard deviation 1/(√λ D), and
    the covariance is that posterior's: it includes the bias of the penalty.

    Attributes
    ----------
    penalty : float, optional
        λ, without unit; otherwise by generalised cross-validation.
    noise : "estimated" or "declared"
    """

    penalty: float | None = None
    noise: NoiseOption = "estimated"
    name: str = "ridge"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        channels = Channels(regression)
        penalty = self.penalty
        if penalty is None:
            penalty = cross_validated(*weigh(channels, self.noise))
        not_negative("the penalty", penalty)

        def solve(A: Floats, t: Floats, _: Transform) -> Solution:
            if penalty == 0:
                return least_squares(A, t)
            F = np.diag(1 / (np.sqrt(penalty) * lengths(A)))
            return with_prior(A, t, np.zeros(A.shape[1]), F)

        fit = iterate(channels, solve, noise=self.noise)
        source = "generalised cross-validation" if self.penalty is None else "given"
        return finish(
            self.name, channels, fit, known=(f"penalty {penalty:.3g} ({source}), towards zero",)
        )


def cross_validated(A: Floats, t: Floats) -> float:
    """Return the penalty with the least |t - A x|² / (m - tr H)², H the influence of t on A x."""
    from scipy.optimize import minimize_scalar

    U, s, _ = np.linalg.svd(A / lengths(A), full_matrices=False)
    along = U.T @ t
    outside = float(np.sum((t - U @ along) ** 2))
    largest = float(np.max(s, initial=0.0)) or 1.0

    def score(u: float) -> float:
        penalty = np.exp(2 * u)
        left = penalty / (s**2 + penalty)
        spare = len(t) - np.sum(1 - left)
        return float((outside + np.sum((left * along) ** 2)) / spare**2)

    # From rounding level to more than the largest singular value.
    tried = np.linspace(np.log(rank_floor(A, s)), np.log(10.0 * largest), _TRIED)
    best = min(tried, key=score)
    step = tried[1] - tried[0]
    found = minimize_scalar(
        score, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-6}
    )
    return float(np.exp(2 * found.x))
