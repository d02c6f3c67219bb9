"""What a machine has and its model lacks: found with the parameters, and written into the model.

Shapes of friction and rotors are force elements, whose coefficients become parameters. Places of
joints, and friction that grows with the load, are numbers of the model: forces are linearised about
them, with the parameters found so far, and a number that is there is changed in the model before
the next round. Everything that is more likely there than not becomes the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model, with_geometry
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import Estimate, Finding
from mechid.estimation.estimator import Estimator
from mechid.estimation.linear import prior_factor
from mechid.estimation.posterior.component import FAMILIES
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Possible, Regression, joined
from mechid.kinematics.engine.choice import engine
from mechid.mechanism.altered import (
    CoefficientPlace,
    coefficients,
    movable_joints,
    with_coefficient,
    with_joints_moved,
)
from mechid.mechanism.element_terms import driven_joints
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.options import IdentifyOptions
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.estimators import estimator_of, joint_of, uses_cad
from mechid.tasks.friction_shapes import (
    LARGEST,
    SHAPES,
    FrictionShape,
    friction_shapes,
    loaded,
    loaded_shapes,
    shape_columns,
    with_shapes,
)
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import EstimationProblem, chosen_base, problem_of
from mechid.validation.diagnosis import gross_mistakes
from mechid.validation.diagnosis_record import Diagnosis

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet

Logs: TypeAlias = Sequence[PreparedMeasurement]
_STEP = 1e-6  # of the size of the mechanism: what is linear in it
_MOST = 100_000  # samples: forces are computed once for each joint and axis
_ROUNDS = 4
KEEP, AUTO = "keep", "auto"
_WIDE = 2.0  # standard deviations below zero from which something is negative
_ELASTIC = 1e-4  # of the motion of a drive


@dataclass(frozen=True, eq=False)
class Number:
    """Some numbers of a model that may be otherwise.

    Attributes
    ----------
    name, family, at, unit : str
    usual : float
        How far they usually are off.
    values : array (k,)
        How far they were changed already.
    change : callable
        Mechanism and change (k,) → mechanism.
    step : float
        Change that forces are linear in.
    alike : bool
        Whether the tables of the model keep their form.
    most : float
        Largest change; where there is one, the least is zero.
    """

    name: str
    family: str
    at: str
    unit: str
    usual: float
    values: Floats
    change: Callable[[Mechanism, Floats], Mechanism]
    step: float
    alike: bool = True
    most: float = np.inf

    def within(self, values: Floats) -> Floats:
        """Return changes that are possible."""
        return np.clip(values, 0.0, self.most) if np.isfinite(self.most) else values


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a model may lack: shapes of friction, numbers, and what cannot be written into it."""

    mechanism: Mechanism
    shapes: tuple[FrictionShape, ...]
    numbers: tuple[Number, ...]
    elastic: bool = True

    def problem(self, regression: Regression, logs: Logs, phi: Floats) -> Regression:
        """Return the problem with them, linearised about all parameters φ (p,)."""
        columns = shape_columns(self.mechanism, logs, self.shapes) if self.shapes else None
        possible = [
            # Friction that a file states is as uncertain as it is large: nobody measured it.
            Possible(named_as(s), "friction", s.joint, columns[..., k : k + 1], abs(s.fixed or 0.0))
            for k, s in enumerate(self.shapes)
            if columns is not None
        ]
        if not (self.numbers or self.elastic):
            return replace(regression, possible=tuple(possible))
        changed = np.zeros_like(regression.known)
        model = dynamic_model(self.mechanism)
        forces = _Forces(logs, phi)
        rest = forces(model)
        for number in self.numbers:
            slopes = _slopes(model, number, forces, rest)
            if slopes is not None:
                # Coefficients are the whole change: that which the model has is taken off.
                changed += slopes @ number.values
                possible.append(
                    Possible(
                        number.name, number.family, number.at, slopes, number.usual, number.unit
                    )
                )
        if self.elastic:
            possible += _elastic(self.mechanism, model, logs, forces, rest)
        return replace(regression.less_known(changed), possible=tuple(possible))

    @property
    def least(self) -> Mapping[str, float]:
        """Least coefficients of what cannot be negative: shapes that others do not limit; where the
        model has some of it, so much less."""
        shapes = {
            named_as(s): -(s.fixed or 0.0)
            for s in self.shapes
            if s.shape not in ("stribeck", "quadratic")
        }
        return shapes | {n.name: 0.0 for n in self.numbers if n.family == "friction"}

    def without(self, names: Collection[str]) -> Candidates:
        """Return the candidates but some."""
        shapes = tuple(s for s in self.shapes if named_as(s) not in names)
        return replace(
            self, shapes=shapes, numbers=tuple(n for n in self.numbers if n.name not in names)
        )

    def writes(self, name: str) -> bool:
        """Return whether something can be written into the model."""
        return any(name == n.name for n in self.numbers) or any(
            name == named_as(s) for s in self.shapes
        )

    def with_found(self, found: Sequence[Finding]) -> tuple[Candidates, tuple[FrictionShape, ...]]:
        """Return the candidates of the model with what was found, and the shapes it got."""
        by_name = {f.name: f for f in found}
        taken = tuple(s for s in self.shapes if named_as(s) in by_name)
        mechanism = with_shapes(self.mechanism, taken)
        numbers = []
        for number in self.numbers:
            values = number.values
            if number.name in by_name:
                values = number.within(np.array(by_name[number.name].values))
                mechanism = number.change(mechanism, values - number.values)
            numbers.append(replace(number, values=values))
        shapes = tuple(s for s in self.shapes if s not in taken)
        return Candidates(mechanism, shapes, tuple(numbers), self.elastic), taken

    def of_friction(self, names: Collection[str]) -> Candidates:
        """Return the candidates that are such shapes of friction."""
        shapes = tuple(s for s in self.shapes if s.shape in names)
        loads = (n for n in self.numbers if n.family == "friction" and "load" in names)
        return replace(self, shapes=shapes, numbers=tuple(loads))

    def without_friction(self) -> Candidates:
        """Return the others."""
        numbers = tuple(n for n in self.numbers if n.family != "friction")
        return replace(self, shapes=(), numbers=numbers)


