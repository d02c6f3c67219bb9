"""Logs against each other: differences in standard deviations, predictions from the others."""

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.regression import Regression, joined
from mechid.validation.logs import between_logs, log_spread, without_each_log

from .problems import knowing, problem

X = np.array([1.0, -2.0, 3.0])


def logs(n: int = 2, noise: float = 0.3, seed: int = 0) -> Regression:
    return joined([problem(X, channels=1, noise=noise, seed=100 * seed + k) for k in range(n)])


def least_squares(r: Regression, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and covariance of plain least squares, from the normal equations."""
    A, t = r.W[k].reshape(-1, len(X)), r.tau[k].ravel()
    inverse = np.linalg.inv(A.T @ A)
    x = inverse @ A.T @ t
    return x, inverse * np.sum((t - A @ x) ** 2) / (len(t) - len(X))


def test_differences_are_those_of_the_definition() -> None:
    r = logs()
    estimates, spread = between_logs(OrdinaryLeastSquares(), r)
    (a, A), (b, B) = (least_squares(r, r.logs == k) for k in range(2))
    np.testing.assert_allclose([e.values for e in estimates], [a, b])
    z = (a - b) / np.sqrt(np.diag(A + B))
    np.testing.assert_allclose(spread.z, [z], rtol=1e-8)
    assert spread.rms == pytest.approx(np.sqrt(np.mean(z**2)))
    assert spread.whitened == pytest.approx(np.sqrt((a - b) @ np.linalg.solve(A + B, a - b) / 3))
    assert spread.largest == (f"p{np.argmax(np.abs(z)):02d}", pytest.approx(np.abs(z).max()))
    assert spread.determined == r.parameters


def test_white_noise_gives_one_and_model_errors_more() -> None:
    """Over many problems: differences are as large as their standard deviations say."""
    spreads = [between_logs(OrdinaryLeastSquares(), logs(3, seed=k))[1] for k in range(60)]
    assert np.mean([s.rms**2 for s in spreads]) == pytest.approx(1, abs=0.2)
    assert np.mean([s.whitened**2 for s in spreads]) == pytest.approx(1, abs=0.2)
    assert spreads[0].z.shape == (3, 3)
    r = logs()
    moved = replace(r, tau=r.tau + np.where(r.logs == 0, 1.0, 0.0)[:, None] * r.W[..., 0])
    spread = between_logs(OrdinaryLeastSquares(), moved)[1]
    # A step of 1 in columns of variance 1, 60 samples of noise 0.3 in each log.
    assert spread.largest == ("p00", pytest.approx(1 / (0.3 * np.sqrt(2 / 60)), rel=0.3))


def estimate(values: list[float], covariance: np.ndarray, resting: tuple[str, ...]) -> Estimate:
    names = ("a", "b", "c")
    return Estimate(
        "map", names, np.array(values), covariance, ("F",), np.ones(1), np.zeros((1, 1)), 1.0,
        resting=resting,
    )  # fmt: skip


def test_what_the_prior_determines_does_not_count() -> None:
    C = np.diag([1.0, 4.0, 0.0])
    spread = log_spread([estimate([1, 5, 2], C, ("a",)), estimate([2, 1, 2], C, ())])
    np.testing.assert_allclose(spread.z, [[np.nan, 4 / np.sqrt(8), np.nan]])
    assert spread.determined == ("b",)
    assert spread.whitened == pytest.approx(np.sqrt(2))
    nothing = log_spread([estimate([1, 5, 2], C, ("a", "b"))] * 2)
    assert nothing.largest is None
    assert np.isnan([nothing.rms, nothing.whitened]).all()
    assert "LogSpread" in repr(nothing)


def test_directions_that_are_known_exactly_do_not_count() -> None:
    """a + b is known: the two differences are one."""
    C = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    spread = log_spread([estimate([3, -3, 0], C, ()), estimate([0, 0, 0], C, ())])
    assert spread.whitened == pytest.approx(np.sqrt(4.5 / 2))


def test_estimates_without_each_log() -> None:
    r = logs(3)
    found = without_each_log(OrdinaryLeastSquares(), r)
    for k, e in enumerate(found):
        np.testing.assert_allclose(e.values, least_squares(r, r.logs != k)[0])
    two = logs(2)
    alone, _ = between_logs(MaximumAPosteriori(scale=1.0), two, knowing(X + 0.1, 0.5))
    without = without_each_log(MaximumAPosteriori(scale=1.0), two, knowing(X + 0.1, 0.5))
    np.testing.assert_array_equal([e.values for e in without], [e.values for e in alone[::-1]])


def test_logs_that_do_not_suffice_are_named() -> None:
    r = joined([problem(X), problem(X, samples=1)])
    with pytest.raises(DataError, match="log 2: 2 measured values are too few"):
        between_logs(OrdinaryLeastSquares(), r)
    with pytest.raises(DataError, match="log 1: 2 measured values are too few"):
        without_each_log(OrdinaryLeastSquares(), r)
    with pytest.raises(DataError, match="give at least 2 logs"):
        between_logs(OrdinaryLeastSquares(), problem(X))
