"""What a machine may have and its model lacks, as components."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechid.estimation.posterior.component import FAMILIES, Component
from mechid.estimation.regression import Regression


def possible_components(r: Regression) -> Iterator[Component]:
    """Yield what may be there, in units of its usual size; nothing that adds no force."""
    valid = r.valid
    rms = np.sqrt(np.mean(np.where(valid, r.tau - r.known, 0.0) ** 2, axis=0))
    for p in r.possible:
        family = FAMILIES[p.family]
        forces = np.where(valid[..., None], p.forces, 0.0)
        size = np.sqrt(np.mean(np.sum(forces**2, axis=2), axis=0))
        share = float(np.max(np.where(rms > 0, size / np.where(rms > 0, rms, 1.0), 0.0)))
        if share > 0:
            unit = p.usual or family.usual / share
            yield Component(p.name, family, family.name, forces=unit * forces, unit=unit, at=p.at)
