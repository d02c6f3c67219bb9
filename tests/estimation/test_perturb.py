"""CAD values with errors: possible bodies, and the covariance that the prior assumes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import k0
from scipy.stats import norm

from mechid.base.nullspace import parameter_columns
from mechid.errors import DataError
from mechid.estimation.perturb import body_root, perturbed
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.modelfile import load
from mechid.spatial.inertia import inconsistency, parameters, pseudo_inertia, transform
from mechid.spatial.rotations import matrix_from_quaternion

from .consistent import model

CAD = CadInertia(2.0, (0.3, -0.1, 0.2), (0.08, 0.01, -0.005, 0.06, 0.002, 0.05))
PHI = parameters(CAD.mass, np.array(CAD.center), np.array(CAD.inertia_center))


def phi_of(cad: CadInertia) -> np.ndarray:
    return parameters(cad.mass, np.array(cad.center), np.array(cad.inertia_center))


def one_body(cad: CadInertia) -> Mechanism:
    pendulum = load("pendulum")
    return replace(pendulum, bodies=(replace(pendulum.bodies[0], inertia=cad),))


# A tie rod: thin, and with its frame at one end.
ROD = CadInertia(0.9, (0.145, 0.0, 0.0), (0.00012, 0.0, 0.0, 0.0078, 0.0, 0.0079))


def drawn_errors(cad: CadInertia, error: float, n: int) -> np.ndarray:
    rng, mechanism = np.random.default_rng(3), one_body(cad)
    drawn = [phi_of(perturbed(mechanism, error, rng).bodies[0].inertia) for _ in range(n)]
    return np.array(drawn) - phi_of(cad)


@pytest.mark.slow
@pytest.mark.parametrize(("cad", "error"), [(CAD, 1e-3), (CAD, 0.2), (ROD, 1e-3)])
def test_covariance_of_drawn_errors_is_that_of_the_prior(cad: CadInertia, error: float) -> None:
    n = 1500
    drawn, F = drawn_errors(cad, error, n), body_root(phi_of(cad), error)
    sizes = np.sqrt(np.mean(drawn**2, axis=0)) / np.linalg.norm(F, axis=1)
    # Third order: exp(e) is off by e²/2; and what 1500 draws leave of heavy tails.
    np.testing.assert_allclose(sizes, 1.0, atol=3 * error**2 + 0.1)
    if cad is CAD:
        # In units of the prior, errors are uncorrelated and of unit size.
        z = np.linalg.solve(F, drawn.T)
        assert np.abs(z @ z.T / n - np.eye(10)).max() < 5 * np.sqrt(2 / n) + 6 * error**2


@pytest.mark.slow
def test_large_errors_of_a_rod_are_as_rare_as_a_normal_law_has_them() -> None:
    """Its moments about its own axis are products of errors, which are large more often."""
    size = np.abs(drawn_errors(ROD, 0.2, 6000)) / np.linalg.norm(
        body_root(phi_of(ROD), 0.2), axis=1
    )
    across = [4, 8]  # Ixx, Iyz
    assert np.all(np.mean(size < 1.959964, axis=0) > 0.93)
    assert np.all(np.mean(size > 3, axis=0)[across] < 0.005)
    assert np.all(np.mean(size > 4, axis=0)[across] < 0.001)


# Rms of a product of two normal errors by that of the normal law which reaches as far at three
# standard deviations: the density of the product is K0(x)/π.
BEYOND = brentq(lambda x: 2 * quad(k0, 3 * x, np.inf)[0] / np.pi - 2 * norm.sf(3), 1.0, 2.0)


def test_a_rod_whose_centre_is_off_has_a_moment_about_its_old_axis() -> None:
    """Closed form: a line of mass, off by d in two directions, has m d² ε1² + m d² ε2²."""
    m, length, e = 2.0, 0.6, 0.2
    line = CadInertia(m, (0.3, 0.0, 0.0), (0.0, 0.0, 0.0, *([m * length**2 / 12, 0.0] * 2)[:3]))
    F = body_root(phi_of(line), e)
    rho = length / np.sqrt(12)
    d = tilt = 0.2 * e
    off = m * (d * rho) ** 2 * np.sqrt(8)  # (ε1² + ε2²) has the mean square 8
    turned = m * (tilt * rho) ** 2 * np.sqrt(8)
    both = np.sqrt(off**2 + turned**2 + 2 * (2 * m * (d * rho) ** 2) * (2 * m * (tilt * rho) ** 2))
    assert np.linalg.norm(F[4]) == pytest.approx(BEYOND * both, rel=1e-3)
    product = m * np.hypot((d * rho) ** 2, (tilt * rho) ** 2)
    assert np.linalg.norm(F[8]) == pytest.approx(BEYOND * product, rel=1e-3)


def test_large_errors_leave_bodies_possible() -> None:
    rng = np.random.default_rng(0)
    mechanism = model("sla_suspension")[0]
    for _ in range(4):
        for body in perturbed(mechanism, 0.5, rng).bodies:
            assert body.inertia is not None
            cad = body.inertia
            assert inconsistency(cad.mass, np.array(cad.inertia_center)) is None


def test_errors_do_not_depend_on_the_frame() -> None:
    e = np.array([0.8, 0.1, -0.5, 0.3])
    R = matrix_from_quaternion(e / np.linalg.norm(e))
    turn = np.array([transform(unit, R, np.array([0.2, -0.3, 0.1])) for unit in np.eye(10)]).T
    F, G = body_root(PHI, 0.2), body_root(turn @ PHI, 0.2)
    np.testing.assert_allclose(turn @ F @ F.T @ turn.T, G @ G.T, atol=1e-15)


def test_a_point_mass_has_an_uncertain_centre() -> None:
    point = CadInertia(2.0, (0.4, 0.0, 0.0), (0.0,) * 6)
    F = body_root(phi_of(point), 0.2)
    # A quarter of 0.4 m stands for its size; κ e = 0.04 of that; first moments are m times it.
    assert np.linalg.norm(F[2]) == pytest.approx(
        2.0 * 0.04 * 0.1 * np.hypot(1, 0.2 * BEYOND), rel=1e-4
    )


def test_a_flat_body_stays_flat() -> None:
    plate = CadInertia(1.0, (0.1, 0.0, 0.0), (0.02, 0.0, 0.0, 0.03, 0.0, 0.05))
    cad = perturbed(one_body(plate), 0.3, np.random.default_rng(1)).bodies[0].inertia
    assert cad is not None
    moved = np.linalg.eigvalsh(pseudo_inertia(parameters(1.0, np.zeros(3), cad.inertia_center)))
    assert moved[0] == pytest.approx(0.0, abs=1e-15)
    assert body_root(phi_of(plate), 0.3).shape == (10, 10)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("double_wishbone", {"k", "preload", "c", "viscous", "coulomb"}),
        ("puma560", {"inertia", "viscous", "coulomb"}),
    ],
)
def test_elements_keep_their_sign_and_err_independently(name: str, kinds: set[str]) -> None:
    mechanism = load(name)

    def coefficients(changed: Mechanism) -> np.ndarray:
        values = [c.value or 0.0 for c in parameter_columns(changed)]
        return np.array(values[10 * len(mechanism.bodies) :])

    exact = coefficients(mechanism)
    columns = parameter_columns(mechanism)[10 * len(mechanism.bodies) :]
    assert {c.name.split("_")[0] for c in columns if c.value} == kinds
    given = exact != 0
    rng, error, n = np.random.default_rng(2), 0.01, 300
    drawn = np.array(
        [
            np.log(coefficients(perturbed(mechanism, error, rng))[given] / exact[given])
            for _ in range(n)
        ]
    )
    found = drawn.T @ drawn / (n * error**2)
    assert np.abs(found - np.eye(int(given.sum()))).max() < 5 * np.sqrt(2 / n)


@pytest.mark.parametrize("error", [-0.1, np.nan, np.inf])
def test_refuses_what_is_no_error(error: float) -> None:
    with pytest.raises(DataError, match="error of the CAD values"):
        perturbed(load("pendulum"), error, np.random.default_rng(0))
