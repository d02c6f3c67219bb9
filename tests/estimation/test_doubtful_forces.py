"""Errors of what the model takes as known, in standard deviations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.doubtful_forces import DoubtfulForces, response, with_doubtful_forces
from mechid.reduction.rest import completed, restrict

from .problems import prior, regression

PHI = np.array([2.0, -1.0, 0.5, 3.0])
NOISE = np.array([0.1, 0.3, 0.05])


def test_response_is_that_of_the_estimator() -> None:
    """Against an estimate from forces to which the doubtful ones were added, and dense algebra."""
    rng = np.random.default_rng(1)
    r = replace(regression(rng, PHI, NOISE, missing=0.1), noise=NOISE)
    # The last parameter is exactly known.
    P = np.diag([0.04, 0.01, 0.09, 0.0])
    P[0, 1] = P[1, 0] = 0.01
    known = prior(1.1 * PHI, P)
    added = rng.normal(size=(len(r.time), 3, 2))
    estimator = MaximumAPosteriori("full", 1.0, noise="declared")
    plain = estimator(r, known)
    found = response(plain, r, known, added)
    for k in range(2):
        moved = estimator(replace(r, tau=r.tau + added[..., k]), known)
        np.testing.assert_allclose(found[:, k], moved.values - plain.values, atol=1e-10)
    A = (r.W / NOISE[:, None])[r.valid]
    t = (added / NOISE[:, None])[r.valid]
    own = A[:, :3]
    K = np.linalg.solve(np.linalg.inv(P[:3, :3]) + own.T @ own, own.T @ t)
    np.testing.assert_allclose(found, np.vstack([K, np.zeros((1, 2))]), atol=1e-12)


def test_forces_that_were_not_used_do_not_count() -> None:
    """An estimate names no noise of a force that it left out, whose rows are valid all the same."""
    rng = np.random.default_rng(3)
    r = regression(rng, PHI, NOISE)
    known = prior(1.1 * PHI, np.diag((0.2 * PHI) ** 2))
    added = rng.normal(size=(len(r.time), 3, 2))
    less = replace(r, valid=r.valid & np.array([True, False, True]))
    plain = MaximumAPosteriori("full", 1.0)(less, known)
    assert np.isnan(plain.noise[1])
    np.testing.assert_allclose(
        response(plain, r, known, added), response(plain, less, known, added), rtol=1e-12
    )


def test_parameters_at_their_cad_values_do_not_move() -> None:
    """Of a reduced model: the others move as they do in the estimate of them alone."""
    rng = np.random.default_rng(4)
    r = replace(regression(rng, PHI, NOISE), noise=NOISE)
    known = prior(1.1 * PHI, np.diag((0.2 * PHI) ** 2))
    added = rng.normal(size=(len(r.time), 3, 1))
    kept = (r.parameters[2], r.parameters[0])
    estimator = MaximumAPosteriori("full", 1.0, noise="declared")
    values = []
    for tau in (r.tau, r.tau + added[..., 0]):
        small = restrict(replace(r, tau=tau), kept, rest="cad", prior=known)
        values.append(estimator(small, known.select(kept)).values)
    small = restrict(r, kept, rest="cad", prior=known)
    whole = completed(estimator(small, known.select(kept)), r, known)
    doubts = DoubtfulForces(added, "doubtful")
    found = with_doubtful_forces(whole, r, known, doubts, kept)
    moved = np.zeros(4)
    moved[[2, 0]] = values[1] - values[0]
    np.testing.assert_allclose(
        found.covariance - whole.covariance, np.outer(moved, moved), atol=1e-10
    )


def test_standard_deviations_contain_the_errors() -> None:
    rng = np.random.default_rng(2)
    r = regression(rng, PHI, NOISE)
    known = prior(1.1 * PHI, np.diag((0.2 * PHI) ** 2))
    plain = MaximumAPosteriori("full", 1.0)(r, known)
    added = rng.normal(size=(len(r.time), 3, 5))
    found = with_doubtful_forces(plain, r, known, DoubtfulForces(added, "this and that"))
    shifts = response(plain, r, known, added)
    np.testing.assert_array_equal(found.values, plain.values)
    np.testing.assert_allclose(found.sigma**2, plain.sigma**2 + np.sum(shifts**2, axis=1))
    grown = found.sigma / plain.sigma
    said = found.known[-1]
    assert said.startswith("standard deviations contain this and that; that of ")
    assert f"that of {plain.parameters[np.argmax(grown)]} grows most, {grown.max():.3g} t" in said
    # Of a model with fewer parameters, the other columns are no part of the response.
    small = MaximumAPosteriori("full", 1.0)(r.select(("p0", "p3")), known)
    less = with_doubtful_forces(small, r, known, DoubtfulForces(added, "this"))
    assert less.covariance.shape == (2, 2)
    none = with_doubtful_forces(plain, r, known, DoubtfulForces(0 * added, "nothing"))
    assert none.known[-1] == "standard deviations contain nothing"
    assert none.sigma == pytest.approx(plain.sigma)
