"""A linear problem that comes in blocks of rows: one triangle per force, whatever their number.

The rows (A_j, t_j) of a force are replaced by R of their QR factorisation as they come: R and the
next block are factorised together. Rᵀ R is that of all rows, so residual sums of squares and
solutions for any weights of the forces are those of all rows (`compression.py`), without normal
equations.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import qr

from mechid.errors import DataError
from mechid.estimation.regression import Floats, Regression


def streamed_triangles(blocks: Iterable[Floats]) -> tuple[Floats, int]:
    """Return R of each force, (n_d, b + 1, b + 1), and the number of samples.

    Parameters
    ----------
    blocks : iterable of array (k, n_d, b + 1)
        Rows of W, and what the parameters have to explain as the last column.
    """
    R: list[Floats] = []
    n = 0
    for block in blocks:
        n += len(block)
        R = R or [np.zeros((0, block.shape[-1]))] * block.shape[1]
        R = [
            qr(np.vstack([upper, block[:, j]]), mode="r", check_finite=False)[0][: block.shape[-1]]
            for j, upper in enumerate(R)
        ]
    if not R:
        raise DataError("there are no samples")
    return np.stack(R), n


def streamed_regression(
    blocks: Iterable[Floats],
    parameters: tuple[str, ...],
    channels: tuple[str, ...],
    units: tuple[str, ...],
) -> Regression:
    """Return the problem of all blocks with b + 1 rows per force, for `compressible` estimators.

    Parameters
    ----------
    blocks : iterable of array (k, n_d, b + 1)
        As for `streamed_triangles`.
    parameters, channels, units : tuple of str
        As in `Regression`.

    Raises
    ------
    DataError
        If there are not more samples than parameters, or a number is not finite.
    """
    R, n = streamed_triangles(blocks)
    rows = len(parameters) + 1
    if n <= rows:
        raise DataError(
            f"{n} samples are too few for {rows - 1} parameters", remedy="measure more samples"
        )
    R = np.swapaxes(R, 0, 1)
    return Regression(
        W=R[..., :-1],
        tau=R[..., -1],
        known=np.zeros(R.shape[:2]),
        time=np.arange(float(rows)),
        parameters=parameters,
        channels=channels,
        units=units,
        valid=np.ones(R.shape[:2], dtype=bool),
        zeros=np.full(len(channels), n - rows, dtype=np.int64),
    )
