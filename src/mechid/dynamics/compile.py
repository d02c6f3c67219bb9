"""From the records of a mechanism to the tables of the dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.dynamics.columns import Column, ElementTerm, element_terms, inertial_columns
from mechid.dynamics.tables import (
    COORDINATE,
    DOT,
    ELEMENT,
    LENGTH,
    MEASURE,
    PUSH,
    SLIDE,
    SPIN,
    SUM,
    TERM,
    TURN,
    TURNS,
    DynamicTables,
    MeasureTables,
)
from mechid.errors import ModelError
from mechid.kinematics.assembly import link_poses
from mechid.kinematics.compile import Rigid
from mechid.kinematics.kernels.jit import kept_models
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.model import with_geometry as of_geometry
from mechid.kinematics.order import link_drivers
from mechid.kinematics.reference_point.constraints import body_numbers
from mechid.kinematics.tables import BALL, Floats, Records, Tables
from mechid.mechanism.element_laws import Measure
from mechid.mechanism.records import GROUND, Joint, Mechanism, Point

if TYPE_CHECKING:
    from mechid.dynamics.forward.code import ForwardCode
    from mechid.kinematics.engine.batch import BatchCode
    from mechid.kinematics.engine.path import PathCode

COINCIDE = 1e-9  # times the size of the mechanism: the assembled pose is closed to less
PARALLEL = 1e-12  # cosine of the angle between axes, off one by this: rounding


@dataclass(frozen=True)
class DynamicModel:
    """Kinematic model, dynamic tables, and the columns of the observation matrix."""

    kinematics: KinematicModel
    tables: DynamicTables
    columns: tuple[Column, ...]
    terms: tuple[ElementTerm, ...]

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.kinematics.mechanism

    @cached_property
    def path_code(self) -> PathCode | None:
        """Generated code for W along paths; None if the kernels cannot be recorded."""
        from mechid.dynamics.observation_code import observation_code

        return observation_code(self)

    @cached_property
    def state_code(self) -> BatchCode | None:
        """Generated code for W of closed poses; None if the kernels cannot be recorded."""
        from mechid.dynamics.observation_code import state_code

        return state_code(self)

    @cached_property
    def forward_code(self) -> ForwardCode | None:
        """Generated code for the equations of motion; None if they cannot be recorded."""
        from mechid.dynamics.forward.code import forward_code

        return forward_code(self)

    @cached_property
    def gradient_code(self) -> BatchCode | None:
        """Generated code for gradients of W; None if the kernels cannot be recorded."""
        from mechid.dynamics.observation_code import gradient_code

        return gradient_code(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs; it generates its code itself."""
        made = ("path_code", "state_code", "gradient_code", "forward_code")
        return {k: v for k, v in self.__dict__.items() if k not in made}


