"""Shapes of friction, and rotors, that a model may lack: each an element with one coefficient."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.estimation.regression import Floats, joined
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.element_kinds import ELEMENT_KINDS, Term
from mechid.mechanism.element_laws import INERTIA, LAWS
from mechid.mechanism.element_terms import driven_joints, joint_of, joints_of, load_parts, terms_of
from mechid.mechanism.records import Coefficient, ForceElement, JointCoordinate, Mechanism, Part
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import regression_of

LARGEST = 0.5  # beyond it something else is behind it: gears with this loss do not turn back


def loaded(element: ForceElement, size: float) -> ForceElement:
    """Return an element of friction with another part of the load."""
    (part,) = element.parts
    values = tuple((k, size if k == "load" else v) for k, v in part.values)
    return replace(element, parts=(replace(part, values=values),))


def rubbed(mechanism: Mechanism) -> set[tuple[str, int]]:
    """Return the joint coordinates whose friction grows with the load, as the model says."""
    return {e.coordinates[0] for e in mechanism.elements for _ in load_parts(e)}


def drives(mechanism: Mechanism, forces: Sequence[str]) -> dict[tuple[str, int], str]:
    """Return the driven joint coordinates without such friction, with their measured forces."""
    have = rubbed(mechanism)
    found = driven_joints(mechanism.coordinates, mechanism.joint)
    moved = {at: mechanism.coordinates[i] for at, i in found.items() if at not in have}
    return {at: c.force for at, c in moved.items() if c.force in forces and not c.held}


# Speeds of Stribeck's drop, relative to the usual top speed of the joint; widths of hysteresis,
# relative to its range: geared drives turn over a thousandth of it.
_SPEEDS = (0.02, 0.06, 0.2)
_WIDTHS = (0.0003, 0.001, 0.003, 0.01, 0.03)
# Shapes that are looked for in joints that neither are driven nor have friction in the model.
_PLAIN = ("coulomb", "viscous")
_TOP = 0.95  # quantile of the speed

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
    """How a joint moves: its usual top speed, its range, and how far from one sample to the next
    where it turns round."""

    speed: float
    range: float
    turn: float


def friction_shapes(
    mechanism: Mechanism, motions: Sequence[PreparedMeasurement]
) -> tuple[FrictionShape, ...]:
    """Return the shapes that joints do not have yet: of actuated ones, and of those with friction,
    all, and of others the plain ones."""
    found = []
    taken, turned = {e.name for e in mechanism.elements}, _with_rotors(mechanism)
    driven = {(c.joint, c.index) for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    for (joint, index), usual in _usual(mechanism, motions).items():
        laws = {
            (term.law, term.shape): _fixed(element, term)
            for element, term in _rubbing(mechanism, (joint, index))
        }
        units, label = mechanism.joint(joint).kind.units, _label(mechanism, (joint, index))
        for shape, element, words in _elements(label, (joint, index), usual, units[index]):
            ((_, term),) = terms_of(element)
            actuated, law = (joint, index) in driven, (term.law, term.shape)
            if not actuated and not laws and shape not in _PLAIN:
                continue
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
    yield from (term for _, term in _rubbing(mechanism, at))


def _rubbing(mechanism: Mechanism, at: Joint) -> Iterator[tuple[ForceElement, Term]]:
    for element in mechanism.elements:
        for _, term in terms_of(element):
            if joint_of(term.measure) == at and LAWS[term.law].order == 1:
                yield element, term


def _fixed(element: ForceElement, term: Term) -> float | None:
    """Return the coefficient of friction of a joint that is not to be identified; that of motors
    and dampers is a known coefficient like others."""
    known = element.kind == "friction" and term.measure[0] == "joint"
    return term.coefficient.value if known and not term.coefficient.identify else None


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
        # Narrower ones are Coulomb friction to these samples.
        if width > usual.turn:
            turning = made(f"turn{k}", "friction", hysteresis=unknown, hysteresis_width=width)
            yield "hysteresis", turning, f"{SHAPES['hysteresis']} over {width:g} {unit}"
    # As seen from the joint: motor and gear ratio are not known.
    yield "rotor", made("rotor", "transmission", ratios=(1.0,), inertia=unknown), SHAPES["rotor"]


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
    """Return how each joint moves that turns about axes, or slides."""
    measured = {name for motion in motions for name in motion.forces}
    moved: dict[Joint, list[tuple[Floats, Floats]]] = {}
    for k, c in enumerate(mechanism.coordinates):
        if not isinstance(c, JointCoordinate) or c.held or c.force not in measured:
            continue
        if not mechanism.joint(c.joint).kind.has_orientation:
            moved[c.joint, c.index] = [(m.y[:, k], m.yd[:, k]) for m in motions]
    others = [
        (joint.name, index)
        for joint in mechanism.joints
        if not joint.kind.has_orientation and not joint.kind.holds_nothing
        for index in range(joint.kind.n_scalars)
        if (joint.name, index) not in moved
    ]
    if others:
        paths = [solve_motion(mechanism, m.y, m.yd, m.ydd, time=m.time) for m in motions]
        for joint, index in others:
            own = [joint_motion(path, joint) for path in paths]
            moved[joint, index] = [(x.coordinates[:, index], x.speeds[:, index]) for x in own]
    found = {at: _usual_of(parts, motions) for at, parts in moved.items()}
    return {at: usual for at, usual in found.items() if usual.speed > 0}


def _usual_of(
    parts: Sequence[tuple[Floats, Floats]], motions: Sequence[PreparedMeasurement]
) -> Usual:
    speeds = np.abs(np.concatenate([v for _, v in parts]))
    turns = [
        0.5 * float(np.median(np.abs(np.diff(v) * np.diff(m.time))))
        for (_, v), m in zip(parts, motions, strict=True)
        if len(v) > 1
    ]
    return Usual(
        float(np.quantile(speeds, _TOP)),
        max(float(np.ptp(x)) for x, _ in parts),
        max(turns, default=0.0),
    )


def with_shapes(mechanism: Mechanism, shapes: Sequence[FrictionShape]) -> Mechanism:
    """Return a mechanism with further shapes of friction, without the fixed ones they replace."""
    replaced = {law for s in shapes if s.fixed is not None for law in _laws(s.element)}
    kept = (_without(e, replaced) if e.kind == "friction" else e for e in mechanism.elements)
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
