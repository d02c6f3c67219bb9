"""Steps across a dead centre, or ever shorter on the way there: at both sides of each bound."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.forward.dead_centre import (
    REMEDY,
    Creep,
    Knot,
    _excess,
    _Path,
    _suspect,
    bounce,
    notable,
    refusal,
)
from mechid.errors import UnreachablePoseError


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


@pytest.mark.parametrize("least", [0.25, 1.0, 30.0])
def test_away_and_there(least: float) -> None:
    """1e5 times the least that R was; the second entry counts, in units of its scale."""
    creep = Creep(1.0, np.array([1.0 / least, 2.0]))
    assert not creep.goes_on(knot(0.0, least))
    assert not creep.goes_on(knot(0.1, 0.99e5 * least))
    assert creep.goes_on(knot(0.2, 1.01e5 * least))


def test_steps_are_counted_anew_where_the_motion_left() -> None:
    """499 steps near a dead centre, one away from it, and another one near it."""
    creep = Creep(1.0, np.array([1.0, 2.0]))
    sizes = [1.0, *[101.0] * 499, 1.0, 101.0, *[101.0] * 498, 101.0]
    found = [creep.goes_on(knot(0.5, size)) for size in sizes]
    assert found == [False] * (len(sizes) - 1) + [True]


def test_a_mechanism_that_does_not_move_does_not_creep() -> None:
    creep = Creep(1.0, np.ones(1))
    still = SimpleNamespace(t=0.5, size=np.zeros(1))
    assert not any(creep.goes_on(still) for _ in range(600))


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


def at(t: float, v: list[float], vd: list[float]) -> Knot:
    """A knot of which only speeds and accelerations matter."""
    none = np.zeros(1)
    return Knot(t, none, none, none, np.array(v), np.array(vd), none)


def test_what_accelerations_do_not_explain() -> None:
    """In 0.25 s, with the mean of both accelerations: 2 - 4 · 0.25 and -3 + 2 · 0.25."""
    a, b = at(1.0, [1.0, 2.0], [2.0, 0.0]), at(1.25, [3.0, -1.0], [6.0, -4.0])
    np.testing.assert_allclose(_excess(a, b), [1.0, 2.5], rtol=1e-14)


@pytest.mark.parametrize("explained", [0.48, 0.52])
def test_half_of_a_change_may_be_unexplained(explained: float) -> None:
    """The change of 4 in 0.1 s, of which constant accelerations explain a part."""
    vd = [explained * 4.0 / 0.1]
    a, b = at(2.0, [1.0], vd), at(2.1, [5.0], vd)
    assert _suspect(a, b, np.ones(1)).tolist() == [explained < 0.5]
    h = b.t - a.t
    assert notable(h, a.v, a.vd, b.v, b.vd, np.ones(1)) == (explained < 0.5)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("fastest", [1e-3, 1e3])
@pytest.mark.parametrize("jump", [0.9e-9, 1.1e-9])
def test_jumps_below_rounding_do_not_count(size: float, fastest: float, jump: float) -> None:
    """1e-9 of the fastest speed, in units of the scales.

    That is the speed of the first coordinate before the step, which brakes to half of it.
    """
    scale = size * np.array([2.0, 5.0])
    vd = [-fastest * scale[0], 0.0]
    a, b = (
        at(t, (fastest * scale * [part, -2.0 * part * jump]).tolist(), vd)
        for t, part in ((3.0, 1.0), (3.5, 0.5))
    )
    assert _suspect(a, b, scale).tolist() == [False, jump > 1e-9]
    assert notable(0.5, a.v, a.vd, b.v, b.vd, scale) == (jump > 1e-9)


@pytest.mark.parametrize("jump", [-0.12, -0.08, 0.08, 0.12])
def test_jumps_below_a_tenth_of_the_speed_are_not_notable(jump: float) -> None:
    """Of the larger one of both speeds, 10 before or after."""
    v = [10.0, 10.0 + 10.0 * jump] if jump < 0 else [10.0 - 10.0 * jump, 10.0]
    a, b = at(0.0, v[:1], [0.0]), at(0.2, v[1:], [0.0])
    assert notable(0.2, a.v, a.vd, b.v, b.vd, np.ones(1)) == (abs(jump) > 0.1)
    assert _suspect(a, b, np.ones(1)).all()


def test_coordinates_that_cannot_jump() -> None:
    """Those of infinite scale."""
    a, b = at(0.0, [1.0, 1.0], [0.0, 0.0]), at(0.1, [-1.0, 1.0], [0.0, 0.0])
    scale = np.array([np.inf, 1.0])
    assert not notable(0.1, a.v, a.vd, b.v, b.vd, scale)
    assert bounce(a, b, lambda *_: pytest.fail("nothing to look at"), scale) is None


def test_path_between_knots() -> None:
    """A polynomial of fifth degree is met exactly, with its speed, wherever the step begins."""
    rng = np.random.default_rng(5)
    curves = [np.polynomial.Polynomial(c) for c in rng.normal(size=(2, 6))]

    def knot_of(t: float) -> Knot:
        y, yd, ydd = (np.array([c.deriv(k)(t) for c in curves]) for k in (0, 1, 2))
        return Knot(t, y, yd, ydd, y, y, y)

    path = _Path(knot_of(0.7), knot_of(1.1))
    for t in (0.7, 0.75, 0.9, 1.04, 1.1):
        y, yd = path(t)
        np.testing.assert_allclose(y, knot_of(t).y, rtol=1e-11)
        np.testing.assert_allclose(yd, knot_of(t).yd, rtol=1e-10)


def test_the_half_with_the_larger_jump_is_looked_at() -> None:
    """Larger in units of the scales: 1.5 of 0.5 at 10.8 s, not 20 of 10 at 10.2 s."""
    scale = np.array([0.5, 10.0])

    def both(t: float) -> Knot:
        zero = np.zeros(2)
        v = np.array([1.5 if t > 10.8 else 0.0, 20.0 if t > 10.2 else 0.0])
        size = 1.0 / np.abs(t - np.array([10.8, 10.2]))
        return Knot(t, np.full(2, t), np.ones(2), zero, v, zero, size)

    found = bounce(both(10.0), both(11.0), lambda t, y, yd: both(t), scale)
    assert found == pytest.approx(10.8, abs=2.0**-12)


def test_a_way_that_leads_out_of_reach_bounced_in_its_middle() -> None:
    def look(t: float, y: npt.NDArray[Any], yd: npt.NDArray[Any]) -> Knot:
        raise UnreachablePoseError("no pose")

    found = bounce(passing(10.0, True), passing(11.0, True), look, np.ones(1))
    assert found == pytest.approx(10.5, abs=1e-12)


@pytest.mark.parametrize("most", [1.9, 2.1])
def test_how_much_admissible_motions_must_grow(most: float) -> None:
    """Against the smaller one of those at both ends; twice."""

    def look(t: float, y: npt.NDArray[Any], yd: npt.NDArray[Any]) -> Knot:
        return passing(t, False)._replace(size=np.array([3.0 * most]))

    ends = [passing(t, False)._replace(size=np.array([x])) for t, x in ((10.0, 3.0), (11.0, 4.0))]
    assert (bounce(ends[0], ends[1], look, np.ones(1)) is not None) == (most > 2.0)


def test_a_smooth_turn_is_no_bounce() -> None:
    """A speed of cos(3 t) changes its sign as its accelerations say, though R grows."""

    def smooth(t: float) -> Knot:
        w = 3.0
        y, v, vd = (np.array([f(w * t)]) for f in (np.sin, np.cos, np.sin))
        return Knot(t, y / w, v, -w * vd, v, -w * vd, np.array([1.0 + 100.0 * (t > 0.4)]))

    found = bounce(smooth(0.0), smooth(1.0), lambda t, y, yd: smooth(t), np.ones(1))
    assert found is None


def test_the_error_says_when_and_where() -> None:
    error = refusal(0.25, "q1 = 1.5 rad")
    assert error.time == 0.25
    assert "dead centre near q1 = 1.5 rad" in str(error)
    assert error.remedy == REMEDY
