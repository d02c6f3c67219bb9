"""The model file as Pydantic models: the same words in YAML, in Python and in the JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, ValidationError

from mechid.errors import ModelError
from mechid.modelfile.quantities import Lengths
from mechid.modelfile.spec_bodies import BodySpec
from mechid.modelfile.spec_constraints import ConstraintSpec
from mechid.modelfile.spec_elements import CoordinateSpec, ElementSpec
from mechid.modelfile.spec_geometry import DirectionRef, FrameSpec, Gravity, PointRef
from mechid.modelfile.spec_joints import BaseSpec, DenavitHartenbergRow, JointSpec
from mechid.modelfile.units import SI, Units, UnitsSpec
from mechid.textfile.formats import check_text_format
from mechid.textfile.parse import parsed, schema_of
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


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the model file."""
    return schema_of(Document, "mechid model file")


def validate(data: dict[str, Any]) -> Document:
    """Return the document of plain data; the first mistake becomes a `ModelError`."""
    if "mechid" not in data:
        raise ModelError("mechid is missing", path=(), remedy="start the file with mechid: 1")
    check_text_format(data, "mechid", "model file", FORMAT_VERSION)
    try:
        units = Units.of(UnitsSpec.model_validate(data.get("units", {})))
    except ValidationError:
        units = SI  # the document is refused below, with the place of the mistake
    return parsed(Document, data, {"units": units})


def plain(value: Any) -> Any:
    """Return Python words (tuples, arrays, Pydantic objects) as plain data."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        names = [name for name in fields if name in value.model_fields_set]
        if isinstance(value, FrameSpec):  # the order of its axes has a meaning
            names = [n for n in names if n not in ("x", "y", "z")] + list(value.axes)
        return {fields[name].alias or name: plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {_alias(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


def _alias(key: Any) -> Any:
    return {"in_": "in", "from_": "from"}.get(key, key)
