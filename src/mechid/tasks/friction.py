"""Friction as real joints have it: shapes that are linear in their coefficients, tried and chosen.

So is the inertia of rotors, which robot files hardly ever have. Every shape is a force element of
the model, so that a model with the chosen ones can be written, simulated and used for prediction
like any other.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression, joined
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.element_kinds import ELEMENT_KINDS, Term
from mechid.mechanism.element_laws import FRICTION, HYSTERESIS, INERTIA, LAWS
from mechid.mechanism.element_terms import joint_of, joints_of, terms_of
from mechid.mechanism.records import Coefficient, ForceElement, JointCoordinate, Mechanism, Part
from mechid.options import IdentifyOptions
from mechid.runs.record import FrictionChoice
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.load_shapes import (
    LARGEST,
    LoadSlopes,
    drives,
    fitted,
    load_sizes,
    load_slopes,
    loaded,
)
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import chosen_base, problem_of
from mechid.validation.added_columns import fitted_problem, imitated, with_column
from mechid.validation.blocks import Blocks
from mechid.validation.crossvalidate import force_rms
from mechid.validation.held_out_columns import ChosenColumns, choose_columns

KEEP, AUTO = "keep", "auto"
# Speeds of Stribeck's drop, relative to the usual top speed of the joint; widths of hysteresis,
# relative to its range: geared drives turn over a thousandth of it.
_SPEEDS = (0.02, 0.06, 0.2)
_WIDTHS = (0.0003, 0.001, 0.003, 0.01, 0.03)
_NARROW = 0.002  # below, hysteresis is almost the same as Coulomb friction
_TOP = 0.95  # quantile of the speed
_BLOCKS = Blocks(8, 0)
_START, _STEPS = 0.1, 3  # of the noise, relative to the forces, before it is estimated
_EXACT = 1e-6  # residuals of data without noise, relative

Joint = tuple[str, int]


@dataclass(frozen=True)
class FrictionShape:
    """A shape of friction of one joint, or a rotor, that a model does not have.

    Attributes
    ----------
    shape : str
        One of `SHAPES`.
    joint : str
    element : ForceElement
        With a coefficient to identify.
    parameter : str
        Name of the coefficient; empty for friction that grows with the load, which has none.
    words : str
        What it is.
    actuated : bool
        Whether the force on the joint was measured: a difference between the directions cannot be
        told from an offset of that force.
    fixed : float, optional
        Coefficient of it that the model has and that is not to be identified. Robot files often
        state one that nobody measured; it is replaced.
    """

    shape: str
    joint: str
    element: ForceElement
    parameter: str
    words: str
    actuated: bool
    fixed: float | None = None


SHAPES: Mapping[str, str] = {
    "coulomb": "Coulomb friction",
    "viscous": "viscous friction",
    "asymmetric": "Coulomb friction that differs with the direction",
    "stribeck": "Stribeck's drop",
    "quadratic": "friction that grows with the square of the speed",
    "hysteresis": "hysteresis",
    "load": "friction that grows with the load",
    "rotor": "rotor inertia",
}


class Usual(NamedTuple):
    """How a joint moves: its usual top speed and its range."""

    speed: float
    range: float


def friction_shapes(
    mechanism: Mechanism, motions: Sequence[PreparedMeasurement], *, narrow: bool = True
) -> tuple[FrictionShape, ...]:
    """Return the shapes that joints with friction, and actuated joints, do not have yet.

    Without `narrow` only those of hysteresis that Coulomb friction is not almost the same as.
    """
    found = []
    taken, turned = {e.name for e in mechanism.elements}, _with_rotors(mechanism)
    driven = {(c.joint, c.index) for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    for (joint, index), usual in _usual(mechanism, motions).items():
        laws = {
            (term.law, term.shape): _fixed(term)
            for term in friction_terms(mechanism, (joint, index))
        }
        units, label = mechanism.joint(joint).kind.units, _label(mechanism, (joint, index))
        for shape, element, words in _elements(label, (joint, index), usual, units[index]):
            ((_, term),) = terms_of(element)
            if not narrow and 0 < _width(element) < _NARROW * usual.range:
                continue
            actuated, law = (joint, index) in driven, (term.law, term.shape)
            if shape == "rotor" and (not actuated or (joint, index) in turned):
                continue
            fixed = laws.get(law)
            if element.name not in taken and (law not in laws or fixed is not None):
                found.append(
                    FrictionShape(shape, label, element, term.name, words, actuated, fixed)
                )
    return tuple(found)


def loaded_shapes(mechanism: Mechanism, forces: Sequence[str]) -> tuple[FrictionShape, ...]:
    """Return friction that grows with the load, of drives with measured forces that have none."""
    found, taken = [], {e.name for e in mechanism.elements}
    for at in drives(mechanism, forces):
        label = _label(mechanism, at)
        element = _made(label, at, "load", "friction")
        if element.name not in taken:
            found.append(FrictionShape("load", label, element, "", SHAPES["load"], True))
    return tuple(found)


def friction_terms(mechanism: Mechanism, at: Joint) -> Iterator[Term]:
    """Yield the terms of friction and damping that a model has on a joint coordinate."""
    for element in mechanism.elements:
        for _, term in terms_of(element):
            if joint_of(term.measure) == at and LAWS[term.law].order == 1:
                yield term


def _fixed(term: Term) -> float | None:
    """Return the coefficient of a term on a joint that is not to be identified; of motors none."""
    known = term.measure[0] == "joint" and not term.coefficient.identify
    return term.coefficient.value if known else None


def _with_rotors(mechanism: Mechanism) -> set[Joint]:
    """Return the joint coordinates that move with a rotor."""
    terms = (term for element in mechanism.elements for _, term in terms_of(element))
    return {at for term in terms if term.law == INERTIA for at in joints_of(term.measure)}


def _elements(
    label: str, at: Joint, usual: Usual, unit: str
) -> Iterator[tuple[str, ForceElement, str]]:
    """Yield the shapes of a joint: each an element with one coefficient."""
    unknown = Coefficient(0.0, identify=True)
    made = partial(_made, label, at)

    yield "coulomb", made("dry", "friction", coulomb=unknown), SHAPES["coulomb"]
    yield "viscous", made("viscous", "friction", viscous=unknown), SHAPES["viscous"]
    asymmetric = made("asymmetric", "friction", coulomb_positive=unknown)
    yield "asymmetric", asymmetric, SHAPES["asymmetric"]
    for k, part in enumerate(_SPEEDS, start=1):
        speed = float(f"{part * usual.speed:.2g}")
        if speed > 0:
            drop = made(f"drop{k}", "friction", stribeck=unknown, stribeck_speed=speed)
            yield "stribeck", drop, f"{SHAPES['stribeck']} at {speed:g} {unit}/s"
    square = made("quadratic", "polynomial_spring_damper", damping=(Coefficient(0.0), unknown))
    yield "quadratic", square, SHAPES["quadratic"]
    for k, part in enumerate(_WIDTHS, start=1):
        width = float(f"{part * usual.range:.2g}")
        if width > 0:
            turning = made(f"turn{k}", "friction", hysteresis=unknown, hysteresis_width=width)
            yield "hysteresis", turning, f"{SHAPES['hysteresis']} over {width:g} {unit}"
    # As seen from the joint: motor and gear ratio are not known.
    yield "rotor", made("rotor", "transmission", ratios=(1.0,), inertia=unknown), SHAPES["rotor"]


def _width(element: ForceElement) -> float:
    """Return the width of hysteresis; 0 if an element has none."""
    return float(element["hysteresis_width"]) if element.kind == "friction" else 0.0


def _label(mechanism: Mechanism, at: Joint) -> str:
    joint, index = at
    return joint if len(mechanism.joint(joint).kind.units) == 1 else f"{joint}_{index + 1}"


def _made(
    label: str, at: Joint, name: str, kind: str, ratios: tuple[float, ...] = (), **given: Any
) -> ForceElement:
    values = {
        key.name: Coefficient(0.0)
        if key.form == "coefficient"
        else 0.0
        if key.default is None
        else key.default
        for key in ELEMENT_KINDS[kind].keys
    }
    part = Part(f"{label}_{name}", tuple((values | given).items()), ratios=ratios)
    return ForceElement(part.name, kind, (part,), coordinates=(at,))


def _usual(mechanism: Mechanism, motions: Sequence[PreparedMeasurement]) -> dict[Joint, Usual]:
    """Return how each joint moves that has friction or is actuated."""
    measured = {name for motion in motions for name in motion.forces}
    moved: dict[Joint, list[tuple[Floats, Floats]]] = {}
    for k, c in enumerate(mechanism.coordinates):
        if not isinstance(c, JointCoordinate) or c.held or c.force not in measured:
            continue
        if not mechanism.joint(c.joint).kind.has_orientation:
            moved[c.joint, c.index] = [(m.y[:, k], m.yd[:, k]) for m in motions]
    others: list[Joint] = []
    for element in mechanism.elements:
        for _, term in terms_of(element):
            at = joint_of(term.measure)
            if term.law in (FRICTION, HYSTERESIS) and at is not None and at not in moved:
                others.append(at)
    if others:
        paths = [solve_motion(mechanism, m.y, m.yd, m.ydd, time=m.time) for m in motions]
        for joint, index in dict.fromkeys(others):
            own = [joint_motion(path, joint) for path in paths]
            moved[joint, index] = [(x.coordinates[:, index], x.speeds[:, index]) for x in own]
    found = {at: _usual_of(parts) for at, parts in moved.items()}
    return {at: usual for at, usual in found.items() if usual.speed > 0}


def _usual_of(parts: Sequence[tuple[Floats, Floats]]) -> Usual:
    speeds = np.abs(np.concatenate([v for _, v in parts]))
    return Usual(float(np.quantile(speeds, _TOP)), max(float(np.ptp(x)) for x, _ in parts))


def with_shapes(mechanism: Mechanism, shapes: Sequence[FrictionShape]) -> Mechanism:
    """Return a mechanism with further shapes of friction, without the fixed ones they replace."""
    replaced = {law for s in shapes if s.fixed is not None for law in _laws(s.element)}
    kept = (_without(element, replaced) for element in mechanism.elements)
    return replace(mechanism, elements=(*kept, *(s.element for s in shapes)))


def _laws(element: ForceElement) -> Iterator[tuple[Joint | None, int, Any]]:
    """Yield joint, law and shape of the terms of an element."""
    for _, term in terms_of(element):
        yield joint_of(term.measure), term.law, term.shape


def _without(element: ForceElement, laws: Container[tuple[Joint | None, int, Any]]) -> ForceElement:
    """Return an element without fixed coefficients of some laws."""
    gone = {
        (part.name, term.name.removesuffix(f"_{part.name}"))
        for part, term in terms_of(element)
        if not term.coefficient.identify and (joint_of(term.measure), term.law, term.shape) in laws
    }
    if not gone:
        return element
    parts = tuple(
        replace(
            part,
            values=tuple(
                (key, Coefficient(0.0) if (part.name, key) in gone else value)
                for key, value in part.values
            ),
        )
        for part in element.parts
    )
    return replace(element, parts=parts)


def shape_columns(
    mechanism: Mechanism,
    motions: Sequence[PreparedMeasurement],
    shapes: Sequence[FrictionShape],
) -> Floats:
    """Return forces per unit of each shape's coefficient, (N, n_d, c), of all motions."""
    model = dynamic_model(with_shapes(mechanism, shapes))
    names = [s.parameter for s in shapes]
    return joined([regression_of(model, motion, names) for motion in motions]).W


