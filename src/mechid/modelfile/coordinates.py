"""Independent coordinates, and which coordinate of a joint a word means."""

from __future__ import annotations

from collections.abc import Mapping

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import ANGLES
from mechid.mechanism.records import (
    DistanceCoordinate,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    PointCoordinate,
)
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.points import PointBook
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_elements import CoordinateSpec
from mechid.modelfile.vectors import vec3
from mechid.textfile.words import suggestion
from mechid.textfile.yamlio import Key


def pick(
    word: str, scope: Scope, joints: Mapping[str, Joint], path: Key
) -> tuple[Joint, int | None]:
    """Return the joint of `joint` or `joint.coordinate`, and which coordinate if it says."""
    name, _, choice = word.partition(".")
    joint = joints[scope.find("joints", name, path)]
    known = joint.kind.choices
    if not known:
        raise ModelError(
            f"joint {name} is fixed and has no coordinates", path=path, remedy="name another joint"
        )
    if not choice:
        return joint, 0 if len(known) == 1 else None
    if choice in known:
        return joint, known.index(choice)
    if choice in joint.kind.coordinates:
        raise ModelError(
            f"{choice} is a component of a quaternion and cannot be chosen by itself",
            path=path,
            remedy=f"use {name}.roll, {name}.pitch and {name}.yaw",
        )
    raise ModelError(
        f"joint {name} has no coordinate {choice}",
        path=path,
        remedy=suggestion(choice, known) or f"a {joint.type} joint has {', '.join(known)}",
    )


def pick_single(
    word: str, scope: Scope, joints: Mapping[str, Joint], path: Key
) -> tuple[Joint, int]:
    """Return a joint and the number of its coordinate that is one angle or displacement."""
    joint, index = pick(word, scope, joints, path)
    if index is None:
        raise ModelError(
            f"joint {word} has several coordinates",
            path=path,
            remedy=f"choose one of: {', '.join(f'{word}.{c}' for c in joint.kind.choices)}",
        )
    if index >= joint.kind.n_scalars:
        raise ModelError(
            f"{joint.kind.choices[index]} of a {joint.type} joint is not a coordinate of its own",
            path=path,
            remedy="choose a joint coordinate that is one angle or displacement",
        )
    return joint, index


def coordinates(
    entry: Entry, joints: Mapping[str, Joint], geometry: Geometry, book: PointBook
) -> list[IndependentCoordinate]:
    """Return the coordinates of one entry: several if it names a joint that has several."""
    spec: CoordinateSpec = entry.spec
    path, scope, name = entry.path, entry.scope, entry.name
    given = [k for k in ("joint", "point", "distance") if getattr(spec, k) is not None]
    if len(given) != 1:
        raise ModelError(
            f"{' and '.join(given)} are given" if given else "the coordinate is empty",
            path=path,
            remedy="give one of joint, point (with along) and distance",
        )
    if spec.along is not None and spec.point is None:
        raise ModelError("along belongs to a point", path=(*path, "along"), remedy="remove it")
    if spec.joint is not None:
        return _of_joint(entry, joints)
    force = scope.final(spec.force) if spec.force else f"F_{name}"
    if spec.distance is not None:
        a, b = (
            book.body_point(p, scope, f"{name}_{'ab'[i]}", (*path, "distance", i))
            for i, p in enumerate(spec.distance)
        )
        if a.body == b.body:
            raise ModelError(
                f"both points belong to {a.body}, their distance cannot change",
                path=(*path, "distance"),
                remedy="name points of two bodies",
            )
        return [DistanceCoordinate(name, a, b, force, held=spec.held)]
    assert spec.point is not None
    if spec.along is None:
        raise ModelError("along is missing", path=path, remedy="give a direction, such as along: z")
    point = book.body_point(spec.point, scope, f"{name}_point", (*path, "point"))
    along = geometry.direction(spec.along, scope, (*path, "along")).vector
    for plane in scope.planes:
        along = plane.matrix @ along
    return [PointCoordinate(name, point, vec3(along), force, held=spec.held)]


def _of_joint(entry: Entry, joints: Mapping[str, Joint]) -> list[IndependentCoordinate]:
    spec: CoordinateSpec = entry.spec
    assert spec.joint is not None
    joint, index = pick(spec.joint, entry.scope, joints, (*entry.path, "joint"))
    force = entry.scope.final(spec.force) if spec.force else None
    records: list[IndependentCoordinate] = []
    for i in range(len(joint.kind.choices)) if index is None else (index,):
        ending = f".{joint.kind.choices[i]}" if index is None else ""
        unit = joint.kind.choice_units[i]
        default = f"{'F' if unit == 'm' else 'M'}_{entry.name}"
        records.append(
            JointCoordinate(
                name=f"{entry.name}{ending}",
                joint=joint.name,
                index=i,
                force=f"{force or default}{ending}",
                unit=unit,
                held=spec.held,
            )
        )
    return records


def check_orientations(
    chosen: tuple[IndependentCoordinate, ...], joints: Mapping[str, Joint], paths: Mapping[str, Key]
) -> None:
    """Reject an orientation of which only a part is independent."""
    for joint in joints.values():
        if not joint.kind.has_orientation:
            continue
        mine = [c for c in chosen if isinstance(c, JointCoordinate) and c.joint == joint.name]
        angles = {joint.kind.choices[c.index] for c in mine} & set(ANGLES)
        missing = [angle for angle in ANGLES if angle not in angles]
        if angles and missing:
            raise ModelError(
                f"the orientation of joint {joint.name} is only partly chosen",
                path=paths[mine[-1].name],
                remedy=f"name {', '.join(missing)} too, or none of roll, pitch, yaw",
            )
