"""Physically consistent estimates and full sets: constraints, closed forms, round trips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from mechid.base.baseset import BaseSet
from mechid.errors import DataError, MechidError
from mechid.estimation import cone, physical
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.bodies import with_thickness
from mechid.estimation.completion import complete
from mechid.estimation.cone import MARGIN, Cone
from mechid.estimation.estimator import Estimator
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.log_cholesky import LogCholesky
from mechid.estimation.measured_constraints import informed, weighed
from mechid.estimation.physical import POSSIBLE, PhysicallyConsistent
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.recover import mahalanobis, recover
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.spatial.inertia import from_pseudo_inertia, parameters, pseudo_inertia
from mechid.tasks.cad_prior import prior_from_cad

from .consistent import UNKNOWN, Bayes, erroneous, model, regression, truth, without

PRECISION = 1e-7


def possible(known: Prior, phi: np.ndarray) -> bool:
    """Whether every body has a positive definite pseudo-inertia, and no coefficient is negative."""
    bodies = [np.linalg.eigvalsh(pseudo_inertia(phi[k : k + 10]))[0] for _, k in known.bodies]
    return bool(np.all(np.array(bodies) > 0) and np.all(phi[list(known.positive)] >= 0))


def one_body(deviation: np.ndarray) -> Prior:
    """A body whose mass, first and second moments are all base parameters."""
    phi = parameters(2.0, np.zeros(3), np.array([0.3, 0.0, 0.0, 0.4, 0.0, 0.5]))
    names = tuple(f"p{k}" for k in range(10))
    return Prior(names, names, np.eye(10), phi, np.diag(deviation**2), bodies=(("body", 0),))


def test_mass_and_first_moment_at_the_border() -> None:
    # Second moments ∫x² = 0.3 and mass 2 are known: |mx| can be √(0.3·2) at most.
    deviation = np.zeros(10)
    deviation[1] = 1.0
    known = one_body(deviation)
    values = known.values.copy()
    values[1] = 3.0
    found = recover(known, values, np.diag(deviation**2), margin=0.0)
    assert found.values[1] == pytest.approx(np.sqrt(0.3 * 2), rel=PRECISION)
    assert found.distance == pytest.approx(3.0 - np.sqrt(0.6), rel=PRECISION)
    assert found.border == ("body",)
    assert "nearest ones are 2.2 standard deviations away" in found.warnings[0]


def test_triangle_inequality_at_the_border() -> None:
    # Moments (1, 2, 6) of unit deviation: nearest with Ixx + Iyy = Izz is (2, 3, 5).
    deviation = np.zeros(10)
    deviation[[4, 7, 9]] = 1.0
    known = one_body(deviation)
    values = known.values.copy()
    values[[4, 7, 9]] = 1.0, 2.0, 6.0
    found = recover(known, values, np.diag(deviation**2), margin=0.0)
    np.testing.assert_allclose(found.values[[4, 7, 9]], [2.0, 3.0, 5.0], rtol=PRECISION)


def test_negative_coefficient_becomes_none() -> None:
    names = ("c", "d")
    C = np.array([[1.0, 0.5], [0.5, 1.0]])
    known = Prior(names, names, np.eye(2), np.array([1.0, 1.0]), C, positive=(0, 1))
    found = recover(known, np.array([-2.0, 1.0]), C, margin=0.0)
    # c = 0, and d follows with the correlation.
    np.testing.assert_allclose(found.values, [0.0, 2.0], atol=PRECISION)
    assert found.border == ("c",)


@pytest.mark.parametrize("name", ["four_bar", "planar_3rrr", "slider_crank", "sla_suspension"])
def test_full_set_has_the_base_values(name: str) -> None:
    x = truth(name).mean
    known = erroneous(name, 1)
    found = recover(known, x)
    assert found.distance == 0.0
    # Where a value is zero: relative to what it could be.
    sigma = np.sqrt(np.diag(known.base_covariance))
    assert np.all(np.abs(found.values - x) <= 1e-8 * np.abs(x) + 1e-11 * sigma)
    assert possible(known, found.phi)
    # From its own values there is nothing to change.
    again = recover(replace(known, values=found.phi), found.values)
    np.testing.assert_allclose(again.phi, found.phi, rtol=1e-9, atol=1e-12)


def test_full_set_is_the_nearest_to_cad() -> None:
    known, x = truth("four_bar"), truth("four_bar").mean * 1.02
    found = recover(known, x)
    # φ0 + P Bᵀ (B P Bᵀ)⁻¹ (x - x0): Lagrange's multipliers.
    P, B = known.covariance, known.matrix
    expected = known.values + P @ B.T @ np.linalg.solve(B @ P @ B.T, x - known.mean)
    np.testing.assert_allclose(found.phi, expected, rtol=1e-9, atol=1e-11)


def test_impossible_base_values_get_the_nearest_possible() -> None:
    known = truth("pendulum")
    x = known.mean.copy()
    inertia = known.base.index(next(n for n in known.base if n.startswith("I")))
    x[inertia] = -1.0
    C = np.diag((0.1 * np.abs(known.mean)) ** 2)
    found = recover(known, x, C)
    assert possible(known, found.phi)
    assert found.distance == pytest.approx(mahalanobis(found.values - x, C))
    assert found.values[inertia] >= 0
    assert (
        "no physically consistent parameters have the base values that fit best"
        in found.warnings[0]
    )


def test_a_solver_that_fails_does_not_cost_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    known, data = truth("pendulum"), regression("pendulum", 0.02)
    free = Bayes(0.02, "full")(data, known)
    inertia = next(k for k, name in enumerate(free.parameters) if name.startswith("I"))
    values = free.values.copy()
    values[inertia] = -0.1 * values[inertia]
    impossible = replace(free, values=values, covariance=np.diag(values**2))
    assert physical.possible(impossible, data, known).values[inertia] > 0
    monkeypatch.setattr(cone, "_shortest", lambda *_: ("InsufficientProgress", np.zeros(1)))
    found = physical.possible(impossible, data, known)
    np.testing.assert_array_equal(found.values, values)
    assert "could not be found out: the semidefinite program was not solved" in found.warnings[-1]


@pytest.mark.parametrize("prior", ["full", "diagonal"])
@pytest.mark.parametrize("scale", [np.inf, 1.0])
def test_without_active_constraints_it_is_the_free_estimate(
    prior: Literal["full", "diagonal"], scale: float
) -> None:
    known, data = truth("planar_3rrr"), regression("planar_3rrr", 0.02)
    inner = Bayes(0.02, prior)
    free = inner(data, known)
    assert possible(known, complete(known, free.values).phi)
    found = PhysicallyConsistent(inner, scale)(data, known)
    assert mahalanobis(found.values - free.values, free.covariance) < 1e-8
    assert not found.warnings
    assert found.full is not None
    assert possible(known, found.full)
    np.testing.assert_allclose(known.matrix @ found.full, found.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "sla_suspension"])
def test_full_prior_gives_the_most_probable_possible_parameters(name: str) -> None:
    """Against the problem as it is stated: residuals plus prior over all φ.

    At the optimum of a convex problem no step towards another possible φ descends.
    """
    noise, seed = 0.01, 2
    known, data = erroneous(name, seed), regression(name, noise, seed)
    inner = Bayes(noise)
    found = PhysicallyConsistent(inner, scale=1.0)(data, known)
    phi = found.full
    assert phi is not None
    assert possible(known, phi)
    A, t, channel = data.stacked()
    sigma = inner.sigma(data)[channel]
    A, t = A / sigma[:, None] @ known.matrix, t / sigma
    size = np.sqrt(np.diag(known.covariance))
    assert np.all(size > 0)
    inverse = np.linalg.inv(known.covariance / np.outer(size, size))

    def cost(x: np.ndarray) -> float:
        d = (x - known.values) / size
        return float(np.sum((A @ x - t) ** 2) + d @ inverse @ d)

    others = [known.values, truth(name).values, *(erroneous(name, s).values for s in range(6))]
    at = cost(phi)
    for other in others:
        assert cost(other) >= at
        for length in (1e-2, 1e-3):
            step = phi + length * (other - phi)
            assert cost(step) >= at - 1e-7 * abs(at)


def test_massless_bodies_stay_so() -> None:
    known = truth("four_bar@example-1")
    assert [name for name, _ in known.bodies] == ["bar_1", "bar_2"]
    found = recover(known, 1.1 * known.mean)
    assert not np.any(found.phi[20:])


def plate() -> tuple[Mechanism, BaseSet]:
    """A pendulum of a sheet without thickness: Ixx + Iyy = Izz about its centre."""
    mechanism, base = model("pendulum")
    cad = CadInertia(1.0, (0.1, 0.0, -0.4), (0.02, 0.0, 0.0, 0.03, 0.0, 0.05))
    body = replace(mechanism.bodies[0], inertia=cad)
    return replace(mechanism, bodies=(body,)), base


def test_a_flat_body_may_stay_flat() -> None:
    known = prior_from_cad(*plate(), cad_error=0.2)
    for factor in (1.0, 1.1, 1.5):
        found = recover(known, factor * known.mean)
        np.testing.assert_allclose(found.values, factor * known.mean, rtol=1e-8, atol=1e-9)
        size = np.trace(pseudo_inertia(found.phi))
        assert np.linalg.eigvalsh(pseudo_inertia(found.phi))[0] > -1e-9 * size
    data = regression("pendulum", 0.05)
    found = LogCholesky(Bayes(0.05))(data, known)
    near = PhysicallyConsistent(Bayes(0.05))(data, known)
    assert np.abs(found.values - near.values).max() < 0.01 * near.sigma.max()
    for phi in (found.full, near.full):
        assert phi is not None
        assert np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0


ROD = (0.0, 0.0, 0.0, 0.04, 0.0, 0.04)
POINT = (0.0,) * 6
BROKEN = (0.01, 0.0, 0.0, 0.09, 0.0, 0.04)  # 0.01 + 0.04 < 0.09
NEGATIVE = (-0.01, 0.0, 0.0, 0.04, 0.0, 0.04)


@pytest.mark.parametrize("six", [ROD, POINT, BROKEN, NEGATIVE])
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("estimator", [PhysicallyConsistent, LogCholesky])
def test_limits_of_bodies_and_bodies_beyond(
    six: tuple[float, ...], declared: bool, estimator: Callable[..., Estimator]
) -> None:
    """Bodies without thickness, or that cannot exist, are no obstacle; the result can exist."""
    mechanism, base = model("pendulum")
    deviations = (0.2, (0.02, 0.02, 0.02), tuple(0.2 * abs(x) for x in six))
    cad = CadInertia(1.2, (0.012, 0.008, -0.5), six, *(deviations if declared else ()))
    mechanism = replace(mechanism, bodies=(replace(mechanism.bodies[0], inertia=cad),))
    known = prior_from_cad(mechanism, base, cad_error=None if declared else 0.2)
    data = regression("pendulum", 0.01)
    found = estimator(Bayes(0.01))(data, known)
    assert found.full is not None
    assert np.linalg.eigvalsh(pseudo_inertia(found.full))[0] > 0
    np.testing.assert_allclose(base.matrix @ found.full, found.values, rtol=1e-6, atol=1e-9)


def test_thickness_is_given_only_where_there_is_none() -> None:
    known = truth("sla_suspension")
    assert np.array_equal(with_thickness(known).values, known.values)
    flat = prior_from_cad(*plate(), cad_error=0.2)
    thick = with_thickness(flat)
    np.testing.assert_array_equal(thick.values[:4], flat.values[:4])
    size = np.trace(pseudo_inertia(flat.values)[:3, :3])
    np.testing.assert_allclose(thick.values, flat.values, atol=3e-4 * size)
    again = with_thickness(thick)
    np.testing.assert_allclose(again.values, thick.values, rtol=1e-12)


def test_a_point_at_its_origin_has_the_size_of_other_bodies() -> None:
    """Radius of gyration 0.5 m of the other one; 1 m where there is none."""
    point = from_pseudo_inertia(np.diag([0.0, 0.0, 0.0, 2.0]))
    body = from_pseudo_inertia(np.diag([0.25, 0.25, 0.25, 3.0]))
    for bodies, radius in (((point, body), 0.5), ((body, point), 0.5), ((point,), 1.0)):
        names = tuple(f"p{k}" for k in range(10 * len(bodies)))
        first = 10 * next(k for k, b in enumerate(bodies) if b is point)
        named = tuple((f"body {k}", 10 * k) for k in range(len(bodies)))
        size = len(names)
        zero = np.zeros((size, size))
        known = Prior(names, names, np.eye(size), np.concatenate(bodies), zero, named)
        found = pseudo_inertia(with_thickness(known).values[first : first + 10])
        thick = 1e-4 * 2.0 * radius**2
        np.testing.assert_allclose(found, np.diag([thick, thick, thick, 2.0]), atol=1e-15)


def test_exact_knowledge_is_kept_where_it_can_be() -> None:
    known = informed(truth("four_bar"), [weighed(truth("four_bar"), "bar_2", 2.0)])
    data = regression("four_bar", 0.02, 1)
    found = PhysicallyConsistent(Bayes(0.02))(data, known)
    assert found.full is not None
    assert found.full[dict(known.bodies)["bar_2"]] == pytest.approx(2.0, rel=1e-6)


def test_bodies_without_deviations_are_loosened_with_a_warning() -> None:
    known = without(truth("four_bar"))
    found = recover(known, 1.05 * known.mean)
    assert any("relaxed" in words for words in found.warnings)
    np.testing.assert_allclose(found.values, 1.05 * known.mean, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("inner", [MaximumAPosteriori(), OrdinaryLeastSquares()])
def test_any_estimator_has_a_consistent_sibling(inner: Estimator) -> None:
    known, data = erroneous("five_bar", 3), regression("five_bar", 0.05, 3)
    free = inner(data, known)
    found = PhysicallyConsistent(inner)(data, known)
    assert found.full is not None
    assert possible(known, found.full)
    np.testing.assert_array_equal(found.covariance, free.covariance)
    np.testing.assert_allclose(
        found.residuals, data.tau - data.known - data.W @ found.values, atol=1e-9
    )
    assert found.known[-1] == POSSIBLE


def test_residuals_with_gains_of_the_channels() -> None:
    known, data = erroneous("delta", 4), regression("delta", 0.05, 4)
    inner = JointPosterior(only="gains")
    free, found = inner(data, known), PhysicallyConsistent(inner)(data, known)
    assert np.abs(found.values - free.values).max() > 0
    assert found.errors is not None
    for e in (free, found):
        predicted = (1 + found.errors.gain) * (data.W @ e.values + data.known)
        np.testing.assert_allclose(e.residuals, data.tau - predicted, atol=1e-9)


@pytest.mark.parametrize("estimator", [PhysicallyConsistent, LogCholesky])
def test_offsets_follow_the_parameters(estimator: Callable[..., Estimator]) -> None:
    """For given parameters the best offset is the mean of what they leave unexplained."""
    known, data = erroneous("delta", 4), regression("delta", 0.3, 4)
    offset = np.array([3.0, -2.0, 5.0]) * np.std(data.tau, axis=0)
    data = replace(data, tau=data.tau + offset)
    inner = MaximumAPosteriori("none", offsets="estimated")
    free, found = inner(data, known), estimator(inner)(data, known)
    assert free.errors is not None
    assert found.errors is not None
    left = data.tau - data.W @ found.values - data.known
    old = np.abs(np.mean(left, axis=0) - free.errors.offset)
    new = np.abs(np.mean(left, axis=0) - found.errors.offset)
    assert np.all(new < 1e-6 * np.max(old))
    np.testing.assert_allclose(found.residuals, left - found.errors.offset, atol=1e-9)


def test_eigenvalues_keep_the_margin() -> None:
    known, data = erroneous("sla_suspension", 1), regression("sla_suspension", 1e-4, 1)
    found = PhysicallyConsistent(Bayes(1e-4, "diagonal"))(data, known)
    assert found.full is not None
    least = min(Cone(known).eigenvalues(found.full).values())
    assert 0.9 * MARGIN < least < 1e-3
    assert any("at the boundary" in words for words in found.warnings)


def test_bad_input_is_refused() -> None:
    data = regression("pendulum", 0.05)
    known = truth("pendulum")
    with pytest.raises(DataError, match="needs the CAD values"):
        PhysicallyConsistent()(data)
    with pytest.raises(DataError, match="margin"):
        PhysicallyConsistent(margin=2.0)(data, known)
    with pytest.raises(DataError, match="scale"):
        PhysicallyConsistent(scale=0.0)(data, known)
    with pytest.raises(DataError, match="shape"):
        recover(known, np.zeros(99))
    with pytest.raises(DataError, match="must be finite"):
        recover(known, np.full(len(known.base), np.nan))
    with pytest.raises(DataError, match="CAD values of bob: mass and second moments"):
        recover(replace(known, values=-known.values), known.mean)


def test_knowledge_of_a_mechanism() -> None:
    mechanism, base = model("sla_suspension")
    declared = prior_from_cad(mechanism, base)
    np.testing.assert_allclose(declared.mean, base.values(declared.values))
    assert declared.words == ("CAD values with their declared standard deviations",)
    assert [name for name, _ in declared.bodies] == [b.name for b in mechanism.bodies]
    name = "macpherson"
    other, other_base = model(name)
    known = prior_from_cad(other, other_base, cad_error=0.2, unknown=UNKNOWN)
    kinds = {known.parameters[k].split("_")[0] for k in known.positive}
    assert kinds <= {"k", "c", "viscous", "coulomb", "inertia"}
    with pytest.raises(MechidError, match="base set belongs to another mechanism"):
        prior_from_cad(mechanism, other_base)
