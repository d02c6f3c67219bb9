"""A mechanism written back as a document, resolved: every frame and point spelled out.

A mechanism made by any route (mirrored, from a variant, from a table) can be saved this way, and
what is loaded again is equal to it, digit by digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.element_kinds import UNIT, ElementKind
from mechid.mechanism.element_terms import element_kind
from mechid.mechanism.records import (
    IDENTITY,
    Body,
    Coefficient,
    Constraint,
    Coupling,
    DistanceCoordinate,
    Expr3,
    ForceElement,
    Frame,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    Mechanism,
    NamedBaseSet,
    Parameter,
    Part,
    Point,
    PointCoordinate,
    Shape,
    Value,
    Vec3,
)
from mechid.modelfile.document import FORMAT_VERSION
from mechid.spatial import inertia
from mechid.textfile import expressions

_SIX = ("xx", "xy", "xz", "yy", "yz", "zz")


class _Writer:
    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._values = {p.name: p.value for p in mechanism.parameters}

    def document(self) -> dict[str, Any]:
        m = self._mechanism
        data: dict[str, Any] = {"mechid": FORMAT_VERSION, "name": m.name}
        data |= {key: value for key in ("title", "source") if (value := getattr(m, key))}
        data["gravity"] = list(m.gravity)
        sections: dict[str, dict[str, Any]] = {
            "parameters": {p.name: self._parameter(p) for p in m.parameters},
            "points": self._points(),
            "bodies": {b.name: self._body(b) for b in m.bodies},
            "joints": {j.name: self._joint(j) for j in m.joints},
            "constraints": {c.name: self._constraint(c) for c in m.constraints},
            "elements": {e.name: self._element(e) for e in m.elements},
            "coordinates": {c.name: self._coordinate(c) for c in m.coordinates},
        }
        data |= {key: section for key, section in sections.items() if section}
        if m.cut is not None:
            data["cut"] = list(m.cut)
        start = {k: dict(v) for k in ("positions", "speeds") if (v := getattr(m.start, k))}
        if start:
            data["start"] = start
        if m.base_sets:
            data["base_sets"] = {s.name: _base_set(s) for s in m.base_sets}
        return data

    # ------------------------------------------------------------------ numbers

    def _fits(self, value: float, text: str) -> bool:
        """Return whether reading the expression gives back this text and this value."""
        try:
            tree = expressions.parse(text)
            known = expressions.names(tree) <= self._values.keys()
            return (
                known
                and expressions.text_of(tree) == text
                and expressions.evaluate(tree, self._values) == value
            )
        except ValueError:
            return False

    def _vector(self, value: Vec3, expr: Expr3 | None) -> Any:
        if expr is None:
            return {"rounded": list(value)}
        if all(self._fits(v, t) for v, t in zip(value, expr, strict=True)):
            return [_scalar(text) for text in expr]
        return {"rounded": list(value), "expr": list(expr)}

    def _frame(self, frame: Frame) -> dict[str, Any]:
        data = {"origin": self._vector(frame.origin, frame.origin_expr)}
        if frame.rotation == IDENTITY.rotation and frame.rotation_expr is None:
            return data
        rows = [list(row) for row in frame.rotation]
        if frame.rotation_expr is None:
            return {**data, "rotation": rows}
        texts = [list(row) for row in frame.rotation_expr]
        fits = all(
            self._fits(v, t)
            for row, text in zip(rows, texts, strict=True)
            for v, t in zip(row, text, strict=True)
        )
        return {**data, "rotation": texts if fits else {"rounded": rows, "expr": texts}}

    def _parameter(self, p: Parameter) -> Any:
        value: float | str = p.value
        if p.expr is not None:
            if not self._fits(p.value, p.expr):
                raise ModelError(
                    f"the value {p.value!r} is not that of its expression {p.expr}",
                    path=("parameters", p.name),
                    remedy="change both, or set expr to None",
                )
            value = p.expr
        about = {key: text for key in ("unit", "source") if (text := getattr(p, key))}
        return {"value": value, **about} if about else value

    # ------------------------------------------------------------------ entries

    def _points(self) -> dict[str, Any]:
        every: dict[str, dict[str, Any]] = {}
        for point in (*self._mechanism.points, *self._used_points()):
            entry = every.setdefault(point.name, {"on": {}} | _source(point))
            entry["on"][point.body] = self._vector(point.local, point.expr)
        return every

    def _used_points(self) -> list[Point]:
        used = [point for e in self._mechanism.elements for point in e.points]
        others = (*self._mechanism.coordinates, *self._mechanism.constraints)
        values = [value for c in others for value in vars(c).values()]
        return used + [value for value in values if isinstance(value, Point)]

    def _body(self, body: Body) -> dict[str, Any]:
        data: dict[str, Any] = {"frame": self._frame(body.frame)}
        if (cad := body.inertia) is not None:
            data["mass"] = cad.mass
            data["center"] = list(cad.center)
            data["inertia"] = dict(zip(_SIX, cad.inertia_center, strict=True))
            if inertia.inconsistency(cad.mass, np.array(cad.inertia_center)):
                data["inertia"]["allow_nonphysical"] = True
            spread = {
                "mass": cad.sigma_mass,
                "center": list(cad.sigma_center),
                "inertia": dict(zip(_SIX, cad.sigma_inertia, strict=True)),
            }
            for key in cad.undeclared:
                del spread[key]
            if spread:
                data["uncertainty"] = spread
        if body.massless:
            data["massless"] = True
        if body.color is not None:
            data["color"] = body.color
        if body.shapes:
            data["shapes"] = [_shape(shape) for shape in body.shapes]
        return data | _source(body)

    def _joint(self, joint: Joint) -> dict[str, Any]:
        data: dict[str, Any] = {
            "type": joint.type,
            "between": [joint.body_a, joint.body_b],
            "frames": [self._frame(joint.frame_a), self._frame(joint.frame_b)],
        }
        if joint.kind.thread:
            data["pitch"] = joint.pitch
        if joint.limits:
            limits = [[limit.lower, limit.upper] for limit in joint.limits]
            data["limits"] = limits[0] if len(limits) == 1 else limits
        return data | ({"hidden": True} if joint.hidden else {}) | _source(joint)

    def _word(self, joint: str, index: int) -> str:
        names = self._mechanism.joint(joint).kind.choices
        return joint if len(names) == 1 else f"{joint}.{names[index]}"

    def _coordinate(self, c: IndependentCoordinate) -> dict[str, Any]:
        held = {"held": True} if c.held else {}
        match c:
            case JointCoordinate():
                data: dict[str, Any] = {"joint": self._word(c.joint, c.index)}
            case PointCoordinate():
                data = {"point": _dotted(c.point), "along": list(c.direction)}
            case DistanceCoordinate():
                data = {"distance": [_dotted(c.point_a), _dotted(c.point_b)]}
        return data | {"force": c.force} | held

    def _constraint(self, c: Constraint) -> dict[str, Any]:
        if isinstance(c, Coupling):
            texts = c.exprs or (None,) * len(c.terms)
            factors = {
                self._word(joint, index): self._number(factor, text)
                for (joint, index, factor), text in zip(c.terms, texts, strict=True)
            }
            constant = {} if c.constant is None else {"constant": c.constant}
            return {"type": "coupling", "coordinates": factors, **constant}
        between = [_dotted(c.point_a), _dotted(c.point_b)]
        return {
            "type": "distance",
            "between": between,
            "length": self._number(c.length, c.expr),
        }

    def _number(self, value: float, text: str | None) -> float | str:
        return value if text is None or not self._fits(value, text) else _scalar(text)

    def _element(self, e: ForceElement) -> dict[str, Any]:
        kind = element_kind(e)
        data: dict[str, Any] = {"type": e.kind}
        if (h := e.history) is not None:
            table = {"time": list(h.time), "factor": list(h.factor)}
            data["over_time"] = h.expression or table | {"interpolation": h.interpolation}
        match kind.attachment:
            case "points" | "joint" | "line":
                if e.points:
                    data["between"] = [_dotted(point) for point in e.points]
                else:
                    data["joint"] = self._word(*e.coordinates[0])
            case "frames":
                data["joint"] = e.coordinates[0][0]
            case "motors":
                data["coordinates"] = [self._word(*pair) for pair in e.coordinates]
                data["motors"] = {part.name: _values(part, kind) for part in e.parts}
                return data | {"matrix": [list(part.ratios) for part in e.parts]}
            case "force" | "moment":
                data["body"] = e.body
                assert e.direction is not None
                if e.points:
                    data["at"] = e.points[0].name
                if e.axes_of == e.body:
                    data["axes"] = "body"
                if e["magnitude"] == UNIT:
                    return data | {"vector": list(e.direction)}
                data["direction"] = list(e.direction)
        return data | _values(e.parts[0], kind)


def _scalar(text: str) -> float | str:
    """Return an expression as a number if it is one that is written back the same."""
    if expressions.is_constant(text):
        for read in (int, float):
            try:
                number = read(text)
            except ValueError:
                continue
            if expressions.text_of(expressions.parse(number)) == text:
                return number
    return text


def _base_set(s: NamedBaseSet) -> dict[str, Any]:
    return {"dependent": list(s.dependent)} | _source(s)


def _source(record: Body | Joint | Point | NamedBaseSet) -> dict[str, Any]:
    return {"source": record.source} if record.source else {}


def _dotted(point: Point) -> str:
    return f"{point.body}.{point.name}"


def _coefficient(c: Coefficient) -> Any:
    if c.value is not None and not c.identify and c.sigma is None:
        return c.value
    data: dict[str, Any] = {} if c.value is None else {"value": c.value}
    if c.identify:
        data["identify"] = True
    return data | ({} if c.sigma is None else {"uncertainty": c.sigma})


def _values(part: Part, kind: ElementKind) -> dict[str, Any]:
    return {
        key.name: written
        for key in kind.keys
        if (written := _value(part[key.name])) not in (key.default, [])
    }


def _value(value: Value | None) -> Any:
    if isinstance(value, tuple):
        return [_value(x) for x in value]
    return _coefficient(value) if isinstance(value, Coefficient) else value


def _shape(shape: Shape) -> dict[str, Any]:
    points = [list(point) for point in shape.points]
    match shape.kind:
        case "wheel":
            keys = {"center": points[0], "axis": points[1]}
            sizes: dict[str, Any] = {"radius": shape.sizes[0], "width": shape.sizes[1]}
        case "box":
            keys, sizes = {"center": points[0]}, {"size": list(shape.sizes)}
        case "cylinder":
            keys, sizes = {"from": points[0], "to": points[1]}, {"radius": shape.sizes[0]}
        case "sphere":
            keys, sizes = {"center": points[0]}, {"radius": shape.sizes[0]}
    return {shape.kind: {**keys, **sizes}}


def document_of(mechanism: Mechanism) -> dict[str, Any]:
    """Return a mechanism as the plain data of a model file."""
    return _Writer(mechanism).document()
