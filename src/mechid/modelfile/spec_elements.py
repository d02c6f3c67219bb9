"""Words for force elements and independent coordinates.

The records of force elements are made of the table in `mechanism.element_kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, Union

from pydantic import BeforeValidator, Discriminator, Field, Tag, create_model
from pydantic_core import PydanticCustomError

from mechid.mechanism.element_kinds import ELEMENT_KINDS, Attachment, ElementKind, Form
from mechid.modelfile.quantities import Time
from mechid.modelfile.spec_geometry import DirectionRef, PointIn, PointRef
from mechid.textfile.words import (
    DottedName,
    Name,
    Scalar,
    Spread,
    Vector,
    Words,
    kind,
    suggestion,
    two,
)


class CoefficientSpec(Words):
    """A coefficient with what is known of it."""

    value: Scalar | None = None
    identify: bool = Field(default=False, description="estimate it from measurements")
    uncertainty: Spread | None = Field(default=None, description="standard deviation of the value")


Coefficient: TypeAlias = Annotated[
    Annotated[Scalar, Tag("<number>")] | Annotated[CoefficientSpec, Tag("<mapping>")],
    Discriminator(lambda v: "<mapping>" if isinstance(v, dict | CoefficientSpec) else "<number>"),
]


def _body_point_tag(value: Any) -> str:
    return "<in>" if isinstance(value, dict | PointIn) else "<name>"


BodyPoint: TypeAlias = Annotated[
    Annotated[DottedName, Tag("<name>")] | Annotated[PointIn, Tag("<in>")],
    Discriminator(_body_point_tag),
]


BodyPoints: TypeAlias = Annotated[tuple[BodyPoint, BodyPoint], BeforeValidator(two)]


_AXES = (Literal["ground", "body"], Field(default="ground", description="axes of the vector"))
_VECTOR: dict[str, Any] = {
    "body": (Name, ...),
    "vector": (Vector | None, Field(default=None, description="N or N m")),
    "direction": (Vector | None, Field(default=None, description="instead of vector")),
    "axes": _AXES,
}
_ATTACHED: dict[Attachment, dict[str, Any]] = {
    "points": {"between": (BodyPoints, Field(description="two points, body.point"))},
    "joint": {"joint": (DottedName, Field(description="joint, or joint.coordinate"))},
    "line": {
        "between": (BodyPoints | None, Field(default=None, description="two points, body.point")),
        "joint": (DottedName | None, Field(default=None, description="or a joint coordinate")),
    },
    "frames": {"joint": (Name, Field(description="joint whose two frames it connects"))},
    "motors": {
        "coordinates": (list[DottedName], Field(description="joint coordinates, one per column")),
        "matrix": (list[list[Scalar]], ...),
    },
    "force": {
        **_VECTOR,
        "at": (PointRef | None, Field(default=None, description="point where it acts")),
    },
    "moment": _VECTOR,
}
_FORMS: dict[Form, Any] = {
    "coefficient": Coefficient | None,
    "coefficients": list[Coefficient],
    "number": Scalar | None,
    "numbers": list[Scalar],
}


class HistorySpec(Words):
    """A factor over time as a table."""

    time: list[Time] = Field(description="s, increasing")
    factor: list[Scalar] = Field(description="one value per time")
    interpolation: Literal["linear", "cubic", "hold"] = "linear"


History: TypeAlias = Annotated[
    Annotated[Scalar, Tag("<number>")] | Annotated[HistorySpec, Tag("<mapping>")],
    Discriminator(lambda v: "<mapping>" if isinstance(v, dict | HistorySpec) else "<number>"),
]


def _values(kind: ElementKind) -> dict[str, Any]:
    """Return the fields of the keys of an element."""
    return {
        key.name: (_FORMS[key.form], Field(default=key.default, description=key.description))
        for key in kind.keys
    }


def _motor(kind: ElementKind) -> type[Words]:
    """Return the record of a motor in a file."""
    return create_model("MotorSpec", __base__=Words, __doc__="A motor.", **_values(kind))


def _spec(name: str, kind: ElementKind) -> type[Words]:
    """Return the record of an element in a file."""
    title = "".join(word.capitalize() for word in name.split("_"))
    fields = {"type": (Literal[name], ...), **_ATTACHED[kind.attachment]}
    if kind.attachment == "motors":
        fields["motors"] = (dict[Name, _motor(kind)], Field(description="motors, one per row"))  # type: ignore[misc]
    else:
        fields |= _values(kind)
    if kind.timed:
        words = "factor over time: an expression of t, or a table"
        fields["over_time"] = (History | None, Field(default=None, description=words))
    fields["source"] = (str, "")
    return create_model(f"{title}Spec", __base__=Words, __doc__=kind.text, **fields)


class RotorSpec(_motor(ELEMENT_KINDS["transmission"])):  # type: ignore[misc]
    """The rotor that drives a joint through a gear; the same as a transmission with one motor."""

    ratio: Scalar = Field(
        default=1, description="motor speed over joint speed (rad/m if it slides)"
    )
    coordinate: Name | None = Field(default=None, description="if the joint has several")


SPECS: Mapping[str, type[Words]] = {name: _spec(name, k) for name, k in ELEMENT_KINDS.items()}


def by_type(specs: Mapping[str, type[Words]], what: str) -> Any:
    """Return the type of entries that say by `type` which of the records they are."""

    def tag(value: Any) -> str:
        return f"<{value['type'] if isinstance(value, dict) else value.type}>"

    def known(value: Any) -> Any:
        if isinstance(value, tuple(specs.values())):
            return value
        if not isinstance(value, dict):
            raise ValueError(f"expected a mapping, got {kind(value)}")
        given = value.get("type")
        if isinstance(given, str) and given in specs:
            return value
        hint = suggestion(str(given), specs) or f"choose one of: {', '.join(specs)}"
        message = f"unknown {what} type {{got}}" if "type" in value else "type is missing"
        raise PydanticCustomError("element", message, {"got": kind(given), "remedy": hint})

    union: Any = Union[tuple(Annotated[spec, Tag(f"<{name}>")] for name, spec in specs.items())]  # noqa: UP007
    return Annotated[union, Discriminator(tag), BeforeValidator(known)]


ElementSpec: Any = by_type(SPECS, "element")


class CoordinateSpec(Words):
    """An independent coordinate: of a joint, of a point along a direction, or a distance."""

    joint: DottedName | None = Field(default=None, description="joint, or joint.coordinate")
    point: BodyPoint | None = Field(default=None, description="body.point")
    along: DirectionRef | None = Field(default=None, description="direction, with point")
    distance: BodyPoints | None = Field(default=None, description="two points")
    force: str | None = Field(default=None, description="name of what does work on it")
    held: bool = Field(default=False, description="stands still in every motion")
    source: str = ""
