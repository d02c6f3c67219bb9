"""Where the search for a delay starts: the shift of all forces that leaves least.

Linearised at no delay, a force that varies faster than it is late leads into a local minimum. So
shifts of whole samples and parts of them are tried first, with CAD values as prior and the noise of
each force estimated, over the samples that all shifts have.
"""

from __future__ import annotations

import numpy as np

from mechid.estimation.channels import Channels
from mechid.estimation.late import late
from mechid.estimation.noise import root_mean_square
from mechid.estimation.regression import Floats, Ints
from mechid.estimation.whitening import segments

# Delays are looked for up to so many seconds, at least so many samples, and at most a part of the
# samples that follow each other.
_LONGEST, _SAMPLES, _PART = 0.1, 5, 0.1
# Shifts to either side, and rows that suffice for each.
_SHIFTS, _ROWS = 20, 2000
# Noise and values by turns.
_TURNS = 3
# Parts of a shift that are tried about the best one.
_FINER = (0.5, 0.25)


def coarse_delay(channels: Channels, mean: Floats, F: Floats) -> float:
    """Return the delay of all forces (s) that leaves the smallest residuals; 0 if none is better.

    Parameters
    ----------
    channels : Channels
    mean, F : array (b,), array (b, r)
        Of the prior of the parameters, with covariance F Fᵀ.
    """
    r = channels.regression
    finite = np.all(np.isfinite(r.W), axis=(1, 2)) & np.all(np.isfinite(r.known), axis=1)
    usable = np.flatnonzero(finite)
    pieces = segments(r, usable)
    steps = np.concatenate([np.diff(r.time[own]) for own in pieces] or [np.zeros(0)])
    if not steps.size:
        return 0.0
    step = float(np.median(steps))
    most = max(_SAMPLES, round(_LONGEST / step))
    most = min(most, int(_PART * max(len(own) for own in pieces)))
    every = max(1, most // _SHIFTS)
    far = most + 1
    inner = np.concatenate([own[far : max(far, len(own) - far)] for own in pieces])
    inner = inner[:: max(1, inner.size * len(r.channels) // _ROWS)]
    if most < 1 or not inner.size or not r.valid[inner].any():
        return 0.0
    tried: dict[float, float] = {}

    def best(lags: Floats) -> float:
        for lag in lags.tolist():
            if lag not in tried:
                tried[lag] = _left(channels, inner, lag * step, mean, F)
        # Of equal ones the shortest: data without noise, or a force that does not vary.
        return min(tried, key=lambda lag: (tried[lag], abs(lag)))

    found = best(np.arange(-(most // every), most // every + 1.0) * every)
    for part in _FINER:
        found = best(np.clip(found + np.array([-part, part]) * every, -most, most))
    return found * step


def _left(channels: Channels, inner: Ints, lag: float, mean: Floats, F: Floats) -> float:
    """Return -log of the probability of the forces of some samples that are late by `lag` seconds,
    but for a constant."""
    r = channels.regression
    valid = r.valid[inner]
    n_d = valid.shape[1]
    channel = np.broadcast_to(np.arange(n_d), valid.shape)[valid]
    A, known = (x[valid] for x in late(r, np.full(n_d, lag), inner)[:2])
    G, e = A @ F, r.tau[inner][valid] - known - A @ mean
    t = e
    for _ in range(_TURNS):
        noise = root_mean_square(e, channel, n_d)
        weight = (1 / np.where(noise > 0, noise, 1.0) ** 2)[channel]
        # Normal equations suffice for a start.
        H = np.eye(G.shape[1]) + G.T @ (G * weight[:, None])
        e = t - G @ np.linalg.solve(H, G.T @ (weight * t))
    counts = np.bincount(channel, minlength=n_d)
    size = root_mean_square(e, channel, n_d)
    used = (counts > 0) & (size > 0)
    return float(np.sum(counts[used] * np.log(size[used])))
