"""Forces that are not what they are said to be: of another order, dead, or at a limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.clipping import without_clipped
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.unlike import dead, dead_words, unlike_cad


def plausible(regression: Regression, prior: Prior | None) -> tuple[Regression, tuple[str, ...]]:
    """Return the problem without forces of another order than the CAD values predict, and without
    samples at the limits of a sensor, and why.

    Such a force is in another unit, of another machine, or of a dead sensor, and would spoil what
    the others say.
    """
    if prior is None:
        return regression, ()
    regression, clipped = without_clipped(regression, prior)
    units = dict(zip(regression.channels, regression.units, strict=True))
    # What most of a force may be is among what the machine may have.
    unlike = {} if regression.possible else unlike_cad(regression, prior)
    wrong = {
        name: f"force {name}, {ratio:.2g} times what the CAD values predict, was not used"
        for name, ratio in unlike.items()
    } | {
        name: dead_words(name, size, units[name]) for name, size in dead(regression, prior).items()
    }
    if not 0 < len(wrong) < len(regression.channels):
        return regression, clipped
    used = np.array([name not in wrong for name in regression.channels])
    return replace(regression, valid=regression.valid & used), (*clipped, *wrong.values())
