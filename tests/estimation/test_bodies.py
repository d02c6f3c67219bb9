"""Units of bodies: pseudo-inertia in CAD units, thickness of points and rods, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.bodies import body_scale, body_scales, column_sizes, scaled, with_thickness
from mechid.estimation.implausible import dead, unlike_cad
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.spatial.inertia import parameters, pseudo_inertia

from .problems import prior, regression

BODY = parameters(2.0, np.array([0.1, -0.2, 0.05]), np.array([0.3, 0.01, -0.02, 0.25, 0.03, 0.2]))


def bodies(*phis: np.ndarray, covariance: np.ndarray | None = None) -> Prior:
    n = 10 * len(phis)
    names = tuple(f"p{k}" for k in range(n))
    C = np.zeros((n, n)) if covariance is None else covariance
    listed = tuple((f"body_{k}", 10 * k) for k in range(len(phis)))
    return Prior(names, names, np.eye(n), np.concatenate(phis), C, bodies=listed)


def test_units_of_a_body() -> None:
    """Σ = L Lᵀ, so that S of Σ = L S Lᵀ is one; of twice the body two."""
    L = body_scale(BODY)
    np.testing.assert_allclose(L @ L.T, pseudo_inertia(BODY), rtol=1e-12)
    np.testing.assert_allclose(scaled(2 * BODY, L), 2 * np.eye(4), atol=1e-12)


def test_flat_bodies_have_units() -> None:
    """A sheet in x and y: eigenvalues of the scaled Σ are at least a millionth."""
    sheet = parameters(2.0, np.zeros(3), np.array([0.1, 0, 0, 0.2, 0, 0.3]))
    L = body_scale(sheet)
    S = L @ L.T
    # ∫x² = 0.2, ∫y² = 0.1, ∫z² = 0, in units of their sum 0.3.
    np.testing.assert_allclose(np.diag(S), [0.2, 0.1, 0.3e-6, 2.0], rtol=1e-9)


@pytest.mark.parametrize(
    "phi", [np.zeros(10), np.append(-1.0, BODY[1:]), np.append(1.0, np.zeros(9)), -BODY]
)
def test_bodies_without_mass_or_extension(phi: np.ndarray) -> None:
    with pytest.raises(DataError, match="mass and second moments are not positive"):
        body_scale(phi)
    with pytest.raises(DataError, match="CAD values of body_1"):
        body_scales(bodies(BODY, phi))


@pytest.mark.parametrize("other", [True, False])
def test_a_point_at_its_origin_gets_a_hundredth_of_the_radius(other: bool) -> None:
    """Of gyration of the other bodies about their origins, or of 1 m: 1e-4 of m r² each way."""
    point = np.append(3.0, np.zeros(9))
    radius2 = (BODY[4] + BODY[7] + BODY[9]) / 2 / 2.0 if other else 1.0
    light = parameters(9.0, np.zeros(3), np.array([1e-3, 0, 0, 1e-3, 0, 1e-3]))
    known = bodies(point, *([BODY, light] if other else []))
    found = with_thickness(known)
    np.testing.assert_array_equal(found.values[10:], known.values[10:])
    second = 1e-4 * 3.0 * radius2
    wanted = [3.0, 0, 0, 0, 2 * second, 0, 0, 2 * second, 0, 2 * second]
    np.testing.assert_allclose(found.values[:10], wanted, atol=1e-15)
    # ∫x² may be off by 20 %, ∫xy by 10 %, each by itself; Ixx = ∫y² + ∫z², Ixy = -∫xy.
    C = np.zeros((10, 10))
    one, cross = (0.2 * second) ** 2, (0.1 * second) ** 2
    C[np.ix_([4, 7, 9], [4, 7, 9])] = one * (1 + np.eye(3))
    C[5, 5] = C[6, 6] = C[8, 8] = cross
    np.testing.assert_allclose(found.covariance[:10, :10], C, rtol=1e-9, atol=1e-25)
    assert not np.any(found.covariance[10:])


def test_an_uncertain_centre_leaves_more_room() -> None:
    """tr(cov(m c))/m = 0.03 of second moments, a fifth of which is to be 20 %: 0.15."""
    point = np.append(2.0, np.zeros(9))
    C = np.zeros((10, 10))
    C[1:4, 1:4] = np.diag([0.01, 0.02, 0.03])
    found = with_thickness(bodies(point, covariance=C))
    room = 0.06 / 2.0 / 0.2
    np.testing.assert_allclose(found.covariance[5, 5], (0.1 * room) ** 2)
    np.testing.assert_allclose(found.covariance[4, 4], 2 * (0.2 * room) ** 2)
    np.testing.assert_array_equal(found.covariance[1:4, 1:4], C[1:4, 1:4])


def test_a_rod_gets_a_thickness_across() -> None:
    """Along z, with ∫z² = 0.4 about its centre at x = 0.5: 1e-4 of 0.4 + 2 · 0.25 each way."""
    rod = parameters(2.0, np.array([0.5, 0, 0]), np.array([0.4, 0, 0, 0.4, 0, 0]))
    found = with_thickness(bodies(rod, BODY))
    second = 1e-4 * (0.4 + 0.5)
    inertia = np.array([0.4 + second, 0, 0, 0.4 + second, 0, 2 * second])
    np.testing.assert_allclose(
        found.values[:10], parameters(2.0, np.array([0.5, 0, 0]), inertia), atol=1e-12
    )
    np.testing.assert_array_equal(found.values[10:], BODY)
    # ∫z² itself stays as certain as it was: Ixx + Iyy - Izz = 2 ∫z².
    along = np.zeros(20)
    along[[4, 7, 9]] = 1.0, 1.0, -1.0
    assert along @ found.covariance @ along == pytest.approx(0.0, abs=1e-18)


def test_bodies_that_stay() -> None:
    """With an inside, without mass, and with a thickness of a ten-thousandth or more."""
    thin = parameters(2.0, np.zeros(3), np.array([0.1, 0, 0, 0.2, 0, 0.3 - 2 * 0.3e-8]))
    known = bodies(BODY, np.zeros(10), thin)
    found = with_thickness(known)
    np.testing.assert_array_equal(found.values, known.values)
    np.testing.assert_array_equal(found.covariance, known.covariance)
    thinner = parameters(2.0, np.zeros(3), np.array([0.1, 0, 0, 0.2, 0, 0.3 - 2 * 0.3e-10]))
    assert np.any(with_thickness(bodies(thinner)).values != thinner)


def test_sizes_of_coefficients() -> None:
    """By value, or by standard deviation, or one."""
    found = column_sizes(prior([-3.0, 0.0, 0.0], np.diag([1.0, 4.0, 0.0])))
    np.testing.assert_array_equal(found, [3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("factor", "spread", "unlike"),
    [
        (49.0, 0.0, False),
        (51.0, 0.0, True),
        (1 / 49.0, 0.0, False),
        (1 / 51.0, 0.0, True),
        (51.0, 0.5, False),  # the CAD values may be off by half: 1.118 · 50
        (57.0, 0.5, True),
        (0.0, 0.0, False),
    ],
)
def test_forces_unlike_cad(factor: float, spread: float, unlike: bool) -> None:
    """Fifty times as large as predicted, with what the uncertainty allows, or as small."""
    r = regression(np.random.default_rng(0), [2.0], n=30, n_d=2)
    tau = 2.0 * r.W[..., 0] * np.array([1.0, factor])
    tau[3] = 1e9
    r = replace(r, tau=tau, valid=np.arange(30)[:, None] != [3, 3])
    found = unlike_cad(r, prior([2.0], np.array([[(2 * spread) ** 2]])))
    assert list(found) == ["f1"] * unlike
    if unlike:
        assert found["f1"] == pytest.approx(factor)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_forces_of_dead_sensors(value: float) -> None:
    """Exactly constant where CAD values predict that they vary; parameters of zero explain that."""
    r = regression(np.random.default_rng(0), [2.0], 0.02, n=30, n_d=2)
    known = prior([2.2], np.array([[0.16]]))
    stuck = replace(r, tau=np.column_stack([r.tau[:, 0], np.full(30, value)]))
    size = 2.2 * np.sqrt(np.mean(r.W[:, 1, 0] ** 2))
    assert dead(stuck, known) == {"f1": pytest.approx(size)}
    assert dead(r, known) == {}
    # CAD values that may be wrong by half do not exclude zero: nothing may drive the coordinate.
    assert dead(stuck, prior([2.2], np.array([[1.21]]))) == {}
    still = replace(stuck, W=np.ones_like(r.W))  # so does the prediction
    assert dead(still, known) == {}
    found = JointPosterior()(stuck, known)
    assert abs(found.values[0] - 2.0) < 4 * found.sigma[0] < 0.5
    (said,) = [word for word in found.warnings if "was not used" in word]
    assert said.startswith(f"force f1, which is constant where the CAD values predict {size:.2g} N")
    # Where all are constant, nothing else is left.
    both = replace(r, tau=np.full_like(r.tau, value))
    assert not [word for word in JointPosterior()(both, known).warnings if "was not used" in word]
