"""Force elements: springs, dampers, friction, transmissions and loads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechid.errors import ModelError
from mechid.mechanism.records import (
    GROUND,
    Coefficient,
    Element,
    Friction,
    Joint,
    Load,
    Motor,
    SpringDamper,
    TorsionSpring,
    Transmission,
)
from mechid.modelfile.bodies import absolute
from mechid.modelfile.coordinates import pick
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.joints import reversed_by_mirror
from mechid.modelfile.points import PointBook
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_elements import (
    CoefficientSpec,
    ForceSpec,
    FrictionSpec,
    MomentSpec,
    SpringDamperSpec,
    TorsionSpringSpec,
    TransmissionSpec,
)
from mechid.modelfile.vectors import vec3
from mechid.textfile.yamlio import Key


class Elements:
    """Builds the records of force elements."""

    def __init__(self, joints: Mapping[str, Joint], geometry: Geometry, book: PointBook) -> None:
        self._joints = joints
        self._geometry = geometry
        self._book = book

    def build(self, entry: Entry) -> Element:
        """Return the record of an element."""
        match entry.spec:
            case SpringDamperSpec() as spec:
                return self._spring_damper(spec, entry)
            case TorsionSpringSpec() as spec:
                joint, index = self._coordinate(spec.joint, entry, (*entry.path, "joint"))
                sign = self._sign(joint, index, entry)
                return TorsionSpring(
                    entry.name,
                    joint.name,
                    index,
                    self._coefficient(spec.stiffness, entry, ("stiffness",)),
                    self._coefficient(spec.damping, entry, ("damping",)),
                    self._coefficient(spec.free_angle, entry, ("free_angle",), sign),
                )
            case FrictionSpec() as spec:
                joint, index = self._coordinate(spec.joint, entry, (*entry.path, "joint"))
                return Friction(
                    entry.name,
                    joint.name,
                    index,
                    self._coefficient(spec.viscous, entry, ("viscous",)),
                    self._coefficient(spec.coulomb, entry, ("coulomb",)),
                )
            case TransmissionSpec() as spec:
                return self._transmission(spec, entry)
            case ForceSpec() | MomentSpec() as spec:
                return self._load(spec, entry)
        raise AssertionError(entry.spec)

    def _coefficient(self, spec: Any, entry: Entry, key: Key, sign: float = 1.0) -> Coefficient:
        path: Key = (*entry.path, *key)
        numbers = self._geometry.numbers
        if not isinstance(spec, CoefficientSpec):
            return Coefficient(sign * numbers.value(spec, entry.scope, path) + 0.0)
        if spec.value is None:
            if not spec.identify:
                raise ModelError(
                    "the coefficient has no value", path=path, remedy="give value or identify: true"
                )
            if spec.uncertainty is not None:
                raise ModelError(
                    "an uncertainty without a value",
                    path=(*path, "uncertainty"),
                    remedy="remove it",
                )
            return Coefficient(None, identify=True)
        value = numbers.value(spec.value, entry.scope, (*path, "value"))
        sigma = None
        if spec.uncertainty is not None:
            here: Key = (*path, "uncertainty")
            sigma = absolute(spec.uncertainty, value, self._geometry, entry.scope, here)
        return Coefficient(sign * value + 0.0, spec.identify, sigma)

    def _coordinate(self, word: str, entry: Entry, path: Key) -> tuple[Joint, int]:
        joint, index = pick(word, entry.scope, self._joints, path)
        if index is None:
            raise ModelError(
                f"joint {word} has several coordinates",
                path=path,
                remedy=f"choose one: {', '.join(f'{word}.{c}' for c in joint.kind.choices)}",
            )
        if index >= joint.kind.n_scalars:
            raise ModelError(
                f"an element cannot act on {joint.kind.choices[index]} of a {joint.type} joint",
                path=path,
                remedy="choose a joint coordinate that is one angle or displacement",
            )
        return joint, index

    def _sign(self, joint: Joint, index: int, entry: Entry) -> float:
        if entry.scope.reflection is None:
            return 1.0
        spec = self._geometry.model.entries["joints"][joint.name].spec
        return -1.0 if index in reversed_by_mirror(joint.kind, spec) else 1.0

    def _spring_damper(self, spec: SpringDamperSpec, entry: Entry) -> SpringDamper:
        a, b = (
            self._book.body_point(
                p, entry.scope, f"{entry.name}_{'ab'[i]}", (*entry.path, "between", i)
            )
            for i, p in enumerate(spec.between)
        )
        if a.body == b.body:
            raise ModelError(
                f"both points belong to {a.body}",
                path=(*entry.path, "between"),
                remedy="name points of two bodies",
            )
        stiffness = self._coefficient(spec.stiffness, entry, ("stiffness",))
        if spec.free_length is None and stiffness != Coefficient(0.0):
            raise ModelError(
                "free_length is missing", path=entry.path, remedy="a spring needs its free length"
            )
        free_length = 0 if spec.free_length is None else spec.free_length
        return SpringDamper(
            entry.name,
            a,
            b,
            stiffness,
            self._coefficient(spec.damping, entry, ("damping",)),
            self._coefficient(free_length, entry, ("free_length",)),
        )

    def _transmission(self, spec: TransmissionSpec, entry: Entry) -> Transmission:
        chosen = [
            self._coordinate(word, entry, (*entry.path, "coordinates", i))
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
        matrix = tuple(
            tuple(
                sign * self._geometry.numbers.value(s, entry.scope, (*entry.path, "matrix", i))
                + 0.0
                for s, sign in zip(row, signs, strict=True)
            )
            for i, row in enumerate(spec.matrix)
        )
        motors = tuple(
            Motor(
                entry.scope.final(name),
                *(
                    self._coefficient(getattr(motor, k), entry, ("motors", name, k))
                    for k in ("inertia", "viscous", "coulomb")
                ),
            )
            for name, motor in spec.motors.items()
        )
        return Transmission(
            entry.name, motors, tuple((joint.name, index) for joint, index in chosen), matrix
        )

    def _load(self, spec: ForceSpec | MomentSpec, entry: Entry) -> Load:
        scope, path = entry.scope, entry.path
        body = scope.find("bodies", spec.body, (*path, "body"))
        vector = self._geometry.numbers.vector(spec.vector, scope, (*path, "vector")).array
        axes_of = GROUND if spec.axes == "ground" else body
        mirror = self._geometry.mirror_matrix(axes_of, scope)
        if isinstance(spec, MomentSpec):
            # A moment is an axial vector: its mirror image turns the other way.
            vector = (mirror if scope.reflection is None else -mirror) @ vector
            return Load(entry.name, "moment", body, vec3(vector), None, axes_of)
        if spec.at is None:
            raise ModelError(
                "at is missing", path=path, remedy="name the point of the body where the force acts"
            )
        place = self._geometry.point(spec.at, scope, (*path, "at"))
        name = place.name or f"{entry.name}_point"
        point = self._book.add(place, body, scope, name, (*path, "at"))
        return Load(entry.name, "force", body, vec3(mirror @ vector), point, axes_of)
