"""The tree of a robot made that of a mechanism: locked joints, the base, fixed links merged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.errors import ModelError
from mechid.importing.masses import Mass, total
from mechid.importing.poses import IDENTITY, Pose, about, tidy
from mechid.importing.robot import Link, LinkJoint, LoopJoint, PointPair, Robot, listed
from mechid.options import ImportOptions
from mechid.spatial.rotations import matrix_from_quaternion, snap


def prepared(robot: Robot, options: ImportOptions) -> Robot:
    """Return the robot with locked joints removed, on its base, and with fixed links merged."""
    robot = _locked(robot)
    robot = _based(robot, options)
    return robot if options.keep_fixed else _merged(robot)


def moved(joint: LinkJoint, value: float) -> Pose:
    """Return the displacement by a joint of one coordinate at a value of it."""
    by = value - joint.reference
    if joint.kind == "prismatic":
        return Pose(by * joint.axis, np.eye(3))
    R, p = about(joint.axis, by), np.array(joint.position)
    return Pose(tidy(p - R @ p), R)


def placed(joint: LinkJoint, pose: Pose) -> Pose:
    """Return the pose in the parent, in the reference pose of the model, of what a joint carries.

    `pose` is where nothing is displaced.
    """
    if joint.at is None:
        return pose
    if joint.kind in ("revolute", "prismatic"):
        return pose @ moved(joint, joint.at[0])
    R = np.asarray(snap(matrix_from_quaternion(np.array(joint.at[-4:]))))
    if joint.kind == "free":
        there = Pose(np.array(joint.at[:3]), R)
        return there if joint.from_parent else pose @ there
    p = np.array(joint.position)
    return pose @ Pose(tidy(p - R @ p), R)


# ---------------------------------------------------------------------- locked joints


def _locked(robot: Robot) -> Robot:
    """Return the robot with joints that a coupling holds at a value made rigid."""
    values = {c.joint: c.constant for c in robot.couplings if c.leader is None}
    links = []
    for link in robot.links:
        for joint in [j for j in link.joints if j.name in values]:
            link = _without(link, joint, values[joint.name])
        links.append(link)
    couplings = []
    for c in robot.couplings:
        if c.leader in values:
            raise ModelError(
                f"joint {c.joint} follows joint {c.leader}, which is locked",
                where=c.place,
                remedy="couple it with a joint that moves",
            )
        if c.leader is not None:
            couplings.append(c)
    sums = []
    for s in robot.sums:
        fixed = sum(factor * values[name] for name, factor in s.terms if name in values)
        terms = tuple((name, factor) for name, factor in s.terms if name not in values)
        constant = None if s.constant is None else s.constant - fixed
        if terms:
            sums.append(replace(s, terms=terms, constant=constant))
    return replace(robot, links=tuple(links), couplings=tuple(couplings), sums=tuple(sums))


def _without(link: Link, joint: LinkJoint, value: float) -> Link:
    """Return a link with one of its joints standing still at a value.

    The motion T of the joint goes in front of those before it: X J1 T = (X T) (T⁻¹ J1 T).
    """
    T = moved(joint, value)
    k = link.joints.index(joint)
    back = T.inverse()
    before = tuple(
        replace(j, axis=back.direction(j.axis), position=tuple(back.point(j.position)))
        for j in link.joints[:k]
    )
    return replace(link, pose=link.pose @ T, joints=(*before, *link.joints[k + 1 :]))


# ---------------------------------------------------------------------- the base


def _based(robot: Robot, options: ImportOptions) -> Robot:
    """Return the robot with a base that floats, or is fixed, as asked."""
    floating = [link for link in robot.links if link.parent is None and _is_free(link)] or [
        link for link in robot.links if _is_free(link) and _stands(robot, link.parent)
    ]
    if options.base == "fixed":
        fixed = {link.name for link in floating}
        links = tuple(replace(x, joints=()) if x.name in fixed else x for x in robot.links)
        return replace(robot, links=links)
    if options.base == "free" and not floating:
        return _floating(robot)
    return robot


def _is_free(link: Link) -> bool:
    return [joint.kind for joint in link.joints] == ["free"]


def _stands(robot: Robot, name: str | None) -> bool:
    """Tell whether a link is part of the ground."""
    while name is not None:
        link = next(x for x in robot.links if x.name == name)
        if link.joints:
            return False
        name = link.parent
    return True


def _floating(robot: Robot) -> Robot:
    """Return the robot with a free joint below everything that stands on the ground."""
    joint = LinkJoint("base", "free", np.array([0.0, 0.0, 1.0]), from_parent=True)
    names = {j.name for x in robot.links for j in x.joints} | {x.name for x in robot.loops}
    while joint.name in names:
        joint = replace(joint, name=f"{joint.name}_")
    roots = [link for link in robot.links if link.parent is None]
    if len(roots) == 1 and not roots[0].joints:
        changed = tuple(replace(x, joints=(joint,)) if x is roots[0] else x for x in robot.links)
        return replace(robot, links=changed)
    base = Link("base", None, IDENTITY, (joint,), None)
    while base.name in {x.name for x in robot.links}:
        base = replace(base, name=f"{base.name}_")
    links = tuple(replace(x, parent=base.name) if x.parent is None else x for x in robot.links)
    loops = tuple(
        replace(loop, links=(loop.links[0] or base.name, loop.links[1] or base.name))
        for loop in robot.loops
    )
    lines = tuple(
        replace(line, links=(line.links[0] or base.name, line.links[1] or base.name))
        for line in robot.lines
    )
    return replace(robot, links=(base, *links), loops=loops, lines=lines)


# ---------------------------------------------------------------------- fixed links


def _merged(robot: Robot) -> Robot:
    """Return the robot with every link without joints made part of its parent."""
    into: dict[str | None, tuple[str | None, Pose]] = {None: (None, IDENTITY)}
    parts: dict[str | None, list[Mass]] = {}
    kept: list[Link] = []
    for link in robot.links:
        host, pose = into[link.parent]
        here = pose @ link.pose
        if link.joints:
            into[link.name] = (link.name, IDENTITY)
            kept.append(replace(link, parent=host, pose=here))
        else:
            into[link.name] = (host, here)
        owner, place = into[link.name]
        if link.mass is not None:
            parts.setdefault(owner, []).append(link.mass.seen_from(place))
    links = tuple(replace(x, mass=total(parts.get(x.name, []))) for x in kept)
    merged = [x.name for x in robot.links if not x.joints and into[x.name][0] is not None]
    ground = [x.name for x in robot.links if not x.joints and into[x.name][0] is None]
    notes = []
    if merged:
        notes.append(f"fixed links are merged into their parents: {listed(merged)}")
    if ground:
        notes.append(f"part of the ground, where inertia has no effect: {listed(ground)}")
    return replace(
        robot,
        links=links,
        loops=tuple(_on_hosts(loop, into) for loop in robot.loops),
        lines=tuple(_between_hosts(line, into) for line in robot.lines),
        notes=(*robot.notes, *notes),
    )


def _between_hosts(line: PointPair, into: dict[str | None, tuple[str | None, Pose]]) -> PointPair:
    """Return a line between the links that the given ones became part of."""
    (a, at_a), (b, at_b) = (into[name] for name in line.links)
    return replace(line, links=(a, b), poses=(at_a @ line.poses[0], at_b @ line.poses[1]))


def _on_hosts(loop: LoopJoint, into: dict[str | None, tuple[str | None, Pose]]) -> LoopJoint:
    """Return a loop joint between the links that the given ones became part of."""
    (a, at_a), (b, at_b) = (into[name] for name in loop.links)
    if a == b:
        raise ModelError(
            f"{loop.name} connects {a or 'the ground'} with itself",
            where=loop.place,
            remedy="name two links that move with respect to each other",
        )
    axes = loop.axes and (at_a.direction(loop.axes[0]), at_b.direction(loop.axes[1]))
    poses = (at_a @ loop.poses[0], at_b @ loop.poses[1])
    return replace(loop, links=(a, b), poses=poses, axes=axes)
