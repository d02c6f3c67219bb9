"""Where the linearisation starts: the delay that leaves least, to a quarter of a sample.

About no delay, a force that varies faster than it is late leads into a local mode. So measured
forces are shifted against the motion first, with CAD values as prior and the noise of each force
estimated, over the samples that all shifts have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mechid.estimation.linear import ROUNDING
from mechid.estimation.noise import root_mean_square
from mechid.estimation.posterior.sampler import LEAST_NOISE
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.estimation.whitening import segments

# Shifts to either side: seconds, at least samples, and at most a part of the samples in a row.
_LONGEST, _SAMPLES, _PART = 0.1, 5, 0.1
_ROWS = 2000  # that suffice for each
_FRACTION = 0.3  # of a sample: standard deviation of what rounding leaves
_TURNS = 3  # noise and values by turns


# W and known forces (N, n_d, b + 1) at the samples, or by parts of a sample later.
Around: TypeAlias = Mapping[float, Floats]


def samples_late(
    r: Regression,
    mean: Floats,
    F: Floats,
    rate: Floats,
    around: Around,
    lacking: Floats | None = None,
) -> float:
    """Return by how many samples all forces are late; 0 if no delay leaves less.

    mean, F : array (b,), array (b, k), of the prior of the parameters, with covariance F Fᵀ.
    rate : array (N, n_d), change of the expected forces in a sample: what steps of delays leave.
    around : W and known forces beside the samples.
    lacking : array (N, n_d, m), optional, forces of what the model may lack, of usual size.
    """
    pieces = segments(r, np.arange(len(r.time)))
    longest = max(pieces, key=len, default=np.zeros(0, dtype=np.int64))
    if len(longest) < 2:
        return 0.0
    step = float(np.median(np.diff(r.time[longest])))
    most = max(_SAMPLES, round(_LONGEST / step))
    most = min(most, int(_PART * len(longest)))
    inner = np.concatenate([own[most : max(most, len(own) - most)] for own in pieces])
    inner = inner[:: max(1, inner.size * len(r.channels) // _ROWS)]
    lags = np.arange(-most, most + 1)
    valid = np.all([r.valid[inner + lag] for lag in lags], axis=0)
    if most < 1 or not valid.any():
        return 0.0
    sample, channel = np.nonzero(valid)
    at = inner[sample]
    besides = [_FRACTION * rate[at, channel][:, None]]
    if lacking is not None:
        besides.append(lacking[at, channel])

    def left(delay: float) -> float:
        lag = int(np.round(delay))
        rows = around[lag - delay][at, channel]
        G = np.concatenate([rows[:, :-1] @ F, *besides], axis=1)
        expected = rows[:, :-1] @ mean + rows[:, -1]
        # Beforehand no delay is as probable as all others together.
        found = _left(G, r.tau[at + lag, channel] - expected, channel, len(r.channels))
        return found + float(np.log(len(lags))) * (delay != 0)

    whole = [float(lag) for lag in lags]
    # Of equal ones the shortest: data without noise, or a force that does not vary.
    first = min((left(x), abs(x), x) for x in whole)
    near = [first[2] - part for part in around if part]
    return float(min([first, *((left(x), abs(x), x) for x in near)])[2])


def _left(G: Floats, t: Floats, channel: Ints, n_d: int) -> float:
    """Return -log of the probability of forces, but for a constant."""
    e = t
    # Of data without noise rounding is left.
    least = LEAST_NOISE * root_mean_square(t, channel, n_d)
    least = np.where(least > 0, least, 1.0)
    for _ in range(_TURNS):
        weight = (1 / np.maximum(root_mean_square(e, channel, n_d), least) ** 2)[channel]
        H = G.T @ (G * weight[:, None])
        own = np.diag_indices(len(H))
        H[own] = 1.0 + H[own] * (1.0 + len(H) * ROUNDING)
        e = t - G @ cho_solve(cho_factor(H, check_finite=False), G.T @ (weight * t))
    size = np.maximum(root_mean_square(e, channel, n_d), least)
    return float(np.sum(np.bincount(channel, minlength=n_d) * np.log(size)))
