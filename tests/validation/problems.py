"""Small linear problems with known answers."""

from __future__ import annotations

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression

Array = np.ndarray


def problem(
    x: Array,
    *,
    samples: int = 60,
    channels: int = 2,
    noise: float = 0.0,
    seed: int = 0,
    known: float = 0.0,
    scales: Array | None = None,
) -> Regression:
    """Return a problem with random columns, true values x, and white noise."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((samples, channels, len(x)))
    if scales is not None:
        W = W * scales
    offset = np.full((samples, channels), known)
    tau = W @ x + offset + noise * rng.standard_normal((samples, channels))
    return Regression(
        W,
        tau,
        offset,
        np.arange(samples) / 100,
        tuple(f"p{i:02d}" for i in range(len(x))),
        tuple(f"F{j}" for j in range(channels)),
        ("N",) * channels,
        np.ones((samples, channels), dtype=bool),
    )


def knowing(values: Array, sigma: float = 0.0) -> Prior:
    """Return CAD values of the parameters of `problem`."""
    b = len(values)
    names = tuple(f"p{i:02d}" for i in range(b))
    return Prior(names, names, np.eye(b), values, sigma**2 * np.eye(b))
