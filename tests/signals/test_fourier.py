"""Averages over periods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.modelfile import load
from mechid.signals.fourier import average, series
from mechid.signals.prepare import prepare
from mechid.signals.record import Preparation

from .signals import measured, motion

FOUR_BAR = load("four_bar")
T = np.arange(10_000) / 1000.0


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=8),
    st.integers(17, 60),
    st.floats(0.1, 10.0),
)
def test_series_and_its_derivatives_are_exact(
    parts: list[tuple[float, float]], per: int, period: float
) -> None:
    t = np.arange(per) * period / per
    expected = np.zeros((3, per))
    for h, (a, b) in enumerate(parts, start=1):
        w = 2 * np.pi * h / period
        expected[0] += a * np.sin(w * t) + b * np.cos(w * t)
        expected[1] += w * (a * np.cos(w * t) - b * np.sin(w * t))
        expected[2] -= w**2 * (a * np.sin(w * t) + b * np.cos(w * t))
    found = series(expected[0][:, None], per / period, 8)
    for k in range(3):
        size = (2 * np.pi * 8 / period) ** k
        assert found[k][:, 0] == pytest.approx(expected[k], abs=1e-12 * per * size)


def test_samples_that_are_not_valid_do_not_count() -> None:
    values = np.tile(np.arange(5.0), 4)[:, None]
    valid = np.ones((20, 1), dtype=bool)
    values[7], valid[7] = 1e6, False
    valid[[3, 8, 13, 18]] = False
    found = average(values, 5, valid)
    assert found.mean[:, 0] == pytest.approx([0, 1, 2, 0, 4])
    assert found.count[:, 0].tolist() == [4, 4, 3, 0, 4]
    assert found.sigma[0] == 0.0


def test_harmonics_that_stand_out_are_kept() -> None:
    p = prepare(measured(FOUR_BAR, T, sigma=1e-3), FOUR_BAR, Preparation(period=2.0))
    # 3.5 Hz are the seventh harmonic of 0.5 Hz.
    assert any("Fourier series of 7 harmonics" in note for note in p.notes)
    assert len(p.time) == 2000
    assert p.method == "fourier"


def test_a_period_that_is_no_whole_number_of_samples() -> None:
    t = np.arange(10_000) / 1000.7
    p = prepare(measured(FOUR_BAR, t, sigma=1e-6), FOUR_BAR, Preparation(period=2.0))
    assert any("resampled at 1000.5 Hz" in note for note in p.notes)
    _, _, ydd = motion(p.time)
    assert p.ydd[:, 0] == pytest.approx(ydd, abs=1e-3)


def test_a_transient_is_named() -> None:
    m = measured(FOUR_BAR, T, sigma=1e-3)
    y = m.y.copy()
    y[:2000, 0] += 0.1 * np.exp(-3 * T[:2000])
    p = prepare(replace(m, y=y), FOUR_BAR, Preparation(period=2.0))
    assert any(note.startswith("period 1 differs from the others") for note in p.notes)


def test_one_period_tells_nothing_of_noise() -> None:
    p = prepare(measured(FOUR_BAR, T[:2500], sigma=1e-3), FOUR_BAR,
                Preparation(period=2.0, harmonics=7))  # fmt: skip
    assert p.noise is None
    assert p.warnings == ()
