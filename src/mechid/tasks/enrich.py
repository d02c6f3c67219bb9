"""What a machine has and its model lacks: found with the parameters, and written into the model.

Shapes of friction and rotors are force elements, whose coefficients become parameters. Places of
joints, and friction that grows with the load, are numbers of the model: forces are linearised about
them, with the parameters found so far, and a number that is there is changed in the model before
the next round. Everything that is more likely there than not becomes the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model, with_geometry
from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import Estimate, Finding
from mechid.estimation.estimator import Estimator
from mechid.estimation.posterior.component import FAMILIES
from mechid.estimation.regression import Floats, Possible, Regression, joined
from mechid.kinematics.engine.choice import engine
from mechid.mechanism.element_terms import driven_joints
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.options import IdentifyOptions
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.friction_shapes import (
    FrictionShape,
    friction_shapes,
    loaded_shapes,
    shape_columns,
    with_shapes,
)
from mechid.tasks.load_shapes import LARGEST, loaded
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import EstimationProblem, chosen_base, problem_of

Logs: TypeAlias = Sequence[PreparedMeasurement]
_STEP = 1e-6  # of the size of the mechanism, or of the force: what is linear in it
_MOST = 100_000  # samples: forces are computed once for each joint and axis
_ROUNDS = 3
_ELASTIC = 1e-4  # of the motion of a drive


@dataclass(frozen=True, eq=False)
class Number:
    """Some numbers of a model that may be otherwise.

    Attributes
    ----------
    name, family, unit : str
    usual : float
        How far they usually are off.
    values : array (k,)
        How far they were changed already.
    change : callable
        Mechanism and change (k,) → mechanism.
    geometry : bool
        Whether only places of joints change.
    """

    name: str
    family: str
    unit: str
    usual: float
    values: Floats
    change: Callable[[Mechanism, Floats], Mechanism]
    geometry: bool = False


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a model may lack: shapes of friction, numbers, and what cannot be written into it."""

    mechanism: Mechanism
    shapes: tuple[FrictionShape, ...]
    numbers: tuple[Number, ...]

    def problem(self, regression: Regression, logs: Logs, phi: Floats) -> Regression:
        """Return the problem with them, linearised about parameters φ (b,)."""
        columns = shape_columns(self.mechanism, logs, self.shapes) if self.shapes else None
        possible = [
            Possible(_named(s), "friction", columns[..., k : k + 1])
            for k, s in enumerate(self.shapes)
            if columns is not None
        ]
        known = regression.known
        model = dynamic_model(self.mechanism)
        forces = _Forces(logs, regression.parameters, phi)
        rest = forces(model)
        for number in self.numbers:
            slopes = _slopes(self.mechanism, model, number, forces, rest)
            if slopes is not None:
                # Coefficients are the whole change: that which the model has is taken off.
                known = known - slopes @ number.values
                possible.append(
                    Possible(number.name, number.family, slopes, number.usual, number.unit)
                )
        possible += _elastic(self.mechanism, model, logs, forces, rest)
        return replace(regression, known=known, possible=tuple(possible))

    def writes(self, name: str) -> bool:
        """Return whether something can be written into the model."""
        return any(name == n.name for n in self.numbers) or any(
            name == _named(s) for s in self.shapes
        )

    def with_found(self, found: Sequence[Finding]) -> tuple[Candidates, tuple[FrictionShape, ...]]:
        """Return the candidates of the model with what was found, and the shapes it got."""
        by_name = {f.name: f for f in found}
        taken = tuple(s for s in self.shapes if _named(s) in by_name)
        mechanism = with_shapes(self.mechanism, taken)
        numbers = []
        for number in self.numbers:
            values = number.values
            if number.name in by_name:
                values = np.array(by_name[number.name].values)
                mechanism = number.change(mechanism, values - number.values)
            numbers.append(replace(number, values=values))
        shapes = tuple(s for s in self.shapes if s not in taken)
        return Candidates(mechanism, shapes, tuple(numbers)), taken


def candidates(mechanism: Mechanism, logs: Logs, options: IdentifyOptions) -> Candidates:
    """Return what a model may lack."""
    if sum(len(log.time) for log in logs) > _MOST:
        places: tuple[Number, ...] = ()
    else:
        places = tuple(_places(mechanism, options))
    if "keep" in options.friction:
        return Candidates(mechanism, (), places)
    shapes = tuple(
        s for s in friction_shapes(mechanism, logs) if not (s.actuated and s.shape == "asymmetric")
    )
    loads = tuple(_load(s) for s in loaded_shapes(mechanism, logs[0].forces))
    return Candidates(mechanism, shapes, (*places, *loads))


def _named(shape: FrictionShape) -> str:
    return f"{shape.words} of {shape.joint}"


def _places(mechanism: Mechanism, options: IdentifyOptions) -> Iterator[Number]:
    size = characteristic_size(mechanism)
    for joint in movable_joints(mechanism):
        usual, family = FAMILIES["places"].usual * size, "places"
        if options.hardpoints is not None:
            level = options.hardpoints.of(joint)
            usual, family = level.value * (size if level.relative else 1.0), "declared places"

        def change(machine: Mechanism, by: Floats, joint: str = joint) -> Mechanism:
            return with_joints_moved(machine, {joint: by.tolist()})

        if usual > 0:
            yield Number(
                f"place of {joint}", family, "m", usual, np.zeros(3), change, geometry=True
            )


