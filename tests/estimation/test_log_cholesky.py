"""Log-Cholesky coordinates: round trips, derivatives, optimum of the semidefinite program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.errors import DataError
from mechid.estimation.completion import complete
from mechid.estimation.cone import Cone
from mechid.estimation.log_cholesky import LogCholesky, LogCholeskyCoordinates, refine
from mechid.estimation.physical import PhysicallyConsistent
from mechid.estimation.prior import Prior
from mechid.estimation.recover import mahalanobis
from mechid.spatial.inertia import pseudo_inertia

from .consistent import Bayes, erroneous, regression, truth

NAME = "slider_crank"


def chart(known: Prior) -> LogCholeskyCoordinates:
    return LogCholeskyCoordinates(known, known.values, np.diag(known.covariance) > 0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_all_coordinates_are_possible_bodies_and_come_back(seed: int) -> None:
    known = truth(NAME)
    c = chart(known)
    theta = np.random.default_rng(seed).normal(size=c.n)
    phi = c.parameters(theta)
    for _, k in known.bodies:
        assert np.linalg.eigvalsh(pseudo_inertia(phi[k : k + 10]))[0] > 0
    assert np.all(phi[list(known.positive)] > 0)
    back = c.coordinates(phi)
    assert back is not None
    np.testing.assert_allclose(back, theta, rtol=1e-6, atol=1e-6)


def test_jacobian_is_the_complex_step() -> None:
    known = truth(NAME)
    c = chart(known)
    theta = 0.3 * np.random.default_rng(1).normal(size=c.n)
    step = 1e-30
    expected = np.array(
        [c.parameters(theta + 1j * step * unit).imag / step for unit in np.eye(c.n)]
    ).T
    np.testing.assert_allclose(c.jacobian(theta), expected, rtol=1e-12, atol=1e-15)


def test_log_determinant_and_its_metric() -> None:
    known = truth(NAME)
    c = chart(known)
    rng = np.random.default_rng(2)
    theta, along = 0.3 * rng.normal(size=c.n), rng.normal(size=c.n)

    def log_det(phi: np.ndarray) -> float:
        bodies = sum(np.linalg.slogdet(pseudo_inertia(phi[k : k + 10]))[1] for _, k in known.bodies)
        return float(bodies + np.sum(np.log(phi[list(known.positive)])))

    phi = c.parameters(theta)
    change = log_det(c.parameters(theta + along)) - log_det(phi)
    assert change == pytest.approx(float(c.logarithms @ along), rel=1e-9)
    # Straight in φ, the second derivative of -log det is the metric.
    d, h = c.jacobian(theta) @ along, 1e-4
    second = -(log_det(phi + h * d) - 2 * log_det(phi) + log_det(phi - h * d)) / h**2
    assert second == pytest.approx(float(along @ c.metric(theta) @ along), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pendulum", "four_bar", "slider_crank", "sla_suspension"])
@pytest.mark.parametrize("scale", [1.0, np.inf])
def test_optimum_is_that_of_the_semidefinite_program(name: str, scale: float) -> None:
    noise, seed = 0.01, 1
    known, data = erroneous(name, seed), regression(name, noise, seed)
    inner = Bayes(noise, "diagonal")
    a = PhysicallyConsistent(inner, scale)(data, known)
    b = LogCholesky(inner, scale)(data, known)
    assert mahalanobis(a.values - b.values, a.covariance) < 0.01
    assert b.full is not None
    assert min(Cone(known).eigenvalues(b.full).values()) > 0
    np.testing.assert_allclose(known.matrix @ b.full, b.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(a.covariance, b.covariance)


def test_inside_it_is_the_free_estimate() -> None:
    known = truth("planar_3rrr")
    start = complete(known, 1.01 * known.mean)
    T = start.root(known.base_covariance)
    # The search ends within the root of a fiftieth of the barrier: 5e-7 standard deviations.
    found = refine(known, start.phi, T, barrier=1e-11)
    sigma = np.linalg.norm(T, axis=1)
    open_ = sigma > 0
    assert np.abs((found.phi - start.phi)[open_] / sigma[open_]).max() < 1e-6


def test_any_root_of_the_covariance_will_do() -> None:
    """T and T Q with orthonormal Q say the same, though Q leaves no zeros in T."""
    known = erroneous(NAME, 1)
    start = complete(known, 1.02 * known.mean)
    T = start.root(known.base_covariance)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(T.shape[1],) * 2))[0]
    phi = start.phi.copy()
    k = known.positive[0]
    phi[k] = -0.1 * np.linalg.norm(T[k])  # friction that cannot be: it has to move
    one, two = (refine(known, phi, root) for root in (T, T @ Q))
    np.testing.assert_allclose(two.phi, one.phi, rtol=1e-4, atol=1e-8)
    assert one.phi[k] > 0


def test_bad_input_is_refused() -> None:
    data = regression("pendulum", 0.05)
    with pytest.raises(DataError, match="needs the CAD values"):
        LogCholesky()(data)
    with pytest.raises(DataError, match="barrier"):
        LogCholesky(barrier=0.0)(data, truth("pendulum"))
