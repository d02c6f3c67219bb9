"""Colour of noise: known processes, exact whitening at gaps, generalised least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solve_toeplitz, toeplitz

from mechid.estimation.channels import Channels
from mechid.estimation.iteration import iterate
from mechid.estimation.least_squares import WeightedLeastSquares
from mechid.estimation.linear import least_squares
from mechid.estimation.regression import Regression, joined
from mechid.estimation.whitening import (
    coloured,
    fit_colour,
    stretches,
    whitened,
)

from .problems import case, deviation
from .problems import coloured as noise

AR = (1.2, -0.5, 0.1)


def autocovariance(ar: tuple[float, ...], lags: int) -> np.ndarray:
    """Return r_0, … of a process with white part one, from its spectrum."""
    w = np.linspace(0, 2 * np.pi, 1 << 14, endpoint=False)
    gain = np.ones_like(w, dtype=complex)
    for lag, a in enumerate(ar, start=1):
        gain -= a * np.exp(-1j * w * lag)
    return np.fft.ifft(1 / np.abs(gain) ** 2).real[:lags]


def test_a_known_process_is_found() -> None:
    e = noise(np.random.default_rng(0), (20_000, 1), AR)[:, 0]
    found = fit_colour([e], 3)
    np.testing.assert_allclose(found.coefficients, AR, atol=0.03)
    assert found.ratio == pytest.approx(deviation(AR), rel=0.02)
    # In pieces as well as in one.
    pieces = fit_colour(np.split(e, 200), 3)
    np.testing.assert_allclose(pieces.coefficients, AR, atol=0.04)


def test_the_order_is_found() -> None:
    rng = np.random.default_rng(1)
    orders = [len(fit_colour([noise(rng, (500, 1), ())[:, 0]]).coefficients) for _ in range(50)]
    assert orders.count(0) > 40
    ar = (0.3, 0.5)
    orders = [len(fit_colour([noise(rng, (500, 1), ar)[:, 0]]).coefficients) for _ in range(50)]
    assert orders.count(2) > 40


def test_predictors_solve_the_yule_walker_equations() -> None:
    r = autocovariance(AR, 6)
    reflection = []
    for m in range(1, 4):
        reflection.append(float(solve_toeplitz(r[:m], r[1 : m + 1])[-1]))
    colour = coloured(reflection)
    np.testing.assert_allclose(colour.coefficients, AR, atol=1e-10)
    for m in range(4):
        expected = solve_toeplitz(r[:m], r[1 : m + 1]) if m else np.zeros(0)
        np.testing.assert_allclose(colour.predictors[m], expected, atol=1e-10)
    assert colour.ratio == pytest.approx(np.sqrt(r[0]))


def _samples(valid: np.ndarray, time: np.ndarray) -> Regression:
    """Return a problem of which only the times and the valid rows matter."""
    zeros = np.zeros(valid.shape)
    names = tuple(f"f{j}" for j in range(valid.shape[1]))
    return Regression(
        zeros[..., None], zeros, zeros, time, ("p",), names, ("N",) * len(names), valid
    )


@given(
    st.lists(st.floats(-0.8, 0.8), max_size=4),
    st.lists(st.booleans(), min_size=1, max_size=25),
)
def test_noise_becomes_exactly_white_also_at_gaps(k: list[float], rows: list[bool]) -> None:
    """L C Lᵀ = 1 for the covariance C of a process within its stretches."""
    colour = coloured(k)
    valid = np.array(rows)[:, None]
    where = stretches(_samples(valid, np.arange(len(rows), dtype=float)))
    m = int(valid.sum())
    L = whitened(np.eye(m), where, [colour])
    r = autocovariance(tuple(colour.coefficients), 25)
    C = np.zeros((m, m))
    for part in where[0]:
        C[np.ix_(part, part)] = toeplitz(r[: len(part)])
    np.testing.assert_allclose(L @ C @ L.T, np.eye(m), atol=1e-6)


def test_stretches() -> None:
    valid = np.ones((8, 2), dtype=bool)
    valid[2, 0] = False
    time = np.array([0.0, 1, 2, 3, 10, 11, 12, 0])  # a pause, and the clock set back
    first, second = stretches(_samples(valid, time))
    # Rows are numbered sample by sample: two each, one in the third.
    assert [p.tolist() for p in first] == [[0, 2], [5], [7, 9, 11], [13]]
    assert [p.tolist() for p in second] == [[1, 3, 4, 6], [8, 10, 12], [14]]


def test_stretches_end_with_their_log() -> None:
    """Also where the clock of the next log goes on as if it were the same one."""
    valid, time = np.ones((6, 1), dtype=bool), np.arange(6.0)
    r = _samples(valid, time)
    parts = stretches(replace(r, log=np.array([0, 0, 0, 1, 1, 2])))
    assert [[p.tolist() for p in series] for series in parts] == [[[0, 1, 2]], [[3, 4]], [[5]]]
    (whole,) = stretches(replace(r, log=np.zeros(6, dtype=np.int64)))
    assert [p.tolist() for p in whole] == [[0, 1, 2, 3, 4, 5]]


def test_whitened_fit_is_generalised_least_squares() -> None:
    made = case(2, [0.5, 1.0, 2.0], n=120, ar=(0.7,), missing=0.1)
    r = made.regression
    fit = iterate(Channels(r), lambda A, t, _: least_squares(A, t), whiten=True)
    assert fit.colours is not None
    A, t, _ = r.stacked()
    C = np.zeros((len(t), len(t)))
    for j, parts in enumerate(stretches(r)):
        covariance = autocovariance(tuple(fit.colours[j].coefficients), 120)
        covariance *= (fit.noise[j] / fit.colours[j].ratio) ** 2
        for part in parts:
            C[np.ix_(part, part)] = toeplitz(covariance[: len(part)])
    inverse = np.linalg.inv(A.T @ np.linalg.solve(C, A))
    values = inverse @ A.T @ np.linalg.solve(C, t)
    np.testing.assert_allclose(fit.solution.x, values, rtol=1e-4)
    np.testing.assert_allclose(fit.solution.covariance, inverse, rtol=1e-4, atol=1e-12)
    # Noise is the deviation of the whole error.
    np.testing.assert_allclose(fit.noise, [0.5, 1.0, 2.0], rtol=0.3)


def test_logs_of_one_force_have_one_colour() -> None:
    """Weights know the colour of each log; the estimate says that of the force."""
    parts = [case(3, [0.5, 1.0, 2.0], n=3000, ar=AR).regression for _ in range(2)]
    r = parts[1]
    parts[1] = replace(r, W=10 * r.W, tau=10 * r.tau, known=10 * r.known)
    found = WeightedLeastSquares(whiten=True)(joined(parts))
    assert found.colour is not None
    assert len(found.colour) == len(found.channels) == 3
    for a in found.colour:
        padded = np.zeros(max(len(a), 3))
        padded[: len(a)] = a
        np.testing.assert_allclose(padded[:3], AR, atol=0.07)


def test_segments_of_time_are_not_joined() -> None:
    """Two runs one after the other give what they give with any pause between them."""
    r = case(3, [0.5, 1.0, 2.0], n=100, ar=(0.8,)).regression
    later = np.where(np.arange(100) < 50, r.time, r.time + 7.0)
    back = np.where(np.arange(100) < 50, r.time, r.time - r.time[50])
    a, b = (WeightedLeastSquares(whiten=True)(replace(r, time=x)) for x in (later, back))
    np.testing.assert_array_equal(a.values, b.values)
    whole = WeightedLeastSquares(whiten=True)(r)
    assert not np.allclose(a.values, whole.values, rtol=1e-9)
    assert a.colour is not None
    assert all(np.abs(c[0] - 0.8) < 0.35 for c in a.colour)


@pytest.mark.parametrize(("step", "parts"), [(1.49, 1), (1.51, 2), (0.51, 1), (0.49, 2)])
def test_steps_that_are_gaps(step: float, parts: int) -> None:
    """Half a step more or less than the usual one is still a step."""
    time = np.cumsum([0.0, 1.0, 1.0, step, 1.0, 1.0])
    (found,) = stretches(_samples(np.ones((6, 1), dtype=bool), time))
    assert len(found) == parts
    (standing,) = stretches(_samples(np.ones((2, 1), dtype=bool), np.zeros(2)))
    assert len(standing) == 2


def test_colour_of_few_samples() -> None:
    """At most half of the longest stretch, and reflection coefficients below 1 - 1/n."""
    assert len(fit_colour([np.ones(3)], 9).coefficients) == 1
    assert len(fit_colour([np.ones(1)], 9).coefficients) == 0
    assert len(fit_colour([], 2).coefficients) == 0
    assert len(fit_colour([np.zeros(9)]).coefficients) == 0
    np.testing.assert_allclose(fit_colour([np.ones(4)], 1).coefficients, [0.75])
    np.testing.assert_allclose(fit_colour([(-1.0) ** np.arange(4)], 1).coefficients, [-0.75])
    # Burg: 2 Σ e_k e_(k-1)/Σ (e_k² + e_(k-1)²), over both stretches.
    found = fit_colour([np.array([1.0, 2.0, 1.0]), np.array([3.0, -1.0])], 1)
    np.testing.assert_allclose(found.coefficients, [2 * (2 + 2 - 3) / (5 + 5 + 10)])
