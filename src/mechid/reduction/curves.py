"""Condition numbers and errors against the number of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimator import Estimator
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.reduction.nested import Fit, Triangle, fit_of
from mechid.reduction.rest import Rest
from mechid.validation.blocks import Blocks, Fold
from mechid.validation.crossvalidate import (
    Stop,
    Watch,
    block_error,
    force_rms,
    standard_error,
)
from mechid.validation.errors import prediction_error


@dataclass(frozen=True, eq=False)
class Curves:
    """Condition numbers and errors of each size of the model, the smallest first.

    Attributes
    ----------
    sizes : array (s,)
        Numbers of parameters.
    condition : array (s,)
        Condition number of the observation matrix, columns of unit length.
    raw_condition : array (s,)
        The same as it is, in SI units: what the sources print.
    identification : array (s, n_d)
        E_p of each force on the motion of identification.
    validation : array (s, motions, n_d)
        E_p of each force on other motions.
    blocks : array (s, folds)
        Errors of blocks of time predicted from the others, summed over the forces; no columns
        without cross-validation.
    """

    sizes: Ints
    condition: Floats
    raw_condition: Floats
    identification: Floats
    validation: Floats
    blocks: Floats

    @property
    def identification_total(self) -> Floats:
        """E_p on the motion of identification, summed over the forces, (s,)."""
        return np.asarray(np.nansum(self.identification, axis=1))

    @property
    def validation_total(self) -> Floats:
        """E_p on other motions, summed over the forces, (s, motions)."""
        return np.asarray(np.nansum(self.validation, axis=2))

    @property
    def cross(self) -> Floats:
        """Mean error of the blocks, (s,)."""
        return np.mean(self.blocks, axis=1) if self.blocks.shape[1] else np.full(len(self), np.nan)

    @property
    def cross_error(self) -> Floats:
        """Standard error of `cross`, (s,)."""
        return np.array([standard_error(row) for row in self.blocks])

    def __len__(self) -> int:
        """Return the number of sizes."""
        return len(self.sizes)


def reduction_curves(
    order: Sequence[str],
    regression: Regression,
    estimator: Estimator,
    *,
    prior: Prior | None = None,
    rest: Rest = "zero",
    sizes: Sequence[int] | None = None,
    validation: Sequence[Regression] = (),
    folds: Blocks | Sequence[Fold] | None = None,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Curves:
    """Estimate nested models of all sizes and record condition numbers and errors.

    Parameters
    ----------
    order : sequence of str
        Parameters, the one that is kept longest first.
    regression : Regression
        Motion of identification.
    estimator : Estimator
    prior : Prior, optional
        For the estimator and for `rest`.
    rest : "zero" or "cad"
        What eliminated parameters are.
    sizes : sequence of int, optional
        All by default.
    validation : sequence of Regression
        Other motions.
    folds : Blocks or sequence of Fold, optional
        For cross-validation, if wanted.
    watch : callable (stage, size, mean E_p of the forces), optional
    stop : callable, optional
        Asked before each size, the smallest first, whether to end with those that are done.

    Raises
    ------
    DataError
        For sizes that make no sense, or if it was stopped before the first.
    """
    taken = _sizes(sizes, len(order))
    motion = regression.select(order)
    others = [r.select(order) for r in validation]
    triangle = Triangle.of(motion, order)

    def fit_on(r: Regression) -> Fit:
        return fit_of(estimator, r, order, rest=rest, prior=prior)

    fit = fit_on(motion)
    cut = folds.folds(motion.logs) if isinstance(folds, Blocks) else tuple(folds or ())
    scale = force_rms(motion.tau, motion.valid)
    blocks = [(fit_on(motion.part(f.train)), motion.part(f.test)) for f in cut]
    rows = []
    for k in taken:
        if stop():
            break
        found = fit(k)
        on = [_error(r, found) for r in (motion, *others)]
        held = [float(np.nansum(block_error(_forces(r, f(k)), r, scale))) for f, r in blocks]
        rows.append((triangle.condition(k), triangle.raw_condition(k), on[0], on[1:], held))
        if watch is not None:
            watch("reduction", k, float(np.nanmean(on[0])))
    if not rows:
        raise DataError("stopped before a model was estimated", remedy="allow more time")
    n, n_d = len(rows), len(motion.channels)
    return Curves(
        np.array(taken[:n]),
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.array([row[2] for row in rows]),
        np.array([row[3] for row in rows]).reshape(n, len(others), n_d),
        np.array([row[4] for row in rows]).reshape(n, len(cut)),
    )


def _forces(r: Regression, found: tuple[Floats, Floats]) -> Floats:
    values, offset = found
    return np.asarray(r.W @ values + r.known + offset)


def _error(r: Regression, found: tuple[Floats, Floats]) -> Floats:
    return prediction_error(_forces(r, found), r.tau, r.valid)


def _sizes(sizes: Sequence[int] | None, b: int) -> list[int]:
    taken = list(range(1, b + 1)) if sizes is None else sorted(set(sizes))
    if not taken or taken[0] < 1 or taken[-1] > b:
        raise DataError(f"sizes must be between 1 and {b}, got {taken or 'none'}")
    return taken
