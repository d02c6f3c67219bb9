"""Greedy elimination: drop, one by one, the parameter that blocks of time miss least.

Each fold is compressed once: a triangle of its training rows, and one of the held-out rows of each
force. With C = (AᵀA)⁻¹, the least-squares solution that has x_j = φ_j instead of estimating it is
x - C_j (x_j - φ_j)/C_jj, so that one small factorisation judges all candidates of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.linear import least_squares
from mechid.estimation.regression import Floats, Regression
from mechid.reduction.ranking import Ranking
from mechid.reduction.rest import Rest, rest_values
from mechid.validation.blocks import Blocks, Fold
from mechid.validation.crossvalidate import Stop, Watch, force_rms


@dataclass(frozen=True, eq=False)
class _Compressed:
    """A fold in few rows: training (r, b + 1), held out (n_d, r, b + 1), targets last."""

    train: Floats
    test: Floats

    @staticmethod
    def of(regression: Regression, fold: Fold, scale: Floats) -> _Compressed:
        A, t, channel = regression.part(fold.train).stacked()
        if len(t) < A.shape[1]:
            raise DataError(
                f"{len(t)} measured values are too few for {A.shape[1]} parameters",
                where="cross-validation",
                remedy="measure longer, or cut into more blocks",
            )
        weight = 1.0 / scale[channel]
        train = np.asarray(np.linalg.qr(np.column_stack([A, t]) * weight[:, None], mode="r"))
        held = regression.part(fold.test)
        A, t, channel = held.stacked()
        b = A.shape[1]
        test = np.zeros((len(scale), b + 1, b + 1))
        for j, size in enumerate(scale):
            rows = np.column_stack([A, t])[channel == j]
            if len(rows):
                R = np.linalg.qr(rows / (size * np.sqrt(len(rows))), mode="r")
                test[j, : len(R)] = R
        return _Compressed(train, test)

    def candidates(self, kept: list[int], fixed: Floats) -> Floats:
        """Return the error, summed over the forces, without each of the kept, (kept,)."""
        gone = np.setdiff1d(np.arange(len(fixed)), kept)
        A, t = self.train[:, kept], self.train[:, -1] - self.train[:, gone] @ fixed[gone]
        solved = least_squares(A, t)
        C = solved.covariance
        X = solved.x[:, None] - C * ((solved.x - fixed[kept]) / np.diag(C))[None, :]
        left = self.test[..., -1] - self.test[..., gone] @ fixed[gone]
        e = self.test[..., kept] @ X - left[..., None]
        return np.asarray(np.sum(np.linalg.norm(e, axis=1), axis=0))


def greedy(
    regression: Regression,
    folds: Blocks | Sequence[Fold] = Blocks(),  # noqa: B008 (frozen)
    *,
    knowledge: Knowledge | None = None,
    rest: Rest = "zero",
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Ranking:
    """Order parameters by greedy elimination with cross-validated errors.

    Errors and weights are relative to the root mean square of each force, so units do not matter.
    The same errors judge later how many to keep; they are a little too good then, since the order
    was made with them.

    Parameters
    ----------
    regression : Regression
    folds : Blocks or sequence of Fold
    knowledge : Knowledge, optional
        For rest "cad".
    rest : "zero" or "cad"
        What dropped parameters are.
    watch : callable (stage, size, error), optional
    stop : callable, optional
        Asked before each step; parameters that are left then come first, in their own order.

    Returns
    -------
    Ranking
        The score is the mean error of the blocks after the parameter went; not a number for those
        that did not go.
    """
    names = regression.parameters
    fixed = rest_values(names, rest, knowledge)
    scale = force_rms(regression.tau, regression.valid)
    scale = np.where(scale > 0, scale, 1.0)
    cut = folds.folds(len(regression.time)) if isinstance(folds, Blocks) else tuple(folds)
    compressed = [_Compressed.of(regression, fold, scale) for fold in cut]
    kept = list(range(len(names)))
    dropped: list[tuple[int, float]] = []
    while len(kept) > 1 and not stop():
        errors = np.mean([c.candidates(kept, fixed) for c in compressed], axis=0)
        at = min(range(len(kept)), key=lambda i: (errors[i], names[kept[i]]))
        dropped.append((kept.pop(at), float(errors[at])))
        if watch is not None:
            watch("greedy", len(kept), float(errors[at]))
    ranked = [*((i, np.nan) for i in kept), *reversed(dropped)]
    return Ranking(
        "greedy",
        tuple(names[i] for i, _ in ranked),
        np.array([x for _, x in ranked]),
        complete=len(kept) <= 1,
    )
