"""Maximum a posteriori with the errors of the force channels that the data show.

Real forces have offsets, drift, gain errors, delays and outliers besides noise, and real machines
differ from their model. A term that is missing spoils the parameters, and so does one that is
invented: it takes for a gain what is an error of the geometry. So nothing is taken that does not
predict better what was not used: each term is tried, and compared by the errors of blocks of time
that are held out (`trial.py`).

- If all that is left looks like noise, a term is taken if it predicts significantly better and the
  evidence supports it.
- If not, the model is wrong in other ways too, and terms that happen to fit some of it are not to
  be trusted: a term must halve the squared error of some force, and gains are not taken at all,
  because a wrong gain goes straight into the forces that the model predicts.
- An offset that parameters imitate cannot be seen in blocks of time. If there may be one, it is
  taken if data and CAD values together make it clearly more probable than none; otherwise the
  uncertainty contains what it would have done, by its probability (`doubtful_offsets.py`). Beside
  errors of the model, which look like offsets, it contains those of the usual size
  (`unjudged_offsets.py`).
- Of gains the data show ratios between forces that have parameters in common, and parameters take
  up most of that. So gains are tried where residuals look like noise, too, and the evidence
  decides. The result is the mean over all sets of forces that may be off (`wrong_forces.py`).
  A factor of all forces, or of one that shares nothing, is not seen: unless they are declared
  to be calibrated, the uncertainty contains what gains would have done (`doubtful_gains.py`).
- If the data contradict the declared uncertainty of the CAD values, some bodies may be much worse
  than others: each then gets a scale of its own if the evidence supports it.

Values that no bodies can have are replaced by the nearest that some can have (`physical.py`).
What remains counts by its effective number of samples (`effective.py`), and the standard deviations
are those of the estimates without each part of the motion, if these are larger (`jackknife.py`).
Predicted forces are as uncertain as their parameters and what the model lacks (`unmodelled.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.doubtful_gains import with_doubtful_gains
from mechid.estimation.doubtful_offsets import with_doubtful_offsets
from mechid.estimation.estimate import Estimate, Unseen
from mechid.estimation.gaussian_prior import USUAL_CHANNEL_ERROR, Scale
from mechid.estimation.iteration import NoiseOption
from mechid.estimation.jackknife import with_jackknife
from mechid.estimation.physical import possible
from mechid.estimation.plausible import plausible
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.trial import Trial
from mechid.estimation.uncertain_scales import with_uncertain_scales
from mechid.estimation.unjudged_offsets import with_unjudged_offsets
from mechid.estimation.unmodelled import with_unmodelled
from mechid.estimation.unseen import unseen_offsets, unseen_places

# Degrees of freedom of heavy tails.
TAILS = 4.0
# Student's t of the improvement of held-out blocks, and gain in log evidence, from which terms are
# taken where the rest is noise.
_SIGNIFICANT, _EVIDENT = 2.5, 5.0
# Part to which a term must reduce the squared error of some force where the rest is not noise, and
# that of all forces (geometric mean).
_SOME, _ALL = 0.5, 0.75
# Colour must not increase squared errors of held-out blocks by more than this.
_SPOILED = 1.02
# Squared errors that are alike: the simpler term is taken.
_ALIKE = 1.02
# Gain in log likelihood of the effective samples from which another law of the noise is taken.
_HEAVY = 10.0
# Log of how many times as probable offsets must be that blocks of time cannot show: most sensors
# are zeroed, and a wrong offset goes into the forces that the model predicts.
_PROBABLE = 1.0
# Log of how many times as probable gains must be for intervals to contain them where they are not
# taken: if one machine in twenty has some, it is then one in four with such data.
_SUSPECT = 2.0
# Gain errors below the first are what errors of the geometry look like, and those beyond the second
# are implausible: sensors are calibrated.
_SLIGHT, _WILD = 0.02, 0.5
# Gain errors beyond this are not what sensors have: they come from the model.
_PLAUSIBLE = 0.05

# Offsets that blocks of time cannot show, because parameters imitate them.
_HIDDEN = "offsets by CAD values"

TERMS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "offsets": {"offsets": "estimated"},
        _HIDDEN: {"offsets": USUAL_CHANNEL_ERROR},
        "drift": {"offsets": "estimated", "drift": "estimated"},
        "gains": {"gains": "shared"},
        "delay": {"delay": "estimated"},
        "outliers": {"tails": TAILS},
        "proportional noise": {"proportional": True},
        "colour": {"whiten": True},
        "CAD errors body by body": {"scale": "bodies"},
    }
)
# Terms that do not change what is predicted by much: the evidence decides.
_BY_EVIDENCE = ("colour", "CAD errors body by body")
# Laws of the noise, which are compared by the likelihood of held-out errors.
_LAWS = ("outliers", "proportional noise")


@dataclass(frozen=True)
class Automatic:
    """The default: CAD values as prior, and errors of the force channels as the data show them.

    Attributes
    ----------
    prior, scale, noise
        As in `MaximumAPosteriori`.
    gains, offsets, drift, delay : float or "estimated", optional
        Terms that are taken whatever the data show, with this standard deviation, as in
        `MaximumAPosteriori`. Zero offsets and gains: the sensors are zeroed and calibrated,
        whatever the data show.
    """

    prior: Literal["diagonal", "full"] = "full"
    scale: Scale = "estimated"
    gains: Scale | None = None
    offsets: Scale | None = None
    drift: Scale | None = None
    delay: Scale | None = None
    noise: NoiseOption = "estimated"
    name: str = "auto"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate with the terms that predict better."""
        regression, unlike = plausible(regression, prior)
        plain = MaximumAPosteriori(
            self.prior,
            self.scale,
            gains=self.gains or None,
            offsets=self.offsets,
            drift=self.drift,
            delay=self.delay,
            effective=True,
            noise=self.noise,
            name=self.name,
        )
        now = Trial(plain, plain.posterior(regression, prior))
        words: list[str] = []
        while True:
            wider = {
                name: replace(now.estimator, **self._open(terms))
                for name, terms in TERMS.items()
                if _asked(name, now)
            }
            trials = {
                name: Trial(estimator, estimator.posterior(regression, prior))
                for name, estimator in wider.items()
                if estimator != now.estimator
            }
            better = {name: trial for name, trial in trials.items() if _better(name, now, trial)}
            chosen = _best(better, now)
            words += _words(now, trials, chosen)
            if chosen is None:
                break
            now = better[chosen]
        estimate = with_uncertain_scales(
            now.estimator.estimate(now.posterior),
            now.posterior,
            patterns=now.estimator.gains == "shared",
        )
        estimate = replace(estimate, information=estimate.of_fit)
        estimate = with_jackknife(estimate, now.posterior, now.noise)
        estimate = with_unmodelled(estimate, now.posterior)
        hidden = trials.get(_HIDDEN)
        said: tuple[str, ...] = ()
        if hidden is None and _hide_offsets(now):
            doubted = replace(now.estimator, **TERMS[_HIDDEN])
            hidden = Trial(doubted, doubted.posterior(regression, prior))
        if hidden:
            estimate, said = with_doubtful_offsets(estimate, hidden.posterior)
        elif now.estimator.offsets is None and not now.noise:
            estimate, said = with_unjudged_offsets(estimate, now.posterior)
        sigma = estimate.sigma
        places = unseen_places(now.posterior.prior, sigma)
        offsets = () if said else unseen_offsets(now.posterior, sigma)
        estimate = replace(
            estimate,
            known=(*estimate.known, *words, *now.words, *_said(places, sigma)),
            warnings=(
                *unlike,
                *estimate.warnings,
                *_common_gain(estimate, asked=self.gains is None),
                *said,
                *_said(offsets, sigma),
            ),
            unseen=(*places, *offsets),
        )
        found = possible(estimate, regression, now.posterior.prior)
        if self.gains is not None or now.estimator.gains is not None:
            return found
        return with_doubtful_gains(
            found, now.posterior, _supported_gains(now, trials), clean=now.noise
        )

    def _open(self, terms: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a term; offsets stay as they were given, and so do gains of
        forces that are said to be calibrated."""
        closed = {"offsets": self.offsets is not None, "gains": self.gains == 0.0}
        return {k: v for k, v in terms.items() if not closed.get(k, False)}


def _said(errors: Sequence[Unseen], sigma: Floats) -> Iterator[str]:
    for error in errors:
        yield from error.words(sigma)


def _common_gain(estimate: Estimate, *, asked: bool) -> tuple[str, ...]:
    """Return a warning if gains were taken: the data show their ratios, not their common factor."""
    gain = None if estimate.errors is None else estimate.errors.gain
    if not asked or gain is None or not np.any(gain):
        return ()
    apart = (1 + np.max(gain)) / (1 + np.min(gain)) - 1
    return (
        f"gains of the forces differ by {100 * apart:.2g} %, and nothing but the CAD values tells "
        "which of them are off: a common factor of all parameters remains uncertain, as their "
        "standard deviations show; calibrate the forces",
    )


def _asked(name: str, now: Trial) -> bool:
    """Return whether a term can be of use: nothing but outliers is looked for in plain noise."""
    if name in _LAWS:
        return now.outliers
    if name == "CAD errors body by body":
        return (
            now.estimator.scale == "estimated"
            and now.estimator.prior == "full"
            and (now.contradicted)
        )
    if name == _HIDDEN:
        # Coloured noise has most of its power where an offset is: it would be taken for one.
        return now.noise and not now.estimator.whiten and now.estimator.offsets is None
    if name == "gains" and (isinstance(now.estimator.gains, str) or now.one_force):
        return False  # the data show ratios between forces
    if name == "gains" and now.noise:
        # Parameters imitate most of a gain error, and what is left of it looks like noise.
        return True
    if now.repeatable is False and now.white:
        return False
    return now.estimator.tails is None or name != "colour"


def _hide_offsets(now: Trial) -> bool:
    """Return whether there may be offsets that parameters imitate, wholly or in part.

    What is left of the part that they do not imitate may be too little to predict blocks of time
    better, and is evidence all the same. Errors of the model are no such evidence.
    """
    return now.estimator.offsets is None and (now.noise or bool(now.unseen_offsets))


def _better(name: str, before: Trial, after: Trial) -> bool:
    """Return whether a term may be taken."""
    if name in _LAWS:
        noise = name == "outliers" or after.noise
        gain = after.log_likelihood - before.log_likelihood
        return noise and gain * before.posterior.fit.share > _HEAVY
    if name == _HIDDEN:
        # Both predict alike, and the more probable one is taken.
        return after.noise and _more_probable(before, after) > _PROBABLE
    ratio = after.ratios(before)
    if name in _BY_EVIDENCE:
        evident = after.posterior.evidence > before.untempered.evidence + _EVIDENT
        allowed = name != "colour" or before.repeatable is not True
        return evident and allowed and bool(np.all(ratio < _SPOILED))
    if name == "gains" and not _SLIGHT < after.largest_gain < _WILD:
        return False
    if after.noise:
        evident = after.posterior.evidence > before.untempered.evidence + _EVIDENT
        if name == "gains" and before.noise:
            # Little of it is left that could be predicted better.
            return evident and bool(np.all(ratio < _SPOILED))
        change = after.improvement(before)
        if len(change) < 2:
            return False
        error = np.std(change, ddof=1) / np.sqrt(len(change))
        return evident and bool(np.mean(change) > _SIGNIFICANT * error)
    whole = float(np.exp(np.mean(np.log(ratio))))
    return name != "gains" and bool(np.min(ratio) < _SOME) and whole < _ALL


def _more_probable(before: Trial, after: Trial) -> float:
    """Return the log of how many times as probable a term makes the data."""
    return after.untempered.unpriced_evidence - before.untempered.unpriced_evidence


def _supported_gains(now: Trial, trials: Mapping[str, Trial]) -> float:
    """Return the size of gains that the evidence supports, but that were not taken; 0 for none."""
    wider = trials.get("gains")
    if wider is None:
        return 0.0
    # Effective samples of two fits are not the same ones.
    more = _more_probable(now, wider)
    gain = wider.posterior.channels.split(wider.posterior.fit.solution.x).gain
    enough = _SUSPECT if now.noise and wider.noise else _EVIDENT
    return min(float(np.sqrt(np.mean(gain**2))), _PLAUSIBLE) if more > enough else 0.0


def _best(better: Mapping[str, Trial], before: Trial) -> str | None:
    """Return the simplest term with about the smallest held-out errors; laws of noise come last."""
    errors = {name: x.mean(before) for name, x in better.items() if name not in _LAWS}
    if errors:
        least = min(errors.values())
        return next(name for name, error in errors.items() if error <= _ALIKE * least)
    return max(better, key=lambda name: better[name].log_likelihood, default=None)


def _words(now: Trial, trials: Mapping[str, Trial], chosen: str | None) -> list[str]:
    """Return what was tried, with the errors that decided."""
    if not trials:
        return []
    tried = ", ".join(
        f"{name} {100 * trial.held_out_error:.3g} %"
        for name, trial in trials.items()
        if name != chosen
    )
    before = f"{100 * now.held_out_error:.3g} %"
    if chosen is None:
        return [f"tried and not taken, error on held-out blocks {before} without: {tried}"]
    after = f"{100 * trials[chosen].held_out_error:.3g} %"
    others = f" (others: {tried})" if tried else ""
    by = (*_BY_EVIDENCE, *_LAWS, _HIDDEN)
    why = "; taken because data are more probable with it" if chosen in by else ""
    return [f"{chosen} taken: error on held-out blocks {after} instead of {before}{others}{why}"]
