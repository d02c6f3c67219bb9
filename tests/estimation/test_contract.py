"""What holds for every estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.estimator import Estimator
from mechid.estimation.instrumental import InstrumentalVariables
from mechid.estimation.least_squares import (
    OrdinaryLeastSquares,
    Ridge,
    Truncated,
    WeightedLeastSquares,
)
from mechid.estimation.prior import Prior
from mechid.estimation.registry import ESTIMATORS
from mechid.estimation.regression import Regression

from .problems import prior, regression

PHI = np.array([2.0, -1.0, 0.5, 3.0])
NOISE = np.array([0.02, 0.3, 0.1])

ALL: dict[str, Estimator] = {name: make() for name, make in ESTIMATORS.items()} | {
    "weighted, whitened": WeightedLeastSquares(whiten=True),
    "weighted, declared": WeightedLeastSquares(noise="declared"),
    "weighted, offsets": WeightedLeastSquares(offsets="estimated"),
    "ols, offsets": OrdinaryLeastSquares(offsets="estimated"),
    "ridge, given": Ridge(penalty=1e-3),
    "truncated, condition": Truncated(condition=50.0),
    "iv, whitened": InstrumentalVariables(whiten=True),
    "map, full": MaximumAPosteriori(prior="full", scale=1.0),
    "map, offsets only": MaximumAPosteriori(prior="none", offsets=0.1),
    "map, everything": MaximumAPosteriori(prior="full", offsets="estimated", whiten=True),
}
# Not equivariant on purpose: all rows alike, whatever their units.
UNITS_MATTER = {"ols", "ols, offsets"}
Made = tuple[Regression, Prior]

every = pytest.mark.parametrize("name", ALL)


def problem(noise: float = 1.0, seed: int = 1) -> Made:
    """Return a problem with gaps, known forces, a declared noise and instruments."""
    rng = np.random.default_rng(seed)
    r = regression(rng, PHI, noise * NOISE, n=80, known=0.5, missing=0.1)
    # Two channels are noisier than declared, one is not.
    declared = noise * NOISE * np.array([0.9, 0.5, 1.5])
    r = replace(r, instruments=r.W + 0.01 * rng.normal(size=r.W.shape), noise=declared)
    L = np.tril(rng.normal(size=(4, 4)), -1) * 0.1 + np.diag([0.3, 0.2, 0.1, 0.5])
    return r, prior(PHI + L @ rng.normal(size=4), L @ L.T)


def close(a: Estimate, b: Estimate, within: float = 0.01) -> None:
    """Demand that values differ by little of their deviation, and deviations by little."""
    np.testing.assert_allclose((a.values - b.values) / b.sigma, 0.0, atol=within)
    np.testing.assert_allclose(a.sigma, b.sigma, rtol=within)
    np.testing.assert_allclose(a.noise, b.noise, rtol=within)
    np.testing.assert_allclose(a.condition, b.condition, rtol=within)


def expected(found: Estimate, r: Regression) -> np.ndarray:
    forces = predict(found, r).forces
    if found.errors is None:
        return forces
    # Predicted forces have the offsets, but not the gains.
    return forces + found.errors.gain * (forces - found.errors.offset)


@every
def test_the_record(name: str) -> None:
    r, k = problem()
    found = ALL[name](r, k)
    assert found.method == ALL[name].name
    assert found.parameters == r.parameters
    assert found.channels == r.channels
    np.testing.assert_allclose(found.covariance, found.covariance.T, rtol=1e-12)
    least, most = np.linalg.eigvalsh(found.covariance)[[0, -1]]
    assert least >= -1e-12 * most
    assert np.all(found.sigma > 0)
    assert found.condition >= 1
    # Noise is found within what 80 samples tell, but not below what was declared.
    if name == "weighted, declared":
        np.testing.assert_array_equal(found.noise, r.noise)
    else:
        assert np.all(found.noise > 0.6 * NOISE)
        assert np.all(found.noise < 1.7 * NOISE)
        assert np.all(found.noise >= r.noise)
    left = np.where(r.valid, r.tau, np.nan) - expected(found, r) - found.residuals
    drift = None if found.errors is None else found.errors.drift
    size = np.zeros(3) if drift is None else drift
    np.testing.assert_allclose(np.sqrt(np.nanmean(left**2, axis=0)), size, rtol=0.2, atol=1e-10)
    np.testing.assert_array_equal(np.isnan(found.residuals), ~r.valid)
    assert (found.colour is not None) == getattr(ALL[name], "whiten", False)


@every
def test_truth_is_found_within_its_deviation(name: str) -> None:
    r, k = problem()
    found = ALL[name](r, k)
    assert np.all(np.abs(found.values - PHI) < 4.5 * found.sigma)


@every
def test_exact_data_give_exact_values(name: str) -> None:
    r, k = problem(noise=0.0)
    r = replace(r, instruments=r.W, noise=np.full(3, 1e-9) if "declared" in name else None)
    found = ALL[name](r, k)
    # A given penalty shrinks values by its ratio to the squared singular values.
    rtol = 5e-3 if name == "ridge, given" else 1e-9
    np.testing.assert_allclose(found.values, PHI, rtol=rtol)
    assert not any("settle" in w for w in found.warnings)


@pytest.mark.slow
@every
def test_order_does_not_matter(name: str) -> None:
    r, k = problem()
    found = ALL[name](r, k)
    j, i = np.array([2, 0, 1]), np.array([3, 1, 0, 2])
    assert r.instruments is not None
    assert r.noise is not None
    swapped = Regression(
        r.W[:, j][:, :, i],
        r.tau[:, j],
        r.known[:, j],
        r.time,
        tuple(r.parameters[a] for a in i),
        tuple(r.channels[a] for a in j),
        r.units,
        r.valid[:, j],
        r.instruments[:, j][:, :, i],
        r.noise[j],
    )
    again = ALL[name](swapped, k)
    back = replace(
        again,
        values=again.values[np.argsort(i)],
        covariance=again.covariance[np.ix_(np.argsort(i), np.argsort(i))],
        noise=again.noise[np.argsort(j)],
    )
    close(back, found)
    if found.colour is None:  # else the order of samples is part of what is known
        order = np.random.default_rng(0).permutation(len(r.time))
        close(ALL[name](r.part(order), k), found)


@every
def test_units_do_not_matter(name: str) -> None:
    r, k = problem()
    found = ALL[name](r, k)
    c = np.array([1e3, 1.0, 1e-4, 7.0])
    assert r.instruments is not None
    assert r.noise is not None
    other = replace(r, W=r.W / c, instruments=r.instruments / c)
    told = replace(k, matrix=c[:, None] * k.matrix)
    again = ALL[name](other, told)
    back = replace(again, values=again.values / c, covariance=again.covariance / np.outer(c, c))
    close(back, found)
    if name in UNITS_MATTER:
        return
    f = np.array([1e3, 1.0, 1e-2])
    scaled = replace(
        r,
        W=r.W * f[:, None],
        tau=r.tau * f,
        known=r.known * f,
        instruments=r.instruments * f[:, None],
        noise=r.noise * f,
    )
    again = ALL[name](scaled, k)
    close(replace(again, noise=again.noise / f), found)


@every
def test_rows_that_are_not_valid_are_not_read(name: str) -> None:
    r, k = problem()
    found = ALL[name](r, k)
    W, tau, known = r.W.copy(), r.tau.copy(), r.known.copy()
    for x, junk in ((W, np.nan), (tau, np.inf), (known, np.nan)):
        x[~r.valid] = junk
    assert r.instruments is not None
    Z = r.instruments.copy()
    Z[~r.valid] = np.nan
    again = ALL[name](replace(r, W=W, tau=tau, known=known, instruments=Z), k)
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_array_equal(again.covariance, found.covariance)


@every
def test_a_channel_without_rows_changes_nothing(name: str) -> None:
    r, k = problem()
    valid = r.valid.copy()
    valid[:, 1] = False
    found = ALL[name](replace(r, valid=valid), k)
    assert np.all(np.isfinite(found.values))
    assert np.all(np.isfinite(found.covariance))
    assert np.isnan(found.noise[1]) or "declared" in name
    keep = [0, 2]
    assert r.instruments is not None
    assert r.noise is not None
    without = Regression(
        r.W[:, keep], r.tau[:, keep], r.known[:, keep], r.time, r.parameters, ("f0", "f2"),
        ("N", "N"), r.valid[:, keep], r.instruments[:, keep], r.noise[keep],
    )  # fmt: skip
    again = ALL[name](without, k)
    np.testing.assert_allclose((again.values - found.values) / found.sigma, 0.0, atol=0.01)


NEEDS_KNOWLEDGE = [n for n in ALL if n.startswith("map") and n != "map, offsets only"]


@pytest.mark.parametrize("name", NEEDS_KNOWLEDGE)
def test_missing_knowledge_is_refused(name: str) -> None:
    r, k = problem()
    with pytest.raises(DataError, match=r"needs CAD values .* declare them"):
        ALL[name](r)
    with pytest.raises(DataError, match="no standard deviations of the CAD values are declared"):
        ALL[name](r, replace(k, covariance=np.zeros((4, 4))))


@pytest.mark.parametrize(
    "name", sorted(set(ALL) - set(NEEDS_KNOWLEDGE) - {"ridge", "ridge, given"})
)
def test_too_few_rows_are_refused(name: str) -> None:
    r, k = problem()
    few = replace(r.part(slice(0, 1)), noise=None)
    with pytest.raises(DataError):
        ALL[name](few, k)


def bad_options() -> list[tuple[Callable[[], Estimator], str]]:
    M = MaximumAPosteriori
    return [
        (lambda: M(prior="cad"), "the prior must be diagonal, full or none, got cad"),  # type: ignore[arg-type]
        (lambda: M(scale=-1.0), "scale of the prior must be a number ≥ 0 or estimated"),
        (lambda: M(offsets="shared"), "deviation of offsets must be a number ≥ 0 or estimated"),  # type: ignore[arg-type]
        (lambda: M(noise="known"), "noise must be estimated or declared, got known"),  # type: ignore[arg-type]
        (lambda: M(prior="none", offsets=-0.1), "deviation of offsets must be"),
        (lambda: OrdinaryLeastSquares(offsets=0.1), "offsets of least squares must be estimated"),  # type: ignore[arg-type]
        (lambda: Ridge(penalty=-1.0), "the penalty must be"),
        (lambda: Truncated(rank=5), "the rank must be between 1 and 4, got 5"),
        (lambda: Truncated(condition=0.5), "condition number must be ≥ 1"),
        (lambda: ESTIMATORS["huber"](threshold=0.0), "threshold must be > 0"),
    ]


@pytest.mark.parametrize(("make", "message"), bad_options())
def test_bad_options_are_refused(make: Callable[[], Estimator], message: str) -> None:
    r, k = problem()
    with pytest.raises(DataError, match=message):
        make()(r, k)


def test_declared_noise_must_be_declared() -> None:
    r, k = problem()
    with pytest.raises(DataError, match="no error of force f0 is declared"):
        WeightedLeastSquares(noise="declared")(replace(r, noise=None), k)
