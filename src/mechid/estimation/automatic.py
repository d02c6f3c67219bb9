"""Maximum a posteriori with the model of the noise that the data make most probable.

Gain errors, coloured noise and plain white noise ask for different weights; the wrong one costs:
gains that do not exist take away what the forces say of the size of the parameters, and colour that
is not modelled makes the prior look wrong. Nobody has to guess: each is tried, and the one under
which the measured forces are most probable is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.iteration import NoiseOption
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.prior import Scale
from mechid.estimation.regression import Regression

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
        Deviation of the gain errors of the models that have them.
    """

    prior: Literal["diagonal", "full"] = "full"
    scale: Scale = "estimated"
    gains: Scale = "estimated"
    offsets: Scale | None = None
    noise: NoiseOption = "estimated"
    name: str = "auto"

    def __call__(self, regression: Regression, knowledge: Knowledge | None = None) -> Estimate:
        """Return the estimate under the most probable model of the noise."""
        found = {}
        for gains, whiten in _WORDS:
            estimator = MaximumAPosteriori(
                self.prior,
                self.scale,
                gains=self.gains if gains else None,
                offsets=self.offsets,
                whiten=whiten,
                noise=self.noise,
                name=self.name,
            )
            found[gains, whiten] = estimator(regression, knowledge)
        chosen = max(found, key=lambda model: _evidence(found[model]))
        return replace(found[chosen], known=(*found[chosen].known, _comparison(found, chosen)))


def _comparison(found: dict[tuple[bool, bool], Estimate], chosen: tuple[bool, bool]) -> str:
    best = _evidence(found[chosen])
    others = ", ".join(
        f"{_WORDS[model]} {_evidence(e) - best:.0f}"
        for model, e in found.items()
        if model != chosen
    )
    return f"noise taken as {_WORDS[chosen]}, the most probable model (log evidence: {others})"


def _evidence(estimate: Estimate) -> float:
    if estimate.evidence is None:
        raise DataError("models of the noise cannot be compared without a prior")
    return estimate.evidence