def richer_friction(
    mechanism: Mechanism,
    motions: Sequence[PreparedMeasurement],
    options: IdentifyOptions,
    truth: Truth | None = None,
    n_logs: int = 1,
) -> tuple[Mechanism, Truth | None, FrictionChoice | None]:
    """Return a mechanism with the friction that options ask for, its truth, and the choice.

    Parameters
    ----------
    mechanism : Mechanism
    motions : sequence of PreparedMeasurement
        The logs of the identification first.
    options : IdentifyOptions
        Its `friction`: "keep", "auto", or names of `SHAPES` that all joints get.
    truth : Truth, optional
        Of synthetic data; terms that it does not have are zero, or as the model has them fixed.
    n_logs : int
        How many of the motions are logs of the identification.

    Raises
    ------
    DataError
        For a shape that does not exist.
    """
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
    if asked == (KEEP,) or not asked:
        return mechanism, truth, None
    logs = motions[:n_logs]
    shapes = (*friction_shapes(mechanism, logs), *loaded_shapes(mechanism, logs[0].forces))
    if AUTO in asked:
        shapes = tuple(s for s in shapes if not (s.actuated and s.shape == "asymmetric"))
    else:
        shapes = tuple(s for s in shapes if s.shape in asked)
    if not shapes:
        return mechanism, truth, FrictionChoice()
    problem = problem_of(mechanism, chosen_base(mechanism, options), logs, options, n_logs)
    regression, prior = problem.regression, problem.prior
    linear, loads = (tuple(s for s in shapes if bool(s.parameter) == x) for x in (True, False))
    noise = fit_noise(regression, prior)
    slopes = load_slopes(mechanism, logs, [s.element for s in loads], regression)
    beta, _ = fitted(regression, noise, prior, _offsets(regression))
    parts = (shape_columns(mechanism, logs, linear), slopes.columns(beta))
    shapes, columns = (*linear, *loads), np.concatenate(parts, axis=-1)
    while True:
        chosen, choice = choose_shapes(regression, prior, shapes, columns, AUTO in asked)
        at = [shapes.index(s) for s in chosen if s.parameter]
        others = np.concatenate([_offsets(regression), columns[..., at]], axis=-1)
        taken, choice = _sized(chosen, choice, loads, slopes, (regression, noise, prior, others))
        lost = _loaded(chosen) - _loaded(taken)
        if AUTO not in asked or not lost:
            break
        # What looks like a load that no gear has is something else, which may be among the shapes.
        kept = [k for k, s in enumerate(shapes) if s.parameter or s.joint not in lost]
        shapes, columns = tuple(shapes[k] for k in kept), columns[..., kept]
    if truth is not None:
        more = {s.parameter: s.fixed or 0.0 for s in taken if s.parameter}
        values = np.append(truth.values, list(more.values()))
        truth = replace(truth, parameters=(*truth.parameters, *more), values=values)
    return with_shapes(mechanism, taken), truth, choice


