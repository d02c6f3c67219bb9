"""Random motions: within limits, wide, and not mostly offset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from mechid.errors import MechidError
from mechid.excitation import many_starts
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.families.family import Basis
from mechid.excitation.optimise import Effort, optimise
from mechid.excitation.problem import DesignProblem
from mechid.excitation.starts import Starts, _constant, _room_of, _step, own_bounds

from .problems import mechanism_of, problem_of

OWN = (
    MotionLimit("position", "q1", -0.2, 0.4),
    MotionLimit("joint", "A2", -0.5, 0.5),
    MotionLimit("speed", "q1", -3.0, 2.0),
    MotionLimit("acceleration", "q2", upper=30.0),
)


def test_own_bounds() -> None:
    limits = (*OWN, MotionLimit("position", "q1", -0.3, 0.3), MotionLimit("joint", "C", -1.0, 1.0),
              MotionLimit("force", "M1", -1.0, 1.0), MotionLimit("margin", "", 0.1))  # fmt: skip
    found = own_bounds(limits, mechanism_of("five_bar"))
    free = (-np.inf, np.inf)
    wanted = [[(-0.2, 0.3), (-3.0, 2.0), free], [(-0.5, 0.5), free, (-np.inf, 30.0)]]
    np.testing.assert_array_equal(found, wanted)


def test_numbers_that_make_a_position_constant() -> None:
    """Columns t and 1 - t add up to one; t and t² meet one at a single time."""
    t = np.linspace(0.0, 1.0, 9)
    z = _constant(np.column_stack([t, 1.0 - t]))
    assert z is not None
    np.testing.assert_allclose(z, 1.0)
    assert _constant(np.column_stack([t, t * t])) is None


def test_room_above_a_change() -> None:
    """Steps of 1, 2 and 4 fit twice, half a time and three times; what is beyond has none."""
    assert _room_of(np.array([1.0, 2.0, -1.0, 4.0]), np.array([2.0, 1.0, 0.1, 12.0])) == 0.5
    assert _room_of(np.array([1.0, 2.0]), np.array([2.0, -1.0])) == 0.0
    assert _room_of(np.array([0.0, -1.0]), np.array([0.1, 0.1])) == np.inf
    assert _room_of(np.array([1e-3, 0.5]), np.array([1e308, 1e308])) == np.inf  # without a warning


@pytest.mark.parametrize("family", ["fourier", "bspline"])
@pytest.mark.parametrize("rest", [False, True])
def test_drawn_motions_keep_the_limits_of_each_coordinate(family: str, rest: bool) -> None:
    problem = problem_of("five_bar", "d", OWN, family=family, harmonics=4, samples=40, rest=rest)
    starts, rng = Starts(problem), np.random.default_rng(0)
    for _ in range(20):
        s = problem.design.sample(starts.drawn(rng))
        assert np.all((s.y[:, 0] >= -0.2) & (s.y[:, 0] <= 0.4))
        assert np.all(np.abs(s.y[:, 1]) <= 0.5)
        assert np.all((s.yd[:, 0] >= -3.0) & (s.yd[:, 0] <= 2.0))
        assert np.all(s.ydd[:, 1] <= 30.0)


def test_each_coordinate_moves_through_half_of_its_range_or_more() -> None:
    """Where nothing but positions is limited; the rest of the range is left to the mean."""
    limits = (MotionLimit("position", "q1", -0.1, 0.4), MotionLimit("position", "q2", -0.3, 0.3))
    problem = problem_of("five_bar", "d", limits, harmonics=5, samples=60)
    starts, rng = Starts(problem), np.random.default_rng(1)
    means = []
    for _ in range(50):
        x = starts.draw(rng)
        assert x is not None
        y = problem.design.sample(x).y
        stroke = np.ptp(y, axis=0) / [0.5, 0.6]
        assert np.all((stroke >= 0.5 * (1 - 1e-5)) & (stroke <= 1.0))
        means.append(y.mean(axis=0))
    # The middle of the range, not the home pose, and not always the same.
    np.testing.assert_allclose(np.mean(means, axis=0), [0.15, 0.0], atol=0.05)
    assert np.std(means, axis=0).min() > 0.02


def test_without_limits_a_motion_has_its_usual_size() -> None:
    problem = problem_of("five_bar", "d")
    x = Starts(problem).draw(np.random.default_rng(0))
    assert x is not None
    stroke = np.ptp(problem.design.sample(x).y, axis=0)
    assert np.all((stroke > 0.1) & (stroke <= 1.0))


def check_nearly_largest(problem: DesignProblem, x: np.ndarray) -> None:
    home = problem.design.start
    assert problem.feasible(x)
    assert not problem.feasible(home + (x - home) / 0.75)


@pytest.mark.parametrize(
    "limit",
    [MotionLimit("joint", "C", -0.15, 0.15), MotionLimit("force", "M1", -1.5, 1.5),
     MotionLimit("distance", "ground.A1-coupler_1.tool", 0.38, 0.45)],
)  # fmt: skip
def test_what_other_limits_take_away_is_hardly_more_than_needed(limit: MotionLimit) -> None:
    """Of one coordinate; several may be in each other's way less together than each alone."""
    wide = MotionLimit("position", "q1", -0.6, 0.6)
    problem = problem_of("five_bar", "d", (wide, limit), samples=30, fixed=("q2",))
    starts = Starts(problem)
    assert problem.feasible(problem.design.start)
    cut = 0
    for seed in range(5):
        x = starts.draw(np.random.default_rng(seed))
        assert x is not None
        if not problem.feasible(starts.drawn(np.random.default_rng(seed))):
            check_nearly_largest(problem, x)
            cut += 1
    assert cut >= 3


