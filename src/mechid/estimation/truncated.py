"""Truncated singular value decomposition: directions that the data hardly determine are set to
zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.iteration import NoiseOption, finish, iterate
from mechid.estimation.linear import Solution, full_svd, least_squares, lengths, rank_floor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

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
