"""Motions made smaller until they keep their limits between the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from mechid.excitation.finer import finer, within

from .problems import moved, problem_of


@dataclass
class Ceiling:
    """Keeps the limits if the first number is not above `most`."""

    most: float

    def feasible(self, x: np.ndarray, *, tolerance: float = 0.0) -> bool:
        return bool(x[0] <= self.most + tolerance)


@pytest.mark.parametrize(
    ("coarse", "fine", "cut", "room"),
    [
        (1.0, 1.0, 0.0, 0.0),
        (1.0, 1.0 - 5e-10, 0.0, 0.0),  # rounding
        (1.0, 0.998, 0.002, 0.0025 / 8),
        (1.0, 0.9, 0.1, 0.08 / 8),
        (0.9, 1.0, 0.1, 0.08 / 8),
        (1.0, 0.37, 0.63, 0.32 / 8),
    ],
)
def test_cut_that_is_needed(coarse: float, fine: float, cut: float, room: float) -> None:
    """To an eighth of the last step between the cuts that are tried."""
    x, inside = np.array([1.0, 7.0]), np.array([0.0, 5.0])
    problems = cast(Any, Ceiling(coarse)), cast(Any, Ceiling(fine))
    found = within(*problems, x, inside)
    assert found is not None
    done = 1.0 - found[0]
    assert cut - 2e-9 <= done <= cut + room
    np.testing.assert_allclose(found[1], 7.0 - 2.0 * done)


@pytest.mark.parametrize(
    ("needed", "cut"),
    # Between 0 and 0.0025 by eighths; between 0.08 and 0.16, and between 0.32 and 0.64.
    [(0.0001, 0.0025 / 8), (0.0021, 0.0025 * 7 / 8), (0.0024, 0.0025), (0.081, 0.09), (0.5, 0.52)],
)
def test_cuts_are_halved_three_times(needed: float, cut: float) -> None:
    x, inside = np.ones(1), np.zeros(1)
    found = within(cast(Any, Ceiling(1.0)), cast(Any, Ceiling(1.0 - needed)), x, inside)
    assert found is not None
    assert 1.0 - found[0] == pytest.approx(cut, abs=1e-12)


def test_what_takes_most_of_a_motion_away() -> None:
    x, inside = np.ones(1), np.zeros(1)
    assert within(cast(Any, Ceiling(1.0)), cast(Any, Ceiling(0.35)), x, inside) is None


def test_finer_samples_of_the_same_motion() -> None:
    """Twenty times as many, and up to the end of the period, which the design leaves out."""
    problem = problem_of("five_bar", "d", samples=10)
    fine = finer(problem)
    np.testing.assert_allclose(fine.design.time, np.linspace(0.0, 1.0, 201), atol=1e-15)
    x = moved(problem)
    coarse, between = problem.design.sample(x), fine.design.sample(x)
    for a, b in ((coarse.y, between.y), (coarse.yd, between.yd), (coarse.ydd, between.ydd)):
        np.testing.assert_allclose(b[:-1:20], a, atol=1e-12)
        np.testing.assert_allclose(b[-1], a[0], atol=1e-11)
