"""Transmissions in URDF: the reduction of a motor, and its rotor inertia where a file gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mechid.importing.robot import Remarks, listed
from mechid.importing.xml import Node

_INERTIA = ("drake:rotor_inertia", "rotor_inertia", "rotorInertia", "motorInertia", "motor_inertia")
_RATIO = ("drake:gear_ratio", "mechanicalReduction", "gear_ratio")


class Drive(NamedTuple):
    """Rotor inertia (kg m², on the motor side) and motor speed over joint speed."""

    inertia: float
    ratio: float


def drives(root: Node, joints: dict[str, Node], remarks: Remarks) -> dict[str, Drive]:
    """Return the drives of joints, by name of the joint."""
    found: dict[str, Drive] = {}
    without: list[str] = []
    absent: list[str] = []
    for node in root.all("transmission"):
        name = node.get("name") or node.needed("type")
        for joint in node.all("joint"):
            driven = joint.needed("name")
            if driven not in joints:
                absent.append(f"{name} ({driven})")
                continue
            inertia = _first(node, _INERTIA)
            ratio = _first(node, _RATIO)
            if (inertia is not None and inertia < 0) or ratio == 0:
                raise node.error(
                    f"transmission {name} needs a rotor inertia ≥ 0 and a reduction ≠ 0",
                    "correct the file",
                )
            if inertia is None and ratio not in (None, 1.0):
                without.append(name)
            found[driven] = Drive(inertia or 0.0, 1.0 if ratio is None else ratio)
    if absent:
        remarks.left_out.append(f"transmissions of joints that do not exist: {listed(absent)}")
    if without:
        remarks.notes.append(
            f"the reduction of {listed(without)} has no effect: the file gives no rotor inertia"
        )
    return found


def _first(node: Node, tags: tuple[str, ...]) -> float | None:
    """Return the first number that a transmission, its joint or its actuator has by these tags."""
    for child in _everything(node):
        if child.tag in tags:
            if child.get("value") is None:
                child.attributes["value"] = child.text
            return child.number("value")
    return None


def _everything(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _everything(child)
