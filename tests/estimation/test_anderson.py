"""Fixed points of turns, in fewer turns."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.estimation.anderson import Anderson


def turns(M: np.ndarray, b: np.ndarray, *, accelerated: bool) -> tuple[int, np.ndarray]:
    """Return after how many turns x = M x + b + a little sin x stands still, and where."""
    memory, x = Anderson(), np.full(len(b), 0.05)
    for turn in range(1000):
        to = M @ x + b + 0.02 * np.sin(x)
        if np.max(np.abs(to - x)) < 1e-10:
            return turn, to
        x = memory.next(x, to) if accelerated else to
    return 1000, x


@pytest.mark.parametrize("n", [1, 2, 7])
def test_slow_turns_arrive_sooner(n: int) -> None:
    rng = np.random.default_rng(n)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = Q * np.linspace(0.85, 0.2, n) @ Q.T
    b = 0.01 * rng.standard_normal(n)
    (slow, there), (fast, same) = (turns(M, b, accelerated=a) for a in (False, True))
    assert fast < slow / 4
    np.testing.assert_allclose(same, there, atol=1e-8)


def test_far_from_the_end_turns_are_taken_as_they_are() -> None:
    memory = Anderson()
    assert memory.next(np.zeros(2), np.array([3.0, 0.0])) == pytest.approx([3.0, 0.0])
    assert memory.next(np.array([3.0, 0.0]), np.array([3.1, 0.0])) == pytest.approx([3.1, 0.0])
    # And where one gets worse, what was remembered is forgotten.
    assert memory.next(np.array([3.1, 0.0]), np.array([3.1, 0.25])) == pytest.approx([3.1, 0.25])


def test_standing_still() -> None:
    memory, x = Anderson(), np.array([1.0, 2.0])
    for _ in range(3):
        assert memory.next(x, x) == pytest.approx(x, abs=0)
