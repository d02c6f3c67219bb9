"""What an experiment moves and measures, and random states within it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import MechidError
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion
from mechid.kinematics.samples import Samples, solve_each
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism, Vec3
from mechid.mechanism.size import characteristic_size

_TURN = 0.35  # rad, largest departure of an angle from home
_SHIFT = 0.1  # of the characteristic length
_TRIES = 6


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


def random_states(mechanism: Mechanism, experiment: Experiment, n: int, seed: int = 0) -> Motion:
    """Return `n` random states about the home pose, on its branch.

    A state that cannot be reached is drawn again nearer to home. States have no times, so loads
    over time, which no parameter depends on, are left out of the mechanism.

    Raises
    ------
    MechidError
        If the mechanism can hardly move from its home pose.
    """
    steady = tuple(e for e in mechanism.elements if e.history is None)
    model = kinematic_model(replace(mechanism, elements=steady))
    rng = np.random.default_rng(seed)
    held = [c.name in experiment.hold for c in mechanism.coordinates]
    reach = np.where(held, 0.0, _reach(model))
    n_i = len(held)
    y = model.home_y + reach * rng.uniform(-1, 1, (n, n_i))
    moving = np.where(held, 0.0, 0.0 if experiment.static else 1.0)
    yd, ydd = moving * rng.uniform(-1, 1, (n, n_i)), moving * rng.uniform(-1, 1, (n, n_i))
    samples = Samples.empty(model, y, yd * reach * 10, ydd * reach * 50, None)
    for attempt in range(_TRIES):
        samples.status[:] = 0
        solve_each(samples, model.home_q, model.home_y)
        failed = np.flatnonzero(samples.status)
        if not len(failed):
            return Motion(
                model,
                None,
                samples.y,
                samples.yd,
                samples.ydd,
                samples.q,
                samples.v,
                samples.vd,
                ordered=False,
            )
        nearer = reach * 0.5 ** (attempt + 1)
        samples.y[failed] = model.home_y + nearer * rng.uniform(-1, 1, (len(failed), n_i))
    raise MechidError(
        "the mechanism can hardly move from its assembled pose",
        where=mechanism.name,
        remedy="give a reference pose, or start positions, away from singular poses",
    )


def _reach(model: KinematicModel) -> Floats:
    """Return how far each coordinate goes from home: rad, or m."""
    L = characteristic_size(model.mechanism)
    return np.array([_TURN if c.unit == "rad" else _SHIFT * L for c in model.mechanism.coordinates])