def candidates(
    mechanism: Mechanism, logs: Logs, options: IdentifyOptions, families: Collection[str]
) -> Candidates:
    """Return what a model may lack, of some families."""
    numbers: tuple[Number, ...] = ()
    if sum(len(log.time) for log in logs) <= _MOST:
        if "places" in families:
            numbers = tuple(_places(mechanism, options))
        if "coefficients" in families:
            numbers = (*numbers, *_coefficients(mechanism))
    elastic = "elasticity" in families
    named = any(name in SHAPES for name in options.friction)
    if options.friction == (KEEP,) or not (named or "friction" in families):
        return Candidates(mechanism, (), numbers, elastic)
    shapes = tuple(
        s
        for s in friction_shapes(mechanism, logs)
        # A force that differs with the direction cannot be told from an offset.
        if not (s.actuated and s.shape == "asymmetric") or s.shape in options.friction
    )
    loads = tuple(_load(s) for s in loaded_shapes(mechanism, logs[0].forces))
    return Candidates(mechanism, shapes, (*numbers, *loads), elastic)


def named_as(shape: FrictionShape) -> str:
    """Return the name of a finding."""
    return f"{shape.words} of {shape.joint}"


def _places(mechanism: Mechanism, options: IdentifyOptions) -> Iterator[Number]:
    size = characteristic_size(mechanism)
    for joint in movable_joints(mechanism):
        usual = FAMILIES["places"].usual * size
        if options.hardpoints is not None:
            level = options.hardpoints.of(joint)
            usual = level.value * (size if level.relative else 1.0)

        def change(machine: Mechanism, by: Floats, joint: str = joint) -> Mechanism:
            return with_joints_moved(machine, {joint: by.tolist()})

        if usual > 0:
            yield Number(
                f"place of {joint}", "places", joint, "m", usual, np.zeros(3), change, _STEP * size
            )


