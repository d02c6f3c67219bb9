"""Maximum a posteriori: measurements and CAD values, each weighted by its uncertainty.

The noise of the forces is estimated or declared, and may be coloured; the CAD values are a Gaussian
prior whose scale is fixed or found by empirical Bayes. Without one it is weighted least squares.
Everything else that may be wrong is the business of `posterior/`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechid.errors import DataError
from mechid.estimation.channels import FREE_OFFSETS, Channels
from mechid.estimation.estimate import Agreement, Estimate
from mechid.estimation.estimate_warnings import enough
from mechid.estimation.estimator import not_negative, one_of
from mechid.estimation.gaussian_prior import (
    MOST,
    GaussianPrior,
    Scale,
    agreement,
    best_scale,
    cad_prior,
)
from mechid.estimation.iteration import Fit, NoiseOption, Transform, finish, iterate
from mechid.estimation.linear import Solution, least_squares, reduced
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

# Probability below which data and prior are said to disagree.
DISAGREE = 0.01
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
    scale : float or "estimated"
        Factor on the declared standard deviations of the CAD values; estimated by empirical Bayes:
        the one that makes the data most probable.
    offsets : float or "estimated", optional
        Standard deviation of the offset of each force channel in each log, as a fraction of the
        root mean square of its measured force; "estimated" leaves the offsets to the data.
    whiten : bool
        Whether noise may be coloured.
    noise : "estimated" or "declared"
        Estimated noise is not less than what is declared.
    """

    prior: Literal["diagonal", "full", "none"] = "diagonal"
    scale: Scale = "estimated"
    offsets: Scale | None = None
    whiten: bool = False
    noise: NoiseOption = "estimated"
    name: str = "map"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate."""
        one_of("the prior", self.prior, "diagonal", "full", "none")
        not_negative("the scale of the prior", self.scale, "estimated")
        if self.offsets is not None:
            not_negative("the standard deviation of offsets", self.offsets, "estimated")
        channels = Channels(regression, self.offsets is not None)
        if self.prior == "none":
            return finish(
                self.name, channels, self._without_prior(channels), known=self._offset_words()
            )
        if prior is None:
            raise DataError(
                f"estimator {self.name} needs CAD values with standard deviations, but the model "
                "gives none",
                remedy="declare them, or use an estimator without prior",
            )
        known = prior.select(regression.parameters)
        fit, gaussian = self._with_prior(channels, known, self.prior)
        checked = cad_agreement(fit, gaussian)
        resting = _resting(fit, gaussian, known)
        return finish(
            self.name,
            channels,
            fit,
            prior=True,
            known=(
                *known.words,
                *self._prior_words(gaussian, known, len(resting)),
                *self._offset_words(),
            ),
            warnings=(*self._disagreement(checked, gaussian), *self._bound_hit(gaussian)),
            agreement=checked,
            resting=resting,
        )

    def _with_prior(
        self, channels: Channels, known: Prior, kind: Literal["diagonal", "full"]
    ) -> tuple[Fit, GaussianPrior]:
        now = cad_prior(channels, known, kind, self.offsets)
        if not isinstance(self.scale, str):
            now = now.scaled(self.scale)

        def solve(A: Floats, t: Floats, _: Transform) -> Solution:
            nonlocal now
            data = reduced(A, t, now.mean)
            if self.scale == "estimated":
                now = now.scaled(best_scale(data, now))
            return now.solve(A, t, data)

        return iterate(channels, solve, noise=self.noise, whiten=self.whiten), now

    def _without_prior(self, channels: Channels) -> Fit:
        free = channels.size if self.offsets == "estimated" else len(channels.regression.parameters)
        zeros = int(np.sum(channels.zeros))
        enough(len(channels.channel) + zeros, free)
        if self.offsets is None or isinstance(self.offsets, str):
            return iterate(
                channels,
                lambda A, t, _: least_squares(A, t, zeros),
                noise=self.noise,
                whiten=self.whiten,
            )
        deviation = self.offsets * channels.sizes
        # Each offset is one more row, o = 0 in units of its standard deviation.
        given = np.zeros((len(deviation), channels.size))
        given[:, -len(deviation) :] = np.diag(1 / np.where(deviation > 0, deviation, 1.0))

        def solve(A: Floats, t: Floats, _: Transform) -> Solution:
            found = least_squares(np.vstack([A, given]), np.append(t, np.zeros(len(given))))
            return replace(found, leverage=found.leverage[: len(t)])

        return iterate(channels, solve, noise=self.noise, whiten=self.whiten)

    def _prior_words(self, gaussian: GaussianPrior, known: Prior, resting: int) -> tuple[str, ...]:
        b = len(known.base)
        source = "empirical Bayes" if self.scale == "estimated" else "given"
        return (
            f"CAD values of {b} base parameters, {self.prior} prior, declared standard "
            f"deviations times {gaussian.scale:.3g} ({source})",
            f"{resting} of {b} parameters are determined mainly by the prior: the data "
            f"reduce their standard deviation by less than {100 * _RESTING:.0f} %",
        )

    def _offset_words(self) -> tuple[str, ...]:
        if self.offsets is None:
            return ()
        if isinstance(self.offsets, str):
            return (FREE_OFFSETS,)
        return (f"offsets of the forces, standard deviation {self.offsets:.2%} (given)",)

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
        if self.scale == "estimated":
            done = f"{gaussian.scale:.2g} times were used"
        return (
            said + f"the data support {checked.scale:.2g} times the declared standard deviations, "
            f"{done}",
        )

    def _bound_hit(self, gaussian: GaussianPrior) -> tuple[str, ...]:
        if self.scale != "estimated" or gaussian.scale < 0.99 * MOST:
            return ()
        return (
            f"the standard deviations of the CAD values were multiplied by {MOST:g}, the largest "
            "factor allowed: the CAD values are worse than declared, or the model does not "
            "describe the machine",
        )


def _resting(fit: Fit, gaussian: GaussianPrior, known: Prior) -> tuple[str, ...]:
    """Return the parameters whose standard deviations the data hardly reduce."""
    b = len(known.base)
    before = np.linalg.norm(gaussian.factor[:b], axis=1)
    after = np.linalg.norm(fit.solution.root[:b], axis=1)
    return tuple(known.base[i] for i in np.flatnonzero(after >= (1 - _RESTING) * before))


def cad_agreement(fit: Fit, gaussian: GaussianPrior) -> Agreement:
    """Return how data agree with the declared prior."""
    return agreement(reduced(fit.A, fit.t, gaussian.mean), gaussian.scaled(1.0))
