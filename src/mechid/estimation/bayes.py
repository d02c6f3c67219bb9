"""Maximum a posteriori: measurements and prior, each weighted by its uncertainty.

Options: CAD values as a Gaussian prior with its scale fixed or by empirical Bayes,
gains and offsets of the force channels, whitening of coloured noise, noise declared or estimated.
Without a prior it is weighted least squares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechid.errors import DataError
from mechid.estimation.channels import FREE_OFFSETS, Channels
from mechid.estimation.coarse_delay import coarse_delay
from mechid.estimation.estimate import Agreement, Estimate
from mechid.estimation.estimate_warnings import enough
from mechid.estimation.evidence import agreement, best_scales
from mechid.estimation.gaussian_prior import (
    CAD_BELIEF,
    USUAL_CHANNEL_ERROR,
    CadScale,
    GainScale,
    GaussianPrior,
    Scale,
    cad_prior,
)
from mechid.estimation.iteration import Fit, NoiseOption, Transform, finish, iterate
from mechid.estimation.linear import Solution, least_squares, reduced
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.options import not_negative, one_of
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.short_rows import ShortRows

# Probability below which data and prior are said to disagree.
DISAGREE = 0.01
# Scales up to this one, and down to its inverse, are looked for in the data.
_SUPPORTED = 1e3
# Scales from here on can be what explains the disagreement.
_MENDED = 1.2
# A parameter is determined by the prior if the data reduce its standard deviation by less than this
# part.
_RESTING = 0.1


@dataclass(frozen=True)
class MaximumAPosteriori:
    """Most probable values for CAD values with errors and forces with noise.

    Attributes
    ----------
    prior : "diagonal", "full" or "none"
        Whether errors of the CAD values of base parameters are taken as independent, or as their
        covariance says, or the CAD values are not used.
    scale : float, "estimated" or "bodies"
        Factor on the declared standard deviations of the CAD values; estimated by empirical Bayes:
        the one that makes the data most probable. "bodies": one for each body, with the full prior.
    groups : tuple of tuple of str
        Base parameters that have an estimated scale of their own, group by group; all others share
        one.
    gains : float, "estimated" or "shared", optional
        Standard deviation of the gain error of each force channel, 0.05 for 5 %; estimated for each
        of them, or one for all.
    offsets : float or "estimated", optional
        Standard deviation of the offset of each force channel, as a fraction of the root mean
        square of its measured force; without a prior, "estimated" leaves the offsets to the data.
    drift : float or "estimated", optional
        Standard deviation of a slow drift of each force channel in each log, likewise.
    delay : float or "estimated", optional
        Standard deviation of the delay of each force channel, as the change of the force that it
        makes, likewise.
    whiten : bool
        Whether noise may be coloured.
    tails : float, optional
        Degrees of freedom of Student's distribution of the noise, such as 4 for data with outliers;
        by default it is normal.
    proportional : bool
        Whether the noise may grow with the force of each sample.
    effective : bool
        Whether correlated residuals count by their effective number.
    noise : "estimated" or "declared"
        Estimated noise is not less than what is declared.
    """

    prior: Literal["diagonal", "full", "none"] = "diagonal"
    scale: CadScale = "estimated"
    groups: tuple[tuple[str, ...], ...] = ()
    gains: GainScale | None = None
    offsets: Scale | None = None
    drift: Scale | None = None
    delay: Scale | None = None
    whiten: bool = False
    tails: float | None = None
    proportional: bool = False
    effective: bool = False
    noise: NoiseOption = "estimated"
    name: str = "map"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate."""
        self._check_options()
        channels = self._channels(regression)
        if self.prior == "none":
            fit = self._without_prior(channels)
            return finish(self.name, channels, fit, known=self._channel_words(None, regression))
        return self.estimate(self.posterior(regression, prior))

    @property
    def errors(self) -> Mapping[str, GainScale | None]:
        """Options of the errors of the channels, by name."""
        return {
            "gains": self.gains,
            "offsets": self.offsets,
            "drift": self.drift,
            "delay": self.delay,
        }

    def _channels(self, regression: Regression) -> Channels:
        return Channels(regression, *(option is not None for option in self.errors.values()))

    def posterior(self, regression: Regression, prior: Prior | None) -> Posterior:
        """Return the posterior with everything that it was computed from."""
        self._check_options()
        if prior is None or self.prior == "none":
            raise DataError(
                f"estimator {self.name} needs CAD values with standard deviations, but the model "
                "gives none",
                remedy="declare them, or use an estimator without prior",
            )
        channels = self._channels(regression)
        known = prior.select(regression.parameters)
        gaussian = cad_prior(channels, known, self.prior, self.scale, self.groups, self.errors)
        return Posterior(channels, known, *self._with_prior(channels, gaussian))

    def estimate(self, found: Posterior) -> Estimate:
        """Return the estimate of a posterior."""
        fit, gaussian, known = found.fit, found.gaussian, found.prior
        checked = cad_agreement(found)
        resting = _resting(fit, gaussian, known)
        estimate = finish(
            self.name,
            found.channels,
            fit,
            prior=True,
            known=(
                *known.words,
                *self._prior_words(gaussian, known, len(resting)),
                *self._channel_words(gaussian, found.channels.regression),
            ),
            warnings=(*self._disagreement(checked, gaussian), *_bounds_hit(gaussian)),
            agreement=checked,
            resting=resting,
            evidence=found.evidence,
        )
        if self.tails is None:
            return estimate
        # The loop finds the scale of Student's noise, which is less than its standard deviation.
        wider = np.sqrt(self.tails / (self.tails - 2)) if self.tails > 2 else 1.0
        return replace(estimate, tails=self.tails, noise=wider * estimate.noise)

    def _check_options(self) -> None:
        one_of("the prior", self.prior, "diagonal", "full", "none")
        not_negative("the scale of the prior", self.scale, "estimated", "bodies")
        if self.scale == "bodies" and self.prior != "full":
            raise DataError("a scale for each body needs the full prior", remedy="use prior=full")
        for what, option in self.errors.items():
            if option is not None:
                shared = ("shared",) if what == "gains" else ()
                not_negative(f"the standard deviation of {what}", option, "estimated", *shared)
        if self.tails is not None and not self.tails > 0:
            raise DataError(f"the degrees of freedom of the tails must be > 0, got {self.tails:g}")

    def _with_prior(self, channels: Channels, gaussian: GaussianPrior) -> tuple[Fit, GaussianPrior]:
        now, start = gaussian, gaussian.mean
        if self.delay == "estimated":
            start = start.copy()
            b = len(channels.regression.parameters)
            own = gaussian.F[:b, : gaussian.parameters]
            start[channels.layout["delay"]] = coarse_delay(channels, start[:b], own)

        alike = self.tails is None and not (self.proportional or self.whiten)
        short = ShortRows.of(channels) if alike else None

        def solve(A: Floats, t: Floats, transform: Transform) -> Solution:
            nonlocal now
            rows = (A, t) if short is None else short.weighted(transform(np.ones(len(t))))
            data = reduced(*rows, gaussian.mean)
            now = best_scales(data, now, near=now is not gaussian)
            return now.solve(A, t, data)

        fit = iterate(
            channels,
            solve,
            noise=self.noise,
            whiten=self.whiten,
            start=start,
            tails=self.tails,
            proportional=self.proportional,
            uncertainty=np.linalg.norm(gaussian.F, axis=1) if self.effective else None,
        )
        return fit, now

    def _without_prior(self, channels: Channels) -> Fit:
        if self.drift is not None or self.delay is not None:
            raise DataError(
                "drift and delay of the force channels need a prior",
                remedy="use CAD values as prior, or do not estimate them",
            )
        if self.gains is not None:
            raise DataError(
                "gain errors of the force channels cannot be distinguished from a common factor "
                "of all parameters",
                remedy="use CAD values as prior, or do not estimate gains",
            )
        free = channels.size if self.offsets == "estimated" else len(channels.regression.parameters)
        zeros = int(np.sum(channels.zeros))
        enough(len(channels.channel) + zeros, free)
        if self.offsets is None or self.offsets == "estimated":
            return iterate(
                channels,
                lambda A, t, _: least_squares(A, t, zeros),
                noise=self.noise,
                whiten=self.whiten,
                tails=self.tails,
            )
        deviation = self.offsets * channels.usual_sizes("offsets", np.zeros(0))
        # Each offset is one more row, o = 0 in units of its standard deviation.
        given = np.zeros((len(deviation), channels.size))
        given[:, -len(deviation) :] = np.diag(1 / np.where(deviation > 0, deviation, 1.0))

        def solve(A: Floats, t: Floats, _: Transform) -> Solution:
            found = least_squares(np.vstack([A, given]), np.append(t, np.zeros(len(given))))
            return replace(found, leverage=found.leverage[: len(t)])

        return iterate(channels, solve, noise=self.noise, whiten=self.whiten, tails=self.tails)

    def _prior_words(self, gaussian: GaussianPrior, known: Prior, resting: int) -> tuple[str, ...]:
        b = len(known.base)
        factor = (
            f"{self.scale:.3g} (given)"
            if not isinstance(self.scale, str)
            else f"1, but {_worse(gaussian)} (empirical Bayes, body by body)"
            if self.scale == "bodies"
            else ", ".join(f"{s:.3g}" for s in gaussian.of_parameters) + " (empirical Bayes)"
        )
        return (
            f"CAD values of {b} base parameters, {self.prior} prior, declared standard "
            "deviations times " + factor,
            f"{resting} of {b} parameters are determined mainly by the prior: the data "
            f"reduce their standard deviation by less than {100 * _RESTING:.0f} %",
        )

    def _channel_words(
        self, gaussian: GaussianPrior | None, regression: Regression
    ) -> tuple[str, ...]:
        words = []
        layout = self._channels(regression).layout
        for what, option in self.errors.items():
            if option is None:
                continue
            if what == "delay" and gaussian is not None:
                words.append(_delay_words(gaussian, layout["delay"], isinstance(option, str)))
            elif not isinstance(option, str):
                words.append(f"{what} of the forces, standard deviation {option:.2%} (given)")
            elif gaussian is None:
                words.append(FREE_OFFSETS)
            else:
                own = np.any(gaussian.F[layout[what]] != 0, axis=0)
                share = USUAL_CHANNEL_ERROR * gaussian.sizes[own]
                low, high = share.min(initial=np.inf), share.max(initial=0.0)
                span = f"{low:.2%}" if high < 1.01 * low else f"{low:.2%} to {high:.2%}"
                words.append(
                    f"{what} of the forces, standard deviation {span} of each (empirical Bayes)"
                )
        return tuple(words)

    def _disagreement(self, checked: Agreement, gaussian: GaussianPrior) -> tuple[str, ...]:
        if checked.p >= DISAGREE:
            return ()
        said = (
            f"data and CAD values disagree: χ² = {checked.chi2:.4g}, expected about "
            f"{checked.dof:.0f} (p = {checked.p:.1g}); "
        )
        if checked.scale < _MENDED:
            return (
                said
                + "larger standard deviations of the CAD values do not explain it: check for gain "
                "and offset errors of the forces, for values declared too precisely, and for "
                "effects missing in the model",
            )
        done = "check or increase them"
        if self.scale == "bodies":
            done = f"these were used as declared, but {_worse(gaussian)}"
        elif self.scale == "estimated":
            used = ", ".join(f"{x:.2g}" for x in gaussian.of_parameters)
            done = f"{used} times were used"
        return (
            said + f"the data support {checked.scale:.2g} times the declared standard deviations, "
            f"{done}",
        )


