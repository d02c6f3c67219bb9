"""Words for force elements and independent coordinates."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

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


class SpringDamperSpec(Words):
    """Spring and damper along the line between two points."""

    type: Literal["spring_damper"]
    between: BodyPoints = Field(description="two points, body.point")
    stiffness: Coefficient = Field(default=0, description="N/m")
    damping: Coefficient = Field(default=0, description="N s/m")
    free_length: Coefficient | None = Field(default=None, description="m; needed with a stiffness")
    source: str = ""


class TorsionSpringSpec(Words):
    """Spring and damper on a joint coordinate."""

    type: Literal["torsion_spring"]
    joint: DottedName
    stiffness: Coefficient = Field(default=0, description="N m/rad (N/m on a displacement)")
    damping: Coefficient = Field(default=0, description="N m s/rad")
    free_angle: Coefficient = Field(default=0, description="rad")
    source: str = ""


class FrictionSpec(Words):
    """Viscous and Coulomb friction on a joint coordinate."""

    type: Literal["friction"]
    joint: DottedName
    viscous: Coefficient = Field(default=0, description="N m s/rad or N s/m")
    coulomb: Coefficient = Field(default=0, description="N m or N")
    source: str = ""


class MotorSpec(Words):
    """A motor of a transmission, on the motor side."""

    inertia: Coefficient = Field(default=0, description="kg m²")
    viscous: Coefficient = Field(default=0, description="N m s/rad")
    coulomb: Coefficient = Field(default=0, description="N m")


class TransmissionSpec(Words):
    """Motors coupled to joint coordinates: motor speeds = matrix · joint speeds."""

    type: Literal["transmission"]
    coordinates: list[DottedName] = Field(description="joint coordinates, one per column")
    motors: dict[Name, MotorSpec] = Field(description="motors, one per row")
    matrix: list[list[Scalar]]
    source: str = ""


class ForceSpec(Words):
    """A constant force at a point of a body."""

    type: Literal["force"]
    body: Name
    at: PointRef | None = Field(default=None, description="point where it acts")
    vector: Vector = Field(description="N")
    axes: Literal["ground", "body"] = Field(default="ground", description="axes of the vector")
    source: str = ""


class MomentSpec(Words):
    """A constant moment on a body."""

    type: Literal["moment"]
    body: Name
    vector: Vector = Field(description="N m")
    axes: Literal["ground", "body"] = Field(default="ground", description="axes of the vector")
    source: str = ""


_ELEMENTS: dict[str, type[Words]] = {
    "spring_damper": SpringDamperSpec,
    "torsion_spring": TorsionSpringSpec,
    "friction": FrictionSpec,
    "transmission": TransmissionSpec,
    "force": ForceSpec,
    "moment": MomentSpec,
}


def _element_tag(value: Any) -> str:
    return f"<{value['type'] if isinstance(value, dict) else value.type}>"


def _known_element(value: Any) -> Any:
    if isinstance(value, tuple(_ELEMENTS.values())):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping, got {kind(value)}")
    element_type = value.get("type")
    if isinstance(element_type, str) and element_type in _ELEMENTS:
        return value
    hint = suggestion(str(element_type), _ELEMENTS) or f"known are {', '.join(_ELEMENTS)}"
    what = "unknown element type {got}" if "type" in value else "type is missing"
    raise PydanticCustomError("element", what, {"got": kind(element_type), "remedy": hint})


ElementSpec: TypeAlias = Annotated[
    Annotated[SpringDamperSpec, Tag("<spring_damper>")]
    | Annotated[TorsionSpringSpec, Tag("<torsion_spring>")]
    | Annotated[FrictionSpec, Tag("<friction>")]
    | Annotated[TransmissionSpec, Tag("<transmission>")]
    | Annotated[ForceSpec, Tag("<force>")]
    | Annotated[MomentSpec, Tag("<moment>")],
    Discriminator(_element_tag),
    BeforeValidator(_known_element),
]


class CoordinateSpec(Words):
    """An independent coordinate: of a joint, of a point along a direction, or a distance."""

    joint: DottedName | None = Field(default=None, description="joint, or joint.coordinate")
    point: BodyPoint | None = Field(default=None, description="body.point")
    along: DirectionRef | None = Field(default=None, description="direction, with point")
    distance: BodyPoints | None = Field(default=None, description="two points")
    force: str | None = Field(default=None, description="name of what does work on it")
    held: bool = Field(default=False, description="stands still in every motion")
    source: str = ""