def _load(shape: FrictionShape) -> Number:
    def change(machine: Mechanism, by: Floats) -> Mechanism:
        have = {e.name: e for e in machine.elements}
        element = have.get(shape.element.name, shape.element)
        size = float(np.clip(element["load"] + by[0], 0.0, LARGEST))
        have[element.name] = loaded(element, size)
        return replace(machine, elements=tuple(have.values()))

    return Number(_named(shape), "friction", "", FAMILIES["friction"].usual, np.zeros(1), change)


@dataclass(frozen=True, eq=False)
class _Forces:
    """Forces (N, n_d) of a model by parameters φ, at the samples of some logs."""

    logs: Logs
    parameters: tuple[str, ...]
    phi: Floats

    def __call__(self, model: DynamicModel) -> Floats:
        with engine("tables"):
            r = joined([regression_of(model, log, self.parameters) for log in self.logs])
        return np.asarray(r.W @ self.phi + r.known)


def _slopes(
    mechanism: Mechanism, model: DynamicModel, number: Number, forces: _Forces, rest: Floats
) -> Floats | None:
    """Return forces per unit of each number (N, n_d, k); None if the machine does not move on so."""
    k = len(number.values)
    step = _STEP * characteristic_size(mechanism) if number.geometry else 1e-3
    found = []
    for unit in np.eye(k):
        try:
            other = number.change(mechanism, step * unit)
            changed = with_geometry(model, other) if number.geometry else dynamic_model(other)
            found.append((forces(changed) - rest) / step)
        except MechidError:
            return None
    return np.stack(found, axis=-1)


def _elastic(
    mechanism: Mechanism, model: DynamicModel, logs: Logs, forces: _Forces, rest: Floats
) -> Iterator[Possible]:
    """Yield what deflections of each drive with its force would add to the forces."""
    channels = logs[0].forces
    if any(log.decimation > 1 for log in logs):
        return  # deflections follow the force from sample to sample
    ends = np.cumsum([len(log.time) for log in logs])[:-1]
    acting = np.split(rest, ends)
    for at, i in driven_joints(mechanism.coordinates, mechanism.joint).items():
        c = mechanism.coordinates[i]
        if c.held or c.force not in channels:
            continue
        j = channels.index(c.force)
        usual = float(np.sqrt(np.mean(rest[:, j] ** 2)))
        moved = float(np.std(np.concatenate([log.y[:, i] for log in logs])))
        if not (moved > 0 and usual > 0):
            continue
        by = _ELASTIC * moved / usual
        bent = [_deflected(log, i, by * own[:, j]) for log, own in zip(logs, acting, strict=True)]
        try:
            off = (replace(forces, logs=bent)(model) - rest) / -by
        except MechidError:
            continue
        yield Possible(f"elasticity of the drive of {c.name}", "elasticity", off[..., None])


def _deflected(motion: PreparedMeasurement, i: int, by: Floats) -> PreparedMeasurement:
    """Return a motion in which a coordinate is deflected by (N,)."""
    values = [motion.y.copy(), motion.yd.copy(), motion.ydd.copy()]
    for x in values:
        x[:, i] += by
        by = np.gradient(by, motion.time)
    y, yd, ydd = values
    return replace(motion, y=y, yd=yd, ydd=ydd)


@dataclass(frozen=True, eq=False)
class Enriched:
    """A mechanism with what was found, and how.

    Attributes
    ----------
    mechanism : Mechanism
    problem : EstimationProblem
        Of this mechanism.
    estimate : Estimate
        Of this problem, with all that its machine may have besides.
    taken : tuple of Finding
        What the mechanism got.
    shapes : tuple of FrictionShape
        Those among it.
    """

    mechanism: Mechanism
    problem: EstimationProblem
    estimate: Estimate
    taken: tuple[Finding, ...] = ()
    shapes: tuple[FrictionShape, ...] = ()


def enriched(
    mechanism: Mechanism,
    motions: Logs,
    options: IdentifyOptions,
    estimator: Estimator,
    n_logs: int = 1,
) -> Enriched:
    """Return a mechanism with what is more likely there than not, and its estimate.

    Parameters
    ----------
    mechanism : Mechanism
    motions : sequence of PreparedMeasurement
        The logs of the identification first.
    options : IdentifyOptions
    estimator : Estimator
        That says what else was found.
    n_logs : int
    """
    logs = motions[:n_logs]
    now = candidates(mechanism, logs, options)
    taken: dict[str, Finding] = {}
    shapes: tuple[FrictionShape, ...] = ()
    known: dict[str, float] = {}
    for turn in range(_ROUNDS):
        chosen = chosen_base(now.mechanism, options)
        problem = problem_of(now.mechanism, chosen, motions, options, n_logs)
        if problem.prior is None:
            raise problem.missing or DataError("no CAD values")
        prior = problem.prior.select(problem.regression.parameters)
        phi = np.array([known.get(n, x) for n, x in zip(prior.base, prior.mean, strict=True)])
        estimate = estimator(now.problem(problem.regression, logs, phi), problem.prior)
        there = {f.name: f for f in estimate.found if f.likely and now.writes(f.name)}
        if there.keys() <= taken.keys() or turn == _ROUNDS - 1:
            break
        taken |= there
        known = dict(zip(estimate.parameters, estimate.values.tolist(), strict=True))
        now, more = now.with_found(tuple(there.values()))
        shapes = (*shapes, *more)
        known |= {s.parameter: there[_named(s)].values[0] for s in more}
    return Enriched(now.mechanism, problem, estimate, tuple(taken.values()), shapes)
