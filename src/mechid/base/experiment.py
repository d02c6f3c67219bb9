"""What an experiment moves and measures, and random states within it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import MechidError
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.joint_limits import outside_limits
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion
from mechid.kinematics.samples import Samples, solve_each
from mechid.kinematics.tables import Floats
from mechid.kinematics.ways import regular_ways
from mechid.mechanism.records import JointCoordinate, Limit, Mechanism, Vec3
from mechid.mechanism.size import characteristic_size

_TURN = 0.35  # rad, departure of an angle from home in states near it
_SHIFT = 0.1  # of the characteristic length
_TRIES = 8
_MARGIN = 0.1  # of the distance from singular poses at home


@dataclass(frozen=True)
class Experiment:
    """What is moved and measured. The default is everything.

    Attributes
    ----------
    hold : tuple of str
        Independent coordinates that stand still.
    measure : tuple of str or None
        Forces that are measured (names of forces or of their coordinates); None: all.
    static : bool
        Poses at rest only.
    gravity : Vec3 or None
        Weight per unit mass; None: that of the model.
    """

    hold: tuple[str, ...] = ()
    measure: tuple[str, ...] | None = None
    static: bool = False
    gravity: Vec3 | None = None

    @property
    def whole(self) -> bool:
        """Whether all motions are made and all forces measured."""
        return not self.hold and self.measure is None and not self.static

    @property
    def words(self) -> str:
        """What is moved and measured, in words."""
        parts = ["poses at rest" if self.static else "all motions"]
        if self.hold:
            parts.append(f"with {', '.join(self.hold)} held")
        measured = "all" if self.measure is None else ", ".join(self.measure)
        return f"{' '.join(parts)}; measured forces: {measured}"

    def gravity_of(self, mechanism: Mechanism) -> Vec3:
        """Return the weight per unit mass that counts."""
        return mechanism.gravity if self.gravity is None else self.gravity


EVERYTHING = Experiment()
NO_GRAVITY: Vec3 = (0.0, 0.0, 0.0)


def checked(experiment: Experiment, mechanism: Mechanism) -> Experiment:
    """Return the experiment with forces named by their coordinates, or reject a wrong name.

    Coordinates that the model holds stand still in every experiment.
    """
    names = [c.name for c in mechanism.coordinates]
    hold = (*experiment.hold, *(c.name for c in mechanism.coordinates if c.held))
    experiment = replace(experiment, hold=tuple(dict.fromkeys(hold)))
    forces = {c.force: c.name for c in mechanism.coordinates}
    for name in experiment.hold:
        if name not in names:
            raise MechidError(
                f"there is no independent coordinate {name} to hold",
                where=mechanism.name,
                remedy=f"choose one of: {', '.join(names)}",
            )
    if experiment.measure is None:
        return experiment
    chosen = []
    for name in experiment.measure:
        found = forces.get(name, name)
        if found not in names:
            raise MechidError(
                f"there is no force {name} to measure",
                where=mechanism.name,
                remedy=f"choose one of: {', '.join(forces)}",
            )
        chosen.append(found)
    if not chosen:
        raise MechidError(
            "at least one force must be measured", where=mechanism.name, remedy="name at least one"
        )
    return replace(experiment, measure=tuple(chosen))


def measured_rows(experiment: Experiment, mechanism: Mechanism) -> list[int]:
    """Return the numbers of the measured forces."""
    names = [c.name for c in mechanism.coordinates]
    if experiment.measure is None:
        return list(range(len(names)))
    return [names.index(name) for name in experiment.measure]


def random_states(
    mechanism: Mechanism,
    experiment: Experiment,
    n: int,
    seed: int = 0,
    *,
    wide: bool = True,
    near: float = 1.0,
) -> Motion:
    """Return `n` random states within the limits of the joints, on the branch of the home pose.

    Every second state is near home, the others are anywhere in the range of the coordinates, if
    `wide`: laws that change with a sign (friction) or at a length show it only there. `near` is a
    part of the usual distance from home. A state that
    cannot be reached without a singular pose on the way, or is outside the limits, is drawn again
    nearer to home. States have no times, so loads over time, which no parameter depends on, are
    left out of the mechanism.

    Raises
    ------
    MechidError
        If the mechanism can hardly move from its home pose within its limits.
    """
    steady = tuple(e for e in mechanism.elements if e.history is None)
    model = kinematic_model(replace(mechanism, elements=steady))
    rng = np.random.default_rng(seed)
    held = np.array([c.name in experiment.hold for c in mechanism.coordinates], dtype=bool)
    reach = np.where(held, 0.0, reach_of(mechanism))
    lower, upper = _range(model)
    home = np.where(held, model.home_y, np.clip(model.home_y, lower, upper))
    far = (np.arange(n)[:, None] % 2 == 1) & wide
    below = np.where(held, 0.0, np.where(far, home - lower, np.minimum(home - lower, near * reach)))
    above = np.where(held, 0.0, np.where(far, upper - home, np.minimum(upper - home, near * reach)))
    u = rng.uniform(-1, 1, (n, len(held)))
    y = home + np.where(u < 0, below, above) * u
    moving = np.where(held, 0.0, 0.0 if experiment.static else 1.0)
    yd, ydd = moving * rng.uniform(-1, 1, y.shape), moving * rng.uniform(-1, 1, y.shape)
    states = Samples.empty(model, y, yd * reach * 10, ydd * reach * 50, None)
    margin = _MARGIN * float(singularity_margin(model, model.home_q[None])[0])
    failed = np.arange(n)
    for attempt in range(_TRIES):
        part = Samples.empty(model, y[failed], states.yd[failed], states.ydd[failed], None)
        # Far states often cannot be reached: only the last attempts are worth the longer way.
        solve_each(part, model.home_q, model.home_y, in_one_piece=attempt >= _TRIES // 2)
        reached = part.status == 0
        found = _motion(part).chosen(np.flatnonzero(reached))
        good = reached.copy()
        good[reached] = ~outside_limits(found) & regular_ways(found, margin)
        done = failed[good]
        states.q[done], states.v[done], states.vd[done] = part.q[good], part.v[good], part.vd[good]
        # Nearer to home: in front of where the way ended.
        share = np.where(reached, 0.6, part.reach)[~good] * rng.uniform(0.5, 0.95, np.sum(~good))
        failed = failed[~good]
        if not len(failed):
            return _motion(states)
        y[failed] = home + share[:, None] * (y[failed] - home)
    raise MechidError(
        "the mechanism can hardly move from its assembled pose within the limits of its joints",
        where=mechanism.name,
        remedy="give a reference pose, or start positions, away from singular poses and limits",
    )


def _motion(s: Samples) -> Motion:
    return Motion(s.model, None, s.y, s.yd, s.ydd, s.q, s.v, s.vd, ordered=False)


def home_state(mechanism: Mechanism) -> Motion:
    """Return the mechanism at rest in its reference pose."""
    model = kinematic_model(mechanism)
    y = model.home_y[None]
    states = Samples.empty(model, y, np.zeros_like(y), np.zeros_like(y), None)
    states.q[:] = model.home_q
    return _motion(states)


def reach_of(mechanism: Mechanism) -> Floats:
    """Return how far each coordinate goes from home in states near it: rad, or m."""
    L = characteristic_size(mechanism)
    return np.array([_TURN if c.unit == "rad" else _SHIFT * L for c in mechanism.coordinates])


def _range(model: KinematicModel) -> tuple[Floats, Floats]:
    """Return the least and largest value of each coordinate: limits, or a turn, or the size."""
    L = characteristic_size(model.mechanism)
    lower, upper = model.home_y.copy(), model.home_y.copy()
    for i, c in enumerate(model.mechanism.coordinates):
        limit = Limit()
        if isinstance(c, JointCoordinate):
            limits = model.mechanism.joint(c.joint).limits
            limit = limits[c.index] if c.index < len(limits) else limit
        far = np.pi if c.unit == "rad" else L
        home = float(model.home_y[i])
        lower[i] = home - far if limit.lower is None else limit.lower
        upper[i] = home + far if limit.upper is None else limit.upper
    return lower, upper
