"""Greedy orders: go, one by one, by how well blocks of time are predicted from the others.

Backwards: drop the parameter that is missed least. Forwards: take in the one that helps most. Each
fold is compressed once: a triangle of its training rows, and one of the held-out rows of each
force. One small factorisation per step and fold evaluates all candidates. Dropping j from a
least-squares solution x with C = (AᵀA)⁻¹ gives x - C_j (x_j - φ_j)/C_jj, where φ_j is what it has
instead; taking in a column adds its part normal to A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.estimation.linear import least_squares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.reduction.ranking import Ranking
from mechid.reduction.rest import Rest, rest_values
from mechid.validation.blocks import Blocks, Fold
from mechid.validation.crossvalidate import Stop, Watch, force_rms

Direction: TypeAlias = Literal["backward", "forward"]
_ROUNDING = float(np.finfo(float).eps)


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

    def without(self, kept: list[int], fixed: Floats) -> Floats:
        """Return the error, summed over the forces, without each of the kept, (kept,)."""
        t, u = self._targets(kept, fixed)
        solved = least_squares(self.train[:, kept], t)
        C = solved.covariance
        X = solved.x[:, None] - C * ((solved.x - fixed[kept]) / np.diag(C))[None, :]
        return _summed(self.test[..., kept] @ X - u[..., None])

    def together(self, kept: list[int], others: list[int], fixed: Floats) -> Floats:
        """Return the error with each of the others taken in besides the kept, (others,)."""
        t, u = self._targets(kept, fixed)
        A, new = self.train[:, kept], self.train[:, others]
        solved = np.linalg.lstsq(A, np.column_stack([t, new]))[0]
        x, along = solved[:, 0], solved[:, 1:]
        normal = new - A @ along
        size = np.sum(normal**2, axis=0)
        shown = size > (len(A) * _ROUNDING) ** 2 * np.sum(new**2, axis=0)
        step = np.where(shown, normal.T @ (t - A @ x) / np.where(shown, size, 1.0), 0.0)
        B = self.test[..., kept]
        e = u - B @ x
        return _summed((self.test[..., others] - B @ along) * step - e[..., None])

    def _targets(self, kept: list[int], fixed: Floats) -> tuple[Floats, Floats]:
        """Return what the kept have to explain: training (r,), held out (n_d, r)."""
        rest = fixed.copy()
        rest[kept] = 0.0
        return (
            self.train[:, -1] - self.train[:, :-1] @ rest,
            self.test[..., -1] - self.test[..., :-1] @ rest,
        )


def _summed(e: Floats) -> Floats:
    """Return the root mean squares of e (n_d, r, candidates), summed over the forces."""
    return np.asarray(np.sum(np.linalg.norm(e, axis=1), axis=0))


def greedy(
    regression: Regression,
    folds: Blocks | Sequence[Fold] = Blocks(),  # noqa: B008 (frozen)
    *,
    direction: Direction = "backward",
    prior: Prior | None = None,
    rest: Rest = "zero",
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Ranking:
    """Order parameters by cross-validated errors of least squares.

    Errors and weights are relative to the root mean square of each force, so units do not matter.
    The same errors are used later to choose how many to keep; they are a little too good then,
    since the order was made with them. Where the whole matrix is badly conditioned, going backwards
    starts from estimates that mean nothing; forwards does better there.

    Parameters
    ----------
    regression : Regression
    folds : Blocks or sequence of Fold
    direction : "backward" or "forward"
    prior : Prior, optional
        For rest "cad".
    rest : "zero" or "cad"
        What parameters are that are not estimated.
    watch : callable (stage, size, error), optional
    stop : callable, optional
        Called before each step. Parameters that were not evaluated stay in their own order: before
        those that were dropped, or behind those that were taken in.

    Returns
    -------
    Ranking
        The score is the mean error of the blocks after the parameter was dropped or taken in; NaN
        for those that were not.
    """
    if direction not in ("backward", "forward"):
        raise DataError(f"direction must be backward or forward, got {direction}")
    names = regression.parameters
    scale = force_rms(regression.tau, regression.valid)
    scale = np.where(scale > 0, scale, 1.0)
    # Columns of unit length, so that rounding is the same for all.
    lengths = np.linalg.norm(regression.stacked()[0], axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    unit = replace(regression, W=regression.W / lengths, between=None)
    fixed = rest_values(names, rest, prior) * lengths
    cut = folds.folds(regression.logs) if isinstance(folds, Blocks) else tuple(folds)
    compressed = [_Compressed.of(unit, fold, scale) for fold in cut]
    backward = direction == "backward"
    left, chosen = list(range(len(names))), list[tuple[int, float]]()
    while len(left) > (1 if backward else 0) and not stop():
        taken = [i for i, _ in chosen]
        each = [
            c.without(left, fixed) if backward else c.together(taken, left, fixed)
            for c in compressed
        ]
        errors = np.mean(each, axis=0)
        at = min(range(len(left)), key=lambda i: (errors[i], names[left[i]]))
        chosen.append((left.pop(at), float(errors[at])))
        if watch is not None:
            watch("greedy", len(left) if backward else len(chosen), float(errors[at]))
    rest_of = [(i, np.nan) for i in left]
    ranked = [*rest_of, *reversed(chosen)] if backward else [*chosen, *rest_of]
    return Ranking(
        f"greedy {direction}",
        tuple(names[i] for i, _ in ranked),
        np.array([x for _, x in ranked]),
        complete=len(left) <= (1 if backward else 0),
    )
