"""The posterior of a fit, its evidence and its held-out errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.estimation.channels import Channels
from mechid.estimation.evidence import data_evidence
from mechid.estimation.gaussian_prior import GaussianPrior
from mechid.estimation.iteration import Fit
from mechid.estimation.prior import Prior


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
        """Log evidence less half of log n for each scale and each coefficient of colour."""
        fit = self.fit
        fitted = len(self.gaussian.scale) + sum(len(c.coefficients) for c in fit.colours or ())
        price = 0.5 * fitted * float(np.log(len(fit.t)))
        return data_evidence(fit.A, fit.t, self.gaussian) + fit.log_jacobian - price

    def held_out(self, blocks: int = 5) -> float:
        """Return E_p, summed over the forces, of held-out blocks of time.

        Noise, colour and scales are those of all data; the values are found without the block.
        """
        regression, fit = self.channels.regression, self.fit
        sample = np.nonzero(regression.valid)[0]
        block = sample * blocks // len(regression.time)
        e = np.zeros(len(sample))
        for k in np.unique(block):
            test = block == k
            x = self.gaussian.solve(fit.A[~test], fit.t[~test]).x
            e[test] = self.channels.residuals(x)[test]
        channel, n_d = self.channels.channel, len(regression.channels)
        missed = np.bincount(channel, e**2, minlength=n_d)
        whole = np.bincount(channel, regression.tau[regression.valid] ** 2, minlength=n_d)
        return float(np.sum(np.sqrt(missed[whole > 0] / whole[whole > 0])))
