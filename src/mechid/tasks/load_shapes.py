"""Friction that grows with the load of a drive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mechid.mechanism.element_terms import driven_joints, load_parts
from mechid.mechanism.records import ForceElement, Mechanism

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