def test_motions_that_do_not_close_are_made_smaller() -> None:
    limits = tuple(MotionLimit("position", n, -9.0, 9.0) for n in ("q1", "q2"))
    problem = problem_of("five_bar", "d", limits, samples=40)
    for seed in range(3):
        x = Starts(problem).draw(np.random.default_rng(seed))
        assert x is not None
        check_nearly_largest(problem, x)


def test_a_narrow_coordinate_does_not_hold_the_others_back() -> None:
    limits = (MotionLimit("position", "q1", -1e-3, 1e-3), MotionLimit("position", "q2", -0.5, 0.5))
    problem = problem_of("five_bar", "d", limits)
    x = Starts(problem).draw(np.random.default_rng(0))
    assert x is not None
    stroke = np.ptp(problem.design.sample(x).y, axis=0)
    assert stroke[0] <= 2e-3
    assert stroke[1] >= 0.45


def test_check_is_called_and_may_stop() -> None:
    problem = problem_of("five_bar", "d", OWN)
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise TimeoutError

    starts, rng = Starts(problem), np.random.default_rng(0)
    for _ in range(2):
        starts.draw(rng, check)
    with pytest.raises(TimeoutError):
        starts.draw(rng, check)


def test_the_limit_that_blocks_is_one_that_all_motions_break() -> None:
    """Not the one that the home pose breaks, if random motions keep it."""
    reachable = MotionLimit("position", "q1", 0.1, 0.5)
    impossible = MotionLimit("joint", "C", 2.0, 3.0)
    problem = problem_of("five_bar", "d", (reachable, impossible))
    assert not problem.feasible(problem.design.start)
    with pytest.raises(MechidError, match="keeps the limit 2 ≤ joint of C ≤ 3: all violate it"):
        optimise(problem, Effort(12, 0, 1))
    possible = replace(problem, limits=(reachable,))
    assert optimise(possible, Effort(3, 0, 1)).random_values.shape == (3,)


def test_limits_that_exclude_each_other() -> None:
    """Each can be kept, both together cannot."""
    apart = (MotionLimit("position", "q1", 0.1, 0.5), MotionLimit("joint", "A1", -0.5, 0.0))
    problem = problem_of("five_bar", "d", apart)
    with pytest.raises(MechidError, match="no motion was found that keeps"):
        optimise(problem, Effort(12, 0, 1))


@dataclass
class Line:
    """A problem in one number: a slack of 1 at zero that falls by `slope`; None from `open_` on."""

    slope: float
    open_: float = np.inf
    tried: int = 0

    @property
    def design(self) -> Any:
        return SimpleNamespace(start=np.zeros(1))

    def slack(self, x: np.ndarray, every: bool = False) -> np.ndarray | None:
        self.tried += 1
        return None if x[0] > self.open_ else np.array([5.0, 1.0 - self.slope * x[0]])


@pytest.mark.parametrize("slope", [0.5, 1.1, 1.3, 3.0, 7.0, 25.0, 3e3])
def test_reach_along_a_step(slope: float) -> None:
    """At least 0.8 of the largest part that keeps the limit, in twelve tries or less."""
    line = Line(slope)
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1

    part = Starts(cast(Any, line))._reach(np.ones(1), check)
    largest = min(1.0, 1.0 / slope)
    assert 0.8 * largest <= part <= largest
    assert calls == line.tried - 1 <= 12
    if slope == 1.1:
        assert calls == 2  # as expected from the first try: 0.98 of where the limit is met
        assert part == pytest.approx(0.98 / 1.1)


