"""Least squares without a prior: ordinary, weighted by noise, ridge, truncated.

Truncated singular value decomposition: directions that the data hardly determine are set to
zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.channels import FREE_OFFSETS, Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimate_warnings import enough
from mechid.estimation.estimator import not_negative, one_of
from mechid.estimation.gaussian_prior import Scale
from mechid.estimation.iteration import NoiseOption, Transform, finish, iterate, weigh
from mechid.estimation.linear import (
    Solution,
    full_svd,
    least_squares,
    lengths,
    rank_floor,
    with_prior,
)
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression


@dataclass(frozen=True)
class OrdinaryLeastSquares:
    """Minimise the sum of all squared residuals, N and N m alike, as the sources do.

    The covariance allows for channels with noise of different size: (AᵀA)⁻¹ Aᵀ Ω A (AᵀA)⁻¹. That
    noise is the one weighted least squares finds: residuals of a quiet force would hold noise that
    came from louder ones through the parameters.

    Attributes
    ----------
    offsets : "estimated", optional
        Whether each force channel has an offset, which is also estimated.
    """

    offsets: Literal["estimated"] | None = None
    name: str = "ols"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        if self.offsets is not None:
            one_of("offsets of least squares", self.offsets, "estimated")
        channels = Channels(regression, offsets=self.offsets is not None)
        A, t = channels.problem
        channel = channels.channel
        zeros = int(np.sum(channels.zeros))
        enough(len(A) + zeros, A.shape[1])
        fit = iterate(channels, lambda A, t, _: least_squares(A, t, zeros))
        solved = least_squares(A, t, zeros)
        # (AᵀA)⁻¹ Aᵀ = T (A T)ᵀ
        spread = solved.root @ ((A @ solved.root).T * fit.noise[channel])
        plain = replace(
            fit,
            solution=replace(solved, root=spread),
            residuals=t - A @ solved.x,
            A=A,
            t=t,
        )
        return finish(self.name, channels, plain, known=(FREE_OFFSETS,) if self.offsets else ())


@dataclass(frozen=True)
class WeightedLeastSquares:
    """Minimise the sum of squared residuals, each in units of the noise of its force.

    Attributes
    ----------
    noise : "estimated" or "declared"
        Estimated by iteration, but not less than what is declared; or as declared.
    whiten : bool
        Whether noise may be coloured.
    offsets : float or "estimated", optional
        Of the force channels: their standard deviation as a fraction of the root mean square of
        each force, or estimated from the data.
    """

    noise: NoiseOption = "estimated"
    whiten: bool = False
    offsets: Scale | None = None
    name: str = "weighted"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        return MaximumAPosteriori(
            prior="none",
            noise=self.noise,
            whiten=self.whiten,
            offsets=self.offsets,
            name=self.name,
        )(regression)


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


# Parameters and directions that a warning names.
_NAMED = 3
# Fraction of the largest entry below which a parameter is not listed for a direction.
_MINOR = 0.2


@dataclass(frozen=True)
class Truncated:
    """Least squares in the directions with the largest singular values, columns of unit length.

    Attributes
    ----------
    rank : int, optional
        How many directions are kept.
    condition : float, optional
        Otherwise as many as have at least 1/condition of the largest singular value. With neither,
        the number with the least expected error of predicted forces, |t - A x|² + 2 r in units of
        the noise (Mallows, Akaike).
    noise : "estimated" or "declared"
    """

    rank: int | None = None
    condition: float | None = None
    noise: NoiseOption = "estimated"
    name: str = "truncated"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used. Standard deviations are those of what is kept."""
        channels = Channels(regression)
        b = len(regression.parameters)
        # Noise is that of all directions: weights that followed the truncation would turn the
        # directions that are kept.
        fit = iterate(channels, lambda A, t, _: least_squares(A, t), noise=self.noise)
        kept = self._rank(fit.A, fit.t)
        solution = truncated(fit.A, fit.t, kept)
        A, t = channels.problem
        fit = replace(fit, solution=solution, residuals=t - A @ solution.x)
        warnings = _dropped(fit.A, kept, regression.parameters) if kept < b else ()
        return finish(
            self.name, channels, fit, warnings=warnings, known=(f"{kept} of {b} directions kept",)
        )

    def _rank(self, A: Floats, t: Floats) -> int:
        U, s, _ = np.linalg.svd(A / lengths(A), full_matrices=False)
        seen = int(np.count_nonzero(s > rank_floor(A, s)))
        if self.rank is not None:
            if not 1 <= self.rank <= A.shape[1]:
                raise DataError(f"the rank must be between 1 and {A.shape[1]}, got {self.rank}")
            return min(self.rank, seen)
        if self.condition is not None:
            if not self.condition >= 1:
                raise DataError(f"the condition number must be ≥ 1, got {self.condition:g}")
            return min(int(np.count_nonzero(s * self.condition >= s[0])), seen)
        gain = np.cumsum((U.T @ t)[:seen] ** 2 - 2.0)
        return int(np.argmax(gain)) + 1 if np.any(gain > 0) else 1


def truncated(A: Floats, t: Floats, rank: int) -> Solution:
    """Return the shortest least-squares solution in the first `rank` directions of A."""
    d = lengths(A)
    U, s, Vh = np.linalg.svd(A / d, full_matrices=False)
    U, s, Vh = U[:, :rank], s[:rank], Vh[:rank]
    root = (Vh.T / s) / d[:, None]
    return Solution(root @ (U.T @ t), root, np.sum(U**2, axis=1), A)


def _dropped(A: Floats, kept: int, names: tuple[str, ...]) -> tuple[str, ...]:
    d = lengths(A)
    V = full_svd(A / d)[2][kept:]
    shown = []
    for v in V[:_NAMED]:
        largest = np.argsort(-np.abs(v))[:_NAMED]
        most = np.abs(v[largest[0]])
        shown.append(", ".join(names[i] for i in largest if np.abs(v[i]) > _MINOR * most))
    more = "; …" if len(V) > _NAMED else ""
    return (
        f"{len(V)} of {len(names)} directions were dropped (mainly "
        f"{'; '.join(shown)}{more}): their contribution is set to zero, and the standard "
        "deviations do not include it",
    )
