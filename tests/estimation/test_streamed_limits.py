"""Limits of forces that are read in blocks: those of the whole log."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.estimation.clipping import StreamedLimits, clipped_samples


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 400),
    size=st.integers(1, 150),
    low=st.floats(-1.2, -0.5),
    high=st.floats(0.5, 1.2),
    steps=st.sampled_from([0.0, 0.05]),
    constant=st.booleans(),
)
def test_blocks_have_the_limits_of_the_whole(
    seed: int, n: int, size: int, low: float, high: float, steps: float, constant: bool
) -> None:
    rng = np.random.default_rng(seed)
    model = np.sin(np.outer(np.arange(n), [0.1, 0.23])) + 7.0
    tau = np.clip(model - 7.0 + 0.05 * rng.standard_normal((n, 2)), low, high)
    if steps:
        tau = np.round(tau / steps) * steps
    if constant:
        model[:, 1] = 7.0  # a force that may stand still in truth
    limits = StreamedLimits(2)
    for k in range(0, n, size):
        limits.add(tau[k : k + size], model[k : k + size])
    whole = [
        (j, limit, int(np.count_nonzero(at)))
        for j in range(2)
        for limit, at in clipped_samples(tau[:, j], model[:, j])
    ]
    assert limits.found() == whole
