"""Newton's method between bounds: minima in closed form, and those of a library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mechid.estimation.newton import Expansion, minimum_in_box

Array = np.ndarray


def quadratic(H: Array, to: Array) -> Expansion:
    return Expansion(0.5 * float(to @ H @ to), H @ to, H)


def test_a_quadratic_takes_one_step() -> None:
    H = np.array([[3.0, 1.0], [1.0, 2.0]])
    goal, calls = np.array([0.4, -0.7]), []

    def function(x: Array) -> Expansion:
        calls.append(x)
        return quadratic(H, x - goal)

    wide = np.full(2, 10.0)
    np.testing.assert_allclose(minimum_in_box(function, np.ones(2), -wide, wide), goal, rtol=1e-12)
    assert len(calls) == 2


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
def test_as_a_library_finds_it(seed: int, n: int) -> None:
    """Convex, but no quadratic; bounds that may hold it off its minimum."""
    rng = np.random.default_rng(seed)
    B, goal = rng.standard_normal((n, n)), rng.uniform(-2, 2, n)
    low, high = -rng.uniform(0.2, 2, n), rng.uniform(0.2, 2, n)

    def function(x: Array) -> Expansion:
        y = B @ (x - goal)
        value = float(np.sum(np.cosh(y)) + 0.5 * np.sum((x - goal) ** 2))
        return Expansion(value, B.T @ np.sinh(y) + x - goal, B.T * np.cosh(y) @ B + np.eye(n))

    found = minimum_in_box(function, np.zeros(n), low, high)
    assert np.all((found >= low) & (found <= high))
    same = minimize(
        lambda x: function(x)[:2], np.zeros(n), jac=True, method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)), options={"ftol": 0.0, "gtol": 1e-10},
    )  # fmt: skip
    assert function(found).value <= same.fun + 1e-10 * abs(same.fun)


def test_away_from_a_maximum() -> None:
    """Between two minima the function is curved downwards."""

    def function(x: Array) -> Expansion:
        return Expansion(float(x[0] ** 4 / 4 - x[0] ** 2 / 2), x**3 - x, np.diag(3 * x**2 - 1))

    far = np.array([9.0])
    assert minimum_in_box(function, np.array([0.1]), -far, far)[0] == pytest.approx(1.0)
    assert minimum_in_box(function, np.array([-0.1]), -far, far)[0] == pytest.approx(-1.0)
    assert minimum_in_box(function, np.array([0.1]), -far, far / 18)[0] == 0.5