def _loaded(shapes: Sequence[FrictionShape]) -> set[str]:
    """Return the joints with friction that grows with the load."""
    return {s.joint for s in shapes if not s.parameter}


def _sized(
    taken: Sequence[FrictionShape],
    choice: FrictionChoice,
    loads: Sequence[FrictionShape],
    slopes: LoadSlopes,
    fit: tuple[Regression, Floats, Prior | None, Floats],
) -> tuple[tuple[FrictionShape, ...], FrictionChoice]:
    """Return what was taken, friction that grows with the load as large as it was found."""
    wanted = [k for k, s in enumerate(loads) if s in taken]
    regression, noise, prior, others = fit
    own = slopes.of(wanted)
    sizes = load_sizes(regression, own, noise, prior, others)
    # Noise was what the model without it left: beside the prior, data counted too little.
    noise = fit_noise(own.at(regression, sizes), prior)
    sizes = load_sizes(regression, own, noise, prior, others)
    size = {loads[k].joint: float(f"{x:.4g}") for k, x in zip(wanted, sizes, strict=True)}
    found, words = [], []
    for shape, text in zip(taken, choice.shapes, strict=True):
        if shape.parameter:
            found.append(shape)
            words.append(text)
        elif 0 < size[shape.joint] < LARGEST:
            found.append(replace(shape, element=loaded(shape.element, size[shape.joint])))
            words.append(f"{text}, {size[shape.joint]:.3g} of the force")
    return tuple(found), replace(choice, shapes=tuple(words))


