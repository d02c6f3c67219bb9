"""Records of estimates: predicted forces, offsets of logs, errors taken away, warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.estimate import (
    ChannelErrors,
    Estimate,
    Finding,
    predict,
    without_channel_errors,
)
from mechid.estimation.estimate_warnings import coloured_residuals, enough, estimate_warnings
from mechid.estimation.regression import Regression

from .problems import coloured, regression

X = np.array([1.0, -2.0])
C = np.array([[0.04, 0.01], [0.01, 0.09]])
NOISE = np.array([0.5, 2.0])


def problem() -> Regression:
    r = regression(np.random.default_rng(0), X, 0.1, n=6, n_d=2, known=1.0)
    return replace(r, log=np.array([3, 3, 5, 5, 8, 8]))


def estimate(r: Regression, errors: ChannelErrors | None = None) -> Estimate:
    residuals = np.arange(12.0).reshape(6, 2)
    return Estimate("map", r.parameters, X, C, r.channels, NOISE, residuals, 1.0, errors=errors)


ERRORS = ChannelErrors(
    gain=np.array([0.1, 0.0]),
    sigma_gain=np.zeros(2),
    offset=np.array([7.0, 8.0]),
    sigma_offset=np.array([0.3, 0.4]),
    cross=np.array([[0.01, -0.02], [0.03, 0.0]]),
    by_log=np.array([[1.0, 2.0], [3.0, 4.0]]),
    logs=(3, 5),
)


def test_errors_that_were_estimated() -> None:
    """Those that differ from zero in some force."""
    assert set(ERRORS.terms) == {"gain", "offset"}
    sizes, sigma = ERRORS.terms["gain"]
    np.testing.assert_array_equal(sizes, [0.1, 0.0])
    np.testing.assert_array_equal(sigma, [0.0, 0.0])
    late = replace(ERRORS, delay=np.array([0.0, 0.1]), offset=np.zeros(2), drift=np.zeros(2))
    assert set(late.terms) == {"gain", "delay"}


def test_offsets_of_samples() -> None:
    """Of their log; of a log that was not there the mean."""
    r = problem()
    wanted = np.repeat([[1.0, 2.0], [3.0, 4.0], [7.0, 8.0]], 2, axis=0)
    np.testing.assert_array_equal(ERRORS.of_samples(r), wanted)
    np.testing.assert_array_equal(ERRORS.of_samples(replace(r, log=None))[4], [7.0, 8.0])
    alone = replace(ERRORS, by_log=None)
    np.testing.assert_array_equal(alone.of_samples(r)[0], [7.0, 8.0])


def test_predicted_forces() -> None:
    """One row at a time: w C wᵀ, with offsets σ² + 2 w c besides; noise of the channel on top."""
    r = problem()
    for errors in (None, ERRORS, replace(ERRORS, cross=None)):
        found = predict(estimate(r, errors), r)
        for n in range(6):
            for j in range(2):
                w = r.W[n, j]
                force, variance = w @ X + r.known[n, j], w @ C @ w
                if errors is not None:
                    force += ERRORS.of_samples(r)[n, j]
                    variance += ERRORS.sigma_offset[j] ** 2
                    if errors.cross is not None:
                        variance += 2 * w @ errors.cross[:, j]
                assert found.forces[n, j] == pytest.approx(force)
                assert found.sigma[n, j] == pytest.approx(np.sqrt(max(variance, 0.0)))
                total = np.sqrt(max(variance, 0.0) + NOISE[j] ** 2)
                assert found.total[n, j] == pytest.approx(total)


def test_what_forces_of_the_same_machine_do_not_contain() -> None:
    """Rows with the covariance less that of what the model may lack."""
    r = problem()
    root = np.array([[0.1], [-0.2]])
    found = predict(replace(estimate(r), doubted=root), r)
    sigma = np.sqrt(np.einsum("nij,jk,nik->ni", r.W, C - root @ root.T, r.W))
    np.testing.assert_allclose(found.sigma, sigma)
    np.testing.assert_allclose(found.total, np.hypot(sigma, NOISE))


def test_measurements_by_the_same_sensors() -> None:
    """With gains γ about zero: the variance of w φ + force γ, of both together."""
    r = problem()
    gain, cross = np.array([0.05, 0.02]), np.array([[-0.004, 0.001], [0.01, 0.002]])
    zero = np.zeros(2)
    errors = ChannelErrors(zero, gain, zero, zero, cross_gain=cross)
    found = predict(estimate(r, errors), r)
    forces = r.W @ X + r.known
    for n in range(6):
        for j in range(2):
            w = np.append(r.W[n, j], forces[n, j])
            both = np.block([[C, cross[:, [j]]], [cross[:, j], gain[j] ** 2]])
            total = np.sqrt(w @ both @ w + NOISE[j] ** 2)
            assert found.by_same_sensors[n, j] == pytest.approx(total)
            assert found.sigma[n, j] == pytest.approx(np.sqrt(w[:2] @ C @ w[:2]))


@pytest.mark.parametrize(
    ("values", "unit", "words"),
    [
        ((0.5,), "N", "offset of F: 0.5 ± 0.1 N, 3 % of the force, probability 0.60"),
        ((3.0, 4.0), "m", "offset of F: 5 m, 3 % of the force, probability 0.60"),
        ((3.0,) * 4, "m", "offset of F: 3 % of the force, probability 0.60"),
        ((0.5,), "", "offset of F: 3 % of the force, probability 0.60"),
    ],
)
def test_words_of_what_was_found(values: tuple[float, ...], unit: str, words: str) -> None:
    one = Finding(
        "offset of F", "offsets", "log", "F", 0.6, values, (0.1,) * len(values), unit, 0.03, "zero"
    )
    assert one.words == words
    assert one.likely
    assert not replace(one, probability=0.49).likely


def test_more_parameters_than_were_estimated() -> None:
    r = problem()
    wide = replace(
        r, W=np.concatenate([r.W[..., 1:], np.ones((6, 2, 1)), r.W[..., :1]], axis=2),
        parameters=("p1", "other", "p0"),
    )  # fmt: skip
    np.testing.assert_allclose(
        predict(estimate(r), wide).forces, predict(estimate(r), r).forces, rtol=1e-12
    )


def test_errors_of_the_channels_are_taken_away() -> None:
    r = problem()
    assert without_channel_errors(estimate(r), r) is r
    found = without_channel_errors(estimate(r, ERRORS), r, identification=False)
    np.testing.assert_allclose(found.tau, r.tau - ERRORS.of_samples(r))
    e = np.arange(12.0).reshape(6, 2)
    e[2, 1] = np.nan
    found = without_channel_errors(replace(estimate(r, ERRORS), residuals=e), r)
    wanted = r.W @ X + r.known + e / np.array([1.1, 1.0])
    wanted[2, 1] = r.tau[2, 1]
    np.testing.assert_allclose(found.tau, wanted)


def test_standard_deviations() -> None:
    """Rounding may leave a variance below zero, which is none."""
    r = problem()
    found = replace(estimate(r), covariance=np.diag([-1e-20, 0.25]), values=np.array([1.0, -2.0]))
    np.testing.assert_array_equal(found.sigma, [0.0, 0.5])
    np.testing.assert_allclose(found.relative, [0.0, 25.0])


@pytest.mark.parametrize(
    ("sigma", "prior", "words"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], False, None),  # as large as the value is not above 100 %
        ([1.0, 2.1, 3.0, 4.0, 5.0], False, r"1 of 5 .* 100 % \(b; condition number 50\)"),
        ([1.1, 2.1, 3.1, 4.0, 5.0], False, r"3 of 5 parameters .* \(a, b, c; "),
        ([1.1, 2.1, 3.1, 4.1, 5.0], False, r"4 of 5 parameters .* \(a, b, c, …; "),
        ([1.1, 2.1, 3.1, 4.1, 5.0], True, None),
    ],
)  # fmt: skip
def test_vague_values_are_named(sigma: list[float], prior: bool, words: str | None) -> None:
    values = np.array([1.0, -2.0, 3.0, -4.0, 5.0])
    said = estimate_warnings("abcde", values, np.array(sigma), 50.0, 0, prior=prior)
    assert len(said) == (words is not None)
    if words is not None:
        with pytest.raises(ValueError, match=words):
            raise ValueError(said[0])
    (unseen,) = estimate_warnings("abcde", values, 0 * values, 50.0, 2)
    assert unseen.startswith("2 of 5 combinations of parameters are not visible in the data")


def test_coloured_residuals_are_named_once() -> None:
    """A fifth of the variance explained: a = √0.2 = 0.447. Rounding of exact data is not named."""
    rng = np.random.default_rng(1)
    n = 4000
    r = regression(rng, [1.0, 2.0], n=n, n_d=3)
    e = np.column_stack([coloured(rng, (n, 1), ar)[:, 0] for ar in ((0.6,), (0.40,), (0.5,))])
    (said,) = coloured_residuals(r, e[r.valid])
    assert said.startswith("the residuals of force f0, f2 are coloured")
    # Low frequencies of e: √(1 - a²)/(1 - a) is 2 for 0.6.
    assert "by a factor of up to 2;" in said or "by a factor of up to 1.9;" in said
    logs = replace(r, log=np.repeat([0, 1], n // 2))
    (said,) = coloured_residuals(logs, e[r.valid])
    assert said.startswith("the residuals of force f0, f2 are coloured")
    assert coloured_residuals(r, 1e-9 * e[r.valid]) == ()
    (said,) = coloured_residuals(r, 1e-7 * e[r.valid])
    assert "force f0, f2" in said
    e[:, [0, 2]] = rng.standard_normal((n, 2))
    assert coloured_residuals(r, e[r.valid]) == ()


def test_rows_and_parameters() -> None:
    enough(3, 3)
    with pytest.raises(DataError, match="2 measured values are too few for 3 parameters"):
        enough(2, 3)
