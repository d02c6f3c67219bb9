"""Expressions of time: derivatives against closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.trajectoryfile import Expression

T = np.linspace(0.3, 1.7, 23)


@pytest.mark.parametrize(
    "text",
    [
        "50*sin(pi*f*t)",
        "3 + t - 2*t**2 + t**3/4",
        "cos(t)**2/(1 + t)",
        "tan(t/2)*sqrt(t)",
        "asin(t/3) + acos(t/4) - atan(2*t)",
        "atan2(sin(t), 2 + cos(3*t))",
        "t**1.5 + 2**t + (1 + t)**sin(t)",
        "abs(t - 3)*sin(t)",
        "-t + (+t)**0 + t**1",
        "30 deg * sin(2*pi*t)",
    ],
)
def test_derivatives(text: str) -> None:
    made, h = Expression(text, (("f", 0.7),)), 1e-4
    before, now, after = (made.rates(T + d) for d in (-h, 0.0, h))
    for k in range(2):
        difference = (after[k] - before[k]) / (2 * h)
        assert now[k + 1] == pytest.approx(difference, rel=1e-5, abs=1e-5 * np.abs(now[1]).max())


def test_powers_at_zero() -> None:
    zero = np.zeros(1)
    for text, wanted in (("t**2", (0, 0, 2)), ("t**1", (0, 1, 0)), ("t**0", (1, 0, 0))):
        assert [x[0] for x in Expression(text).rates(zero)] == list(wanted)


def test_period() -> None:
    assert Expression("sin(pi*t)", repeats=2.0).period == 2.0
    assert Expression("0.3").period == 0.0
    assert Expression("sin(pi*t)").period is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Expression("sin("), "cannot read"),
        (lambda: Expression("sin(w*t)"), "no parameter w"),
        (lambda: Expression("exp(t)"), "unknown function exp"),
        (lambda: Expression("__import__('os')"), "unknown function"),
        (lambda: Expression("1/t").rates(np.zeros(1)), "no finite value at t = 0 s"),
        (lambda: Expression("sqrt(t)").rates(np.zeros(1)), "no finite speed at t = 0 s"),
        (lambda: Expression("sin(t)", repeats=2.0), "does not repeat after 2 s"),
    ],
)
def test_wrong_expressions(make: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        make()  # type: ignore[operator]