@dataclass
class MeasureBuilder:
    """Collects markers, directions and measures."""

    model: KinematicModel
    markers: list[tuple[int, Floats]] = field(default_factory=list)
    directions: list[tuple[int, Floats]] = field(default_factory=list)
    measures: list[dict[str, Any]] = field(default_factory=list)
    terms: list[tuple[int, float]] = field(default_factory=list)
    known: dict[Measure, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the marker and the direction that entries which mean "none" point to."""
        self.numbers = body_numbers(self.model.mechanism)
        self.marker(GROUND, (0.0, 0.0, 0.0))
        self.direction(GROUND, (1.0, 0.0, 0.0))

    def tables(self) -> MeasureTables:
        """Return what was collected."""
        return MeasureTables(
            marker_link=np.array([k for k, _ in self.markers], dtype=np.int64),
            marker_local=np.array([x for _, x in self.markers]),
            direction_link=np.array([k for k, _ in self.directions], dtype=np.int64),
            direction_local=np.array([x for _, x in self.directions]),
            measures=_measures(self.measures),
            terms=_rows(TERM, self.terms),
        )

    def marker(self, body: str, local: object) -> int:
        """Place a point of a body."""
        link, fixed = self.model.compiled.body_link[body]
        self.markers.append((link, fixed.translation + fixed.rotation @ np.array(local)))
        return len(self.markers) - 1

    def direction(self, body: str, local: object) -> int:
        """Place a direction of a body."""
        link, fixed = self.model.compiled.body_link[body]
        self.directions.append((link, fixed.rotation @ np.array(local)))
        return len(self.directions) - 1

    def measure(self, key: Measure) -> int:
        """Return the number of a measure, a new one if it was not met before."""
        if key not in self.known:
            match key:
                case ("length", Point() as a, Point() as b):
                    entry = self.apart(LENGTH, a, b)
                case ("joint", str(name), int(index)):
                    entry = self.joint(name, index)
                case ("slide", str(name), int(k)):
                    entry = self.slide(self.model.mechanism.joint(name), k)
                case ("dot", str(name), int(i), int(j)):
                    entry = self.dot(self.model.mechanism.joint(name), i, j)
                case ("force", Point() as point, vector, str(axes_of)):
                    entry = self.load(PUSH, point.body, point.local, vector, axes_of)
                case ("moment", str(body), vector, str(axes_of)):
                    entry = self.load(SPIN, body, (0.0, 0.0, 0.0), vector, axes_of)
                case ("sum", *parts):
                    entry = self.sum(parts)
                case _:
                    raise AssertionError(key)
            self.measures.append(entry)
            self.known[key] = len(self.measures) - 1
        return self.known[key]

    def apart(self, kind: int, a: Point, b: Point) -> dict[str, int]:
        """Measure the vector from a to b: its length, or its part along an axis."""
        return {
            "kind": kind,
            "marker_a": self.marker(a.body, a.local),
            "marker_b": self.marker(b.body, b.local),
            **self.between(a.body, b.body),
        }

    def between(self, a: str, b: str) -> dict[str, int]:
        """Say which bodies the force on a measure pushes apart."""
        return {"body_a": self.numbers[a], "body_b": self.numbers[b]}

    def sum(self, parts: list[tuple[Measure, float]]) -> dict[str, int]:
        """Measure a sum of other measures."""
        rows = [(self.measure(key), float(factor)) for key, factor in parts if factor]
        start = len(self.terms)
        self.terms += rows
        return {"kind": SUM, "start": start, "end": len(self.terms)}

    def joint(self, name: str, index: int) -> dict[str, Any]:
        """Measure a joint coordinate: a tree coordinate, or relative motion of a cut joint."""
        place = self.model.compiled.coordinate.get((name, index))
        if place is not None and not place.ball:
            return {"kind": COORDINATE, "q": place.q, "v": place.v}
        joint = self.model.mechanism.joint(name)
        a, b = Rigid.of(joint.frame_a).rotation, Rigid.of(joint.frame_b).rotation
        on_a = [self.direction(joint.body_a, a[:, k]) for k in range(3)]
        on_b = [self.direction(joint.body_b, b[:, k]) for k in range(3)]
        links = [self.model.compiled.body_link[x][0] for x in (joint.body_a, joint.body_b)]
        turn = {"kind": TURN, "link_a": links[0], "link_b": links[1]}
        turn |= self.between(joint.body_a, joint.body_b)
        about_z = turn | {"axis": on_a[2], "x_a": on_a[0], "y_a": on_a[1], "x_b": on_b[0]}
        step = joint.kind.step(index)
        if step.motion == "slide":
            return self.slide(joint, step.axis)
        if step.motion != "ball" and step.on == 1:
            # about x of b: the angle of z_a in the plane of y_b, z_b
            return turn | {"axis": on_b[0], "x_a": on_b[2], "y_a": on_b[1], "x_b": on_a[2]}
        if step.motion == "screw" and joint.pitch:
            return self.threaded(about_z, joint)
        if step.motion != "ball":
            others = self.around(links[0], links[1], on_a[2]) if joint.kind.aligned else None
            return about_z if others is None else self.turns(about_z, others)
        raise ModelError(
            f"joint {name} has no single coordinate number {index} that a force can act on",
            path=("elements",),
            remedy="attach the element to a coordinate of a joint of another kind, or use a "
            "two-point spring-damper",
        )

    def around(self, a: int, b: int, axis: int) -> list[tuple[int, float]] | None:
        """Return the columns that turn link b against link a, with their senses about an axis.

        None if some of them turn about another axis: only parallel ones stay so, and add up.
        """
        t = self.model.tables
        poses = link_poses(self.model.compiled, self.model.home_q)
        link, local = self.directions[axis]
        normal = poses[link].rotation @ local
        chains = [_carriers(t, a), _carriers(t, b)]
        found = []
        for chain, other, sign in ((chains[1], chains[0], 1.0), (chains[0], chains[1], -1.0)):
            for k in chain:
                if k in other or not t.links.turn[k]:
                    continue
                sense = float(poses[k].rotation[:, 2] @ normal)
                if t.links.kind[k] == BALL or abs(abs(sense) - 1) > PARALLEL:
                    return None
                found.append((int(t.links.v[k]), sign * np.sign(sense) * float(t.links.turn[k])))
        return found

    def turns(self, angle: dict[str, int], others: list[tuple[int, float]]) -> dict[str, Any]:
        """Measure an angle that counts its turns: a sum of tree coordinates, as at home."""
        poses = link_poses(self.model.compiled, self.model.home_q)
        x_a, y_a, x_b = (
            poses[self.directions[angle[name]][0]].rotation @ self.directions[angle[name]][1]
            for name in ("x_a", "y_a", "x_b")
        )
        constant = float(np.arctan2(y_a @ x_b, x_a @ x_b))
        coordinate = {
            int(self.model.tables.links.v[k]): int(self.model.tables.links.q[k])
            for k in range(1, self.model.tables.links.size)
        }
        start = len(self.terms)
        for column, factor in others:
            self.measures.append({"kind": COORDINATE, "q": coordinate[column], "v": column})
            self.terms.append((len(self.measures) - 1, factor))
            constant -= factor * float(self.model.home_q[coordinate[column]])
        # It acts at its joint, as any angle; only its value comes from the sum.
        return angle | {
            "kind": TURNS,
            "start": start,
            "end": len(self.terms),
            "constant": constant,
        }

    def threaded(self, angle: dict[str, int], joint: Joint) -> dict[str, Any]:
        """Measure the angle of a thread by its displacement, which counts its turns."""
        row = self.measure(("slide", joint.name, 2)), 2 * np.pi / joint.pitch
        self.terms.append(row)
        n = len(self.terms)
        return angle | {"kind": TURNS, "start": n - 1, "end": n, "constant": 0.0}

    def slide(self, joint: Joint, k: int) -> dict[str, Any]:
        """Measure the displacement of a joint's frame b along axis k of its frame a."""
        axis = self.direction(joint.body_a, Rigid.of(joint.frame_a).rotation[:, k])
        ends = (
            Point(joint.name, joint.body_a, joint.frame_a.origin),
            Point(joint.name, joint.body_b, joint.frame_b.origin),
        )
        return self.apart(SLIDE, *ends) | {"axis": axis}

    def dot(self, joint: Joint, i: int, j: int) -> dict[str, Any]:
        """Measure the product of axis i of a joint's frame a and axis j of its frame b."""
        return {
            "kind": DOT,
            "link_a": self.model.compiled.body_link[joint.body_a][0],
            "link_b": self.model.compiled.body_link[joint.body_b][0],
            "x_a": self.direction(joint.body_a, Rigid.of(joint.frame_a).rotation[:, i]),
            "x_b": self.direction(joint.body_b, Rigid.of(joint.frame_b).rotation[:, j]),
            **self.between(joint.body_a, joint.body_b),
        }

    def load(
        self, kind: int, body: str, local: object, vector: object, axes_of: str
    ) -> dict[str, Any]:
        """Measure the motion of a body's point along a vector, or of the body about it."""
        return {
            "kind": kind,
            "link_b": self.model.compiled.body_link[body][0],
            "marker_b": self.marker(body, local),
            "axis": self.direction(axes_of, vector),
            "body_b": self.numbers[body],
        }


@kept_models
def dynamic_model(mechanism: Mechanism) -> DynamicModel:
    """Compile the dynamics of a mechanism (its kinematics too, if that was not done yet)."""
    return _compiled(kinematic_model(mechanism))


def with_geometry(model: DynamicModel, mechanism: Mechanism) -> DynamicModel:
    """Return the model of a mechanism that differs from that of another in the places of joints, by
    little and closed in the same reference pose."""
    return _compiled(of_geometry(model.kinematics, mechanism))


def _compiled(model: KinematicModel) -> DynamicModel:
    mechanism = model.mechanism
    builder = MeasureBuilder(model)
    terms = element_terms(mechanism)
    rows = [
        (builder.measure(x.measure), x.order, x.law, *x.shape, float(x.column.value or 0.0))
        for x in terms
    ]
    _check_lengths(builder, terms)
    reach = link_drivers(model.tables, model.order)
    fixed = [model.compiled.body_link[body.name] for body in mechanism.bodies]
    tables = DynamicTables(
        body_link=np.array([k for k, _ in fixed], dtype=np.int64),
        body_rotation=np.array([x.rotation for _, x in fixed]).reshape(-1, 3, 3),
        body_origin=np.array([x.translation for _, x in fixed]).reshape(-1, 3),
        reach_start=np.array([0, *np.cumsum([len(r) for r in reach])], dtype=np.int64),
        reach=np.array([y for part in reach for y in part], dtype=np.int64),
        **builder.tables()._asdict(),
        columns=_rows(ELEMENT, [r for r, x in zip(rows, terms, strict=True) if not x.known]),
        known=_rows(ELEMENT, [r for r, x in zip(rows, terms, strict=True) if x.known]),
        gravity=np.array(mechanism.gravity),
    )
    columns = (*inertial_columns(mechanism), *(x.column for x in terms if not x.known))
    return DynamicModel(model, tables, columns, tuple(terms))


def _check_lengths(builder: MeasureBuilder, terms: list[ElementTerm]) -> None:
    """Reject a line between two points that coincide: it has no direction."""
    poses = link_poses(builder.model.compiled, builder.model.home_q)
    for term in terms:
        if term.measure[0] != "length":
            continue
        entry = builder.measures[builder.known[term.measure]]
        ends = [builder.markers[entry[key]] for key in ("marker_a", "marker_b")]
        a, b = (poses[k].translation + poses[k].rotation @ local for k, local in ends)
        if np.linalg.norm(b - a) <= COINCIDE * builder.model.size:
            p, q = term.measure[1:]
            raise ModelError(
                f"{p.body}.{p.name} and {q.body}.{q.name} coincide in the assembled pose, so that "
                "the line between them has no direction",
                path=("elements", term.column.owner),
                remedy="move one of them, or use a bushing on a joint between the two bodies",
            )


def _carriers(t: Tables, link: int) -> list[int]:
    chain = []
    while link:
        chain.append(link)
        link = int(t.links.parent[link])
    return chain


def _rows(dtype: np.dtype[np.void], rows: Sequence[tuple[int | float, ...]]) -> Records:
    return np.array(list(rows), dtype=dtype).view(np.recarray)


def _measures(entries: list[dict[str, Any]]) -> Records:
    table = np.zeros(len(entries), dtype=MEASURE).view(np.recarray)
    for i, entry in enumerate(entries):
        for name, value in entry.items():
            table[name][i] = value
    return table
