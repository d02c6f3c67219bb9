"""The posterior of a fit, and its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.estimation.channels import Channels
from mechid.estimation.evidence import data_evidence
from mechid.estimation.gaussian_prior import GaussianPrior
from mechid.estimation.iteration import Fit
from mechid.estimation.prior import Prior

# Scales above this are more than rounding of the bound of one.
_MOVED = 1.001


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
