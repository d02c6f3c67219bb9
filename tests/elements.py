"""Force elements by their coefficients, as tests write them down."""

from __future__ import annotations

from typing import Any

from mechid.mechanism.element_kinds import ELEMENT_KINDS, UNIT
from mechid.mechanism.records import GROUND, Coefficient, ForceElement, Part, Point, Vec3


def part(name: str, kind: str, **given: Any) -> Part:
    """Values of all keys, those left out as in a file."""
    values = {}
    for key in ELEMENT_KINDS[kind].keys:
        default: Any = 0.0 if key.default is None else key.default
        if key.form == "coefficient":
            default = Coefficient(default)
        values[key.name] = given.pop(key.name, default)
    assert not given, given
    return Part(name, tuple(values.items()))


def element(
    name: str,
    kind: str,
    points: tuple[Point, ...] = (),
    coordinates: tuple[tuple[str, int], ...] = (),
    **given: Any,
) -> ForceElement:
    return ForceElement(name, kind, (part(name, kind, **given),), points, coordinates)


def spring_damper(
    name: str, a: Point, b: Point, stiffness: Coefficient, damping: Coefficient, free: Coefficient
) -> ForceElement:
    values = {"stiffness": stiffness, "free_length": free, "damping": damping}
    return element(name, "spring_damper", (a, b), **values)


def torsion_spring(
    name: str,
    joint: str,
    index: int,
    stiffness: Coefficient,
    damping: Coefficient,
    free: Coefficient,
) -> ForceElement:
    values = {"stiffness": stiffness, "free_angle": free, "damping": damping}
    return element(name, "torsion_spring", (), ((joint, index),), **values)


def friction(
    name: str, joint: str, index: int, viscous: Coefficient, coulomb: Coefficient
) -> ForceElement:
    return element(name, "friction", (), ((joint, index),), viscous=viscous, coulomb=coulomb)


def motor(name: str, inertia: Coefficient, viscous: Coefficient, coulomb: Coefficient) -> Part:
    return part(name, "transmission", inertia=inertia, viscous=viscous, coulomb=coulomb)


def transmission(
    name: str,
    motors: tuple[Part, ...],
    coordinates: tuple[tuple[str, int], ...],
    matrix: tuple[tuple[float, ...], ...],
) -> ForceElement:
    parts = tuple(Part(m.name, m.values, row) for m, row in zip(motors, matrix, strict=True))
    return ForceElement(name, "transmission", parts, coordinates=coordinates)


def load(
    name: str,
    kind: str,
    body: str,
    vector: Vec3,
    point: Point | None = None,
    axes_of: str = GROUND,
    magnitude: Coefficient = UNIT,
) -> ForceElement:
    parts = (part(name, kind, magnitude=magnitude),)
    points = () if point is None else (point,)
    return ForceElement(name, kind, parts, points, body=body, direction=vector, axes_of=axes_of)
