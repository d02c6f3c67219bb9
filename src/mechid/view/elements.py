"""Springs, dampers and loads as the page draws them; friction and transmissions have no picture."""

from __future__ import annotations

from typing import Any

from mechid.mechanism.records import (
    Coefficient,
    Load,
    Mechanism,
    SpringDamper,
    TorsionSpring,
    Vec3,
)

_ORIGIN: Vec3 = (0.0, 0.0, 0.0)


def drawn_elements(mechanism: Mechanism, index: dict[str, int]) -> list[dict[str, Any]]:
    """Return the force elements of a scene; `index` numbers the bodies of the scene."""
    drawn = []
    for element in mechanism.elements:
        match element:
            case SpringDamper():
                drawn.append(_spring(element, index))
            case TorsionSpring():
                drawn.append(_torsion(element, mechanism, index))
            case Load():
                drawn.append(_load(element, index))
    return drawn


def _spring(element: SpringDamper, index: dict[str, int]) -> dict[str, Any]:
    spring, damper = _acts(element.stiffness), _acts(element.damping)
    kind = "spring_damper" if spring == damper else "spring" if spring else "damper"
    return {
        "name": element.name,
        "kind": kind,
        "body_a": index[element.point_a.body],
        "point_a": list(element.point_a.local),
        "body_b": index[element.point_b.body],
        "point_b": list(element.point_b.local),
    }


def _torsion(element: TorsionSpring, mechanism: Mechanism, index: dict[str, int]) -> dict[str, Any]:
    joint = mechanism.joint(element.joint)
    step = joint.kind.step(element.index)
    body = (joint.body_a, joint.body_b)[step.on]
    frame = (joint.frame_a, joint.frame_b)[step.on]
    direction = tuple(row[step.axis] for row in frame.rotation)
    return {"name": element.name, "kind": "torsion"} | _at(
        index[body], frame.origin, direction, index[body]
    )


def _load(element: Load, index: dict[str, int]) -> dict[str, Any]:
    local = element.point.local if element.point is not None else _ORIGIN
    return {"name": element.name, "kind": element.kind} | _at(
        index[element.body], local, element.vector, index[element.axes_of]
    )


def _at(body: int, local: Vec3, vector: tuple[float, ...], axes: int) -> dict[str, Any]:
    """An element at one point, along a vector in the axes of a body."""
    ends = {"body_a": body, "point_a": list(local), "body_b": body, "point_b": list(local)}
    return {**ends, "vector": list(vector), "axes": axes}


def _acts(coefficient: Coefficient) -> bool:
    return coefficient.identify or bool(coefficient.value)
