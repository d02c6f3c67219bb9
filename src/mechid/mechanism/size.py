"""The characteristic length of a mechanism, which makes equations and tolerances dimensionless."""

from __future__ import annotations

import numpy as np

from mechid.mechanism.records import (
    DistanceConstraint,
    DistanceCoordinate,
    Mechanism,
    PointCoordinate,
    Vec3,
)

ORIGIN = (0.0, 0.0, 0.0)


def characteristic_size(mechanism: Mechanism) -> float:
    """Return L: the largest distance between points of the reference pose (m).

    Points are those of joints, coordinates and constraints and those with names; if all of them
    are one, as in a spherical linkage, the origins of the body frames count too.
    """
    places = [(p.body, p.local) for p in mechanism.points]
    for joint in mechanism.joints:
        places += [(joint.body_a, joint.frame_a.origin), (joint.body_b, joint.frame_b.origin)]
    for c in (*mechanism.coordinates, *mechanism.constraints):
        if isinstance(c, PointCoordinate):
            places.append((c.point.body, c.point.local))
        elif isinstance(c, DistanceCoordinate | DistanceConstraint):
            places += [(x.body, x.local) for x in (c.point_a, c.point_b)]
    origins = [(body.name, ORIGIN) for body in mechanism.bodies]
    for chosen in (places, places + origins):
        size = _largest_distance(mechanism, chosen)
        if size > 0:
            return size
    return 1.0  # everything in one point: only directions matter


def shortest_body(mechanism: Mechanism) -> tuple[str, float] | None:
    """Return the body whose joints lie nearest to each other, and their largest distance (m).

    Bodies with one joint, or with all joints at one point, have no such distance.
    """
    found: dict[str, list[tuple[str, Vec3]]] = {body.name: [] for body in mechanism.bodies}
    for joint in mechanism.joints:
        for name, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b)):
            if name in found:  # not the ground, which may be large
                found[name].append((name, frame.origin))
    lengths = {name: _largest_distance(mechanism, places) for name, places in found.items()}
    some = [name for name, length in lengths.items() if length > 0]
    shortest = min(some, key=lengths.__getitem__, default=None)
    return None if shortest is None else (shortest, lengths[shortest])


def _largest_distance(mechanism: Mechanism, places: list[tuple[str, Vec3]]) -> float:
    points = []
    for name, local in places:
        frame = mechanism.body(name).frame
        points.append(np.array(frame.origin) + np.array(frame.rotation) @ np.array(local))
    x = np.array(points).reshape(-1, 3)
    apart = np.linalg.norm(x[:, None] - x[None, :], axis=-1)
    largest = float(np.max(apart, initial=0.0))
    # Points meant to be one are so only to rounding.
    rounding = 1e-12 * float(np.max(np.abs(x), initial=0.0))
    return largest if largest > rounding else 0.0
