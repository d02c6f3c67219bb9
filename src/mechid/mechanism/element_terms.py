"""What a force element acts on, and its terms: the table of kinds applied to one element."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from typing import Any

from mechid.mechanism.element_kinds import ELEMENT_KINDS, ElementKind, Measures, Term, acts
from mechid.mechanism.element_laws import CONSTANT, LAWS, Measure
from mechid.mechanism.records import (
    Coefficient,
    ForceElement,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    Part,
)


def element_kind(element: ForceElement) -> ElementKind:
    """Return the entry of an element in the table."""
    return ELEMENT_KINDS[element.kind]


def measures_of(element: ForceElement, part: Part) -> Measures:
    """Return what a part of an element acts on."""
    match element_kind(element).attachment:
        case "points" | "joint" | "line":
            if element.points:
                return (("length", *element.points),)
            return (("joint", *element.coordinates[0]),)
        case "frames":
            return frame_measures(element.coordinates[0][0])
        case "force":
            return (("force", element.points[0], element.direction, element.axes_of),)
        case "moment":
            return (("moment", element.body, element.direction, element.axes_of),)
        case "motors":
            pairs = zip(element.coordinates, part.ratios, strict=True)
            return (("sum", *((("joint", *c), ratio) for c, ratio in pairs)),)


def frame_measures(joint: str) -> Measures:
    """Return displacements and turns of the two frames of a joint against each other.

    The turns are those of the vector ½ (R_ab - R_abᵀ)ᵛ = sin θ n: polynomials in the rotation
    matrix, equal to the angles to second order, and good for less than 90°.
    """
    slides = tuple(("slide", joint, k) for k in range(3))
    turns = tuple(
        ("sum", (("dot", joint, i, j), 0.5), (("dot", joint, j, i), -0.5))
        for i, j in ((2, 1), (0, 2), (1, 0))
    )
    return (*slides, *turns)


def joint_of(measure: Measure) -> tuple[str, int] | None:
    """Return the joint coordinate that a measure is proportional to, if it is one.

    That of a motor is, unless it moves with several joints.
    """
    if measure[0] == "sum":
        acting = [part for part, factor in measure[1:] if factor]
        return joint_of(acting[0]) if len(acting) == 1 else None
    return (measure[1], measure[2]) if measure[0] == "joint" else None


def joints_of(measure: Measure) -> set[tuple[str, int]]:
    """Return the joint coordinates in the sum of them that a measure is, as that of a motor."""
    parts = measure[1:] if measure[0] == "sum" else ((measure, 1.0),)
    return {at for part, factor in parts if factor and (at := joint_of(part)) is not None}


def terms_of(element: ForceElement) -> Iterator[tuple[Part, Term]]:
    """Yield the terms of an element but those that are absent or known to be zero.

    Loads over time have none: their size is no constant.
    """
    kind = element_kind(element)
    if element.history is not None:
        return
    for part in element.parts:
        for term in kind.terms(part, measures_of(element, part)):
            if acts(term.coefficient):
                yield part, term


def driven_joints(
    coordinates: Iterable[IndependentCoordinate], joint: Callable[[str], Joint]
) -> dict[tuple[str, int], int]:
    """Return the joint coordinates that a drive turns or slides, with their numbers."""
    return {
        (c.joint, c.index): i
        for i, c in enumerate(coordinates)
        if isinstance(c, JointCoordinate) and not joint(c.joint).kind.has_orientation
    }


def undriven_load(element: ForceElement, driven: Container[tuple[str, int]]) -> str:
    """Return what is wrong with friction that depends on the load of something not driven."""
    if not any(True for _ in load_parts(element)) or element.coordinates[0] in driven:
        return ""
    joint = element.coordinates[0][0]
    return f"friction of {element.name} depends on the load of {joint}, which no drive moves"


def load_parts(element: ForceElement) -> Iterator[Part]:
    """Yield the parts of an element that rub in proportion to the force of a drive."""
    return (part for part in element.parts if dict(part.values).get("load"))


def without_load(element: ForceElement) -> ForceElement:
    """Return an element whose friction does not depend on the force of a drive."""
    if not any(True for _ in load_parts(element)):
        return element

    def plain(part: Part) -> Part:
        return replace(part, values=tuple((k, 0.0 if k == "load" else v) for k, v in part.values))

    return replace(element, parts=tuple(map(plain, element.parts)))


def mirrored(kind: ElementKind, part: Part) -> Part:
    """Return the values of a part on a joint coordinate that is counted the other way."""

    def negative(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(negative(x) for x in value)
        if isinstance(value, Coefficient):
            return value if value.value is None else replace(value, value=0.0 - value.value)
        return 0.0 - value

    values = []
    for key in kind.keys:
        value = part[key.swap or key.name]
        match key.image:
            case "negative":
                value = negative(value)
            case "even":
                value = tuple(negative(x) if i % 2 else x for i, x in enumerate(value))
            case "reversed":
                value = value[::-1]
            case "negative reversed":
                value = negative(value[::-1])
        values.append((key.name, value))
    return replace(part, values=tuple(values))


def reads_angle(element: ForceElement) -> Iterator[str]:
    """Yield the joints whose coordinate itself, not only its rate, an element takes."""
    for _, term in terms_of(element):
        if term.measure[0] == "joint" and LAWS[term.law].order == 0 and term.law != CONSTANT:
            yield term.measure[1]
