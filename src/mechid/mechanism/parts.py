"""Parts of a mechanism that hang together when joints that leave every turn are opened."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mechid.mechanism.records import GROUND, IDENTITY, Joint, Mechanism


@dataclass(frozen=True)
class BallPart:
    """Bodies that hang together, and the joints with every turn that hold them to the rest.

    `holders` hold a point that is fixed in the part; of `guides` the part carries the line or plane
    in which a point of the rest moves. A distance constraint holds like a rod with a
    ball at each end, and is listed as such a joint.
    """

    bodies: tuple[str, ...]
    holders: tuple[Joint, ...]
    guides: tuple[Joint, ...] = ()


def ball_parts(mechanism: Mechanism) -> tuple[BallPart, ...]:
    """Return the parts that joints with every turn separate, but for the one with the ground.

    A part held at two or more points on one line can spin about that line.
    """
    balls = [joint for joint in mechanism.joints if joint.kind.has_orientation]
    part = {name: name for name in (GROUND, *(body.name for body in mechanism.bodies))}
    for joint in mechanism.joints:
        if joint not in balls:
            a, b = part[joint.body_a], part[joint.body_b]
            part = {name: a if label == b else label for name, label in part.items()}
    labels = dict.fromkeys(label for label in part.values() if label != part[GROUND])
    rods = tuple(
        Joint(
            c.name,
            "spherical",
            c.point_a.body,
            c.point_b.body,
            replace(IDENTITY, origin=c.point_a.local),
            replace(IDENTITY, origin=c.point_b.local),
        )
        for c in mechanism.distances
    )
    found = []
    for label in labels:
        bodies = tuple(body.name for body in mechanism.bodies if part[body.name] == label)
        holders: list[Joint] = []
        guides: list[Joint] = []
        for joint in (*balls, *rods):
            inside = (joint.body_a in bodies, joint.body_b in bodies)
            if joint.kind.holds_nothing or inside[0] == inside[1]:
                continue
            fixed = joint.kind.holds_point or inside[1]
            (holders if fixed else guides).append(joint)
        found.append(BallPart(bodies, tuple(holders), tuple(guides)))
    return tuple(found)