def _delay_words(gaussian: GaussianPrior, rows: slice, estimated: bool) -> str:
    """Say how late forces may be: in seconds, which percent of a force do not tell."""
    # All forces are late together: the rows are alike.
    late = 1e3 * float(np.linalg.norm(gaussian.factor[rows], axis=1).max(initial=0.0))
    source = "empirical Bayes" if estimated else "given"
    return f"delay of the forces, standard deviation {late:.3g} ms ({source})"


def _worse(gaussian: GaussianPrior) -> str:
    """Return the bodies with larger scales than declared, the largest first."""
    found = sorted(zip(gaussian.of_parameters, gaussian.owners, strict=True), reverse=True)
    worse = [f"{name} {scale:.2g} times" for scale, name in found if scale > _MENDED]
    return ", ".join(worse) or "none larger"


def _resting(fit: Fit, gaussian: GaussianPrior, known: Prior) -> tuple[str, ...]:
    """Return the parameters whose standard deviations the data hardly reduce."""
    b = len(known.base)
    before = np.linalg.norm(gaussian.factor[:b], axis=1)
    after = np.linalg.norm(fit.solution.root[:b], axis=1)
    return tuple(known.base[i] for i in np.flatnonzero(after >= (1 - _RESTING) * before))


def cad_agreement(found: Posterior) -> Agreement:
    """Return how data agree with the declared prior, with the estimated gains and offsets."""
    fit, gaussian = found.fit, found.gaussian
    own = np.arange(gaussian.F.shape[1]) < gaussian.parameters
    # One scale for all CAD values, and it is one: as declared.
    declared = GaussianPrior(
        gaussian.mean,
        np.where(own, gaussian.F, gaussian.factor),
        gaussian.parameters,
        np.where(own, 0, -1),
        np.ones(1),
        (CAD_BELIEF._replace(low=1 / _SUPPORTED, high=_SUPPORTED),),
    )
    data = reduced(fit.A, fit.t, gaussian.mean)
    return agreement(data, declared, float(best_scales(data, declared).scale[0]))


def _bounds_hit(gaussian: GaussianPrior) -> tuple[str, ...]:
    high = max((b.high for b in gaussian.beliefs[:1]), default=np.inf)
    if not np.any(gaussian.of_parameters >= 0.99 * high):
        return ()
    return (
        f"the standard deviations of the CAD values were multiplied by {high:g}, the "
        "largest factor allowed: the CAD values are worse than declared, or the model does not "
        "describe the machine",
    )
