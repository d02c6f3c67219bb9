"""Several models on the same motions, in one table; the CAD values are a model too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.noise import channel_noise
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.validation.errors import force_errors


@dataclass(frozen=True, eq=False)
class Comparison:
    """Errors of models on motions.

    Attributes
    ----------
    models, motions, channels : tuples of str
    sizes : tuple of int
        Parameters of each model.
    prediction : array (models, motions, n_d)
        E_p of each force.
    absolute, r2, rms : arrays (models, motions, n_d)
        As in `ForceErrors`.
    """

    models: tuple[str, ...]
    motions: tuple[str, ...]
    channels: tuple[str, ...]
    sizes: tuple[int, ...]
    prediction: Floats
    absolute: Floats
    r2: Floats
    rms: Floats

    @property
    def total(self) -> Floats:
        """E_p summed over the forces, (models, motions)."""
        return np.asarray(np.nansum(self.prediction, axis=2))

    def best(self, motion: str) -> str:
        """Return the model with the least E_p on a motion."""
        if motion not in self.motions:
            raise DataError(
                f"there is no motion {motion} here", remedy=f"those are {', '.join(self.motions)}"
            )
        return self.models[int(np.argmin(self.total[:, self.motions.index(motion)]))]


def compare(models: Mapping[str, Estimate], motions: Mapping[str, Regression]) -> Comparison:
    """Predict all motions with all models.

    Raises
    ------
    DataError
        If there is nothing to compare, if motions have different forces, or if a motion lacks a
        parameter of a model.
    """
    if not models or not motions:
        raise DataError("nothing to compare", remedy="give at least one model and one motion")
    channels = {r.channels for r in motions.values()}
    if len(channels) > 1:
        raise DataError(
            "the motions do not have the same forces", remedy="compare those that do together"
        )
    found = [
        [force_errors(predict(model, r).forces, r) for r in motions.values()]
        for model in models.values()
    ]
    return Comparison(
        tuple(models),
        tuple(motions),
        channels.pop(),
        tuple(len(model.parameters) for model in models.values()),
        np.array([[e.prediction for e in row] for row in found]),
        np.array([[e.absolute for e in row] for row in found]),
        np.array([[e.r2 for e in row] for row in found]),
        np.array([[e.rms for e in row] for row in found]),
    )


def cad_estimate(regression: Regression, prior: Prior) -> Estimate:
    """Return the CAD values as a model: nothing is estimated but the noise they leave.

    Any identified model should predict better than this one.
    """
    taken = prior.select(regression.parameters)
    A, t, channel = regression.stacked()
    e = t - A @ taken.mean
    noise = channel_noise(e, np.zeros(len(e)), channel, len(regression.channels))
    return Estimate(
        "cad",
        taken.base,
        taken.mean,
        taken.base_covariance,
        regression.channels,
        noise,
        regression.unstacked(e),
        condition=1.0,
        known=("CAD values; nothing was estimated",),
    )
