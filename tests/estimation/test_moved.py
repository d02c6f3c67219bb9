"""Estimates that are moved to what bodies can have: residuals, offsets and bounds by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.cone import Cone, Consistent
from mechid.estimation.estimate import ChannelErrors, Estimate
from mechid.estimation.log_cholesky import LogCholesky
from mechid.estimation.physical import (
    POSSIBLE,
    PhysicallyConsistent,
    moved,
    possible,
    required,
    shift_words,
)
from mechid.estimation.prior import Prior
from mechid.estimation.recover import mahalanobis, regressed
from mechid.estimation.regression import Regression
from mechid.spatial.inertia import parameters

from .problems import regression

BODY = parameters(2.0, np.zeros(3), np.array([0.3, 0.0, 0.0, 0.4, 0.0, 0.5]))


def test_lengths_in_standard_deviations() -> None:
    """Also of a singular covariance: along (1, 2), with variance 5 · 4 there."""
    C = 4.0 * np.outer([1.0, 2.0], [1.0, 2.0])
    assert mahalanobis(np.array([3.0, 6.0]), C) == pytest.approx(1.5)
    full = np.array([[2.0, 0.5], [0.5, 1.0]])
    d = np.array([1.0, -3.0])
    assert mahalanobis(d, full) == pytest.approx(np.sqrt(d @ np.linalg.inv(full) @ d))
    cross = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 3.0]])
    np.testing.assert_allclose(regressed(cross, full, d), cross.T @ np.linalg.inv(full) @ d)


def estimate(r: Regression, errors: ChannelErrors | None) -> Estimate:
    C = np.array([[2.0, 0.5], [0.5, 1.0]])
    residuals = np.arange(8.0).reshape(4, 2)
    return Estimate(
        "map", r.parameters, np.array([1.0, 2.0]), C, r.channels, np.ones(2), residuals, 1.0,
        known=("k",), warnings=("w",), errors=errors,
    )  # fmt: skip


@pytest.mark.parametrize("logs", [False, True])
def test_residuals_and_offsets_follow(logs: bool) -> None:
    """Shift (1, -3); offsets as they are correlated with the parameters."""
    r = regression(np.random.default_rng(0), [1.0, 2.0], n=4, n_d=2)
    names = ("a", "b", "c")
    known = Prior(names, r.parameters, np.array([[1.0, 1, 0], [0, 0, 1]]), np.ones(3), np.eye(3))
    phi = np.array([0.5, 1.5, -1.0])
    shift = np.array([1.0, -3.0])
    plain = moved(estimate(r, None), r, known, phi, "physical", ("x",))
    np.testing.assert_allclose(plain.values, [2.0, -1.0])
    np.testing.assert_allclose(plain.residuals, np.arange(8.0).reshape(4, 2) - r.W @ shift)
    assert plain.method == "physical"
    assert plain.known == ("k", POSSIBLE)
    assert plain.warnings == ("w", "x")
    np.testing.assert_array_equal(plain.full, phi)
    cross = np.array([[0.2, 0.0], [0.1, -0.4]])
    errors = ChannelErrors(
        np.array([0.1, -0.5]), np.zeros(2), np.array([7.0, 8.0]), np.ones(2), cross,
        by_log=np.array([[6.0, 7.0], [8.0, 9.0]]) if logs else None,
    )  # fmt: skip
    found = moved(estimate(r, errors), r, known, phi, "physical", ())
    offset = cross.T @ np.linalg.inv(found.covariance) @ shift
    wanted = np.arange(8.0).reshape(4, 2) - np.array([1.1, 0.5]) * (r.W @ shift) - offset
    np.testing.assert_allclose(found.residuals, wanted)
    assert found.errors is not None
    np.testing.assert_allclose(found.errors.offset - offset, [7.0, 8.0])
    if logs:
        assert found.errors.by_log is not None
        np.testing.assert_allclose(found.errors.by_log, np.array([[6, 7], [8, 9]]) + offset)
    alone = moved(estimate(r, replace(errors, cross=None)), r, known, phi, "physical", ())
    assert alone.errors is not None
    np.testing.assert_array_equal(alone.errors.offset, [7.0, 8.0])


def one_body(sigma: float, mx: float) -> tuple[Estimate, Regression, Prior]:
    """Return an estimate of a body of which only mx is uncertain; √0.6 is the most it can be."""
    names = tuple(f"p{k}" for k in range(10))
    C = np.zeros((10, 10))
    C[1, 1] = sigma**2
    known = Prior(names, names, np.eye(10), BODY, C, bodies=(("body", 0),))
    values = BODY.copy()
    values[1] = mx
    r = regression(np.random.default_rng(0), BODY, n=20, n_d=2)
    found = Estimate("map", names, values, C, r.channels, np.ones(2), np.zeros((20, 2)), 1.0)
    return found, r, known


@pytest.mark.parametrize(
    ("sigma", "mx", "outcome"),
    [
        (0.2, 0.7, "stays"),
        (0.2, 3.0, "moved"),  # by 11.1 standard deviations, of 4 √10 = 12.6
        (0.15, 3.0, "kept"),  # by 14.8
    ],
)
def test_what_bodies_cannot_have(sigma: float, mx: float, outcome: str) -> None:
    free, r, known = one_body(sigma, mx)
    found = possible(free, r, known)
    if outcome == "stays":
        assert found is free
    elif outcome == "moved":
        assert found.values[1] == pytest.approx(np.sqrt(0.6), rel=1e-3)
        assert found.method == "map"
        assert found.full is not None
    else:
        np.testing.assert_array_equal(found.values, free.values)
        assert (
            "no physically consistent parameters have the base values that fit best"
            in found.warnings[0]
        )
        assert found.warnings[1].startswith("the estimate keeps its values")
    assert possible(free, r, replace(known, bodies=())) is free


@pytest.mark.parametrize("variance", [[1.0, 1.0, 1.0], [1.0, 4.0, 25.0]])
def test_where_values_are_moved_to(variance: list[float]) -> None:
    """Moments (1, 2, 6) to the nearest with Ixx + Iyy = Izz, 3 away: each by its variance."""
    free, r, known = one_body(1.0, 0.0)
    moments, C = [4, 7, 9], np.zeros((10, 10))
    C[moments, moments] = variance
    free.values[moments] = 1.0, 2.0, 6.0
    free, known = replace(free, covariance=C), replace(known, covariance=C)
    total = sum(variance)
    nearest = np.array([1.0, 2.0, 6.0]) + 3 / total * np.array([1, 1, -1]) * variance
    for found in (
        possible(free, r, known),
        PhysicallyConsistent(lambda *_: free)(r, known),  # type: ignore[arg-type]
    ):
        np.testing.assert_allclose(found.values[moments], nearest, rtol=1e-4)
        np.testing.assert_array_equal(found.covariance, C)
        far = 3 / np.sqrt(total)
        assert f"nearest ones are {far:.2g} standard deviations away" in found.warnings[0]
    near = LogCholesky(lambda *_: free)(r, known)  # type: ignore[arg-type]
    np.testing.assert_allclose(near.values[moments], nearest, rtol=1e-2)


def test_shifts_that_are_worth_a_word() -> None:
    """More than a hundredth of a standard deviation."""
    names = ("a",)
    known = Prior(names, names, np.eye(1), np.ones(1), np.eye(1))
    r = regression(np.random.default_rng(0), [1.0], n=4, n_d=2)
    free = replace(
        estimate(replace(r, parameters=names), None), values=np.ones(1), covariance=4.0 * np.eye(1)
    )
    assert shift_words(free, known, Consistent(np.array([1.019]), 0.0, ())) == ()
    assert shift_words(free, known, Consistent(np.array([1.021]), 0.0, ()))
    (said,) = shift_words(free, known, Consistent(np.array([1.03]), 0.0, ("a",)))
    assert said.endswith("the nearest ones are 0.015 standard deviations away (at the boundary: a)")
    with pytest.raises(DataError, match="the estimator x needs the CAD values"):
        required(None, "x")
    assert required(known, "x") is known


def test_what_is_at_the_boundary() -> None:
    """Coefficients below ten margins of 1e-6, in units of their CAD values, beyond the margin."""
    names = ("a", "b", "c")
    known = Prior(
        names, names, np.eye(3), np.array([5.0, 5.0, 0.0]), np.diag([0, 0, 4.0]), positive=(0, 1, 2)
    )
    cone = Cone(known)
    phi = np.array([5 * 1.09e-5, 5 * 1.11e-5, 2 * 0.9e-8])
    assert cone.border(phi) == ("a", "c")
    np.testing.assert_allclose(cone.slack(phi), [0.99e-5, 1.01e-5, 0.9e-8], rtol=1e-9)
    assert cone.border(np.array([5.0, 5.0, 2 * 1.1e-8])) == ()
    inside = cone.nearest(np.array([1.0, 2.0, 3.0]), np.eye(3))
    assert inside is not None
    assert inside.distance == 0.0
    outside = cone.nearest(np.array([-3.0, 2.0, 3.0]), np.diag([2.0, 1.0, 1.0]))
    assert outside is not None
    assert outside.distance == pytest.approx(1.5, rel=1e-5)
    np.testing.assert_allclose(outside.phi, [5e-6, 2.0, 3.0], atol=1e-7)
    assert cone.nearest(np.array([-3.0, 2.0, 3.0]), np.zeros((3, 2))) is None
    assert cone.nearest(np.array([-3.0, 2.0, 3.0]), np.diag([0.0, 1.0, 1.0])) is None


def test_eigenvalues_of_bodies() -> None:
    """In units of CAD: one for CAD values, and the factor for a body that is so much lighter."""
    names = tuple(f"p{k}" for k in range(10))
    known = Prior(names, names, np.eye(10), BODY, np.eye(10), bodies=(("body", 0),))
    cone = Cone(known, 0.01)
    assert cone.eigenvalues(BODY)["body"] == pytest.approx(1.0)
    assert cone.eigenvalues(0.3 * BODY)["body"] == pytest.approx(0.3)
    np.testing.assert_allclose(cone.slack(0.3 * BODY), [0.29])
    # Of a CAD value at most half of its own distance is asked for.
    np.testing.assert_allclose(Cone(known, 0.8).slack(BODY), [0.5])
