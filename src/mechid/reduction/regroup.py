"""Base parameters of a problem with dependent columns, by singular values, with a rank on request.

The push-rod paper eliminates parameters of little contribution first (`Contribution.above`,
`restrict`) and regroups what is left; or regroups all with a rank that is imposed. With an imposed
rank the forces change: directions with small singular values are taken as null.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.base.partition import dependent_rows, regrouping
from mechid.errors import DataError
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression


@dataclass(frozen=True, eq=False)
class Regrouped:
    """A problem in base parameters read off its singular values.

    Attributes
    ----------
    regression : Regression
        W₁ φ_base + known = τ; a base parameter is called like the parameter that heads it. Motions
        with the columns of all parameters need no change: a prediction takes those it needs.
    dependent : tuple of str
    without_effect : tuple of str
        Columns of zeros.
    matrix : array (b, p)
        φ_base = matrix φ of the parameters before.
    spectrum : array
        Singular values, relative to the largest.
    rank : int
    """

    regression: Regression
    dependent: tuple[str, ...]
    without_effect: tuple[str, ...]
    matrix: Floats
    spectrum: Floats
    rank: int

    def prior(self, before: Prior) -> Prior:
        """Return what is known of the base parameters, from what is known of those before."""
        return replace(before, base=self.regression.parameters, matrix=self.matrix @ before.matrix)


def regroup(
    regression: Regression, rank: int | None = None, *, scale: Floats | None = None
) -> Regrouped:
    """Regroup parameters so that the observation matrix gets full rank.

    Parameters
    ----------
    regression : Regression
        Of any parameters, dependent or not.
    rank : int, optional
        Imposed; by default the number of singular values above rounding.
    scale : array (p,), optional
        What columns are divided by before their singular values are taken; their lengths by
        default. Ones: columns as they are, in SI units.

    Raises
    ------
    DataError
        For a rank that the problem cannot have.
    """
    A, _, _ = regression.stacked()
    names = regression.parameters
    lengths = np.linalg.norm(A, axis=0)
    shown = np.flatnonzero(lengths > 0)
    d = lengths if scale is None else np.asarray(scale, dtype=float)
    if d.shape != lengths.shape or not np.all(d[shown] > 0):
        raise DataError(f"scale must be {len(names)} positive numbers, one per parameter")
    _, s, Vh = np.linalg.svd(A[:, shown] / d[shown], full_matrices=len(A) < len(shown))
    most = min(len(s), len(shown))
    seen = int(np.count_nonzero(s > max(A.shape) * float(np.finfo(float).eps) * s[0]))
    r = seen if rank is None else rank
    if not 1 <= r <= most:
        raise DataError(f"the rank must be between 1 and {most}, got {r}")
    Z = Vh[r:].T
    dependent = dependent_rows(Z)
    base = np.setdiff1d(np.arange(len(shown)), dependent)
    beta = regrouping(Z, dependent) * d[shown[dependent]][None, :] / d[shown[base]][:, None]
    matrix = np.zeros((r, len(names)))
    matrix[np.arange(r), shown[base]] = 1.0
    matrix[:, shown[dependent]] = beta
    gone = np.setdiff1d(np.arange(len(names)), shown)
    return Regrouped(
        regression.select([names[i] for i in shown[base]]),
        tuple(names[i] for i in shown[dependent]),
        tuple(names[i] for i in gone),
        matrix,
        s / s[0],
        r,
    )
