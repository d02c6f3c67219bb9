"""Criteria with the noise of the motion itself."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.excitation.criteria import Criterion, CriterionOptions, Goals, Objective, RelativeNoise

RNG = np.random.default_rng(5)
W = RNG.standard_normal((15, 3, 4)) * [1.0, 2.0, 0.5, 3.0]
KNOWN = RNG.standard_normal((15, 3))
THETA = np.array([1.0, -0.5, 2.0, 0.3])
PRIOR = np.diag([0.5, 1.0, 0.2, 0.7])
NONE = np.full(3, 1e-12)
TARGETS = np.random.default_rng(6).standard_normal((6, 4))


def relative(name: str, floor: np.ndarray = NONE, log: bool = False) -> RelativeNoise:
    targets = TARGETS if name == "prediction" else None
    return RelativeNoise(
        Criterion(name, CriterionOptions(prior=PRIOR, targets=targets, log=log)), 0.05, THETA, floor
    )


def test_noise_is_a_part_of_the_forces() -> None:
    tau = W @ THETA + KNOWN
    sigma = relative("d").sigma(W, KNOWN)
    np.testing.assert_allclose(sigma, 0.05 * np.sqrt((tau**2).mean(axis=0)), rtol=1e-12)
    # A force that is always zero has the noise of the floor, and an infinite floor no weight.
    still = relative("d", np.array([0.1, 1e-12, np.inf]))
    flat = still.sigma(W * [[0.0], [1.0], [1.0]], KNOWN * [0.0, 1.0, 1.0])
    assert flat[0] == pytest.approx(0.05 * 0.1)
    assert np.isinf(flat[2])
    assert np.isfinite(still.look(W, KNOWN).value)
    np.testing.assert_array_equal(still.look(W, KNOWN).by_W[:, 2], 0.0)


@pytest.mark.parametrize("name", ["a", "d", "e", "prediction"])
def test_value_is_that_of_the_criterion_with_this_noise(name: str) -> None:
    found = relative(name)
    options = CriterionOptions(
        sigma=found.sigma(W, KNOWN), prior=PRIOR, targets=found.criterion.options.targets
    )
    assert found.look(W, KNOWN).value == Criterion(name, options)(W)
    assert found.at(W, KNOWN)(W) == found.look(W, KNOWN).value


@pytest.mark.parametrize("name", ["a", "d", "e", "prediction"])
def test_larger_forces_alone_show_no_more(name: str) -> None:
    """Ten times the forces are ten times the noise: unlike with noise of a fixed size."""
    plain = Criterion(name, relative(name).criterion.options)
    first, second = (relative(name).look(k * W, k * KNOWN) for k in (1.0, 10.0))
    assert second.value == pytest.approx(first.value, rel=1e-9)
    assert plain(10 * W) < plain(W)
    # So that the gradient along the motion itself vanishes.
    along = np.sum(first.by_W * W) + np.sum(first.by_known * KNOWN)
    assert abs(along) < 1e-9 * np.linalg.norm(first.by_W) * np.linalg.norm(W)


@pytest.mark.parametrize("name", ["a", "d", "e", "prediction"])
@pytest.mark.parametrize("log", [False, True])
def test_gradient_is_that_of_differences(name: str, log: bool) -> None:
    check_gradient(relative(name, np.array([0.3, 1e-3, np.inf]), log))


def test_gradient_of_goals() -> None:
    check_gradient(
        Goals(
            (relative("d"), Criterion("condition", CriterionOptions(log=True))),
            (-9.0, 0.5),
            (3.0, 1.0),
        )
    )


def check_gradient(objective: Objective) -> None:
    found = objective.look(W, KNOWN)
    rng = np.random.default_rng(1)
    h = 1e-6
    for _ in range(4):
        d, k = rng.standard_normal(W.shape), rng.standard_normal(KNOWN.shape)
        ahead, behind = (objective.look(W + s * d, KNOWN + s * k).value for s in (h, -h))
        slope = (ahead - behind) / (2 * h)
        total = np.sum(found.by_W * d) + np.sum(found.by_known * k)
        assert total == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_noise_that_is_none() -> None:
    with pytest.raises(DataError, match="must be > 0"):
        RelativeNoise(Criterion("d"), 0.0, THETA, NONE)
    with pytest.raises(DataError, match="must be > 0"):
        relative("d", np.array([1.0, 0.0, 1.0]))
