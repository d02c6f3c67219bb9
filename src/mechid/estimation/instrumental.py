"""Instrumental variables: for observation matrices that carry noise of their own.

Noise of measured positions makes errors in W, and least squares then shrinks the parameters,
however long one measures. With instruments Z, a second matrix of the same motion whose errors are
independent of those in W and τ, Zᵀ (τ - W φ) = 0 has no such bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimate_warnings import enough
from mechid.estimation.iteration import NoiseOption, Transform, finish, iterate
from mechid.estimation.linear import Solution, least_squares, lengths
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

# An F statistic below ten is the usual mark of weak instruments (Staiger and Stock).
_WEAK = 10.0


@dataclass(frozen=True)
class InstrumentalVariables:
    """Solve Zᵀ (τ - W φ) = 0 with rows in units of the noise.

    Attributes
    ----------
    noise : "estimated" or "declared"
    whiten : bool
        Whether noise may be coloured.
    """

    noise: NoiseOption = "estimated"
    whiten: bool = False
    name: str = "iv"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        if regression.instruments is None:
            raise DataError(
                "instrumental variables need a second observation matrix",
                remedy="compute one from a second measurement of the same motion, or simulate it",
            )
        channels = Channels(regression)
        enough(len(channels.channel), len(regression.parameters))
        Z = regression.instruments[regression.valid]

        def solve(A: Floats, t: Floats, transform: Transform) -> Solution:
            return instrumental(A, t, transform(Z))

        fit = iterate(channels, solve, noise=self.noise, whiten=self.whiten)
        F = strength(fit.A, fit.transform(Z))
        warnings = (
            (
                f"the instruments are weak (F = {F:.2g}, usually at least {_WEAK:.0f}): values "
                "may be biased like those of least squares, and standard deviations too small",
            )
            if F < _WEAK
            else ()
        )
        return finish(self.name, channels, fit, warnings=warnings)


def instrumental(A: Floats, t: Floats, Z: Floats) -> Solution:
    """Return x with Zᵀ (t - A x) = 0, and its covariance if t - A x is white with unit variance."""
    Q = np.linalg.qr(Z / lengths(Z))[0]
    small = least_squares(Q.T @ A, Q.T @ t)
    # Q is orthonormal, so the noise of Qᵀ t is that of t.
    return Solution(small.x, small.root, np.sum(Q**2, axis=1), A, small.unseen)


def strength(A: Floats, Z: Floats) -> float:
    """Return F of the combination of parameters for which instruments say least.

    With ρ the least cosine between the spaces of A and Z (canonical correlation), F is
    ρ²/(1 - ρ²) (m - b)/b: what Z explains of that column of A, against what it does not.
    """
    m, b = A.shape
    Q_A, Q_Z = (np.linalg.qr(X / lengths(X))[0] for X in (A, Z))
    rho2 = float(np.min(np.linalg.svd(Q_A.T @ Q_Z, compute_uv=False), initial=1.0)) ** 2
    return np.inf if rho2 >= 1 else rho2 / (1 - rho2) * (m - b) / b
