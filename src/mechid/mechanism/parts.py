"""Parts of a mechanism that hang together when its spherical joints are opened."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mechid.mechanism.records import GROUND, IDENTITY, Joint, Mechanism


@dataclass(frozen=True)
class BallPart:
    """Bodies that hang together, and the spherical joints that hold them to the rest.

    A distance constraint holds like a rod with a ball at each end, and is listed as such a joint.
    """

    bodies: tuple[str, ...]
    holders: tuple[Joint, ...]


def ball_parts(mechanism: Mechanism) -> tuple[BallPart, ...]:
    """Return the parts that spherical joints separate, but for the one with the ground.

    A part held by two or more spherical joints on one line can spin about that line.
    """
    part = {name: name for name in (GROUND, *(body.name for body in mechanism.bodies))}
    for joint in mechanism.joints:
        if joint.type not in ("spherical", "free"):
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
        holders = tuple(
            joint
            for joint in (*mechanism.joints, *rods)
            if joint.type == "spherical" and (joint.body_a in bodies) != (joint.body_b in bodies)
        )
        found.append(BallPart(bodies, holders))
    return tuple(found)
