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
