"""What a machine may have and a model may lack, as components: columns of W that may be absent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechid.estimation.posterior.component import FAMILIES, Component
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression


def possible_components(prior: Prior, r: Regression) -> Iterator[Component]:
    """Yield the parameters of a prior that may be absent, in units of their usual size."""
    family = FAMILIES["friction"]
    if not prior.possible:
        return
    valid = r.valid
    rms = np.sqrt(np.mean(np.where(valid, r.tau - r.known, 0.0) ** 2, axis=0))
    for name in prior.possible:
        direction = prior.matrix[:, prior.parameters.index(name)]
        column = np.where(valid, r.W @ direction, 0.0)
        most = float(np.max(np.sqrt(np.mean(column**2, axis=0)) / np.where(rms > 0, rms, np.inf)))
        if most > 0:
            yield Component(
                name, family, "friction", directions=(family.usual / most * direction)[:, None]
            )
