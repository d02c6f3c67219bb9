"""Words for bodies: inertia, its uncertainty, and shapes to draw."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from mechid.modelfile.quantities import (
    Inertia,
    InertiaSpread,
    Length,
    Lengths,
    LengthSpread,
    Mass,
    MassSpread,
)
from mechid.modelfile.spec_geometry import DirectionRef, FrameSpec, TurnSpec
from mechid.textfile.words import Name, Words


class GroundVector(Words):
    """A place in ground coordinates, in the reference pose."""

    ground: Lengths


def _center_tag(value: Any) -> str:
    return "<ground>" if isinstance(value, dict | GroundVector) else "<vector>"


ShapePoint: TypeAlias = Annotated[
    Annotated[Name, Tag("<name>")] | Annotated[Lengths, Tag("<vector>")],
    Discriminator(lambda value: "<name>" if isinstance(value, str) else "<vector>"),
]


class PointMassSpec(Words):
    """A mass concentrated in a point of a body."""

    mass: Mass = Field(description="kg")
    at: ShapePoint = Field(description="named point, or coordinates in the body frame, m")


class InertiaSpec(Words):
    """The inertia tensor, Ixy = -∫xy dm."""

    about: ShapePoint = Field(
        default="center",
        description="pole of the tensor: center, origin, a named point, or coordinates in the body",
    )
    axes: (
        Annotated[
            Annotated[Name, Tag("<name>")] | Annotated[TurnSpec, Tag("<turn>")],
            Discriminator(lambda value: "<name>" if isinstance(value, str) else "<turn>"),
        ]
        | None
    ) = Field(
        default=None,
        description="axes of the tensor: a body or ground, rpy, or rotation; default the body's",
    )
    xx: Inertia = Field(description="kg m²")
    yy: Inertia = Field(description="kg m²")
    zz: Inertia = Field(description="kg m²")
    xy: Inertia = 0
    xz: Inertia = 0
    yz: Inertia = 0
    allow_nonphysical: bool = Field(
        default=False, description="accept published numbers that are not physically consistent"
    )


class SixSpreads(Words):
    """Standard deviations of the six components of the central inertia."""

    xx: InertiaSpread = 0
    xy: InertiaSpread = 0
    xz: InertiaSpread = 0
    yy: InertiaSpread = 0
    yz: InertiaSpread = 0
    zz: InertiaSpread = 0


def _list_tag(value: Any) -> str:
    return "<three>" if isinstance(value, list | tuple) else "<one>"


def _mapping_tag(value: Any) -> str:
    return "<six>" if isinstance(value, dict | SixSpreads) else "<one>"


class UncertaintySpec(Words):
    """Standard deviations of mass, centre and central inertia: absolute, or in % of the value."""

    mass: MassSpread = 0
    center: Annotated[
        Annotated[LengthSpread, Tag("<one>")]
        | Annotated[tuple[LengthSpread, LengthSpread, LengthSpread], Tag("<three>")],
        Discriminator(_list_tag),
    ] = 0
    inertia: Annotated[
        Annotated[InertiaSpread, Tag("<one>")] | Annotated[SixSpreads, Tag("<six>")],
        Discriminator(_mapping_tag),
    ] = 0


class WheelSpec(Words):
    """A disc: centre, axis, radius and width."""

    center: ShapePoint
    axis: DirectionRef
    radius: Length
    width: Length


class BoxSpec(Words):
    """A box along the body axes: centre and three edge lengths."""

    center: ShapePoint
    size: Lengths


class CylinderSpec(Words):
    """A cylinder between two points."""

    from_: ShapePoint = Field(alias="from")
    to: ShapePoint
    radius: Length


class SphereSpec(Words):
    """A ball."""

    center: ShapePoint
    radius: Length


class ShapeSpec(Words):
    """One drawing hint: exactly one of the four."""

    wheel: WheelSpec | None = None
    box: BoxSpec | None = None
    cylinder: CylinderSpec | None = None
    sphere: SphereSpec | None = None

    @model_validator(mode="after")
    def _one(self) -> ShapeSpec:
        if len([v for v in (self.wheel, self.box, self.cylinder, self.sphere) if v]) != 1:
            raise ValueError("a shape is exactly one of wheel, box, cylinder, sphere")
        return self


class BodySpec(Words):
    """A moving body."""

    frame: FrameSpec | None = Field(default=None, description="body frame in the reference pose")
    mass: Mass | None = Field(default=None, description="kg")
    center: (
        Annotated[
            Annotated[Lengths, Tag("<vector>")] | Annotated[GroundVector, Tag("<ground>")],
            Discriminator(_center_tag),
        ]
        | None
    ) = Field(default=None, description="centre of mass in the body frame, m; default the origin")
    inertia: InertiaSpec | None = None
    point_masses: list[PointMassSpec] = Field(default=[], description="added to mass and inertia")
    uncertainty: UncertaintySpec | None = None
    massless: bool = Field(default=False, description="declares that the body has no inertia")
    points: list[Name] = Field(default=[], description="further points that belong to the body")
    color: str | None = None
    shapes: list[ShapeSpec] = Field(default=[], description="drawing hints")
    source: str = ""
