"""The posterior of a fit, its evidence, and what becomes of it without parts of the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.estimation.channels import Channels
from mechid.estimation.evidence import data_evidence
from mechid.estimation.gaussian_prior import GaussianPrior
from mechid.estimation.iteration import Fit
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints

# Scales above this are more than rounding of the bound of one.
_MOVED = 1.001


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Errors of blocks of samples that are predicted from the others.

    Attributes
    ----------
    block : array (m,) of int
        Of each valid row.
    errors : array (m,)
        Measured less predicted values.
    shifts : array (blocks, n)
        Change of x when a block is left out.
    """

    block: Ints
    errors: Floats
    shifts: Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """A fit with its prior.

    Attributes
    ----------
    channels : Channels
    prior : Prior
        Of the parameters of the problem.
    fit : Fit
    gaussian : GaussianPrior
        With the scales that were found.
    """

    channels: Channels
    prior: Prior
    fit: Fit
    gaussian: GaussianPrior

    @cached_property
    def evidence(self) -> float:
        """Log evidence less half of log n for each scale and each coefficient of colour.

        Of scales of single bodies those count that the data move: the others are as declared.
        """
        own = self.gaussian.of_parameters
        idle = np.count_nonzero(own < _MOVED) if len(own) > 1 else 0
        fitted = len(self.gaussian.scale) - idle
        fitted += sum(len(c.coefficients) for c in self.fit.colours or ())
        return self.unpriced_evidence - 0.5 * fitted * float(np.log(self._count))

    @cached_property
    def unpriced_evidence(self) -> float:
        """Log evidence for the scales that were found."""
        fit = self.fit
        return data_evidence(fit.A, fit.t, self.gaussian, self._count) + fit.log_jacobian

    @property
    def _count(self) -> float:
        return self.fit.share * (len(self.fit.t) + float(np.sum(self.channels.zeros)))

    def held_out(self, block: Ints) -> HeldOut:
        """Return what becomes of the estimate without each block of samples.

        Noise, colour and scales are those of all data, so that each block costs one small system:
        with A_b and u_b the rows of a block and their residuals, and T Tᵀ the covariance,
        (I - A_b T Tᵀ A_bᵀ)⁻¹ u_b are their residuals without it, and x changes by -T Tᵀ A_bᵀ times
        these.

        Parameters
        ----------
        block : array (N,) of int
            Of each sample.
        """
        fit, valid = self.fit, self.channels.regression.valid
        own = np.broadcast_to(block[:, None], valid.shape)[valid]
        J, _ = self.channels.linearised(fit.solution.x)
        T = fit.solution.root
        Q, u = fit.A @ T, fit.t - fit.A @ fit.solution.x
        e, shifts = fit.residuals.copy(), []
        for k in np.unique(own):
            at = np.flatnonzero(own == k)
            shift = -T @ _without(Q[at], u[at])
            e[at] -= J[at] @ shift
            shifts.append(shift)
        return HeldOut(own, e, np.array(shifts))


def _without(q: Floats, u: Floats) -> Floats:
    """Return qᵀ (I - q qᵀ)⁻¹ u of a block with rows q (m, r), by the smaller of two systems.

    It is (I - qᵀ q)⁻¹ qᵀ u, too: a long block must not cost the cube of its length.
    """
    m, r = q.shape
    if m > r:
        return np.asarray(np.linalg.solve(np.eye(r) - q.T @ q, q.T @ u))
    return np.asarray(q.T @ np.linalg.solve(np.eye(m) - q @ q.T, u))