def _offsets(regression: Regression) -> Floats:
    """Return offsets of each force in each log as columns, (N, n_d, n_logs n_d).

    An offset of a force is no friction, though it looks like one that differs with direction.
    """
    n, n_d = regression.tau.shape
    logs = regression.logs[:, None] == np.unique(regression.logs)
    return np.asarray(np.einsum("nl,ij->nijl", logs, np.eye(n_d)).reshape(n, n_d, -1))


def choose_shapes(
    regression: Regression,
    prior: Prior | None,
    shapes: Sequence[FrictionShape],
    columns: Floats,
    choose: bool = True,
) -> tuple[tuple[FrictionShape, ...], FrictionChoice]:
    """Return the shapes that predict held-out blocks of time better (or all), and the errors.

    Parameters
    ----------
    regression : Regression
        With the base parameters of the model without the shapes.
    prior : Prior, optional
    shapes : sequence of FrictionShape
    columns : array (N, n_d, c)
        Forces per unit of each of them.
    choose : bool
        Without, all shapes are taken.
    """
    noise = fit_noise(regression, prior)
    folds = _BLOCKS.folds(regression.logs)
    offsets = _offsets(regression)
    n, every = offsets.shape[-1], np.concatenate([offsets, columns], axis=-1)
    rotors = [n + k for k, s in enumerate(shapes) if s.shape == "rotor"]

    def tried(taken: Sequence[int], others: Sequence[int], noise: Floats) -> ChosenColumns:
        at = [*range(n), *taken, *others]
        positive = [i for i, k in enumerate(at) if k in rotors]
        fixed = n + len(taken)
        return choose_columns(
            regression, every[..., at], noise, folds, prior, fixed=fixed, positive=positive
        )

    def better(taken: Sequence[int], others: Sequence[int], noise: Floats) -> list[int]:
        found = tried(taken, others, noise)
        return [[*range(n), *taken, *others][i] for i in found.columns]

    taken = [n + k for k in range(len(shapes))]
    if choose:
        every_one, taken, own = taken, [], noise
        # What the model states is corrected first: then all else is seen better.
        stated = [n + k for k, s in enumerate(shapes) if s.fixed is not None]
        while more := better(taken, [k for k in stated if k not in taken], own):
            taken += more
            own = fit_noise(regression, prior, every[..., [*range(n), *taken]])
        taken += better(taken, [k for k in every_one if k not in taken], own)
        if {*rotors} & {*taken}:
            # A file without one rotor lacks them all; CAD values of links do not contain them.
            left = [k for k in rotors if k not in taken]
            hidden = imitated(regression, every[..., left])
            taken += [k for k, x in zip(left, hidden, strict=True) if x]
    found = tuple(shapes[k - n] for k in taken)
    before, after = (tried(at, (), noise).before for at in ((), taken))
    return found, FrictionChoice(tuple(f"{s.words} of {s.joint}" for s in found), before, after)


def fit_noise(regression: Regression, prior: Prior | None, columns: Floats | None = None) -> Floats:
    """Return the standard deviation of each force about a fit, (n_d,), also of further columns."""
    size = force_rms(regression.tau, regression.valid)
    noise = np.where(size > 0, _START * size, 1.0)
    for _ in range(_STEPS):
        problem = fitted_problem(regression, noise, prior)
        problem = problem if columns is None else with_column(problem, columns)
        e = np.nan_to_num(problem.residuals())
        noise = np.maximum(force_rms(e, regression.valid), _EXACT * noise)
    return noise
