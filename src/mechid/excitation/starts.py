"""Random motions to start from, as wide as the limits allow.

Each coordinate is drawn by itself: its variation is scaled to the limits of that coordinate alone,
and its mean is placed within the range that is left. (Coefficients of a Fourier series that are
drawn alike make a motion that is mostly offset: amplitudes fall with frequency, the offset does
not.) What other limits and the closure take away is found in poses: first for each coordinate
alone, then for all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechid.errors import KinematicsError, MechidError
from mechid.excitation.bounds import MotionLimit, limited_joint
from mechid.excitation.families.family import Basis
from mechid.excitation.problem import DesignProblem
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import JointCoordinate, Mechanism

_LEAST = 0.5  # of its stroke that a coordinate moves through
_ROUNDING = 1e-6  # of a stroke: bounds that are met exactly are broken by rounding
_CONSTANT = 1e-9  # a combination of basis functions that differs from a constant by less is one
CLOSE = 0.8  # of the largest motion that keeps the limits is large enough
TRIES = 12  # to find it
CAREFUL = 0.98  # of where a limit is expected to be met
LEAST_CUT, MOST_CUT = 0.9, 0.1  # per try
_SHRINK, _SHRINKS = 0.8, 24  # where the motion to shrink towards keeps no limits itself
_EXPLAINING = 10  # motions that are examined to explain why none was found
_ORDER = {"position": 0, "speed": 1, "acceleration": 2}


def own_bounds(limits: Sequence[MotionLimit], mechanism: Mechanism) -> Floats:
    """Return the limits of each coordinate alone: position, speed, acceleration.

    Returns
    -------
    array (n_i, 3, 2)
        Lower and upper bounds; infinite where there is none.
    """
    names = [c.name for c in mechanism.coordinates]
    joints = [(c.joint, c.index) if isinstance(c, JointCoordinate) else None
              for c in mechanism.coordinates]  # fmt: skip
    found = np.tile([-np.inf, np.inf], (len(names), 3, 1))
    for limit in limits:
        order = _ORDER.get(limit.quantity, 0)
        if limit.quantity in _ORDER:
            place = names.index(limit.name)
        elif limit.quantity == "joint" and (joint := limited_joint(limit, mechanism)) in joints:
            place = joints.index(joint)
        else:
            continue
        low, high = found[place, order]
        found[place, order] = (
            low if limit.lower is None else max(low, limit.lower),
            high if limit.upper is None else min(high, limit.upper),
        )
    return found


@dataclass(frozen=True, eq=False)
class Starts:
    """Draws motions of a problem that close and keep its limits."""

    problem: DesignProblem

    def draw(
        self, rng: np.random.Generator, check: Callable[[], None] = lambda: None
    ) -> Floats | None:
        """Return x of a random motion within limits, or None where none was found.

        `check` is called before each motion that is solved; what it raises passes through.
        """
        x = self.drawn(rng)
        check()
        if self.problem.feasible(x):
            return x
        if self.room is None:
            return self._shrunk(x, rng, check)
        home = self.problem.design.start
        step = np.zeros_like(home)
        ends = np.cumsum([0, *self.problem.design.sizes])
        for a, b in pairwise(ends):
            if a < b:
                alone = np.zeros_like(home)
                alone[a:b] = x[a:b] - home[a:b]
                step += self._reach(alone, check) * alone
        part = self._reach(step, check)
        return home + part * step if part > 0 and np.any(step) else None

    def drawn(self, rng: np.random.Generator) -> Floats:
        """Return x of a random motion that keeps the limits of each coordinate alone."""
        d = self.problem.design
        begin = d.sample(d.start)
        parts = []
        for j, (part, basis, c) in enumerate(
            zip(d.parts(d.start), d.bases, self.problem.mechanism.coordinates, strict=True)
        ):
            if part.size:
                at = np.stack([begin.y[:, j], begin.yd[:, j], begin.ydd[:, j]])
                usual = 1.0 if c.unit == "rad" else 0.3 * self.problem.model.kinematics.size
                part = part + _step(basis, self._constants[j], at, self._own[j], usual, rng)
            parts.append(part)
        return np.concatenate([np.zeros(0), *parts])

    @cached_property
    def _own(self) -> Floats:
        return own_bounds(self.problem.limits, self.problem.mechanism)

    @cached_property
    def _constants(self) -> list[Floats | None]:
        return [_constant(basis.position) for basis in self.problem.design.bases]

    @cached_property
    def room(self) -> Floats | None:
        """Slack of each limit where the design starts; None if the loops do not close there."""
        room = self.problem.slack(self.problem.design.start, every=True)
        return None if room is None or np.any(room < 0) else room

    def _reach(self, step: Floats, check: Callable[[], None]) -> float:
        """Return which part of a step (0 to 1) can be taken from the start, nearly the largest."""
        home, room = self.problem.design.start, self.room
        assert room is not None
        low, high, part = 0.0, np.inf, 1.0
        for _ in range(TRIES):
            check()
            slack = self.problem.slack(home + part * step)
            if slack is not None and np.all(slack >= 0):
                low = part
                if part == 1.0:
                    break
            else:
                high = part
            if low >= CLOSE * high:
                break
            if low > 0 or slack is None:
                part = 0.5 * (low + high)
            else:  # as if slacks fell in proportion to the step
                broken = slack < 0
                met = float((room[broken] / (room[broken] - slack[broken])).min())
                part *= float(np.clip(CAREFUL * met, MOST_CUT, LEAST_CUT))
        return low

    def _shrunk(
        self, x: Floats, rng: np.random.Generator, check: Callable[[], None]
    ) -> Floats | None:
        """Shrink a motion towards the start, which itself keeps no limits, until it keeps them."""
        home = self.problem.design.start
        for _ in range(_SHRINKS):
            x = home + _SHRINK * rng.uniform(0.7, 1.0) * (x - home)
            check()
            if self.problem.feasible(x):
                return x
        return None


def _step(
    basis: Basis,
    constant: Floats | None,
    at: Floats,
    own: Floats,
    usual: float,
    rng: np.random.Generator,
) -> Floats:
    """Return a random change of one coordinate that keeps its own limits.

    `constant` makes its position constant, if anything does; `at` (3, N) is where it starts from. A
    bound that is missing is half the usual stroke away.
    """
    draw = np.asarray(rng.standard_normal(basis.position.shape[1]))
    if constant is not None:
        draw = draw - np.mean(basis.position @ draw) * constant
    moved = np.stack([B @ draw for B in basis])
    middle = float(at[0].mean())
    low, high = (float(bound) for bound in own[0])
    low, high = (
        low if np.isfinite(low) else min(middle, high) - usual / 2,
        high if np.isfinite(high) else max(middle, low) + usual / 2,
    )
    stroke = float(np.ptp(moved[0]))
    rates = [
        _room_of(side * moved[k], side * (bound - at[k]))
        for k in (1, 2)
        for side, bound in ((1.0, own[k, 1]), (-1.0, own[k, 0]))
    ]
    size = min((high - low) / stroke if stroke > 0 else np.inf, *rates)
    if not np.isfinite(size):
        return draw
    size *= (1 - _ROUNDING) * rng.uniform(_LEAST, 1.0)
    if constant is None:
        return size * draw
    y = at[0] + size * moved[0]
    room = sorted((low - y.min(), high - y.max()))
    return np.asarray(size * draw + rng.uniform(*room) * constant)


def _room_of(moved: Floats, room: Floats) -> float:
    """Return how often a change fits into the room that is left above it."""
    up = moved > 0
    with np.errstate(over="ignore"):  # of limits near 1e308: any number of times
        return float(np.min(np.maximum(room[up], 0.0) / moved[up], initial=np.inf))


def _constant(position: Floats) -> Floats | None:
    """Return the numbers that make a position constant at one, if there are such."""
    one = np.ones(len(position))
    z: Floats = np.asarray(np.linalg.lstsq(position, one)[0], dtype=float)
    return z if np.abs(position @ z - one).max(initial=0.0) <= _CONSTANT else None


def blocked(problem: DesignProblem) -> MechidError:
    """Return an error that names the limit that all motions violate, if any."""
    home = problem.design.start
    try:
        problem.motion(home)
    except KinematicsError as error:
        return MechidError(
            f"no motion was found: the loops do not close even at the start ({error.what})",
            where=problem.mechanism.name,
            remedy="give offsets within the reach of the mechanism",
        )
    rng, starts = np.random.default_rng(0), Starts(problem)
    steps = [starts.drawn(rng) - home for _ in range(_EXPLAINING)]
    parts = (0.0, 0.3, 1.0)
    tried = [problem.slack(home + x * step, every=True) for step in steps for x in parts]
    least = np.array([slack for slack in tried if slack is not None]).max(axis=0)
    k = int(least.argmin())
    words = problem.limits[k].words
    if least[k] < 0:
        return MechidError(
            f"no motion was found that keeps the limit {words}: all violate it by at least "
            f"{-least[k]:.3g} of its range",
            where=problem.mechanism.name,
            remedy="widen that limit, or use another start",
        )
    return MechidError(
        "no motion was found that keeps all limits",
        where=problem.mechanism.name,
        remedy=f"try more random motions, or widen the limits, starting with {words}",
    )
