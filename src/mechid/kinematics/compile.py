"""From a mechanism and its spanning tree to the flat tables of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from mechid.errors import ModelError
from mechid.kinematics.couplings import coupling_constant, coupling_scale
from mechid.kinematics.kernels.jit import is_interpreted
from mechid.kinematics.passive import PassivePart
from mechid.kinematics.tables import (
    BALL,
    COLUMN,
    COUPLING,
    DIRECT,
    DISTANCE,
    DOT,
    LINK,
    PATH,
    PLANE,
    POINT,
    ROW,
    SCREW,
    SCREW_ROW,
    Floats,
    Records,
    Tables,
)
from mechid.kinematics.tree import SpanningTree, TreeJoint
from mechid.mechanism.records import (
    GROUND,
    Coupling,
    DistanceConstraint,
    DistanceCoordinate,
    Frame,
    Joint,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
)
from mechid.mechanism.size import characteristic_size
from mechid.tape.plain import plain_tables


@dataclass(frozen=True)
class Rigid:
    """A fixed transform: rotation and translation of one frame in another."""

    rotation: Floats
    translation: Floats

    def __matmul__(self, other: Rigid) -> Rigid:
        """Chain two transforms: first this frame, then the other in it."""
        return Rigid(
            self.rotation @ other.rotation, self.translation + self.rotation @ other.translation
        )

    @property
    def inverse(self) -> Rigid:
        """The transform the other way."""
        return Rigid(self.rotation.T, -self.rotation.T @ self.translation)

    @staticmethod
    def of(frame: Frame) -> Rigid:
        """The transform of a frame record."""
        return Rigid(np.array(frame.rotation), np.array(frame.origin))


STILL = Rigid(np.eye(3), np.zeros(3))
# Turns that bring the z axis, about which links move, to x or y.
Z_TO = {
    0: Rigid(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.zeros(3)),
    1: Rigid(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.zeros(3)),
    2: STILL,
}


@dataclass(frozen=True)
class Step:
    """One link of a joint: motion along or about one axis of the joint frame, or a ball."""

    axis: int
    turn: float
    shift: float
    coordinate: int
    ball: bool = False


def joint_steps(joint: Joint, angles: bool) -> list[Step]:
    """Return the links of a joint, from a to b; `angles` writes orientations as roll-pitch-yaw."""
    links: list[Step] = []
    for index, step in joint.kind.numbered:
        match step.motion:
            case "turn":
                links.append(Step(step.axis, 1.0, 0.0, index))
            case "slide":
                links.append(Step(step.axis, 0.0, 1.0, index))
            case "screw":
                links.append(Step(step.axis, 1.0, joint.pitch / (2 * np.pi), index))
            case "ball" if angles:
                # Fixed-axes reading: R = Rz(yaw) Ry(pitch) Rx(roll), from the outside in.
                links += [Step(k, 1.0, 0.0, index + k) for k in (2, 1, 0)]
            case "ball":
                links.append(Step(step.axis, 1.0, 0.0, index, ball=True))
    return links


@dataclass(frozen=True)
class TreeCoordinate:
    """Where a coordinate of a tree joint lives among the tree coordinates."""

    q: int
    v: int
    ball: bool


@dataclass(frozen=True)
class Compiled:
    """Tables, and the way back from links and coordinates to bodies and joints."""

    tables: Tables
    size: float
    n_q: int
    n_v: int
    body_link: dict[str, tuple[int, Rigid]]
    coordinate: dict[tuple[str, int], TreeCoordinate]
    angles: frozenset[str]
    row_names: tuple[str, ...]

    @cached_property
    def for_kernels(self) -> Tables:
        """The tables as kernels are given them."""
        return for_kernels(self.tables)


TablesT = TypeVar("TablesT", bound=tuple[Any, ...])


def for_kernels(tables: TablesT) -> TablesT:
    """Return tables as they are, or as plain objects for interpreted kernels."""
    return plain_tables(tables) if is_interpreted() else tables


@dataclass(frozen=True)
class Row:
    """One scalar equation, before it becomes an entry of the tables (see `tables.ROW`)."""

    name: str
    kind: int
    markers: tuple[int, int]
    directions: tuple[int, ...]  # direction_a, direction_b, x_a, y_a, x_b
    vector: Floats
    driver: int
    scale: float
    pitch: float
    constant: float = 0.0
    terms: tuple[tuple[int, float], ...] = ()  # COUPLING: columns and factors


@dataclass
class _Builder:
    """Collects the arrays; only `compile_tables` uses it."""

    size: float
    links: list[tuple[int, int, Rigid, float, float, int, int]] = field(default_factory=list)
    columns: list[tuple[int, float, float, float]] = field(default_factory=list)
    body_link: dict[str, tuple[int, Rigid]] = field(default_factory=dict)
    coordinate: dict[tuple[str, int], TreeCoordinate] = field(default_factory=dict)
    markers: list[tuple[int, Floats]] = field(default_factory=list)
    directions: list[tuple[int, Floats]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    n_q: int = 0
    n_v: int = 0

    def add_joint(self, step: TreeJoint, angles: bool) -> None:
        joint = step.joint
        here, fixed = self.body_link[step.parent]
        frame_a, frame_b = Rigid.of(joint.frame_a), Rigid.of(joint.frame_b)
        start, end = (frame_b, frame_a) if step.reverse else (frame_a, frame_b)
        fixed = fixed @ start
        steps = joint_steps(joint, angles)
        sign = 1.0
        if step.reverse:  # the inverse motion: the links backwards, each the other way
            steps, sign = steps[::-1], -1.0
        for part in steps:
            swing = Z_TO[part.axis]
            kind, n_q, n_v = (BALL, 4, 3) if part.ball else (SCREW, 1, 1)
            pre = fixed @ (STILL if part.ball else swing)
            self.links.append(
                (here, kind, pre, sign * part.turn, sign * part.shift, self.n_q, self.n_v)
            )
            here = len(self.links)
            turn, shift = (1.0, 0.0) if part.ball else (sign * part.turn, sign * part.shift)
            self.columns += [(here, turn, shift, 1.0 if part.turn else self.size)] * n_v
            self.coordinate[joint.name, part.coordinate] = TreeCoordinate(
                self.n_q, self.n_v, part.ball
            )
            self.n_q += n_q
            self.n_v += n_v
            fixed = STILL if part.ball else swing.inverse
        self.body_link[step.child] = (here, fixed @ end.inverse)

    def marker(self, body: str, local: Floats) -> int:
        link, fixed = self.body_link[body]
        self.markers.append((link, fixed.translation + fixed.rotation @ local))
        return len(self.markers) - 1

    def direction(self, body: str, local: Floats) -> int:
        link, fixed = self.body_link[body]
        self.directions.append((link, fixed.rotation @ local))
        return len(self.directions) - 1

    def row(
        self,
        name: str,
        kind: int,
        markers: tuple[int, int] = (0, 0),
        directions: tuple[int, ...] = (0,),
        *,
        vector: Floats | None = None,
        driver: int = -1,
        pitch: float = 1.0,
        constant: float = 0.0,
    ) -> None:
        scale = 1.0 if kind == DOT else 1.0 / self.size
        five = (*directions, 0, 0, 0, 0)[:5]
        v = np.zeros(3) if vector is None else vector
        self.rows.append(Row(name, kind, markers, five, v, driver, scale, pitch, constant))

    def couple(self, mechanism: Mechanism, coupling: Coupling) -> None:
        """Add the row of a coupling; its joints must be in the tree."""
        scale = coupling_scale(mechanism, coupling, self.size)
        for name, index, _ in coupling.terms:
            if (name, index) not in self.coordinate:
                raise ModelError(
                    f"joint {name} would have to be cut: coupled joints fill a whole loop",
                    path=("constraints", coupling.name),
                    remedy="express the coupling by coordinates of other joints of the loop",
                )
        terms = tuple((self.coordinate[name, k].v, f) for name, k, f in coupling.terms)
        constant = coupling_constant(mechanism, coupling)
        name = f"coupling {coupling.name}"
        none = (np.zeros(3), -1)
        self.rows.append(Row(name, COUPLING, (0, 0), (0,) * 5, *none, scale, 1.0, constant, terms))

    def close(self, joint: Joint) -> None:
        """Add the closure rows of a cut joint."""
        name = f"joint {joint.name}"
        a, b = Rigid.of(joint.frame_a), Rigid.of(joint.frame_b)
        kind = joint.kind
        if kind.holds_nothing:
            return
        pair = (self.marker(joint.body_a, a.translation), self.marker(joint.body_b, b.translation))
        on_a = [self.direction(joint.body_a, a.rotation[:, k]) for k in range(3)]
        on_b = [self.direction(joint.body_b, b.rotation[:, k]) for k in range(3)]
        if kind.holds_point:
            for k, axis in enumerate("xyz"):
                self.row(f"{name}: along ground {axis}", POINT, pair, vector=np.eye(3)[k])
        else:
            for k in kind.held_axes:
                words = "out of plane" if kind.normal == k else f"across, {'xyz'[k]}"
                self.row(f"{name}: {words}", PLANE, pair, (on_a[k],))
        for i, j in kind.held_pairs:
            words = f"{name}: {'xyz'[i]} of a normal to {'xyz'[j]} of b"
            self.row(words, DOT, directions=(on_a[i], on_b[j]))
        if kind.thread:
            self.row(
                f"{name}: thread",
                SCREW_ROW,
                pair,
                (on_a[2], 0, on_a[0], on_a[1], on_b[0]),
                pitch=joint.pitch / (2 * np.pi),
            )

    def paths(self) -> tuple[list[int], list[tuple[int, int, float]]]:
        """Columns on the way between the two sides of each row, without what carries both."""
        start: list[int] = [0]
        path: list[tuple[int, int, float]] = []
        for row in self.rows:
            path += [(column, 1, factor) for column, factor in row.terms]
            if row.kind == DOT:
                ends = [self.directions[d][0] for d in row.directions[:2]]
            else:
                ends = [self.markers[m][0] for m in row.markers]
            chains = [self._ancestors(link) for link in ends]
            for side in (0, 1):
                for link in chains[side]:
                    if link not in chains[1 - side]:
                        first = self.links[link - 1][6]
                        n = 3 if self.links[link - 1][1] == BALL else 1
                        path += [(first + k, side, 0.0) for k in range(n)]
            start.append(len(path))
        return start, path

    def _ancestors(self, link: int) -> list[int]:
        chain = []
        while link:
            chain.append(link)
            link = self.links[link - 1][0]
        return chain

    def depth(self, body: str) -> int:
        return len(self._ancestors(self.body_link[body][0]))


def compile_tables(
    mechanism: Mechanism, tree: SpanningTree, passive: tuple[PassivePart, ...]
) -> Compiled:
    """Build the tables of a mechanism for a given spanning tree.

    `passive` are the parts that can spin between spherical joints; a gauge row each holds them as
    a universal joint in place of one of the balls would.
    """
    size = characteristic_size(mechanism)
    builder = _Builder(size)
    builder.body_link[GROUND] = (0, STILL)
    angles = frozenset(
        c.joint
        for c in mechanism.coordinates
        if isinstance(c, JointCoordinate) and _is_orientation(mechanism, c)
    )
    for step in tree.joints:
        builder.add_joint(step, step.joint.name in angles)
    origin = np.zeros(3)
    builder.marker(GROUND, origin)  # row entries that mean "none" point here
    builder.direction(GROUND, np.array([1.0, 0.0, 0.0]))
    for joint in tree.cut:
        builder.close(joint)
    for constraint in mechanism.constraints:
        if isinstance(constraint, Coupling):
            builder.couple(mechanism, constraint)
        else:
            _distance_row(mechanism, builder, constraint)
    for part in passive:
        a = builder.direction(part.outside, np.array(part.direction_outside))
        b = builder.direction(part.inside, np.array(part.direction_inside))
        builder.row(f"spin of {'+'.join(part.bodies)}", DOT, directions=(a, b))
    direct: list[tuple[int, int, int]] = []
    for i, c in enumerate(mechanism.coordinates):
        if isinstance(c, JointCoordinate):
            place = builder.coordinate.get((c.joint, c.index))
            if place is None:
                raise ModelError(
                    f"joint {c.joint} would have to be cut, but carries an independent coordinate",
                    path=("coordinates", c.name),
                    remedy="choose independent coordinates that do not fill a whole loop",
                )
            direct.append((place.q, place.v, i))
        elif isinstance(c, PointCoordinate):
            point = _nearest(mechanism, builder, c.point)
            pair = (0, builder.marker(point.body, np.array(point.local)))
            vector = np.array(c.direction)
            builder.row(f"coordinate {c.name}", POINT, pair, vector=vector, driver=i)
        else:
            _distance_row(mechanism, builder, c, i)
    return _finish(builder, direct, angles)


def _distance_row(
    mechanism: Mechanism,
    builder: _Builder,
    c: DistanceCoordinate | DistanceConstraint,
    driver: int = -1,
) -> None:
    a, b = (_nearest(mechanism, builder, p) for p in (c.point_a, c.point_b))
    pair = (builder.marker(a.body, np.array(a.local)), builder.marker(b.body, np.array(b.local)))
    if isinstance(c, DistanceConstraint):
        builder.row(f"distance {c.name}", DISTANCE, pair, constant=c.length)
    else:
        builder.row(f"coordinate {c.name}", DISTANCE, pair, driver=driver)


def _is_orientation(mechanism: Mechanism, c: JointCoordinate) -> bool:
    return c.index >= mechanism.joint(c.joint).kind.n_scalars


def _nearest(mechanism: Mechanism, builder: _Builder, point: Point) -> Point:
    """Return the same point as fixed in the neighbour with the shortest chain to the ground.

    The bodies of a joint that holds a point share it; fewer columns then move the row, and the
    blocks get smaller.
    """
    best = point
    for joint in mechanism.joints:
        if not joint.kind.holds_point:
            continue
        sides = ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
        for (body, frame), (other, twin) in (sides, sides[::-1]):
            if body == point.body and frame.origin == point.local:
                candidate = Point(point.name, other, twin.origin)
                if builder.depth(other) < builder.depth(best.body):
                    best = candidate
    return best


def _finish(
    builder: _Builder, direct: list[tuple[int, int, int]], angles: frozenset[str]
) -> Compiled:
    start, path = builder.paths()
    details = _details(builder, start, path)
    links = [(0, SCREW, STILL, 0.0, 0.0, 0, 0), *builder.links]
    rows = builder.rows
    tables = Tables(
        links=_records(LINK, [(p, k, *rest) for p, k, _, *rest in links]),
        link_rotation=_floats([k[2].rotation for k in links], (3, 3)),
        link_translation=_floats([k[2].translation for k in links], (3,)),
        columns=_records(COLUMN, [(*c, d) for c, d in zip(builder.columns, details, strict=True)]),
        marker_link=np.array([m[0] for m in builder.markers], dtype=np.int64),
        marker_local=_floats([m[1] for m in builder.markers], (3,)),
        direction_link=np.array([d[0] for d in builder.directions], dtype=np.int64),
        direction_local=_floats([d[1] for d in builder.directions], (3,)),
        rows=_records(
            ROW,
            [
                (
                    r.kind,
                    *r.markers,
                    *r.directions,
                    *(r.driver, r.scale, r.pitch, r.constant),
                    *span,
                )
                for r, *span in zip(rows, start[:-1], start[1:], strict=True)
            ],
        ),
        row_vector=_floats([r.vector for r in rows], (3,)),
        path=_records(PATH, path),
        direct=_records(DIRECT, direct),
    )
    return Compiled(
        tables,
        builder.size,
        builder.n_q,
        builder.n_v,
        builder.body_link,
        builder.coordinate,
        angles,
        tuple(r.name for r in rows),
    )


def _details(
    builder: _Builder, start: list[int], path: list[tuple[int, int, float]]
) -> list[float]:
    """Return for each column the part of its scale over which the equations may bend.

    A cut thread fits again after a turn, wherever it stands: steps must be small against its pitch.
    """
    details = [1.0] * builder.n_v
    for i, row in enumerate(builder.rows):
        if row.kind == SCREW_ROW:
            for column, _, _ in path[start[i] : start[i + 1]]:
                details[column] = min(details[column], abs(row.pitch) / builder.size)
    return details


def _floats(values: Sequence[Floats], shape: tuple[int, ...]) -> Floats:
    return np.array(values, dtype=float).reshape(len(values), *shape)


def _records(dtype: np.dtype[np.void], rows: Sequence[tuple[object, ...]]) -> Records:
    table = np.zeros(len(rows), dtype=dtype).view(np.recarray)
    for i, row in enumerate(rows):
        for name, value in zip(dtype.names or (), row, strict=True):
            table[name][i] = value
    return table
