"""Contribution index: how much of the forces each parameter makes, going by its CAD value.

ζ_i = 100 ‖W_i φ_i‖/‖τ‖. Measured forces serve as a unit only, so their noise hardly matters; that
of identified values would. Where forces of parameters cancel each other, indices exceed 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats, Regression
from mechid.reduction.ranking import Ranking, largest_first, ranked
from mechid.shown import Plotted, Tabular

Norm: TypeAlias = Literal["stacked", "channels"]


@dataclass(frozen=True, eq=False, repr=False)
class Contribution(Plotted, Tabular):
    """Contribution of each parameter.

    Attributes
    ----------
    parameters : tuple of str
    motions : array (n, b)
        Index for each motion, percent.
    """

    parameters: tuple[str, ...]
    motions: Floats

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows: the largest contributions, percent."""
        order = np.argsort(-self.index, kind="stable")
        return {
            "parameters": len(self.parameters),
            "motions": len(self.motions),
            "largest": {self.parameters[i]: f"{self.index[i]:.3g} %" for i in order},
        }

    @property
    def index(self) -> Floats:
        """Mean over the motions, percent, (b,)."""
        return np.asarray(np.mean(self.motions, axis=0))

    @property
    def share(self) -> Floats:
        """The same as parts of their sum: percent that sum to 100, (b,)."""
        total = float(self.index.sum())
        return 100.0 * self.index / (total or 1.0)

    @property
    def ranking(self) -> Ranking:
        """Parameters by contribution, the largest first."""
        return ranked("contribution", self.parameters, self.index)

    def above(self, percent: float) -> tuple[str, ...]:
        """Return the parameters that contribute at least so much, in their own order."""
        return tuple(n for n, x in zip(self.parameters, self.index, strict=True) if x >= percent)


@dataclass(frozen=True, eq=False)
class ContributionSpread:
    """How contributions depend on errors of the CAD values.

    Attributes
    ----------
    parameters : tuple of str
    reference : array (b,)
        Index with the CAD values themselves, percent.
    index : array (n, b)
        Index of each draw, percent.
    rank_correlation : array (n,)
        Spearman's, of each draw with the reference.
    shift : array (n, b)
        Places that each parameter moved in the order, against the reference.
    """

    parameters: tuple[str, ...]
    reference: Floats
    index: Floats
    rank_correlation: Floats
    shift: Floats

    @property
    def mean(self) -> Floats:
        """Mean over the draws, percent, (b,)."""
        return np.asarray(np.mean(self.index, axis=0))

    @property
    def deviation(self) -> Floats:
        """Standard deviation over the draws, percent, (b,)."""
        return np.asarray(np.std(self.index, axis=0, ddof=1))

    def steady(self, places: int = 3) -> float:
        """Return the part of parameters and draws that move no more than some places."""
        return float(np.mean(np.abs(self.shift) <= places))


def contribution(
    motions: Regression | Sequence[Regression], values: Floats, *, norm: Norm = "stacked"
) -> Contribution:
    """Return the contribution of every parameter.

    Parameters
    ----------
    motions : Regression or sequence of Regression
        One or several motions with the same parameters.
    values : array (b,)
        CAD values (`Prior.mean`).
    norm : "stacked" or "channels"
        "stacked": norms of all rows, as the sources have it; N and N m count alike. "channels":
        mean over the forces of the index of each, which does not depend on units.
    """
    names, lengths = _lengths(motions, norm)
    return Contribution(names, 100.0 * lengths * np.abs(_checked(values, names)))


def contribution_spread(
    motions: Regression | Sequence[Regression],
    values: Floats,
    draws: Floats,
    *,
    norm: Norm = "stacked",
) -> ContributionSpread:
    """Return how contributions depend on errors of the CAD values.

    Parameters
    ----------
    motions, values, norm
        As in `contribution`.
    draws : array (n, b)
        CAD values with errors, n ≥ 2.
    """
    names, lengths = _lengths(motions, norm)
    if draws.ndim != 2 or draws.shape[1] != len(names) or len(draws) < 2:
        raise DataError(
            f"draws must have shape (n, {len(names)}) with n > 1, got {draws.shape}",
            where="contribution",
        )
    per = 100.0 * np.mean(lengths, axis=0)
    reference = per * np.abs(_checked(values, names))
    index = per * np.abs(draws)
    places = np.array([_places(names, row) for row in index])
    return ContributionSpread(
        names,
        reference,
        index,
        np.array([_spearman(reference, row) for row in index]),
        places - _places(names, reference),
    )


def _lengths(
    motions: Regression | Sequence[Regression], norm: Norm
) -> tuple[tuple[str, ...], Floats]:
    """Return ‖W_i‖/‖τ‖ of each motion and parameter, (n, b)."""
    if norm not in ("stacked", "channels"):
        raise DataError(f"norm must be stacked or channels, got {norm}")
    taken = [motions] if isinstance(motions, Regression) else list(motions)
    if not taken or len({r.parameters for r in taken}) > 1:
        raise DataError("contributions need at least one motion, all with the same parameters")
    return taken[0].parameters, np.array([_one(r, norm) for r in taken])


def _one(r: Regression, norm: Norm) -> Floats:
    valid = r.valid
    W = np.sum(np.where(valid[..., None], r.W, 0.0) ** 2, axis=0)
    tau = np.sum(np.where(valid, r.tau, 0.0) ** 2, axis=0)
    if not tau.any():
        raise DataError("all forces are zero, so nothing contributes to them", where="contribution")
    if norm == "stacked":
        return np.asarray(np.sqrt(W.sum(axis=0) / tau.sum()))
    moving = tau > 0
    return np.asarray(np.mean(np.sqrt(W[moving] / tau[moving, None]), axis=0))


def _checked(values: Floats, names: tuple[str, ...]) -> Floats:
    if values.shape != (len(names),) or not np.all(np.isfinite(values)):
        raise DataError(
            f"contributions need {len(names)} finite values, one for each parameter",
            remedy="use the CAD values of the same parameters, see Prior.select",
        )
    return values


def _places(names: tuple[str, ...], score: Floats) -> Floats:
    places = np.empty(len(names))
    places[largest_first(names, score)] = np.arange(len(names))
    return places


def _spearman(a: Floats, b: Floats) -> float:
    """Return the correlation of ranks; NaN if all are equal."""
    x, y = _ranks(a) - (len(a) + 1) / 2, _ranks(b) - (len(b) + 1) / 2
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else np.nan


def _ranks(a: Floats) -> Floats:
    """Return ranks from 1 on; equal values share the mean of theirs."""
    _, place, count = np.unique(a, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])
