"""Physically consistent estimates: the nearest to an estimate that real bodies can have.

A linear estimate with its covariance holds all information of data and prior on the base values: to
minimise weighted residuals plus prior under the constraints of physics is to minimise the distance
from the unconstrained estimate, in standard deviations. So every estimator has a consistent
sibling, with its own weights, its own prior or none, and the program is small whatever the number
of samples.

The base values of the unconstrained estimate stay as they are if some consistent parameters have
them. The alternative, to let the CAD values of what the forces do not determine compete with the
data (`scale` 1, with the full prior the most probable φ), draws base values off where the error of
CAD is not Gaussian: a pendulum with 5 % noise and 20 % CAD error was predicted nine times worse.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.bodies import with_thickness
from mechid.estimation.completion import complete
from mechid.estimation.cone import MARGIN, Cone, Consistent
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimator import Estimator
from mechid.estimation.prior import Prior
from mechid.estimation.recover import mahalanobis, moved_words, recover, regressed
from mechid.estimation.regression import Floats, Regression

POSSIBLE = "inertia of every body positive definite, coefficients of elements positive"
# Standard deviations per parameter (root mean square) beyond which values are not moved.
_CONTRADICTED = 4.0
_KEPT = "the estimate keeps its values; check units, CAD values, and what the model lacks"
_UNTRIED = "whether bodies can have the estimated values could not be found out"
_NOTED = 0.01  # deviations: a shift below this is not worth a word


@dataclass(frozen=True)
class PhysicallyConsistent:
    """Another estimator, under the constraints of physics, by semidefinite programming.

    The covariance is that of the other estimator, without the constraints, which can only narrow
    it. `full` of the result holds all parameters.

    Attributes
    ----------
    inner : Estimator
        Whose estimate is constrained. Plain least squares that leave some parameters to rounding
        leave too much open; a wide prior, `MaximumAPosteriori("full", 100.0)`, has almost no
        effect.
    scale : float
        Factor on the CAD standard deviations of what the forces do not determine: the larger, the
        less they count against the data. Infinite: they decide only among parameters with the same
        base values.
    margin : float
        Distance of the result from the boundary of physical consistency, in units of the CAD
        values.
    """

    inner: Estimator = field(default_factory=MaximumAPosteriori)
    scale: float = np.inf
    margin: float = MARGIN
    name: str = "physical"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate."""
        if not (self.scale > 0 and 0 <= self.margin < 1):
            raise DataError(
                f"scale must be > 0 and margin in [0, 1), got {self.scale:g} and {self.margin:g}"
            )
        known = required(prior, self.name)
        free = self.inner(regression, known)
        known = with_thickness(known.select(free.parameters))
        if np.isinf(self.scale):
            found = recover(known, free.values, free.covariance, margin=self.margin)
            return moved(free, regression, known, found.phi, self.name, found.warnings)
        start = complete(known, free.values)
        T = start.root(free.covariance, self.scale)
        near = Cone(known, self.margin).nearest(start.phi, T)
        if near is None:
            raise DataError(
                "no physically consistent parameters are near the estimate",
                remedy="declare standard deviations of the CAD values, or their relative error",
            )
        words = (*start.warnings, *shift_words(free, known, near))
        return moved(free, regression, known, near.phi, self.name, words)


def possible(free: Estimate, regression: Regression, prior: Prior) -> Estimate:
    """Return an estimate, moved to the nearest values that bodies can have if none have its own.

    What is near is what fits almost as well: errors of the model that the covariance contains would
    let parameters move where data say most. Not where these values are so far away that data and
    bodies contradict each other, all errors considered: it stays as it is then, with a warning.
    """
    if not prior.bodies:
        return free
    try:
        found = recover(prior, free.values, free.covariance)
    except DataError:
        return free
    except MechidError as error:  # the solver failed; what was estimated is not lost by that
        return replace(free, warnings=(*free.warnings, f"{_UNTRIED}: {error.what}"))
    if not found.distance:
        return free
    if not found.distance <= _CONTRADICTED * np.sqrt(len(free.values)):
        return replace(free, warnings=(*free.warnings, *found.warnings, _KEPT))
    return moved(free, regression, with_thickness(prior), found.phi, free.method, found.warnings)


def required(prior: Prior | None, name: str) -> Prior:
    """Return the prior; reject a call without CAD values."""
    if prior is None:
        raise DataError(
            f"the estimator {name} needs the CAD values of the bodies",
            remedy="give them in the model file, or use another estimator",
        )
    return prior


def shift_words(free: Estimate, prior: Prior, found: Consistent) -> tuple[str, ...]:
    """Return a warning if the constraints of physics change the base values noticeably."""
    distance = mahalanobis(prior.matrix @ found.phi - free.values, free.covariance)
    return (moved_words(distance, found.border),) if distance > _NOTED else ()


def moved(
    free: Estimate,
    regression: Regression,
    prior: Prior,
    phi: Floats,
    method: str,
    warnings: tuple[str, ...],
) -> Estimate:
    """Return an estimate with the base values of all parameters φ (p,) in place of its own.

    Offsets of the force channels follow: they are most probable for these values.
    """
    values = prior.matrix @ phi
    shift = values - free.values
    errors, gain, offset = free.errors, np.ones(len(free.channels)), np.zeros(len(free.channels))
    if errors is not None:
        gain = 1.0 + errors.gain
        if errors.cross is not None:
            offset = regressed(errors.cross, free.covariance, shift)
            logs = None if errors.by_log is None else errors.by_log + offset
            errors = replace(errors, offset=errors.offset + offset, by_log=logs)
    W = regression.select(free.parameters).W
    return replace(
        free,
        method=method,
        values=values,
        residuals=free.residuals - gain * (W @ shift) - offset,
        errors=errors,
        known=(*free.known, POSSIBLE),
        warnings=(*free.warnings, *warnings),
        full=phi,
    )
