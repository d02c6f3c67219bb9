"""Points called by name: body.point, body.joint, or a body for the origin of its frame."""

from __future__ import annotations

from collections.abc import Sequence

from mechid.errors import DataError
from mechid.mechanism.records import GROUND, Mechanism, Point
from mechid.textfile.words import hint


def find_point(mechanism: Mechanism, name: str) -> Point:
    """Return a point of a body.

    Parameters
    ----------
    mechanism : Mechanism
    name : str
        `body.point`; `body.joint` for the origin of the joint's frame on that body; or `body` for
        the origin of the body's frame.

    Raises
    ------
    DataError
        If there is no such body or point; it says which there are.
    """
    body, _, rest = name.partition(".")
    bodies = [GROUND, *(b.name for b in mechanism.bodies)]
    known_name(body, bodies, f"there is no body {body}")
    if not rest:
        return Point("origin", body, (0.0, 0.0, 0.0))
    points = points_of(mechanism, body)
    known_name(rest, list(points), f"{body} has no point {rest}")
    return points[rest]


def points_of(mechanism: Mechanism, body: str) -> dict[str, Point]:
    """Return the points of a body by name: those of the model, then the origins of its joints."""
    points = {p.name: p for p in mechanism.points if p.body == body}
    for joint in mechanism.joints:
        for side, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b)):
            if side == body and not joint.kind.holds_nothing and joint.name not in points:
                points[joint.name] = Point(joint.name, body, frame.origin)
    return points


def known_name(name: str, known: Sequence[str], refusal: str) -> None:
    """Reject a name that is not among the known ones, and say which are."""
    if name not in known:
        raise DataError(refusal, remedy=hint(name, known))
