"""Where the linearisation starts: the delay that leaves least, to a quarter of a sample.

About no delay, a force that varies faster than it is late leads into a local mode. So measured
forces are shifted against the motion first, with CAD values as prior and the noise of each force
estimated, over the samples that all shifts have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mechid.estimation.linear import ROUNDING
from mechid.estimation.posterior.sampler import LEAST_NOISE
from mechid.estimation.regression import Floats, Regression
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

    own = [np.flatnonzero(channel == d) for d in range(len(r.channels))]
    # Shifts by whole samples have the same rows of W.
    sums = {}
    for part, x in around.items():
        rows = x[at, channel]
        G = np.concatenate([rows[:, :-1] @ F, *besides], axis=1)
        sums[part] = G, [G[i].T @ G[i] for i in own], rows[:, :-1] @ mean + rows[:, -1]

    def left(delay: float) -> float:
        lag = int(np.round(delay))
        G, squares, expected = sums[lag - delay]
        t = r.tau[at + lag, channel] - expected
        told = [
            (S, G[i].T @ t[i], float(t[i] @ t[i]), len(i))
            for S, i in zip(squares, own, strict=True)
        ]
        # Beforehand no delay is as probable as all others together.
        unlikely = float(np.log(len(lags))) * (delay != 0)
        return _left([x for x in told if x[3]]) + unlikely

    whole = [float(lag) for lag in lags]
    # Of equal ones the shortest: data without noise, or a force that does not vary.
    first = min((left(x), abs(x), x) for x in whole)
    near = [first[2] - part for part in around if part]
    return float(min([first, *((left(x), abs(x), x) for x in near)])[2])


def _left(told: Sequence[tuple[Floats, Floats, float, int]]) -> float:
    """Return -log of the probability of forces, but for a constant.

    told : GᵀG, Gᵀt, tᵀt of the rows of each force, and their number.
    """
    n = np.array([x[3] for x in told])
    power = np.array([x[2] for x in told]) / n
    # Of data without noise rounding is left.
    least = np.where(power > 0, LEAST_NOISE**2 * power, 1.0)
    for _ in range(_TURNS):
        weight = 1 / np.maximum(power, least)
        H = sum(w * x[0] for w, x in zip(weight, told, strict=True))
        own = np.diag_indices(len(H))
        H[own] = 1.0 + H[own] * (1.0 + len(H) * ROUNDING)
        g = sum(w * x[1] for w, x in zip(weight, told, strict=True))
        c = cho_solve(cho_factor(H, check_finite=False), g, check_finite=False)
        power = np.array([tt - 2 * c @ h + c @ G @ c for G, h, tt, _ in told]) / n
    return float(0.5 * np.sum(n * np.log(np.maximum(power, least))))
