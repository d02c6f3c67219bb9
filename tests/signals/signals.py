"""Signals with derivatives in closed form, and measurements made of them."""

from __future__ import annotations

import numpy as np

from mechid.mechanism.records import Mechanism
from mechid.signals.record import Measurement

PARTS = ((0.5, 0.5, 0.3), (0.2, 1.5, 1.0), (0.05, 3.5, 2.0))  # amplitude, Hz, phase


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sum of sines and its derivatives; it repeats after 2 s."""
    y, yd, ydd = (np.zeros_like(t) for _ in range(3))
    for amplitude, frequency, phase in PARTS:
        w = 2 * np.pi * frequency
        y += amplitude * np.sin(w * t + phase)
        yd += amplitude * w * np.cos(w * t + phase)
        ydd -= amplitude * w**2 * np.sin(w * t + phase)
    return y, yd, ydd


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def measured(
    mechanism: Mechanism,
    t: np.ndarray,
    *,
    sigma: float = 0.0,
    sigma_tau: float = 0.0,
    seed: int = 0,
) -> Measurement:
    """One coordinate that moves as above, and a force that is three times its acceleration."""
    rng = np.random.default_rng(seed)
    y, _, ydd = motion(t)
    tau = 3 * ydd + sigma_tau * rng.standard_normal(len(t))
    return Measurement(
        t,
        mechanism.coordinates,
        (y + sigma * rng.standard_normal(len(t)))[:, None],
        ("M_1",),
        tau[:, None],
        np.ones((len(t), 1), dtype=bool),
    )
