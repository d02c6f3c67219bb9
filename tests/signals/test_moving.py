"""Forces near standstill do not count."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.modelfile import load
from mechid.signals.moving import moving
from mechid.signals.prepare import prepare
from mechid.signals.record import Preparation

from .signals import measured

FIVE_BAR = load("five_bar")
FOUR_BAR = load("four_bar")
T = np.arange(2000) / 1000.0


def test_each_force_has_the_limit_of_its_coordinate() -> None:
    yd = np.stack([np.sin(2 * np.pi * T), 2 * np.cos(2 * np.pi * T)], axis=1)
    found = moving(FIVE_BAR, ("M2", "M1"), yd, {"q1": 0.5})
    assert found[:, 0].all()
    assert np.array_equal(found[:, 1], np.abs(yd[:, 0]) >= 0.5)
    # A sine is below half of its amplitude for a third of the time.
    assert np.mean(found[:, 1]) == pytest.approx(2 / 3, abs=0.002)


def test_speeds_pass_the_parallel_filter() -> None:
    slow = 0.2 * np.ones((2000, 2))
    loud = slow + np.sin(2 * np.pi * 300 * T)[:, None]
    assert moving(FIVE_BAR, ("M1",), loud, {"q1": 0.3}).mean() > 0.5
    # The filter takes the vibration at 300 Hz away, and what is left is slow.
    found = moving(FIVE_BAR, ("M1",), loud, {"q1": 0.3}, decimation=10)
    assert found.shape == (198, 1)
    assert not found.any()


def test_preparation_hands_the_limits_on() -> None:
    name = FOUR_BAR.coordinates[0].name
    options = Preparation("low-pass", cutoff=100.0, ignore_below={name: 0.25})
    found = prepare(measured(FOUR_BAR, T), FOUR_BAR, options)
    assert found.ignore_below == {name: 0.25}
    assert f"slower than: {name} 0.25 rad/s" in found.notes[-1]
    assert not prepare(measured(FOUR_BAR, T), FOUR_BAR, Preparation("low-pass")).ignore_below


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"nothing": 0.1}, "nothing is not an independent coordinate; choose one of: "),
        ({FOUR_BAR.coordinates[0].name: 0.0}, "must be > 0, got 0"),
        ({FOUR_BAR.coordinates[0].name: np.nan}, "must be > 0, got nan"),
    ],
)
def test_bad_limits_are_refused(limits: dict[str, float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        prepare(measured(FOUR_BAR, T), FOUR_BAR, Preparation("low-pass", ignore_below=limits))
