"""A robot as the document of a model file."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.importing.coordinates import Candidate
from mechid.importing.masses import Mass
from mechid.importing.merge import placed
from mechid.importing.poses import IDENTITY, Pose, about, normal_to, tidy
from mechid.importing.robot import JointSum, Link, LinkJoint, LoopJoint, PointPair, Robot, listed
from mechid.mechanism.records import GROUND
from mechid.modelfile.document import FORMAT_VERSION
from mechid.options import ImportOptions
from mechid.spatial.inertia import inconsistency, six
from mechid.spatial.rotations import Array

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


class Names:
    """Gives every name of one kind a valid and unique form, and remembers which it changed."""

    def __init__(self, what: str, reserved: tuple[str, ...] = ()) -> None:
        self._what = what
        self._taken = set(reserved)
        self._known: dict[str, str] = {}
        self.renamed: list[tuple[str, str, str]] = []

    def __getitem__(self, name: str) -> str:
        """Return the name in the model of something that the file calls so."""
        if name not in self._known:
            self._known[name] = new = self.free(name)
            if new != name:
                self.renamed.append((self._what, name, new))
        return self._known[name]

    def free(self, name: str) -> str:
        """Return a valid name that nothing has yet, and take it."""
        valid = _OTHER.sub("_", name) or self._what
        if not (valid[0].isalpha() or valid[0] == "_"):
            valid = f"_{valid}"
        new, n = valid, 2
        while new in self._taken:
            new, n = f"{valid}_{n}", n + 1
        self._taken.add(new)
        return new


def body_names() -> Names:
    """Return the names of bodies; that of the ground is taken."""
    return Names("body", (GROUND,))


_SIX = ("xx", "xy", "xz", "yy", "yz", "zz")


class RobotDocument:
    """Writes a robot in the words of the model format.

    Attributes
    ----------
    document : dict
        Without coordinates.
    candidates : list of Candidate
        Joints whose coordinates may be independent.
    notes : list of str
    renamed : list of (kind, name in the file, name in the model)
    """

    def __init__(self, robot: Robot, source: str, options: ImportOptions) -> None:
        self._identify = options.identify_elements
        self._bodies = body_names()
        self._joints = Names("joint")
        self._elements = Names("element")
        self._points = Names("point")
        self.notes: list[str] = []
        self._bodies_out: dict[str, Any] = {}
        self._joints_out: dict[str, Any] = {}
        self._elements_out: dict[str, Any] = {}
        self._odd: list[str] = []
        self._light: list[str] = []
        for link in robot.links:  # names of the file first, then those of massless links between
            self._bodies[link.name]
        for link in robot.links:
            self._link(link)
        for loop in robot.loops:
            self._joints_out[self._joints[loop.name]] = self._loop(loop)
        constraints: dict[str, Any] = {
            self._joints.free(c.name): {
                "type": "coupling",
                "between": [self._joints[c.joint], self._joints[c.leader]],
                "ratio": c.ratio,
                "constant": c.constant,
            }
            for c in robot.couplings
            if c.leader is not None
        }
        name = Names("robot")
        identifier = name[robot.name]
        self.document: dict[str, Any] = {
            "mechid": FORMAT_VERSION,
            "name": identifier,
            **({"title": robot.name} if name.renamed else {}),
            "source": source,
            "gravity": list(robot.gravity),
            "bodies": self._bodies_out,
            "joints": self._joints_out,
        }
        if not self._bodies_out:
            raise ModelError(
                "nothing of the robot can move", remedy="set base to free, or keep_fixed"
            )
        points: dict[str, Any] = {}
        for line in robot.lines:
            self._line(line, points, constraints)
        for s in robot.sums:
            self._sum(s, constraints)
        sections = {"points": points, "constraints": constraints, "elements": self._elements_out}
        self.document |= {key: value for key, value in sections.items() if value}
        if robot.loops:
            self.document["cut"] = [self._joints[loop.name] for loop in robot.loops]
        self.candidates = self._coordinates(robot)
        self.renamed = [*self._bodies.renamed, *self._joints.renamed]
        if self._light:
            self.notes.append(f"no inertia is given for {listed(self._light)}: massless")
        if self._odd:
            self.notes.append(
                f"no body can have the inertia of {listed(self._odd)}; it is kept as written "
                "(allow_nonphysical)"
            )

    # ------------------------------------------------------------------ bodies

    def _link(self, link: Link) -> None:
        """Add a body, massless ones between its joints, and the joints."""
        name = self._bodies[link.name]
        parent = GROUND if link.parent is None else self._bodies[link.parent]
        chain: list[LinkJoint | None] = [*link.joints] or [None]
        pose = link.pose
        for joint in chain[:-1]:
            assert joint is not None
            between = self._bodies.free(f"{link.name}_{joint.name}")
            here = placed(joint, pose)
            self._bodies_out[between] = {"frame": _frame(parent, here), "massless": True}
            self._joint(joint, parent, between, pose)
            parent, pose = between, IDENTITY
        last = chain[-1]
        here = pose if last is None else placed(last, pose)
        self._bodies_out[name] = {"frame": _frame(parent, here), **self._mass(link, name)}
        if last is None:
            fixed = self._joints.free(link.weld or f"{link.name}_fixed")
            at = {"in": name, "at": [0, 0, 0]}
            self._joints_out[fixed] = {"type": "fixed", "between": [parent, name], "at": at}
        else:
            self._joint(last, parent, name, pose)

    def _mass(self, link: Link, name: str) -> dict[str, Any]:
        mass = link.mass
        if mass is not None and mass.mass == 0 and mass.tensor.any():
            raise ModelError(
                f"link {link.name} has moments of inertia and no mass",
                where=link.place,
                remedy="give it a mass, or no inertia",
            )
        if mass is None or mass.mass == 0:
            if link.joints:
                self._light.append(name)
            return {"massless": True}
        return _inertia(mass, name, self._odd)

    # ------------------------------------------------------------------ joints

    def _joint(self, joint: LinkJoint, parent: str, body: str, pose: Pose) -> None:
        name = self._joints[joint.name]
        words: dict[str, Any] = {"type": joint.kind, "between": [parent, body]}
        position = np.array(joint.position)
        if joint.kind in ("spherical", "free"):
            # Coordinates are zero where the link has its pose in the parent.
            a = IDENTITY if joint.from_parent else Pose(pose.point(position), pose.R, pose.rpy)
            words["frames"] = [_spelled(a), _spelled(Pose(position, np.eye(3)))]
        else:
            words |= _axial(joint, parent, body, pose)
        if joint.limits is not None and joint.limits != (None, None):
            words["limits"] = list(joint.limits)
        if joint.rotor or (self._identify and joint.actuated and joint.ratio != 1):
            words["rotor"] = {"inertia": self._coefficient(joint.rotor), "ratio": joint.ratio}
        self._joints_out[name] = words
        if joint.viscous or joint.coulomb:
            self._elements_out[self._elements.free(f"friction_{name}")] = {
                "type": "friction",
                "joint": name,
                **{
                    key: self._coefficient(value)
                    for key in ("viscous", "coulomb")
                    if (value := getattr(joint, key))
                },
            }
        if joint.stiffness:
            self._elements_out[self._elements.free(f"spring_{name}")] = {
                "type": "torsion_spring",
                "joint": name,
                "stiffness": self._coefficient(joint.stiffness),
                "free_angle": joint.rest,
            }

    def _coefficient(self, value: float) -> Any:
        return {"value": value, "identify": True} if self._identify else value

    def _loop(self, loop: LoopJoint) -> dict[str, Any]:
        a, b = (GROUND if name is None else self._bodies[name] for name in loop.links)
        words: dict[str, Any] = {"type": loop.kind, "between": [a, b]}
        if loop.axes is None:
            return words | {"frames": [_spelled(pose) for pose in loop.poses]}
        words["at"] = [
            {"in": body, "at": _list(pose.p)} for body, pose in zip((a, b), loop.poses, strict=True)
        ]
        key = "axes" if loop.kind == "universal" else "axis"
        words[key] = [
            {"in": body, "along": _list(axis)} for body, axis in zip((a, b), loop.axes, strict=True)
        ]
        return words

    # ------------------------------------------------------------------ lines and sums

    def _line(self, line: PointPair, points: dict[str, Any], constraints: dict[str, Any]) -> None:
        """Add the two points, what acts between them, and their distance if it is constant."""
        between = []
        for link, pose, side in zip(line.links, line.poses, "ab", strict=True):
            body = GROUND if link is None else self._bodies[link]
            point = self._points.free(f"{line.name}_{side}")
            points[point] = {"on": {body: _list(tidy(pose.p))}}
            between.append(f"{body}.{point}")
        if line.length is not None:
            words = {"type": "distance", "between": between, "length": line.length}
            constraints[self._joints.free(line.name)] = words
        if line.stiffness or line.damping:
            words = {"type": "spring_damper", "between": between}
            if line.stiffness:
                words |= {
                    "stiffness": self._coefficient(line.stiffness),
                    "free_length": line.rest,
                }
            if line.damping:
                words["damping"] = self._coefficient(line.damping)
            self._elements_out[self._elements.free(line.name)] = words

    def _sum(self, s: JointSum, constraints: dict[str, Any]) -> None:
        """Add a coupling of several coordinates, or a motor on them."""
        names = [self._joints[name] for name, _ in s.terms]
        factors = [factor for _, factor in s.terms]
        if s.constant is not None:
            constraints[self._joints.free(s.name)] = {
                "type": "coupling",
                "coordinates": dict(zip(names, factors, strict=True)),
                "constant": s.constant,
            }
        motor = {"inertia": s.rotor, "viscous": s.viscous, "coulomb": s.coulomb}
        if any(motor.values()):
            values = {key: self._coefficient(x) for key, x in motor.items() if x}
            self._elements_out[self._elements.free(s.name)] = {
                "type": "transmission",
                "coordinates": names,
                "motors": {self._elements.free(f"{s.name}_motor"): values},
                "matrix": [factors],
            }

    # ------------------------------------------------------------------ coordinates

    def _coordinates(self, robot: Robot) -> list[Candidate]:
        """Return the joints that may be independent; those with motors first.

        Where the file has no motors, joints on the ground take their place.
        """
        joints = [(link, joint) for link in robot.links for joint in link.joints]
        followers = {c.joint for c in robot.couplings}
        motors = any(joint.actuated for _, joint in joints)

        def rank(link: Link, joint: LinkJoint) -> int:
            if joint.kind == "spherical":
                return 0
            first = joint.actuated if motors else link.parent is None
            return 2 if first or joint.kind == "free" else 1

        ordered = sorted(joints, key=lambda pair: pair[1].name in followers)
        return [Candidate(self._joints[j.name], rank(link, j)) for link, j in ordered]


def _axial(joint: LinkJoint, parent: str, body: str, pose: Pose) -> dict[str, Any]:
    """Return place, axis and zero of a joint with an axis."""
    axis, position = joint.axis, np.array(joint.position)
    at: Any = {"in": body, "at": _list(position)}
    words: dict[str, Any] = {"at": at, "axis": {"in": body, "along": _list(axis)}}
    if joint.kind == "planar":
        words["zero"] = [{"in": body, "along": _list(normal_to(axis))}] * 2
    elif joint.kind == "prismatic" and (joint.reference or joint.at):
        start = pose.point(position - joint.reference * axis)
        words["at"] = [{"in": parent, "at": _list(start)}, at]
    elif joint.reference or joint.at:
        across = normal_to(axis)
        back = pose.direction(about(axis, -joint.reference) @ across)
        words["zero"] = [
            {"in": parent, "along": _list(back)},
            {"in": body, "along": _list(across)},
        ]
    return words


def _inertia(mass: Mass, name: str, odd: list[str]) -> dict[str, Any]:
    numbers = six(mass.tensor)
    words: dict[str, Any] = dict(zip(_SIX, _list(numbers), strict=True))
    words = {key: value for key, value in words.items() if value or key in ("xx", "yy", "zz")}
    if inconsistency(mass.mass, numbers):
        words["allow_nonphysical"] = True
        odd.append(name)
    return {"mass": float(mass.mass), "center": _list(mass.center), "inertia": words}


def _frame(parent: str, pose: Pose) -> dict[str, Any]:
    inside = {} if parent == GROUND else {"in": parent}
    return inside | _spelled(pose)


def _spelled(pose: Pose) -> dict[str, Any]:
    """Return origin and rotation of a frame, by roll, pitch and yaw where the file has them."""
    words: dict[str, Any] = {"origin": _list(tidy(pose.p))}
    if np.array_equal(pose.R, np.eye(3)):
        return words
    if pose.rpy is not None:
        return words | {"rpy": list(pose.rpy)}
    return words | {"rotation": [_list(row) for row in pose.R]}


def _list(values: Array) -> list[float]:
    return [float(x) + 0.0 for x in values]
