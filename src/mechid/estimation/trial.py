"""A fit under certain terms, and how well it predicts blocks of time that are held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from mechid.estimation.bayes import DISAGREE, MaximumAPosteriori, cad_agreement
from mechid.estimation.blocks import time_blocks
from mechid.estimation.effective import lack_of_fit, period
from mechid.estimation.estimate import Unseen
from mechid.estimation.map_posterior import HeldOut, Posterior
from mechid.estimation.regression import Floats
from mechid.estimation.unseen import unseen_offsets
from mechid.estimation.whitening import row_numbers, stretches

# Residuals are taken as independent if correlation reduces the samples of no force below this part.
_WHITE = 0.8
# Probability of noise below which residuals are called repeatable.
_NOISE = 1e-3
# Held-out errors are clipped at this many standard deviations, so that outliers do not decide.
_CLIP = 4.0
# Outliers: residuals beyond this many standard deviations, and how many times as many as normal
# noise has are suspicious.
_FAR, _OFTEN = 4.0, 10.0
_BLOCKS = 10


@dataclass(frozen=True, eq=False)
class Trial:
    """A posterior under the terms of an estimator."""

    estimator: MaximumAPosteriori
    posterior: Posterior

    @property
    def one_force(self) -> bool:
        """Whether nothing but one force was measured."""
        return len(self.posterior.channels.regression.channels) == 1

    @cached_property
    def held(self) -> HeldOut:
        """What becomes of the estimate without blocks of time."""
        return self.posterior.held_out(time_blocks(self.posterior.channels.regression, _BLOCKS))

    @cached_property
    def untempered(self) -> Posterior:
        """The posterior with every sample counted as independent, for comparison by evidence."""
        posterior = self.posterior
        if posterior.fit.share == 1.0:
            return posterior
        plain = replace(self.estimator, effective=False)
        return plain.posterior(posterior.channels.regression, posterior.prior)

    @cached_property
    def spread(self) -> Floats:
        """Robust standard deviation of held-out errors of each series, (n_series,)."""
        series = self.posterior.channels.series
        found = np.zeros(len(self.posterior.channels.names))
        for j in np.unique(series):
            found[j] = np.median(np.abs(self.held.errors[series == j])) / ndtri(0.75)
        return np.where(found > 0, found, 1.0)

    @cached_property
    def white(self) -> bool:
        """Whether the residuals of all forces look independent."""
        fit, channels = self.posterior.fit, self.posterior.channels
        number = np.bincount(channels.series, minlength=len(channels.names))
        return bool(np.all(fit.counts >= _WHITE * number))

    @cached_property
    def repeatable(self) -> bool | None:
        """Whether residuals repeat themselves with the motion; None if it does not."""
        channels, fit = self.posterior.channels, self.posterior.fit
        columns = channels.rows[0] * np.sqrt(np.diag(self.posterior.prior.base_covariance))
        found: list[float] = []
        number = row_numbers(channels.regression)
        for parts in stretches(channels.regression):
            again = period(columns, parts)
            if again is not None:
                own = np.concatenate(parts)
                found.append(lack_of_fit(fit.residuals[own], number[own] % again))
        return min(found) * len(found) < _NOISE if found else None

    @property
    def noise(self) -> bool:
        """Whether the residuals may be nothing but noise."""
        return self.white and self.repeatable is not True

    @cached_property
    def unseen_offsets(self) -> tuple[Unseen, ...]:
        """What an offset would do that the data could not show."""
        b = len(self.posterior.prior.base)
        sigma = np.linalg.norm(self.posterior.fit.solution.root[:b], axis=1)
        return unseen_offsets(self.posterior, sigma)

    @cached_property
    def contradicted(self) -> bool:
        """Whether the data contradict the declared uncertainty of the CAD values."""
        return cad_agreement(self.posterior).p < DISAGREE

    @cached_property
    def outliers(self) -> bool:
        """Whether there are more large residuals than normal noise has."""
        scale = self.spread[self.posterior.channels.series]
        if self.estimator.proportional:
            scale = self.posterior.fit.deviation
        u = np.abs(self.held.errors) / scale
        usual = _OFTEN * len(u) * 2 * float(ndtr(-_FAR))
        return int(np.count_nonzero(u > _FAR)) > 2 + usual

    @property
    def words(self) -> tuple[str, ...]:
        """What the residuals are worth, as text."""
        fit = self.posterior.fit
        m = len(fit.t)
        if fit.share == 1.0:
            return ()
        cause = "errors of the model repeat with the motion" if self.repeatable else "residuals are"
        cause += "" if self.repeatable else " correlated"
        said = f"{m} measured values count as {fit.share * m:.0f} independent ones: {cause}"
        if not self.noise:
            said += (
                "; predicted forces can be off by as much as the residuals, which the standard "
                "deviations of the parameters do not contain"
            )
        return (said,)

    @property
    def largest_gain(self) -> float:
        """Largest gain error of a force."""
        gain = self.posterior.channels.split(self.posterior.fit.solution.x).gain
        return float(np.abs(gain).max(initial=0.0))

    @cached_property
    def log_likelihood(self) -> float:
        """Log likelihood of held-out errors, with the distribution that was assumed."""
        scale = self.posterior.fit.deviation
        u = self.held.errors / scale
        return float(np.sum(log_density(u, self.estimator.tails) - np.log(scale)))

    @cached_property
    def held_out_error(self) -> float:
        """Held-out errors relative to the forces, root mean square; NaN if all forces are zero."""
        channels = self.posterior.channels
        r, n_d = channels.regression, len(channels.regression.channels)
        missed = np.bincount(channels.channel, self.held.errors**2, minlength=n_d)
        whole = np.bincount(channels.channel, r.tau[r.valid] ** 2, minlength=n_d)
        used = whole > 0
        return float(np.sqrt(np.mean(missed[used] / whole[used]))) if used.any() else np.nan

    def powers(self, reference: Trial) -> Floats:
        """Return mean squares of clipped held-out errors (blocks, n_series), NaN without rows.

        In units of the spread of a reference.
        """
        channels, block = self.posterior.channels, self.held.block
        u = np.minimum(np.abs(self.held.errors) / reference.spread[channels.series], _CLIP) ** 2
        n_s = len(channels.names)
        at = block * n_s + channels.series
        count = np.bincount(at, minlength=n_s * (int(block.max()) + 1))
        with np.errstate(invalid="ignore"):
            return np.asarray((np.bincount(at, u, minlength=len(count)) / count).reshape(-1, n_s))

    def mean(self, reference: Trial) -> float:
        """Return the mean square of held-out errors, in units of a reference."""
        return float(np.nanmean(self.powers(reference)))

    def improvement(self, reference: Trial) -> Floats:
        """Return how much less the mean square is than that of a reference, block by block."""
        change = reference.powers(reference) - self.powers(reference)
        rows = ~np.all(np.isnan(change), axis=1)
        return np.asarray(np.nanmean(change[rows], axis=1))

    def ratios(self, reference: Trial) -> Floats:
        """Return mean squares relative to those of a reference, of each series with rows."""
        pair = [
            np.array([np.nanmean(x) if np.any(~np.isnan(x)) else np.nan for x in p.T])
            for p in (self.powers(reference), reference.powers(reference))
        ]
        # Forces of zero are predicted without any error, with every term alike.
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(pair[0] == pair[1], 1.0, pair[0] / pair[1])
        return np.asarray(found[~np.isnan(found)])


def log_density(u: Floats, tails: float | None) -> Floats:
    """Return the log of the density at u of a normal law, or of Student's with `tails` freedoms."""
    if tails is None:
        return np.asarray(-0.5 * (u**2 + np.log(2 * np.pi)))
    size = gammaln((tails + 1) / 2) - gammaln(tails / 2) - 0.5 * np.log(tails * np.pi)
    return np.asarray(size - (tails + 1) / 2 * np.log1p(u**2 / tails))