def test_reach_where_loops_open_and_where_nothing_fits() -> None:
    part = Starts(cast(Any, Line(0.1, 0.37)))._reach(np.ones(1), lambda: None)
    assert 0.8 * 0.37 <= part <= 0.37
    assert Starts(cast(Any, Line(1e30)))._reach(np.ones(1), lambda: None) == 0.0
    assert Starts(cast(Any, Line(-2.0)))._reach(np.ones(1), lambda: None) == 1.0


def test_reach_of_many_steps_at_once() -> None:
    """Each as if it were alone, whether limits end it, or loops that open (nan), or nothing."""
    lines = [Line(k) for k in (0.5, 1.1, 1.3, 3.0, 7.0, 25.0, 3e3, 1e30)] + [Line(0.1, 0.37)]
    # A number per line: each step moves one of them.
    steps = np.eye(len(lines))

    def slacks(x: np.ndarray) -> np.ndarray:
        rows = []
        for row in x:
            each = [line.slack(row[[k]]) for k, line in enumerate(lines)]
            closed = all(slack is not None for slack in each)
            rows.append(
                np.concatenate(cast(Any, each)) if closed else np.full(2 * len(x[0]), np.nan)
            )
        return np.array(rows).reshape(len(x), -1)

    found = many_starts._reach(
        np.zeros(len(lines)), slacks(np.zeros((1, len(lines))))[0], steps, slacks
    )
    alone = [Starts(cast(Any, line))._reach(np.ones(1), lambda: None) for line in lines]
    np.testing.assert_array_equal(found, alone)


def basis(*columns: np.ndarray) -> Basis:
    """Return positions, with speeds and accelerations twice and three times as large."""
    B = np.column_stack(columns)
    return Basis(B, 2.0 * B, 3.0 * B)


FREE = np.tile([-np.inf, np.inf], (3, 1))
WAVE = np.sin(np.linspace(0.0, 2 * np.pi, 40, endpoint=False))


@pytest.mark.parametrize(
    ("own", "stroke"),
    [
        (((-1.0, 3.0), None, None), 4.0),
        (((None, None), None, None), 0.7),  # as usual
        # A bound that is missing is 0.35 from the other one, or from the middle if that is further.
        (((0.2, None), None, None), 0.35),
        (((-0.2, None), None, None), 0.35 + 0.2),
        (((None, -0.1), None, None), 0.35),
        (((None, 0.1), None, None), 0.35 + 0.1),
        (((-9.0, 9.0), (-0.4, 5.0), None), 2 * 0.4 / 2.0),
        (((-9.0, 9.0), (-5.0, 0.4), None), 2 * 0.4 / 2.0),
        (((-9.0, 9.0), None, (-0.3, 5.0)), 2 * 0.3 / 3.0),
        (((-9.0, 9.0), None, (-5.0, 0.3)), 2 * 0.3 / 3.0),
    ],
)
def test_step_of_one_coordinate(own: Any, stroke: float) -> None:
    """Half to all of the stroke that bounds of one sine allow, its mean anywhere that is left."""
    bounds = FREE.copy()
    for k, pair in enumerate(own):
        for side in (0, 1):
            if pair is not None and pair[side] is not None:
                bounds[k, side] = pair[side]
    family, at, rng = basis(np.ones(40), WAVE), np.zeros((3, 40)), np.random.default_rng(0)
    constant = np.array([1.0, 0.0])
    strokes, means = [], []
    for _ in range(200):
        c = _step(family, constant, at, bounds, 0.7, rng)
        y = family.position @ c
        strokes.append(np.ptp(y))
        means.append(y.mean())
        assert y.min() >= bounds[0, 0]
        assert y.max() <= bounds[0, 1]
    assert 0.5 * stroke * (1 - 1e-5) <= min(strokes) <= 0.6 * stroke
    assert 0.95 * stroke <= max(strokes) <= stroke
    if own[0] == (-1.0, 3.0):
        # Uniform in the room that is left: about the middle of the range.
        assert np.mean(means) == pytest.approx(1.0, abs=0.1)
        assert np.std(means) > 0.2
    # Without a constant the mean is what the sine has: none.
    alone = _step(basis(WAVE), None, at, bounds, 0.7, rng)
    assert 0 < 2 * abs(alone[0]) <= stroke


def test_step_of_what_does_not_move() -> None:
    """A constant alone: any draw, placed within the range."""
    bounds = FREE.copy()
    bounds[0] = 1.0, 2.0
    still = basis(np.zeros(40))
    c = _step(still, None, np.zeros((3, 40)), bounds, 0.7, np.random.default_rng(1))
    assert np.isfinite(c).all()
