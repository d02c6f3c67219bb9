"""Maximum a posteriori with the model of the noise that the data make most probable.

Gain errors, coloured noise and plain white noise need different weights, and a wrong choice has a
price: gains that do not exist hide the common scale of the parameters, and colour that is not
modelled makes the prior look wrong. So all models are fitted, and the simplest one whose evidence
is close to the best is used.

Errors of the model itself look like coloured noise, and whitening would then give most weight to
what the model explains worst. So colour is also checked by cross-validation: it must not increase
the prediction error on held-out blocks of time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.gaussian_prior import Scale
from mechid.estimation.iteration import NoiseOption
from mechid.estimation.posterior import Posterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression

# The simplest model is taken whose log evidence is not worse than the best by more than this.
_DOUBT = 5.0
# Relative increase of held-out errors that colour may cause.
_SPOILED = 0.02
# Larger gain errors are implausible: sensors are calibrated, and all parameters would scale.
_WILD = 0.5
# Models of the noise, gain errors and colour, the simplest first.
_WORDS = {
    (False, False): "white",
    (False, True): "coloured",
    (True, False): "white with gain errors",
    (True, True): "coloured with gain errors",
}


@dataclass(frozen=True)
class Automatic:
    """The default: CAD values as prior, and noise as the data show it.

    Attributes
    ----------
    prior, scale, offsets, noise
        As in `MaximumAPosteriori`.
    gains : float or "estimated"
        Standard deviation of the gain errors of the models that have them.
    """

    prior: Literal["diagonal", "full"] = "full"
    scale: Scale = "estimated"
    gains: Scale = "estimated"
    offsets: Scale | None = None
    noise: NoiseOption = "estimated"
    name: str = "auto"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate under the chosen model of the noise."""
        found = {m: self._with(*m).posterior(regression, prior) for m in _WORDS}
        spoiled = tuple(
            (gains, True)
            for gains in (False, True)
            if _spoils(found[gains, True], found[gains, False])
        )
        wild = tuple(m for m, p in found.items() if _largest_gain(p) > _WILD)
        # White noise without gains is always a candidate.
        allowed = {m: p for m, p in found.items() if m not in (*spoiled, *wild)}
        best = max(p.evidence for p in allowed.values())
        chosen = next(m for m, p in allowed.items() if p.evidence >= best - _DOUBT)
        estimate = self._with(*chosen).estimate(found[chosen])
        return replace(estimate, known=(*estimate.known, _comparison(found, chosen, spoiled, wild)))

    def _with(self, gains: bool, whiten: bool) -> MaximumAPosteriori:
        return MaximumAPosteriori(
            self.prior,
            self.scale,
            gains=self.gains if gains else None,
            offsets=self.offsets,
            whiten=whiten,
            noise=self.noise,
            name=self.name,
        )


def _largest_gain(found: Posterior) -> float:
    """Return the largest gain error of a force; 0 for a model without."""
    _, gain, _ = found.channels.split(found.fit.solution.x)
    return float(np.abs(gain).max(initial=0.0))


def _spoils(coloured: Posterior, white: Posterior) -> bool:
    """Return whether colour makes held-out errors larger; not computed for a white model."""
    if coloured.evidence <= white.evidence:
        return False
    return coloured.held_out() > (1 + _SPOILED) * white.held_out()


def _comparison(
    found: dict[tuple[bool, bool], Posterior],
    chosen: tuple[bool, bool],
    spoiled: tuple[tuple[bool, bool], ...],
    wild: tuple[tuple[bool, bool], ...],
) -> str:
    others = ", ".join(
        f"{_WORDS[m]} {p.evidence - found[chosen].evidence:+.0f}"
        + (" but worse on held-out blocks" if m in spoiled else "")
        + (" but with implausible gains" if m in wild else "")
        for m, p in found.items()
        if m != chosen
    )
    return f"noise model: {_WORDS[chosen]} (log evidence relative to it: {others})"
