"""Problems of several logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.regression import Regression, joined


def _log(n: int, seed: int) -> Regression:
    rng = np.random.default_rng(seed)
    return Regression(
        W=rng.normal(size=(n, 2, 3)),
        tau=rng.normal(size=(n, 2)),
        known=np.zeros((n, 2)),
        time=0.01 * np.arange(n),
        parameters=("a", "b", "c"),
        channels=("F", "M"),
        units=("N", "N m"),
        valid=np.ones((n, 2), dtype=bool),
    )


def test_logs_are_joined_in_order_and_come_apart_again() -> None:
    logs = [_log(5, 0), _log(7, 1)]
    whole = joined(logs)
    assert whole.W.shape == (12, 2, 3)
    for i, log in enumerate(logs):
        part = whole.of_log(i)
        assert np.array_equal(part.W, log.W)
        assert np.array_equal(part.time, log.time)


def test_other_forces_are_rejected() -> None:
    other = replace(_log(5, 0), channels=("F", "G"))
    with pytest.raises(DataError, match="same forces, F, M, got F, G"):
        joined([_log(5, 0), other])
