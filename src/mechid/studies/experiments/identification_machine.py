"""Machines that differ from their model in one thing which the seed chooses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechid.errors import DataError
from mechid.mechanism.altered import (
    coefficients,
    movable_joints,
    with_coefficient,
    with_joints_moved,
)
from mechid.mechanism.records import Mechanism
from mechid.tasks.synthetic_errors import stream


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
    found = list(coefficients(mechanism).items())
    if not found:
        raise DataError(
            "no force element has a coefficient other than zero",
            where=mechanism.name,
            remedy="leave one_coefficient out",
        )
    rng = stream(seed, "one_coefficient")
    place, now = found[rng.integers(len(found))]
    assert now.value is not None
    return with_coefficient(
        mechanism, place, now.value * (1 + share * float(rng.choice([-1.0, 1.0])))
    )
