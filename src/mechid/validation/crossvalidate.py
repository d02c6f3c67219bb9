"""Cross-validation: estimate from some blocks of time, predict the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import predict
from mechid.estimation.estimator import Estimator
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Bools, Floats, Regression
from mechid.validation.blocks import Blocks, Fold

Watch: TypeAlias = Callable[[str, int, float], None]
Stop: TypeAlias = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Errors of blocks of time that were predicted from the others.

    Attributes
    ----------
    method : str
        Name of the estimator.
    channels : tuple of str
    errors : array (k, n_d)
        Root mean square error of each block, relative to the root mean square of the force in the
        whole motion: blocks with small forces do not count more than others.
    values : array (k, b)
        Parameters estimated without each block.
    complete : bool
        False if it was stopped; the blocks that were done are there.
    """

    method: str
    channels: tuple[str, ...]
    errors: Floats
    values: Floats
    complete: bool

    @property
    def totals(self) -> Floats:
        """Sum over the forces, of each block, (k,)."""
        return np.asarray(np.nansum(self.errors, axis=1))

    @property
    def mean(self) -> float:
        """Mean of the totals."""
        return float(np.mean(self.totals))

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return float(standard_error(self.totals))


def cross_validate(
    estimator: Estimator,
    regression: Regression,
    prior: Prior | None = None,
    folds: Blocks | Sequence[Fold] = Blocks(),  # noqa: B008 (frozen)
    *,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> CrossValidation:
    """Predict every block of a motion from the others.

    Parameters
    ----------
    estimator : Estimator
    regression : Regression
    prior : Prior, optional
    folds : Blocks or sequence of Fold
    watch : callable (stage, step, error of the block), optional
    stop : callable, optional
        Called before each block; True ends with the completed blocks.

    Raises
    ------
    DataError
        Naming the block whose rest does not suffice for the estimator, or if it was stopped before
        the first.
    """
    taken = folds.folds(regression.logs) if isinstance(folds, Blocks) else tuple(folds)
    size = force_rms(regression.tau, regression.valid)
    errors, values = [], []
    for k, fold in enumerate(taken):
        if stop():
            break
        try:
            estimate = estimator(regression.part(fold.train), prior)
        except MechidError as error:
            raise error.located(f"block {k + 1} of {len(taken)}") from error
        test = regression.part(fold.test)
        errors.append(block_error(predict(estimate, test).forces, test, size))
        values.append(estimate.values)
        if watch is not None:
            watch("cross-validation", k + 1, float(np.nansum(errors[-1])))
    if not errors:
        raise DataError("stopped before a block was predicted", remedy="allow more time")
    return CrossValidation(
        estimator.name,
        regression.channels,
        np.array(errors),
        np.array(values),
        len(errors) == len(taken),
    )


def block_error(forces: Floats, test: Regression, size: Floats) -> Floats:
    """Return the root mean square errors (…, n_d) of predictions (…, N, n_d), in units of `size`
    (n_d,)."""
    n = np.count_nonzero(test.valid, axis=0)
    e = np.where(test.valid, forces - test.tau, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt(np.sum(e**2, axis=-2) / n) / size
    return np.where((n > 0) & (size > 0), found, np.nan)


def force_rms(tau: Floats, valid: Bools) -> Floats:
    """Return the root mean square of each force over its valid samples, (n_d,)."""
    n = np.count_nonzero(valid, axis=0)
    squares = np.sum(np.where(valid, tau, 0.0) ** 2, axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(n, 1)))


def standard_error(totals: Floats) -> Floats:
    """Return the standard error of the mean of several (k, …); infinite for a single one."""
    k = len(totals)
    if k < 2:
        return np.full(totals.shape[1:], np.inf)
    return np.asarray(np.std(totals, axis=0, ddof=1) / np.sqrt(k))
