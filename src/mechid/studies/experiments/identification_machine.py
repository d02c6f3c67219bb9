"""Machines that differ from their model in one thing which the seed chooses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.mechanism.element_terms import element_kind
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.records import Coefficient, ForceElement, Mechanism
from mechid.tasks.synthetic_errors import stream

_Place = tuple[int, int, str, int | None]  # element, part, key, entry of a list


def with_longer_link(
    mechanism: Mechanism, share: float, seed: int
) -> tuple[Mechanism, dict[str, list[float]]]:
    """Return the mechanism with one link longer by a share of its length, and what was displaced.

    Of the two joints of a body that are farthest apart, one is displaced along it (m, ground
    axes), in the next body too: loops stay closed in the reference pose.
    """
    links = list(_links(mechanism))
    if not links:
        raise DataError("no body has two joints that are apart", where=mechanism.name)
    rng = stream(seed, "link")
    joints, along = links[rng.integers(len(links))]
    end = int(rng.integers(2))
    moved = {joints[end]: ((2 * end - 1) * share * along).tolist()}
    return with_joints_moved(mechanism, moved), moved


def _links(mechanism: Mechanism) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Yield two joints of each body that are farthest apart, and the way from one to the other."""
    movable = movable_joints(mechanism)
    for body in mechanism.bodies:
        at = {
            joint.name: np.array(frame.origin)
            for joint in mechanism.joints
            for name, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
            if name == body.name and joint.name in movable
        }
        pairs = [(a, b) for a in at for b in at if a < b]
        a, b = max(
            pairs, key=lambda p: float(np.linalg.norm(at[p[1]] - at[p[0]])), default=("", "")
        )
        if a and np.linalg.norm(at[b] - at[a]) > 0:
            yield (a, b), np.array(body.frame.rotation) @ (at[b] - at[a])


def with_other_coefficient(mechanism: Mechanism, share: float, seed: int) -> Mechanism:
    """Return the mechanism with one coefficient of a force element more or less by a share.

    Coefficients that are known count too; lengths without force do not.
    """
    places = list(_coefficients(mechanism))
    if not places:
        raise DataError(
            "no force element has a coefficient other than zero",
            where=mechanism.name,
            remedy="leave one_coefficient out",
        )
    rng = stream(seed, "one_coefficient")
    k, p, key, entry = places[rng.integers(len(places))]
    factor = 1 + share * float(rng.choice([-1.0, 1.0]))
    elements = list(mechanism.elements)
    elements[k] = _with_factor(elements[k], p, key, entry, factor)
    return replace(mechanism, elements=tuple(elements))


def _coefficients(mechanism: Mechanism) -> Iterator[_Place]:
    for k, element in enumerate(mechanism.elements):
        for p, part in enumerate(element.parts):
            for key in element_kind(element).keys:
                value = part[key.name]
                several = value if isinstance(value, tuple) else (value,)
                for i, x in enumerate(several):
                    if isinstance(x, Coefficient) and x.value and not key.over:
                        yield k, p, key.name, i if isinstance(value, tuple) else None


def _with_factor(
    element: ForceElement, p: int, key: str, entry: int | None, factor: float
) -> ForceElement:
    def off(name: str, value: Any) -> Any:
        if name != key:
            return value
        if entry is None:
            return replace(value, value=value.value * factor)
        return (*value[:entry], replace(value[entry], value=value[entry].value * factor),
                *value[entry + 1 :])  # fmt: skip

    parts = list(element.parts)
    values = tuple((name, off(name, value)) for name, value in parts[p].values)
    parts[p] = replace(parts[p], values=values)
    return replace(element, parts=tuple(parts))
