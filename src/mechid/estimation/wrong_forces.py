"""Which forces have a wrong gain, or an offset.

Data show ratios of gains, and different sets of wrong forces explain the same ratios: one force
that is too large, or all others that are too small. A single law for all of them splits every ratio
evenly and spoils forces that are right; and where most forces visibly have no offset, it would say
that there is none in the one that cannot be seen. So each force is either right (calibrated to
within a per cent, or zeroed) or off by about 5 %, and every set of forces that are off is weighed
by what data and CAD values say of it,

    p(set | data) ∝ evidence(set) · p(set),

where every number of wrong forces is as probable as any other, and so are sets of one number. The
result is the mean over all sets; its covariance contains that nobody knows which of them it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from mechid.estimation.evidence import log_density
from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR, GaussianPrior
from mechid.estimation.linear import Reduced
from mechid.estimation.regression import Bools, Floats

# Standard deviation of the gain of a force that is calibrated.
CALIBRATED = 0.01
# Of the gain of a force that is off by more than usual.
LARGE = 0.1
# Up to this number of forces all sets are tried; of more, those of few forces, and all of them.
_ALL, _FEW = 8, 2
# Part of all weights that the sets in use must have.
_ENOUGH = 0.98


@dataclass(frozen=True, eq=False)
class WrongForces:
    """Sets of forces that may be off, the most probable one first.

    Attributes
    ----------
    priors : tuple of GaussianPrior
        The prior of each set.
    weights : array (n,)
        Their probabilities.
    widest : GaussianPrior
        With all forces off.
    off : array (n_d,)
        Probability of each force to be off; NaN for forces without samples.
    """

    priors: tuple[GaussianPrior, ...]
    weights: Floats
    widest: GaussianPrior
    off: Floats


def wrong_forces(
    data: Reduced,
    gaussian: GaussianPrior,
    errors: slice,
    used: Bools,
    sizes: Sequence[float],
    right: float = CALIBRATED,
) -> WrongForces:
    """Return which forces may be off, and how probable that is.

    Parameters
    ----------
    data : Reduced
        Rows of a fit with gains, or with offsets.
    gaussian : GaussianPrior
        Of that fit; these errors have the usual standard deviation, times a scale.
    errors : slice
        Where x has them.
    used : array (n_d,) of bool
        Forces that have samples.
    sizes : sequence of float
        Standard deviations of the errors of forces that are off, each as probable as the others.
    right : float
        Standard deviation of the errors of forces that are right.
    """
    forces = np.flatnonzero(used).tolist()
    n = len(forces)
    sets = [(off, size) for off in _sets(forces) for size in sizes]
    priors = [_with_errors(gaussian, errors, off, size, right) for off, size in sets]
    density = np.array(
        [
            log_density(data, prior) - np.log(comb(n, len(off)))
            for prior, (off, _) in zip(priors, sets, strict=True)
        ]
    )
    order = np.argsort(-density, kind="stable")
    weights = np.exp(density[order] - density[order[0]])
    weights /= np.sum(weights)
    off = np.where(used, 0.0, np.nan)
    for k, w in zip(order, weights, strict=True):
        off[list(sets[k][0])] += w
    last = int(np.searchsorted(np.cumsum(weights), _ENOUGH)) + 1
    return WrongForces(
        tuple(priors[k] for k in order[:last]),
        weights[:last] / np.sum(weights[:last]),
        _with_errors(gaussian, errors, tuple(forces), max(sizes), right),
        off,
    )


def _sets(forces: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield sets of forces that may be off."""
    n = len(forces)
    for m in range(n + 1):
        if n <= _ALL or m <= _FEW or m == n:
            yield from combinations(forces, m)


def _with_errors(
    gaussian: GaussianPrior, errors: slice, off: tuple[int, ...], size: float, right: float
) -> GaussianPrior:
    """Return a prior with some forces off and the others right."""
    deviation = np.full(errors.stop - errors.start, right)
    deviation[list(off)] = size
    own = np.any(gaussian.F[errors] != 0, axis=0)
    F, group = gaussian.F.copy(), np.where(own, -1, gaussian.group)
    F[errors] *= deviation[:, None] / USUAL_CHANNEL_ERROR
    return replace(gaussian, F=F, group=group)
