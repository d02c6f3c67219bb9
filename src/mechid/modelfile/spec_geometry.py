"""Words for points, directions and frames."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    FiniteFloat,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Tag,
    ValidationInfo,
    model_validator,
)

from mechid.modelfile.quantities import Acceleration, Accelerations, Angles, Lengths
from mechid.textfile.words import DirectionWord, Matrix, Name, Scalar, Vector, Words, two, units_of

Floats: TypeAlias = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
Texts: TypeAlias = tuple[str, str, str]


class RoundedVector(Words):
    """Three floats that are the result of rounding, without an exact meaning."""

    rounded: Floats = Field(description="the three floats, m")
    expr: Texts | None = Field(default=None, description="expressions kept beside them")

    @model_validator(mode="after")
    def _in_si(self, info: ValidationInfo) -> RoundedVector:
        if (units := units_of(info)) is not None:
            x, y, z = (float(units.convert(v, "m")) for v in self.rounded)
            self.rounded = (x, y, z)
            if self.expr is not None:
                a, b, c = (str(units.convert(text, "m")) for text in self.expr)
                self.expr = (a, b, c)
        return self


class RoundedMatrix(Words):
    """A matrix of floats and the expressions kept beside them, as they are."""

    rounded: tuple[Floats, Floats, Floats] = Field(description="rows")
    expr: tuple[Texts, Texts, Texts] = Field(description="rows")


def _matrix_tag(value: Any) -> str:
    return "<rounded>" if isinstance(value, dict | RoundedMatrix) else "<matrix>"


Rotation: TypeAlias = Annotated[
    Annotated[Matrix, Tag("<matrix>")] | Annotated[RoundedMatrix, Tag("<rounded>")],
    Discriminator(_matrix_tag),
]


def _coordinates_tag(value: Any) -> str:
    return "<rounded>" if isinstance(value, dict | RoundedVector) else "<vector>"


Coordinates: TypeAlias = Annotated[
    Annotated[Lengths, Tag("<vector>")] | Annotated[RoundedVector, Tag("<rounded>")],
    Discriminator(_coordinates_tag),
]


class PointIn(Words):
    """A point given in the frame of a body."""

    in_: Name = Field(alias="in", description="body (or ground) in whose frame it is given")
    at: Coordinates = Field(description="its coordinates there, m")
    source: str = ""


class PointBetween(Words):
    """A point on the line through two others; the midpoint by default."""

    between: Annotated[tuple[PointRef, PointRef], BeforeValidator(two)] = Field(
        description="two points"
    )
    fraction: Scalar = Field(default=0.5, description="0 is the first, 1 the second")
    source: str = ""


class PointOn(Words):
    """One point given in the frames of several bodies."""

    on: dict[Name, Coordinates] = Field(description="coordinates by body")
    source: str = ""


class PointAt(Words):
    """A hardpoint with a source."""

    at: Lengths = Field(description="ground coordinates in the reference pose, m")
    source: str = ""


def _point_tag(value: Any) -> str | None:
    match value:
        case str():
            return "<name>"
        case list() | tuple():
            return "<vector>"
        case PointIn() | PointBetween() | PointOn() | PointAt() | RoundedVector():
            return f"<{type(value).__name__}>"
        case {"rounded": _}:
            return "<RoundedVector>"
        case {"in": _} | {"in_": _}:
            return "<PointIn>"
        case {"between": _}:
            return "<PointBetween>"
        case {"on": _}:
            return "<PointOn>"
        case {"at": _}:
            return "<PointAt>"
    return None


PointRef: TypeAlias = Annotated[
    Annotated[Name, Tag("<name>")]
    | Annotated[Lengths, Tag("<vector>")]
    | Annotated[PointIn, Tag("<PointIn>")]
    | Annotated[PointBetween, Tag("<PointBetween>")]
    | Annotated[PointOn, Tag("<PointOn>")]
    | Annotated[PointAt, Tag("<PointAt>")]
    | Annotated[RoundedVector, Tag("<RoundedVector>")],
    Discriminator(
        _point_tag,
        custom_error_type="point",
        custom_error_message="expected a point: a name, [x, y, z], {in: body, at: [x, y, z]} or "
        "{between: [P, Q]}",
    ),
]


class DirectionAlong(Words):
    """A direction given in the frame of a body (by default, of the ground)."""

    in_: Name = Field(default="ground", alias="in", description="body in whose frame it is given")
    along: Vector = Field(description="components; need not be a unit vector")
    source: str = ""


class DirectionFromTo(Words):
    """The direction from one point to another."""

    from_: PointRef = Field(alias="from", description="point")
    to: PointRef = Field(description="point")
    source: str = ""


def _direction_tag(value: Any) -> str | None:
    match value:
        case str():
            return "<word>"
        case list() | tuple():
            return "<vector>"
        case DirectionAlong() | DirectionFromTo():
            return f"<{type(value).__name__}>"
        case {"along": _}:
            return "<DirectionAlong>"
        case {"from": _} | {"from_": _} | {"to": _}:
            return "<DirectionFromTo>"
    return None


DirectionRef: TypeAlias = Annotated[
    Annotated[DirectionWord, Tag("<word>")]
    | Annotated[Vector, Tag("<vector>")]
    | Annotated[DirectionAlong, Tag("<DirectionAlong>")]
    | Annotated[DirectionFromTo, Tag("<DirectionFromTo>")],
    Discriminator(
        _direction_tag,
        custom_error_type="direction",
        custom_error_message="expected a direction: a name, x, -y, body.z, [x, y, z], "
        "{from: P, to: Q} or {in: body, along: [x, y, z]}",
    ),
]


def _pair_tag(value: Any) -> str:
    return "<pair>" if isinstance(value, list | tuple) and len(value) == 2 else "<one>"


PointPair: TypeAlias = Annotated[tuple[PointRef, PointRef], BeforeValidator(two)]
DirectionPair: TypeAlias = Annotated[tuple[DirectionRef, DirectionRef], BeforeValidator(two)]
PointOrPair: TypeAlias = Annotated[
    Annotated[PointRef, Tag("<one>")] | Annotated[PointPair, Tag("<pair>")],
    Discriminator(_pair_tag),
]
DirectionOrPair: TypeAlias = Annotated[
    Annotated[DirectionRef, Tag("<one>")] | Annotated[DirectionPair, Tag("<pair>")],
    Discriminator(_pair_tag),
]
Axis: TypeAlias = Literal["x", "y", "z"]


class TurnSpec(Words):
    """A rotation: a matrix, or roll, pitch and yaw."""

    rotation: Rotation | None = Field(default=None, description="rows; its columns are the axes")
    rpy: Angles | None = Field(
        default=None, description="roll, pitch, yaw about fixed axes, instead of a rotation"
    )


class FrameSpec(TurnSpec):
    """A body frame: origin, and two axes (the first one written exact), a matrix or rpy."""

    in_: Name | None = Field(
        default=None, alias="in", description="body in whose frame the numbers are; default ground"
    )
    origin: PointRef | None = Field(default=None, description="point; default see manual")
    x: DirectionRef | None = None
    y: DirectionRef | None = None
    z: DirectionRef | None = None

    _axes: tuple[Axis, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _keep_order(cls, data: Any, handler: ModelWrapValidatorHandler[FrameSpec]) -> FrameSpec:
        frame = handler(data)
        if isinstance(data, dict):
            frame._axes = tuple(k for k in data if k in ("x", "y", "z") and data[k] is not None)
        return frame

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that are given, in the order in which they were written."""
        return self._axes


class JointFrameSpec(TurnSpec):
    """A joint frame in the frame of its body, spelled out."""

    origin: Coordinates = Field(default=(0, 0, 0), description="in the body frame, m")


class GravitySpec(Words):
    """Gravity by magnitude and direction, or by the mounting of the ground frame."""

    magnitude: Acceleration = Field(default=9.81, description="m/s²")
    direction: DirectionRef | None = Field(default=None, description="down; default -z")
    rpy: Angles | None = Field(
        default=None,
        description="roll, pitch, yaw of the ground frame in a level frame whose z points up",
    )


def _gravity_tag(value: Any) -> str:
    if isinstance(value, dict | GravitySpec):
        return "<mapping>"
    return "<word>" if isinstance(value, str) else "<vector>"


Gravity: TypeAlias = Annotated[
    Annotated[Accelerations, Tag("<vector>")]
    | Annotated[DirectionWord, Tag("<word>")]
    | Annotated[GravitySpec, Tag("<mapping>")],
    Discriminator(_gravity_tag),
]
