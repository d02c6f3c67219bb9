"""The same mechanism with joints elsewhere, or with another coefficient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechid.mechanism.element_terms import element_kind
from mechid.mechanism.records import Coefficient, ForceElement, Frame, Joint, Mechanism


def movable_joints(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the joints whose place matters: bodies turn about them.

    Those that only slide transmit the same motion wherever they are, and free ones only measure.
    """
    return tuple(j.name for j in mechanism.joints if j.kind.n_turns and not j.kind.holds_nothing)


def with_joints_moved(mechanism: Mechanism, by: Mapping[str, Sequence[float]]) -> Mechanism:
    """Return the mechanism with joints displaced in the reference pose.

    Both frames of a joint move, so that the loops stay closed in the reference pose; body frames,
    and with them inertias, points and springs, stay.

    Parameters
    ----------
    mechanism : Mechanism
    by : mapping joint → (3,)
        Displacements, m, ground axes.
    """
    joints = tuple(
        _moved(mechanism, joint, by[joint.name]) if joint.name in by else joint
        for joint in mechanism.joints
    )
    return replace(mechanism, joints=joints)


def _moved(mechanism: Mechanism, joint: Joint, by: Sequence[float]) -> Joint:
    def shifted(body: str, frame: Frame) -> Frame:
        local = np.array(mechanism.body(body).frame.rotation).T @ np.asarray(by)
        x, y, z = (np.array(frame.origin) + local).tolist()
        return replace(frame, origin=(x, y, z), origin_expr=None)

    return replace(
        joint,
        frame_a=shifted(joint.body_a, joint.frame_a),
        frame_b=shifted(joint.body_b, joint.frame_b),
    )


@dataclass(frozen=True)
class CoefficientPlace:
    """Where a coefficient stands: element, number of its part, key, entry of a list; and the name
    of the part."""

    element: str
    part: int
    key: str
    entry: int | None = None
    name: str = ""

    @property
    def words(self) -> str:
        """As "stiffness of strut"."""
        number = "" if self.entry is None else f" {self.entry + 1}"
        return f"{self.key}{number} of {self.name or self.element}"


def coefficients(mechanism: Mechanism) -> dict[CoefficientPlace, Coefficient]:
    """Return the coefficients that are not zero; lengths without force are none."""
    found = {}
    for element in mechanism.elements:
        for p, part in enumerate(element.parts):
            for key in element_kind(element).keys:
                value = part[key.name]
                listed = isinstance(value, tuple)
                for i, x in enumerate(value if listed else (value,)):
                    if isinstance(x, Coefficient) and x.value and not key.over:
                        entry = i if listed else None
                        place = CoefficientPlace(element.name, p, key.name, entry, part.name)
                        found[place] = x
    return found


def with_coefficient(mechanism: Mechanism, place: CoefficientPlace, value: float) -> Mechanism:
    """Return a mechanism with another value of a coefficient."""
    elements = (
        _changed(e, place, value) if e.name == place.element else e for e in mechanism.elements
    )
    return replace(mechanism, elements=tuple(elements))


def _changed(element: ForceElement, place: CoefficientPlace, value: float) -> ForceElement:
    def other(key: str, found: Any) -> Any:
        if key != place.key:
            return found
        if place.entry is None:
            return replace(found, value=value)
        entries = list(found)
        entries[place.entry] = replace(entries[place.entry], value=value)
        return tuple(entries)

    parts = list(element.parts)
    values = tuple((key, other(key, found)) for key, found in parts[place.part].values)
    parts[place.part] = replace(parts[place.part], values=values)
    return replace(element, parts=tuple(parts))
