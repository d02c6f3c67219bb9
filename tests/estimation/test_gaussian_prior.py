"""The prior as a Gaussian: bodies, scales, errors of the channels, and what scales cost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.channels import DRIFT_TERMS, Channels
from mechid.estimation.gaussian_prior import (
    BODY_BELIEF,
    CAD_BELIEF,
    CHANNEL_BELIEF,
    GAIN_BELIEF,
    GaussianPrior,
    body_factors,
    cad_prior,
)
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.prior import Prior

from .problems import prior, regression

A, B, K = range(10), range(10, 20), (20,)


@pytest.mark.parametrize(
    ("linked", "parts"),
    [(0.0, {"a": A, "b": B, "k": K}), (0.5, {"a and b": (*A, *B), "k": K})],
)
def test_factors_of_single_bodies(linked: float, parts: dict[str, tuple[int, ...]]) -> None:
    """Each gives its own part of the covariance, also if errors of its ten are independent."""
    names = (*(f"{body}{k}" for body in "ab" for k in range(10)), "k")
    P = np.diag(np.arange(1.0, 22.0))
    P[0, 10] = P[10, 0] = linked
    matrix = np.random.default_rng(0).standard_normal((6, 21))
    known = Prior(names, names[:6], matrix, np.zeros(21), P, (("a", 0), ("b", 10)))
    F, number, owners = body_factors(known)
    assert owners == tuple(parts)
    for k, own in enumerate(parts.values()):
        mine, part = F[:, number == k], matrix[:, list(own)]
        np.testing.assert_allclose(mine @ mine.T, part @ P[np.ix_(own, own)] @ part.T, atol=1e-12)


def test_each_series_has_a_scale_of_its_own() -> None:
    """After that of the CAD values: offsets of three forces, then the cosines of three drifts."""
    r = regression(np.random.default_rng(0), [1.0, 2.0])
    channels = Channels(r, offsets=True, drift=True)
    known = prior(np.ones(2), np.eye(2), r.parameters)
    errors = {"offsets": "estimated", "drift": "estimated"}
    found = cad_prior(channels, known, "full", "estimated", (), errors)
    drifts = np.repeat([4, 5, 6], DRIFT_TERMS)
    np.testing.assert_array_equal(found.group, [0, 0, 1, 2, 3, *drifts])
    assert len(found.scale) == len(found.beliefs) == 7


def of(scale: Any = "estimated", kind: Any = "full", **errors: Any) -> GaussianPrior:
    """Return the prior of five parameters and of errors of three forces in two logs."""
    r = regression(np.random.default_rng(1), np.ones(5), n=40)
    r = replace(r, log=np.repeat([0, 1], 20), tau=np.tile([1.0, 2.0, 4.0], (40, 1)))
    groups = errors.pop("groups", ())
    names = ("gains", "offsets", "drift", "delay")
    channels = Channels(r, *(name in errors for name in names))
    known = prior(np.arange(5.0), np.diag(np.arange(1.0, 6.0) ** 2), r.parameters)
    return cad_prior(channels, known, kind, scale, groups, {n: errors.get(n) for n in names})


def test_given_and_estimated_scales() -> None:
    given = of(2.0)
    np.testing.assert_allclose(given.F @ given.F.T, 4.0 * np.diag(np.arange(1.0, 6.0) ** 2))
    np.testing.assert_array_equal(given.group, [-1] * 5)
    assert given.beliefs == ()
    assert not len(given.of_parameters)
    np.testing.assert_array_equal(given.mean, np.arange(5.0))
    open_ = of()
    np.testing.assert_allclose(open_.F @ open_.F.T, np.diag(np.arange(1.0, 6.0) ** 2))
    np.testing.assert_array_equal(open_.group, [0] * 5)
    assert open_.beliefs == (CAD_BELIEF,)
    np.testing.assert_array_equal(open_.scale, [1.0])


@pytest.mark.parametrize(
    ("groups", "numbers"),
    [
        ((("p1", "p3"), ("p4",)), [0, 1, 0, 1, 2]),
        ((("p0", "p1"), ("p2", "p3", "p4")), [0, 0, 1, 1, 1]),  # all others: none
    ],
)
def test_groups_of_parameters(groups: Any, numbers: list[int]) -> None:
    found = of(kind="diagonal", groups=groups)
    np.testing.assert_array_equal(found.group, numbers)
    assert found.beliefs == (CAD_BELIEF,) * (max(numbers) + 1)
    with pytest.raises(DataError, match="need independent errors"):
        of(groups=groups)
    with pytest.raises(DataError, match="no parameter p7 to group"):
        of(kind="diagonal", groups=(("p1", "p7"),))


def test_errors_of_the_channels() -> None:
    """Given ones have no scale; estimated ones are 5 % of the force, with scales as asked."""
    found = of(gains=0.1, offsets="estimated", delay="estimated")
    np.testing.assert_array_equal(found.group, [*[0] * 5, *[-1] * 3, *range(1, 7), 7])
    assert found.beliefs == (CAD_BELIEF, *[CHANNEL_BELIEF] * 7)
    np.testing.assert_allclose(found.F[5:8, 5:8], 0.1 * np.eye(3))
    forces = np.tile([1.0, 2.0, 4.0], 2)
    np.testing.assert_allclose(found.F[8:14, 8:14], 0.05 * np.diag(forces))
    # Forces are late together: one column, the same in all of them.
    assert found.F.shape == (17, 15)
    late = found.F[14:, 14]
    np.testing.assert_array_equal(late, late[0])
    assert late[0] > 0
    np.testing.assert_array_equal(found.mean[5:], 0.0)
    assert np.count_nonzero(found.F) == 5 + 3 + 6 + 3
    single, shared = of(gains="estimated"), of(gains="shared", offsets=0.2)
    np.testing.assert_array_equal(single.group[5:], [1, 2, 3])
    assert single.beliefs[1:] == (GAIN_BELIEF,) * 3
    np.testing.assert_array_equal(shared.group[5:8], [1, 1, 1])
    np.testing.assert_array_equal(shared.group[8:], [-1] * 6)
    assert shared.beliefs[1:] == (CHANNEL_BELIEF,)
    np.testing.assert_allclose(shared.F[5:8, 5:8], 0.05 * np.eye(3))
    np.testing.assert_allclose(shared.F[8:, 8:], 0.2 * np.diag(forces))


def test_delay_is_the_median_of_what_changes_each_force() -> None:
    """Sines of 1, 2 and 9 rad/s: 1/2 s, of which 5 % is usual."""
    t = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    base = regression(np.random.default_rng(1), [1.0], n=400)
    r = replace(base, W=np.sin(np.outer(t, [1.0, 2.0, 9.0]))[..., None], time=t)
    known = prior([3.0], np.eye(1))
    found = cad_prior(Channels(r, delay=True), known, "full", 1.0, (), {"delay": "estimated"})
    np.testing.assert_allclose(found.F[1:, 1], 0.05 / 2, rtol=1e-3)
    found = cad_prior(Channels(r, delay=True), known, "full", 1.0, (), {"delay": 0.3})
    np.testing.assert_allclose(found.F[1:, 1], 0.3 / 2, rtol=1e-3)
    np.testing.assert_array_equal(found.group, [-1, -1])


def test_scales_of_columns() -> None:
    found = of(gains="estimated")
    scaled = replace(found, scale=np.array([2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(scaled.sizes, [2, 2, 2, 2, 2, 3, 4, 5])
    np.testing.assert_array_equal(scaled.of_parameters, [2.0])
    np.testing.assert_allclose(scaled.factor, found.F * [2, 2, 2, 2, 2, 3, 4, 5])
    mixed = replace(scaled, group=np.array([1, -1, 0, 1, -1, 2, 3, -1]))
    np.testing.assert_array_equal(mixed.sizes, [3, 1, 2, 3, 1, 4, 5, 1])
    np.testing.assert_array_equal(mixed.of_parameters, [2.0, 3.0])


def test_bodies_have_scales_of_their_own() -> None:
    names = (*(f"a{k}" for k in range(10)), "k")
    matrix = np.vstack([np.eye(11)[[0, 3, 10]], np.ones(11)])
    r = regression(np.random.default_rng(2), np.ones(4))
    P = np.diag(np.arange(1.0, 12.0))
    known = Prior(names, r.parameters, matrix, np.ones(11), P, (("a", 0),))
    channels = Channels(r, gains=True)
    found = cad_prior(channels, known, "full", "bodies", (), {"gains": "estimated"})
    assert found.owners == ("a", "k")
    assert found.beliefs == (*[BODY_BELIEF] * 2, *[GAIN_BELIEF] * 3)
    np.testing.assert_array_equal(found.group[found.parameters :], [2, 3, 4])
    nothing = replace(known, covariance=np.zeros((11, 11)))
    with pytest.raises(DataError, match="no standard deviations of the CAD values"):
        cad_prior(channels, nothing, "full", "bodies", (), {})


def test_evidence_pays_for_what_was_fitted() -> None:
    """Half of log n for each scale that moved, and for each coefficient of colour."""
    beliefs = (BODY_BELIEF,) * 3

    def price(scale: list[float], group: list[int], zeros: int = 0, orders: Any = None) -> float:
        gaussian = GaussianPrior(
            np.zeros(3), np.eye(3), 3, np.array(group), np.array(scale), beliefs[: len(scale)]
        )
        colours = orders and [SimpleNamespace(coefficients=np.ones(k)) for k in orders]
        fit = SimpleNamespace(
            A=np.eye(3), t=np.ones(3), colours=colours, share=0.5, log_jacobian=7.0
        )
        posterior = Posterior(
            cast(Any, SimpleNamespace(zeros=zeros)), cast(Any, None), cast(Any, fit), gaussian
        )
        return (posterior.unpriced_evidence - posterior.evidence) / (
            0.5 * np.log(0.5 * (3 + zeros))
        )

    assert price([1.0005, 1.002, 3.0], [0, 1, 2]) == pytest.approx(2)
    assert price([1.0], [0, 0, 0]) == pytest.approx(1)
    assert price([1.0, 1.0], [0, 0, 1]) == pytest.approx(0, abs=1e-12)
    assert price([1.0, 2.0], [0, 0, 1], zeros=17, orders=[2, 0, 3]) == pytest.approx(6)


def test_evidence_of_samples_that_count_less() -> None:
    """-½ log 2π of each; the log determinant of the rows besides."""
    gaussian = GaussianPrior(np.zeros(1), np.zeros((1, 1)), 1, np.array([-1]), np.ones(0), ())
    fit = SimpleNamespace(
        A=np.ones((4, 1)), t=np.array([1.0, 2.0, 0.0, 2.0]), colours=None, share=0.25,
        log_jacobian=7.0,
    )  # fmt: skip
    channels = SimpleNamespace(zeros=np.array([3, 1]))
    found = Posterior(cast(Any, channels), cast(Any, None), cast(Any, fit), gaussian)
    assert found.unpriced_evidence == pytest.approx(7.0 - 4.5 - np.log(2 * np.pi))
