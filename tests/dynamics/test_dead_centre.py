"""Steps that get ever shorter on the way to a dead centre: at both sides of each bound."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.forward.dead_centre import Creep, Knot, bounce


def knot(t: float, size: float) -> Any:
    return SimpleNamespace(t=t, size=np.array([1.0, 2.0 * size]))


@pytest.mark.parametrize("duration", [0.01, 1.0, 500.0])
@pytest.mark.parametrize(("part", "stops"), [(0.9e-4, True), (1.1e-4, False)])
def test_many_steps_in_a_small_part_of_the_time(duration: float, part: float, stops: bool) -> None:
    """500 steps within 1e-4 of the duration, with R a hundred times as large as before."""
    creep = Creep(duration, np.array([1.0, 2.0]))
    assert not creep.goes_on(knot(0.0, 1.0))
    times = 0.5 * duration + np.linspace(0.0, part * duration, 500)
    found = [creep.goes_on(knot(float(t), 101.0)) for t in times]
    assert found == [False] * 499 + [stops]


def test_away_and_there() -> None:
    creep = Creep(1.0, np.array([1.0, 2.0]))
    assert not creep.goes_on(knot(0.0, 1.0))
    assert not creep.goes_on(knot(0.1, 0.99e5))
    assert creep.goes_on(knot(0.2, 1.01e5))


def passing(t: float, grows: bool) -> Knot:
    """A speed that turns round at 10.37 s without acceleration; R grows towards that time."""
    y, zero = np.array([t]), np.zeros(1)
    v = np.array([1.0 if t < 10.37 else -1.0])
    return Knot(t, y, np.ones(1), zero, v, zero, np.array([1 / abs(t - 10.37) if grows else 1.0]))


@pytest.mark.parametrize("grows", [True, False])
def test_when_a_speed_turned_round(grows: bool) -> None:
    """A jump of speed is a dead centre only if R grows there, too."""

    def look(t: float, y: npt.NDArray[Any], yd: npt.NDArray[Any]) -> Knot:
        assert y == pytest.approx([t])  # a straight path
        assert yd == pytest.approx([1.0])
        return passing(t, grows)

    found = bounce(passing(10.0, grows), passing(11.0, grows), look, np.ones(1))
    assert found == (pytest.approx(10.37, abs=2.0**-12) if grows else None)
