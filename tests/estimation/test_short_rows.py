"""Few rows for all: the same solutions for any weights of the series."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.estimation.channels import Channels
from mechid.estimation.linear import reduced
from mechid.estimation.regression import Regression, joined
from mechid.estimation.short_rows import ShortRows


def problem(n: int, seed: int = 0) -> Regression:
    """Three forces, the second of which three of five parameters do not reach; gaps."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((n, 3, 5)) * 10.0 ** np.arange(-2, 3)
    W[:, 1, :3] = 0.0
    tau, known = rng.standard_normal((2, n, 3))
    valid = rng.random((n, 3)) < 0.9
    return Regression(
        W, tau, known, np.arange(n) / 100, tuple("abcde"), ("F", "G", "H"), ("N",) * 3, valid
    )


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("drift", [False, True])
def test_solutions_are_those_of_all_rows(offsets: bool, drift: bool) -> None:
    both = joined([problem(300), problem(200, 1)])
    channels = Channels(both, offsets=offsets, drift=drift)
    short = ShortRows.of(channels)
    assert short is not None
    assert len(short.y) < len(channels.channel) / 2
    J, y = channels.linearised(np.zeros(channels.size))
    weight = np.array([1.0, 300.0, 2e-3, 7.0, 0.1, 50.0])[channels.series]
    x0 = np.linspace(-1, 1, channels.size)
    # R has what all rows have, but for the signs of its rows.
    whole = reduced(J * weight[:, None], y * weight, x0)
    few = reduced(*short.weighted(weight), x0)
    scale = np.linalg.norm(whole.R, axis=0)
    np.testing.assert_allclose(few.R.T @ few.R, whole.R.T @ whole.R, atol=1e-11 * scale.max() ** 2)
    signs = np.sign(np.diag(few.R) * np.diag(whole.R))
    np.testing.assert_allclose(few.y * signs, whole.y, atol=1e-10 * np.linalg.norm(whole.y))
    assert few.outside == pytest.approx(whole.outside, rel=1e-10)


def test_only_where_it_is_worth_it() -> None:
    assert ShortRows.of(Channels(problem(8))) is None
    assert ShortRows.of(Channels(problem(300), gains=True)) is None
    assert ShortRows.of(Channels(problem(300), delay=True)) is None
