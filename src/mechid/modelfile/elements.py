"""Force elements: springs, dampers, friction, transmissions and loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.element_kinds import ELEMENT_KINDS, UNIT, ElementKind, Form, acts
from mechid.mechanism.element_terms import mirrored
from mechid.mechanism.records import (
    GROUND,
    Coefficient,
    ForceElement,
    Joint,
    Part,
    Point,
    TimeHistory,
    Value,
)
from mechid.modelfile.bodies import absolute
from mechid.modelfile.coordinates import pick_single
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.joints import reversed_by_mirror
from mechid.modelfile.points import PointBook
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_elements import CoefficientSpec, HistorySpec
from mechid.modelfile.vectors import Array, vec3
from mechid.textfile import expressions
from mechid.textfile.yamlio import Key


class Elements:
    """Builds the records of force elements."""

    def __init__(self, joints: Mapping[str, Joint], geometry: Geometry, book: PointBook) -> None:
        self._joints = joints
        self._geometry = geometry
        self._book = book

    def build(self, entry: Entry) -> ForceElement:
        """Return the record of an element."""
        element = self._element(entry)
        given = getattr(entry.spec, "over_time", None)
        if given is None:
            return element
        path = (*entry.path, "over_time")
        values = [value for part in element.parts for _, value in part.values]
        if any(isinstance(x, Coefficient) and x.identify for x in values):
            raise ModelError(
                "a load over time is known, and cannot be identified",
                path=path,
                remedy="remove identify, or over_time",
            )
        return replace(element, history=self._history(given, entry, path))

    def _history(self, given: Any, entry: Entry, path: Key) -> TimeHistory:
        if not isinstance(given, HistorySpec):
            tree = expressions.parse(given)
            if strange := sorted(expressions.names(tree) - {"t"}):
                raise ModelError(
                    f"{strange[0]} is not known over time",
                    path=path,
                    remedy="write an expression of t (s) and of numbers",
                )
            return TimeHistory(expressions.text_of(tree))
        time, factor = (
            tuple(
                self._geometry.numbers.value(x, entry.scope, (*path, key, i))
                for i, x in enumerate(getattr(given, key))
            )
            for key in ("time", "factor")
        )
        if len(time) != len(factor) or len(time) < 2 or any(a >= b for a, b in pairwise(time)):
            raise ModelError(
                f"{len(time)} times and {len(factor)} factors do not make a table",
                path=path,
                remedy="give two times or more that increase, and a factor for each",
            )
        return TimeHistory("", time, factor, given.interpolation)

    def _element(self, entry: Entry) -> ForceElement:
        kind = ELEMENT_KINDS[entry.spec.type]
        match kind.attachment:
            case "motors":
                return self._transmission(kind, entry)
            case "force" | "moment":
                return self._load(kind, entry)
            case "frames":
                name = entry.scope.find("joints", entry.spec.joint, (*entry.path, "joint"))
                return self._on_frames(kind, entry, name)
        part, spec = self._part(kind, entry), entry.spec
        joint, between = getattr(spec, "joint", None), getattr(spec, "between", None)
        if (joint is None) == (between is None):
            raise ModelError(
                "between and joint exclude each other"
                if joint
                else "neither between nor joint is given",
                path=entry.path,
                remedy="give two points (between), or one joint coordinate (joint)",
            )
        if between is not None:
            return ForceElement(entry.name, spec.type, (part,), self._points(entry))
        assert joint is not None
        chosen, index = pick_single(joint, entry.scope, self._joints, (*entry.path, "joint"))
        if self._sign(chosen, index, entry) < 0:
            part = mirrored(kind, part)
        on = ((chosen.name, index),)
        return ForceElement(entry.name, spec.type, (part,), coordinates=on)

    def _on_frames(self, kind: ElementKind, entry: Entry, joint: str) -> ForceElement:
        part = self._part(kind, entry)
        for key in kind.keys:
            if entry.scope.reflection and key.image != "same" and acts(part[key.name]):
                raise ModelError(
                    f"{key.name} cannot be mirrored here",
                    path=(*entry.path, key.name),
                    remedy="write the element outside of the mirrored subassembly",
                )
        return ForceElement(entry.name, entry.spec.type, (part,), coordinates=((joint, 0),))

    def _part(self, kind: ElementKind, entry: Entry) -> Part:
        return self._values(kind, entry.spec, entry.name, entry, ())

    def _values(self, kind: ElementKind, spec: Any, name: str, entry: Entry, path: Key) -> Part:
        """Return the values of all keys of an element or of a motor."""
        values: dict[str, Value] = {}
        for key in kind.keys:
            given, here = getattr(spec, key.name), (*path, key.name)
            if given is None and key.with_ and acts(values[key.with_]):
                raise ModelError(
                    f"{key.name} is missing",
                    path=entry.path,
                    remedy=f"an element with a {key.with_} needs its {key.name}",
                )
            values[key.name] = self._value(0 if given is None else given, key.form, entry, here)
        part = Part(name, tuple(values.items()))
        if (fault := kind.fault(part)) is not None:
            here = (
                *entry.path,
                *path,
                *((fault.key,) if fault.key in spec.model_fields_set else ()),
            )
            raise ModelError(fault.text, path=here, remedy=fault.remedy)
        return part

    def _value(self, given: Any, form: Form, entry: Entry, path: Key) -> Any:
        match form:
            case "coefficient":
                return self._coefficient(given, entry, path)
            case "number":
                return self._geometry.numbers.value(given, entry.scope, (*entry.path, *path))
            case "coefficients" | "numbers":
                one: Form = "coefficient" if form == "coefficients" else "number"
                return tuple(self._value(x, one, entry, (*path, i)) for i, x in enumerate(given))

    def _coefficient(self, spec: Any, entry: Entry, key: Key) -> Coefficient:
        path: Key = (*entry.path, *key)
        numbers = self._geometry.numbers
        if not isinstance(spec, CoefficientSpec):
            return Coefficient(numbers.value(spec, entry.scope, path) + 0.0)
        if spec.value is None:
            if not spec.identify:
                raise ModelError(
                    "the coefficient needs a value",
                    path=path,
                    remedy="give value or identify: true",
                )
            if spec.uncertainty is not None:
                raise ModelError(
                    "an uncertainty needs a value",
                    path=(*path, "uncertainty"),
                    remedy="remove it",
                )
            return Coefficient(None, identify=True)
        value = numbers.value(spec.value, entry.scope, (*path, "value"))
        sigma = None
        if spec.uncertainty is not None:
            here: Key = (*path, "uncertainty")
            sigma = absolute(spec.uncertainty, value, self._geometry, entry.scope, here)
        return Coefficient(value + 0.0, spec.identify, sigma)

    def _sign(self, joint: Joint, index: int, entry: Entry) -> float:
        if entry.scope.reflection is None:
            return 1.0
        spec = self._geometry.model.entries["joints"][joint.name].spec
        return -1.0 if index in reversed_by_mirror(joint.kind, spec) else 1.0

    def _points(self, entry: Entry) -> tuple[Point, ...]:
        a, b = (
            self._book.body_point(
                p, entry.scope, f"{entry.name}_{'ab'[i]}", (*entry.path, "between", i)
            )
            for i, p in enumerate(entry.spec.between)
        )
        if a.body == b.body:
            raise ModelError(
                f"both points belong to {a.body}",
                path=(*entry.path, "between"),
                remedy="name points of two bodies",
            )
        return a, b

    def _transmission(self, kind: ElementKind, entry: Entry) -> ForceElement:
        spec = entry.spec
        chosen = [
            pick_single(word, entry.scope, self._joints, (*entry.path, "coordinates", i))
            for i, word in enumerate(spec.coordinates)
        ]
        rows, columns = len(spec.motors), len(chosen)
        if len(spec.matrix) != rows or any(len(row) != columns for row in spec.matrix):
            raise ModelError(
                f"the matrix must have a row per motor ({rows}) and a column per coordinate "
                f"({columns})",
                path=(*entry.path, "matrix"),
                remedy="write one list per motor",
            )
        signs = [self._sign(joint, index, entry) for joint, index in chosen]
        number = self._geometry.numbers.value
        parts = tuple(
            replace(
                self._values(kind, motor, entry.scope.final(name), entry, ("motors", name)),
                ratios=tuple(
                    sign * number(s, entry.scope, (*entry.path, "matrix", i)) + 0.0
                    for s, sign in zip(row, signs, strict=True)
                ),
            )
            for i, ((name, motor), row) in enumerate(
                zip(spec.motors.items(), spec.matrix, strict=True)
            )
        )
        pairs = tuple((joint.name, index) for joint, index in chosen)
        return ForceElement(entry.name, spec.type, parts, coordinates=pairs)

    def _load(self, kind: ElementKind, entry: Entry) -> ForceElement:
        scope, path, spec = entry.scope, entry.path, entry.spec
        body = scope.find("bodies", spec.body, (*path, "body"))
        if (spec.vector is None) == (spec.direction is None):
            raise ModelError(
                "vector is missing"
                if spec.vector is None
                else "vector and direction exclude each other",
                path=path,
                remedy="give a vector, or a direction and a magnitude",
            )
        word = "vector" if spec.direction is None else "direction"
        vector = self._geometry.numbers.vector(getattr(spec, word), scope, (*path, word)).array
        part = self._part(kind, entry)
        if word == "direction":
            vector = _unit(vector, (*path, word))
        elif part["magnitude"] != UNIT:
            raise ModelError(
                "vector and magnitude exclude each other",
                path=(*path, "magnitude"),
                remedy="use direction instead of vector",
            )
        axes_of = GROUND if spec.axes == "ground" else body
        mirror = self._geometry.mirror_matrix(axes_of, scope)
        points: tuple[Point, ...] = ()
        if kind.attachment == "moment":
            # A moment is an axial vector: its mirror image turns the other way.
            vector = (mirror if scope.reflection is None else -mirror) @ vector
        else:
            vector = mirror @ vector
            if spec.at is None:
                raise ModelError(
                    "at is missing",
                    path=path,
                    remedy="name the point of the body where the force acts",
                )
            place = self._geometry.point(spec.at, scope, (*path, "at"))
            name = place.name or f"{entry.name}_point"
            points = (self._book.add(place, body, scope, name, (*path, "at")),)
        return ForceElement(
            entry.name,
            spec.type,
            (part,),
            points,
            body=body,
            direction=vec3(vector),
            axes_of=axes_of,
        )


def _unit(vector: Array, path: Key) -> Array:
    length = float(np.linalg.norm(vector))
    if not length > 0:
        raise ModelError(
            "the direction must not be zero", path=path, remedy="give three numbers, not all 0"
        )
    # What is a unit vector to rounding stays as it is: it is written back digit by digit.
    return vector if abs(length - 1) < 1e-14 else np.asarray(vector / length)
