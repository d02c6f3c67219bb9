"""How many samples residuals are worth, for columns and residuals with known spectra."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.estimation.effective import correlation_factors

PERIODS, AGAIN = 10, 50


def factor(frequency: int, noise: float = 0.2) -> float:
    """Return by what samples of a line count too much; columns have one and two lines a period."""
    rng = np.random.default_rng(0)
    n = PERIODS * AGAIN
    t = 2 * np.pi * np.arange(n) / AGAIN
    columns = np.column_stack([f(k * t) for k in (1, 2) for f in (np.cos, np.sin)])
    e = np.sqrt(2) * np.cos(frequency * t + 0.4) + noise * rng.standard_normal(n)
    (found,) = correlation_factors(e, columns, ((np.arange(n),),))
    return float(found)


def test_errors_that_repeat_with_the_motion_count_once() -> None:
    """A line among those of the columns: all samples together are a handful of numbers."""
    assert factor(2) > PERIODS


@pytest.mark.parametrize("frequency", [12, 20])
def test_a_hum_beside_the_band_of_the_motion_does_no_harm(frequency: int) -> None:
    """Orthogonal to all columns, whether or not its phase is that of the motion."""
    assert factor(frequency) == pytest.approx(1.0, abs=0.3)
