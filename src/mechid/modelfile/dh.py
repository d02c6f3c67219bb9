"""Modified Denavit-Hartenberg tables (Khalil): serial, branched and closed chains.

Frame j is reached from its antecedent by
Rot(z, γ) Trans(z, b) Rot(x, α) Trans(x, d) Rot(z, θ) Trans(z, r). The last two commute, so the
joint turns about (or slides along) z of the frame that all the constant parameters give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointType
from mechid.mechanism.records import GROUND, IDENTITY, Frame, Joint, Limit
from mechid.modelfile.algebra import ZERO
from mechid.modelfile.limits import limit
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_joints import DenavitHartenbergRow, Transform
from mechid.modelfile.transforms import SymbolicTransform, shift, turn
from mechid.modelfile.vectors import Exact, Pose, cleaned
from mechid.spatial.rotations import axis_rotation, snap
from mechid.textfile.yamlio import Key

if TYPE_CHECKING:
    from mechid.modelfile.geometry import Geometry

_TYPES: dict[str, JointType] = {
    "R": "revolute",
    "P": "prismatic",
    "X": "fixed",
    "revolute": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
_OWN_FRAME = replace(IDENTITY, origin_expr=(ZERO, ZERO, ZERO))


def transform(numbers: Numbers, row: Transform, scope: Scope, path: Key) -> SymbolicTransform:
    """Return Rot(z, γ) Trans(z, b) Rot(x, α) Trans(x, d) Rot(z, θ) Trans(z, r) of a row."""
    result = None
    for key, turns, axis in (
        ("gamma", True, 2),
        ("b", False, 2),
        ("alpha", True, 0),
        ("d", False, 0),
        ("theta", True, 2),
        ("r", False, 2),
    ):
        where = (*path, key)
        number = numbers.number(getattr(row, key), scope, where)
        step = turn(axis, number, where) if turns else shift(axis, number)
        result = step if result is None else result @ step
    assert result is not None
    return result


@dataclass(frozen=True)
class Link:
    """A row with the names it stands for."""

    row: DenavitHartenbergRow
    body: str
    antecedent: str
    joint: str
    path: Key


class Links:
    """The rows of a table under the names of their bodies and joints."""

    def __init__(self, rows: list[DenavitHartenbergRow], scope: Scope, numbers: Numbers) -> None:
        self._scope = scope
        self._numbers = numbers
        self._by_number = {0: GROUND} | {
            row.link: body_name(row) for row in rows if row.link is not None
        }
        self.bodies: dict[str, Link] = {}
        self.joints: dict[str, Link] = {}
        for i, row in enumerate(rows):
            path: Key = ("denavit_hartenberg", i)
            antecedent = self._name(row.antecedent, (*path, "antecedent"))
            if row.closes is None:
                link = Link(row, body_name(row), antecedent, joint_name(row, i), path)
                self.bodies[link.body] = link
            else:
                body = self._name(row.closes, (*path, "closes"))
                link = Link(row, body, antecedent, joint_name(row, i), path)
            self.joints[link.joint] = link

    def _name(self, link: int | str, path: Key) -> str:
        if isinstance(link, str):
            return self._scope.find("bodies", link, path)
        if link not in self._by_number:
            known = ", ".join(str(n) for n in sorted(self._by_number))
            raise ModelError(
                f"there is no link {link}", path=path, remedy=f"choose one of: {known}"
            )
        return self._by_number[link]

    def pose(self, geometry: Geometry, body: str) -> Pose:
        """Return the frame of a link in the reference pose."""
        link = self.bodies[body]
        base = geometry.pose(link.antecedent)
        frame = transform(self._numbers, link.row, self._scope, link.path).frame(self._numbers)
        at = self._numbers.value(link.row.at, self._scope, (*link.path, "at"))
        R, p = np.array(frame.rotation), np.array(frame.origin)
        kind = JOINT_KINDS[_TYPES[link.row.type]]
        if kind.hinge:
            R = R @ axis_rotation(2, np.asarray(at))
        elif kind.guide:
            p = p + R[:, 2] * at
        p = cleaned(base.origin.array + base.R @ p, base.origin.array, p)
        return Pose(Exact.of(p), np.asarray(snap(base.R @ R), dtype=float))

    def joint(self, name: str) -> Joint:
        """Return the joint of a row."""
        link = self.joints[name]
        row = link.row
        frame_a = transform(self._numbers, row, self._scope, link.path).frame(self._numbers)
        frame_b = _OWN_FRAME if row.closes is None else self._closing_frame(link)
        limits: tuple[Limit, ...] = ()
        if row.limits is not None:
            lower, upper = (
                None if s is None else self._numbers.value(s, self._scope, (*link.path, "limits"))
                for s in row.limits
            )
            limits = (limit(lower, upper, (*link.path, "limits")),)
        return Joint(
            name,
            _TYPES[row.type],
            link.antecedent,
            link.body,
            frame_a,
            frame_b,
            limits=limits,
            source=row.source,
        )

    def _closing_frame(self, link: Link) -> Frame:
        to = link.row.to or Transform()
        symbolic = transform(self._numbers, to, self._scope, (*link.path, "to"))
        return symbolic.inverse().frame(self._numbers)

    def cut(self) -> tuple[str, ...]:
        """Return the joints that close loops."""
        return tuple(name for name, link in self.joints.items() if link.row.closes is not None)


def body_name(row: DenavitHartenbergRow) -> str:
    """Return the name of the body of a row."""
    return row.body or f"link_{row.link}"


def joint_name(row: DenavitHartenbergRow, index: int) -> str:
    """Return the name of the joint of a row; `index` counts rows from zero."""
    return row.joint or f"q{row.link if row.link is not None else index + 1}"


def entries(rows: list[DenavitHartenbergRow], scope: Scope) -> tuple[list[Entry], list[Entry]]:
    """Return the entries for bodies (specs to be filled in) and for joints."""
    bodies, joints = [], []
    numbers = {0}
    for i, row in enumerate(rows):
        path: Key = ("denavit_hartenberg", i)
        if row.link in numbers:
            raise ModelError(
                f"there is a link {row.link} already",
                path=(*path, "link"),
                remedy="number the links 1, 2, 3, … (0 is the ground)",
            )
        if row.link is not None:
            numbers.add(row.link)
        if row.closes is None:
            if row.link is None and row.body is None:
                raise ModelError("the row has no link", path=path, remedy="give link or closes")
            bodies.append(Entry(body_name(row), row, scope, path))
            if row.to is not None:
                raise ModelError(
                    "to belongs to a row with closes", path=(*path, "to"), remedy="remove it"
                )
        elif row.link is not None or row.body is not None:
            raise ModelError(
                "a row that closes a loop adds no link", path=path, remedy="remove link and body"
            )
        joints.append(Entry(joint_name(row, i), row, scope, path))
    return bodies, joints