def _coefficients(mechanism: Mechanism) -> Iterator[Number]:
    """Yield the known coefficients of force elements."""
    for place, coefficient in coefficients(mechanism).items():
        element = next(e for e in mechanism.elements if e.name == place.element)
        # Friction that is given is replaced by the shapes that are there.
        if coefficient.identify or element.kind == "friction":
            continue
        assert coefficient.value is not None
        usual = FAMILIES["coefficients"].usual * abs(coefficient.value)

        def change(machine: Mechanism, by: Floats, place: CoefficientPlace = place) -> Mechanism:
            now = coefficients(machine)[place].value
            assert now is not None
            return with_coefficient(machine, place, now + by[0])

        yield Number(
            place.words, "coefficients", place.element, "", usual, np.zeros(1), change, usual
        )


def _load(shape: FrictionShape) -> Number:
    def change(machine: Mechanism, by: Floats) -> Mechanism:
        have = {e.name: e for e in machine.elements}
        element = have.get(shape.element.name, shape.element)
        have[element.name] = loaded(element, float(element["load"] + by[0]))
        return replace(machine, elements=tuple(have.values()))

    usual = FAMILIES["friction"].usual
    return Number(
        named_as(shape), "friction", shape.joint, "", usual, np.zeros(1), change, usual,
        alike=False, most=LARGEST,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Forces:
    """Forces (N, n_d) of a model by all its parameters φ, at the samples of some logs."""

    logs: Logs
    phi: Floats

    def __call__(self, model: DynamicModel) -> Floats:
        with engine("tables"):
            r = joined([regression_of(model, log) for log in self.logs])
        return np.asarray(r.W @ self.phi + r.known)


def _slopes(model: DynamicModel, number: Number, forces: _Forces, rest: Floats) -> Floats | None:
    """Return forces per unit of each number (N, n_d, k); None if it does not move so."""
    found = []
    # At the limit the other way.
    step = number.step if np.all(number.values + number.step <= number.most) else -number.step
    for unit in np.eye(len(number.values)):
        try:
            other = number.change(model.mechanism, step * unit)
            changed = with_geometry(model, other) if number.alike else dynamic_model(other)
            found.append((forces(changed) - rest) / step)
        except MechidError:
            return None
    return np.stack(found, axis=-1)


def _elastic(
    mechanism: Mechanism, model: DynamicModel, logs: Logs, forces: _Forces, rest: Floats
) -> Iterator[Possible]:
    """Yield what deflections of each drive with its force would add to the forces."""
    channels = logs[0].forces
    if any(log.decimation > 1 or len(log.time) < 2 for log in logs):
        return  # deflections follow the force from sample to sample
    ends = np.cumsum([len(log.time) for log in logs])[:-1]
    acting = np.split(rest, ends)
    for i in driven_joints(mechanism.coordinates, mechanism.joint).values():
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
        yield Possible(f"elasticity of the drive of {c.name}", "elasticity", c.name, off[..., None])


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
    base : BaseSet
    estimate : Estimate
        Of this problem, with all that its machine may have besides.
    added : tuple of Finding
        What the mechanism got.
    shapes : tuple of FrictionShape
        Those among it.
    gross : tuple of Diagnosis
        Exchanged, reversed and scaled forces: nothing else was looked for.
    """

    mechanism: Mechanism
    problem: EstimationProblem
    base: BaseSet
    estimate: Estimate
    added: tuple[Finding, ...] = ()
    shapes: tuple[FrictionShape, ...] = ()
    gross: tuple[Diagnosis, ...] = ()


def enriched(
    mechanism: Mechanism,
    motions: Logs,
    options: IdentifyOptions,
    n_logs: int = 1,
    instruments: Logs = (),
) -> Enriched:
    """Return a mechanism with what it lacked, and the estimate of its parameters.

    Parameters
    ----------
    mechanism : Mechanism
    motions : sequence of PreparedMeasurement
        The logs of the identification first.
    options : IdentifyOptions
        The estimator `auto` finds what is more likely there than not; others estimate what the
        model has. Shapes of friction that `friction` names are added in any case.
    n_logs : int
    instruments : sequence of PreparedMeasurement

    Raises
    ------
    DataError
        For a shape of friction that does not exist.
    """
    _check_friction(options)
    logs, estimator = motions[:n_logs], estimator_of(options.estimator, options.settings)

    nominal = chosen_base(mechanism, options)

    def problem_with(machine: Mechanism) -> tuple[BaseSet, EstimationProblem]:
        # Joints that are elsewhere by little may make more parameters count than a listed set has,
        # or so little that no set can be told: that of the given geometry has to do then.
        base = nominal
        balanced = replace(options, base="balanced", converge_on=())
        for how in () if machine is mechanism else (options, balanced):
            try:
                base = chosen_base(machine, how)
                break
            except MechidError:
                continue
        return base, problem_of(machine, base, motions, options, n_logs, instruments)

    base, problem = problem_with(mechanism)
    gross = _gross(mechanism, logs, problem)
    named = tuple(name for name in options.friction if name in SHAPES)
    joint = joint_of(estimator)
    search = (joint is not None or options.friction == (AUTO,)) and problem.prior is not None
    if gross or not (search or named):
        return Enriched(mechanism, problem, base, _estimated(estimator, problem), gross=gross)
    finder = estimator if joint is not None else JointPosterior()
    now = candidates(mechanism, logs, options, (joint or JointPosterior()).families)
    added: dict[str, Finding] = {}
    shapes: tuple[FrictionShape, ...] = ()
    if named:
        found = now.of_friction(named)
        there = {f.name: f for f in _most_probable(found, problem, logs)}
        now, shapes = now.with_found(tuple(there.values()))
        now, added = now.without_friction(), there
        base, problem = problem_with(now.mechanism)
    estimate: Estimate | None = None
    known: dict[str, float] = {}
    for turn in range(_ROUNDS if search else 0):
        assert problem.prior is not None
        phi = _whole(problem.prior.select(problem.regression.parameters), known)
        estimate = finder(now.problem(problem.regression, logs, phi), problem.prior)
        there = {f.name: f for f in estimate.found if f.likely and now.writes(f.name)}
        # Friction and inertia are positive: what would be negative is something else.
        least = now.least
        impossible = [
            n for n, f in there.items() if f.values[0] + _WIDE * f.sigma[0] < least.get(n, -np.inf)
        ]
        there = {name: f for name, f in there.items() if name not in impossible}
        done = there.keys() <= added.keys() and not impossible
        if done or turn == _ROUNDS - 1:
            break
        now = now.without(impossible)
        known = dict(zip(estimate.parameters, estimate.values.tolist(), strict=True))
        now, more = now.with_found(tuple(there.values()))
        base, problem = problem_with(now.mechanism)
        added |= there
        shapes = (*shapes, *more)
        known |= {s.parameter: there[named_as(s)].values[0] + (s.fixed or 0.0) for s in more}
    if estimate is None or finder is not estimator:
        estimate = _estimated(estimator, problem)
    elif added:
        # Values go with the last numbers, which the model gets where its base set stays.
        final = {f.name: f for f in estimate.found if f.name in added}
        last, _ = now.with_found(tuple(final.values()))
        with_last, other = problem_with(last.mechanism)
        if other.regression.parameters == estimate.parameters:
            now, base, problem = last, with_last, other
            kept = {name: final.get(name, f) for name, f in added.items()}
            numbers = {n.name for n in now.numbers}
            added = {name: f for name, f in kept.items() if f.likely or name not in numbers}
    return Enriched(now.mechanism, problem, base, estimate, tuple(added.values()), shapes)


def _whole(prior: Prior, known: Mapping[str, float]) -> Floats:
    """Return all parameters (p,): those nearest to CAD values, in their standard deviations, that
    have known base values. Forces at other places depend on more than these."""
    values = np.nan_to_num(prior.values)
    off = [known[n] - x if n in known else 0.0 for n, x in zip(prior.base, prior.mean, strict=True)]
    F = prior_factor(prior.covariance)
    return np.asarray(values + F @ np.linalg.lstsq(prior.matrix @ F, np.array(off))[0])


def _estimated(estimator: Estimator, problem: EstimationProblem) -> Estimate:
    try:
        return estimator(problem.regression, problem.prior)
    except DataError:
        if problem.missing is not None and uses_cad(estimator):
            raise problem.missing from None
        raise


def _check_friction(options: IdentifyOptions) -> None:
    asked = options.friction
    if strange := [name for name in asked if name not in (AUTO, KEEP, *SHAPES)]:
        raise DataError(
            f"there is no shape of friction {strange[0]}",
            remedy=f"choose one of: {AUTO}, {KEEP}, {', '.join(SHAPES)}",
        )
    if len(asked) > 1 and {AUTO, KEEP} & set(asked):
        raise DataError(
            f"friction {', '.join(asked)} makes no sense",
            remedy=f"give {AUTO}, {KEEP}, or names of shapes",
        )


def _gross(mechanism: Mechanism, logs: Logs, problem: EstimationProblem) -> tuple[Diagnosis, ...]:
    """Return mistakes that make everything else meaningless."""
    # Forces of CAD values that are not all known say nothing about units and signs.
    known = np.isfinite(cad_parameters(dynamic_model(mechanism))).all()
    shapes = [s for s in friction_shapes(mechanism, logs) if s.shape in ("coulomb", "viscous")]
    usual = shape_columns(mechanism, logs, shapes) if shapes else None
    return gross_mistakes(problem.regression, problem.prior if known else None, lacking=usual)


def _most_probable(found: Candidates, problem: EstimationProblem, logs: Logs) -> Iterator[Finding]:
    """Yield of each joint and shape of friction the most probable one; without CAD values the first
    of each."""
    if problem.prior is None:
        for shape in {(s.joint, s.shape): s for s in reversed(found.shapes)}.values():
            yield Finding(named_as(shape), "friction", "machine", shape.joint, 1.0, (0.0,), (0.0,),
                          "", 0.0, "")  # fmt: skip
        return
    phi = _whole(problem.prior.select(problem.regression.parameters), {})
    wide = found.problem(problem.regression, logs, phi)
    by_name = {f.name: f for f in JointPosterior()(wide, problem.prior).found}
    best: dict[tuple[str, str], Finding] = {}
    loads = [(n.at, "load", n.name) for n in found.numbers]
    for joint, kind, name in [*((s.joint, s.shape, named_as(s)) for s in found.shapes), *loads]:
        f, g = by_name.get(name), best.get((joint, kind))
        if f is not None and (g is None or f.probability > g.probability):
            best[joint, kind] = f
    yield from best.values()


# Errors of synthetic data that are shapes of friction.
_DRAWN = {"coulomb": "friction", "viscous": "viscous_friction"}


def with_truth(truth: Truth | None, found: Enriched, given: Mechanism) -> Truth | None:
    """Return the truth of a mechanism with further shapes: as they were drawn, as the model had
    them fixed, or zero."""
    if truth is None or found.mechanism is given:
        return truth
    more = {
        s.parameter: (s.fixed or 0.0)
        + float(truth.errors.get(_DRAWN.get(s.shape, ""), {}).get(s.joint, 0.0))
        for s in found.shapes
        if s.parameter
    }
    values = np.append(truth.values, list(more.values()))
    return replace(truth, parameters=(*truth.parameters, *more), values=values)
