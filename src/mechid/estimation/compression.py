"""Many right-hand sides of one observation matrix: each force compressed by its own QR.

With the rows A_j = Q_j R_j of a force, Qᵀ (A_j, t) = (R_j, Q_jᵀ t), one more row (0, ρ), and rows
of zeros. Residual sums of squares, leverages and solutions for any weights of the forces are those
of all rows, and there are b + 1 rows instead of N. Order in time is lost: colour, drift, delays,
offsets, gains and outliers of single samples need the whole problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimator import Estimator
from mechid.estimation.least_squares import OrdinaryLeastSquares, WeightedLeastSquares
from mechid.estimation.regression import Floats, Regression


@dataclass(frozen=True, eq=False)
class Compression:
    """Factors of the rows of each force.

    Attributes
    ----------
    regression : Regression
        Whose W, known forces and valid rows are those of all problems.
    Q : tuple of array (N_j, b)
        Orthonormal columns, of each force.
    R : array (b + 1, n_d, b)
        Triangles; the last row is zero.
    """

    regression: Regression
    Q: tuple[Floats, ...]
    R: Floats

    @staticmethod
    def of(regression: Regression) -> Compression | None:
        """Factorise; None where a force has too few rows for that to be of use."""
        r = regression
        b = len(r.parameters)
        if r.log is not None or np.any(np.count_nonzero(r.valid, axis=0) <= b + 1):
            return None
        factors = [np.linalg.qr(r.W[ok, j]) for j, ok in enumerate(r.valid.T)]
        R = np.stack([np.vstack([f.R, np.zeros(b)]) for f in factors], axis=1)
        return Compression(r, tuple(np.asarray(f.Q) for f in factors), R)

    def problems(self, tau: Floats) -> Iterator[Regression]:
        """Yield the small problem of each of k measured force histories, tau (k, N, n_d).

        Raises
        ------
        DataError
            If a force is not finite.
        """
        r = self.regression
        k, (rows, n_d, _) = len(tau), self.R.shape
        y = np.empty((k, rows, n_d))
        for j, (Q, ok) in enumerate(zip(self.Q, r.valid.T, strict=True)):
            t = tau[:, ok, j] - r.known[ok, j]
            if not np.all(np.isfinite(t)):
                raise DataError(f"force {r.channels[j]} is not finite")
            # Stacked vectors, not a matrix: rounding of one does not depend on the others.
            inside = np.matmul(Q.T, t[..., None])
            y[:, :-1, j] = inside[..., 0]
            y[:, -1, j] = np.linalg.norm(t - np.matmul(Q, inside)[..., 0], axis=1)
        small = replace(
            r,
            W=self.R,
            tau=y[0] if k else np.zeros((rows, n_d)),
            known=np.zeros((rows, n_d)),
            time=np.arange(float(rows)),
            valid=np.ones((rows, n_d), dtype=bool),
            instruments=None,
            zeros=np.count_nonzero(r.valid, axis=0).astype(np.int64) - rows,
        )
        for each in y:
            yield replace(small, tau=each)


def compressible(estimator: Estimator) -> bool:
    """Return whether an estimator needs no order of the samples in time."""
    if isinstance(estimator, OrdinaryLeastSquares):
        return estimator.offsets is None
    if isinstance(estimator, WeightedLeastSquares):
        return not estimator.whiten and estimator.offsets is None
    if not isinstance(estimator, MaximumAPosteriori):
        return False
    return estimator.offsets is None and not estimator.whiten
