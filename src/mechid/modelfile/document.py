"""The model file as Pydantic models: the same words in YAML, in Python and in the JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from mechid.modelfile.quantities import Lengths
from mechid.modelfile.spec_bodies import BodySpec
from mechid.modelfile.spec_constraints import ConstraintSpec
from mechid.modelfile.spec_elements import CoordinateSpec, ElementSpec
from mechid.modelfile.spec_geometry import DirectionRef, Gravity, PointRef
from mechid.modelfile.spec_joints import BaseSpec, DenavitHartenbergRow, JointSpec
from mechid.modelfile.units import UnitsSpec
from mechid.textfile.words import (
    DottedName,
    Name,
    ParameterName,
    Scalar,
    Vector,
    Words,
    kind,
)

FORMAT_VERSION = 1


class ParameterSpec(Words):
    """A named number with its unit and source."""

    value: Scalar
    unit: str = Field(default="", description="for information; values are SI")
    source: str = ""


Parameter: TypeAlias = Annotated[
    Annotated[Scalar, Tag("<number>")] | Annotated[ParameterSpec, Tag("<mapping>")],
    Discriminator(lambda v: "<mapping>" if isinstance(v, dict | ParameterSpec) else "<number>"),
]


class MirrorPlane(Words):
    """A plane to mirror across."""

    point: Lengths = (0, 0, 0)
    normal: Vector


def _known_mirror(value: Any) -> Any:
    if isinstance(value, dict | MirrorPlane) or value in ("x", "y", "z"):
        return value
    raise ValueError(f"expected x, y, z or {{point, normal}}, got {kind(value)}")


def _mirror_tag(value: Any) -> str:
    return "<axis>" if isinstance(value, str) else "<plane>"


class Use(Words):
    """One copy of a subassembly."""

    subassembly: Name
    prefix: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    suffix: str = Field(default="", pattern=r"^[A-Za-z0-9_]*$")
    rename: dict[Name, Name] = Field(default={}, description="exact new names")
    mirror: (
        Annotated[
            Annotated[Literal["x", "y", "z"], Tag("<axis>")]
            | Annotated[MirrorPlane, Tag("<plane>")],
            Discriminator(_mirror_tag),
            BeforeValidator(_known_mirror),
        ]
        | None
    ) = Field(default=None, description="plane normal to an axis, or {point, normal}")
    parameters: dict[ParameterName, Parameter] = Field(default={}, description="other values")
    source: str = ""


class Parts(Words):
    """What both a file and a subassembly hold."""

    parameters: dict[ParameterName, Parameter] = Field(default={}, description="named numbers")
    points: dict[Name, PointRef] = Field(default={}, description="named points")
    directions: dict[Name, DirectionRef] = Field(default={}, description="named directions")
    bodies: dict[Name, BodySpec] = Field(default={}, description="moving bodies")
    joints: dict[Name, JointSpec] = Field(default={}, description="joints")
    constraints: dict[Name, ConstraintSpec] = Field(
        default={}, description="couplings of joint coordinates, distances of points"
    )
    elements: dict[Name, ElementSpec] = Field(default={}, description="force elements")
    coordinates: dict[DottedName, CoordinateSpec] = Field(
        default={}, description="independent coordinates, in order"
    )
    use: dict[Name, Use] = Field(default={}, description="copies of subassemblies")


class Subassembly(Parts):
    """Parts that are used several times, or mirrored."""


class StartSpec(Words):
    """Initial state of independent coordinates."""

    positions: dict[DottedName, Scalar] = Field(default={}, description="values, m or rad")
    speeds: dict[DottedName, Scalar] = Field(default={}, description="speeds, m/s or rad/s")


class BaseSetSpec(Words):
    """A named choice of dependent parameters."""

    dependent: list[Name] = Field(description="dependent parameters")
    source: str = ""


class OrderSpec(Words):
    """Names that come first, in this order; the others follow as written."""

    parameters: list[Name] = Field(default=[])
    points: list[Name] = Field(default=[])
    bodies: list[Name] = Field(default=[])
    joints: list[Name] = Field(default=[])
    constraints: list[Name] = Field(default=[])
    elements: list[Name] = Field(default=[])
    coordinates: list[DottedName] = Field(default=[])


class Document(Parts):
    """A mechanism: bodies, joints, force elements and independent coordinates. SI units."""

    mechid: Literal[1] = Field(description="version of the format")
    name: Name = Field(description="identifier of the mechanism")
    title: str = ""
    source: str = Field(default="", description="where the numbers come from")
    units: UnitsSpec = Field(default=UnitsSpec(), description="of all numbers; default SI")
    include: str | list[str] = Field(
        default=[], description="files that this one is merged over, relative to it"
    )
    gravity: Gravity = Field(
        default=(0, 0, -9.81), description="m/s², ground frame; a direction; or its mounting"
    )
    base: BaseSpec | None = Field(default=None, description="a moving base; default: the ground")
    cut: list[Name] | None = Field(default=None, description="joints to cut; default: automatic")
    start: StartSpec = Field(default=StartSpec(), description="initial state")
    subassemblies: dict[Name, Subassembly] = Field(default={}, description="repeated parts")
    order: OrderSpec = Field(default=OrderSpec(), description="order of entries")
    base_sets: dict[Name, BaseSetSpec] = Field(
        default={}, description="named choices of dependent parameters"
    )
    variants: dict[str, dict[str, Any]] = Field(default={}, description="named changes to the file")
    denavit_hartenberg: list[DenavitHartenbergRow] = Field(
        default=[], description="modified Denavit-Hartenberg table"
    )
