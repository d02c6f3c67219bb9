"""Springs, dampers and loads as the page draws them; friction and transmissions have no picture."""

from __future__ import annotations

from typing import Any

from mechid.mechanism.element_laws import LAWS
from mechid.mechanism.element_terms import element_kind, terms_of
from mechid.mechanism.records import ForceElement, Mechanism, Vec3

_ORIGIN: Vec3 = (0.0, 0.0, 0.0)


def drawn_elements(mechanism: Mechanism, index: dict[str, int]) -> list[dict[str, Any]]:
    """Return the force elements of a scene; `index` numbers the bodies of the scene."""
    drawn = []
    for element in mechanism.elements:
        match element_kind(element).drawn:
            case "spring" if element.points:
                drawn.append(_spring(element, index))
            case "spring" | "turn":
                drawn.append(_torsion(element, mechanism, index))
            case "load":
                drawn.append(_load(element, index))
    return drawn


def _spring(element: ForceElement, index: dict[str, int]) -> dict[str, Any]:
    orders = {LAWS[term.law].order for _, term in terms_of(element)}
    kind = "spring_damper" if len(orders) != 1 else "spring" if orders == {0} else "damper"
    a, b = element.points
    return {
        "name": element.name,
        "kind": kind,
        "body_a": index[a.body],
        "point_a": list(a.local),
        "body_b": index[b.body],
        "point_b": list(b.local),
    }


def _torsion(element: ForceElement, mechanism: Mechanism, index: dict[str, int]) -> dict[str, Any]:
    name, coordinate = element.coordinates[0]
    joint = mechanism.joint(name)
    step = joint.kind.step(coordinate)
    body = (joint.body_a, joint.body_b)[step.on]
    frame = (joint.frame_a, joint.frame_b)[step.on]
    direction = tuple(row[step.axis] for row in frame.rotation)
    return {"name": element.name, "kind": "torsion"} | _at(
        index[body], frame.origin, direction, index[body]
    )


def _load(element: ForceElement, index: dict[str, int]) -> dict[str, Any]:
    at = element.points[0].local if element.points else _ORIGIN
    assert element.direction is not None
    return {"name": element.name, "kind": element.kind} | _at(
        index[element.body], at, element.direction, index[element.axes_of]
    )


def _at(body: int, local: Vec3, vector: tuple[float, ...], axes: int) -> dict[str, Any]:
    """An element at one point, along a vector in the axes of a body."""
    ends = {"body_a": body, "point_a": list(local), "body_b": body, "point_b": list(local)}
    return {**ends, "vector": list(vector), "axes": axes}


def drawn_rods(mechanism: Mechanism, index: dict[str, int]) -> list[dict[str, Any]]:
    """Return the rods of a scene; `index` numbers the bodies of the scene."""
    return [
        {
            "name": c.name,
            "kind": "rod",
            "body_a": index[c.point_a.body],
            "point_a": list(c.point_a.local),
            "body_b": index[c.point_b.body],
            "point_b": list(c.point_b.local),
        }
        for c in mechanism.distances
    ]
