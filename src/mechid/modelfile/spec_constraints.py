"""Words for constraints besides joints: couplings of joint coordinates, distances of points."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from mechid.modelfile.quantities import Length
from mechid.modelfile.spec_elements import BodyPoints
from mechid.textfile.words import DottedName, Scalar, Words, kind, suggestion, two


class CouplingSpec(Words):
    """A linear relation between joint coordinates: a gear pair, belt, rack, differential."""

    type: Literal["coupling"]
    between: Annotated[tuple[DottedName, DottedName], BeforeValidator(two)] | None = Field(
        default=None, description="[first, second], with ratio: first = ratio * second + constant"
    )
    ratio: Scalar | None = Field(default=None, description="with between")
    coordinates: dict[DottedName, Scalar] | None = Field(
        default=None, description="factors; the sum of factor * coordinate is the constant"
    )
    constant: Scalar | None = Field(
        default=None, description="default: the value in the reference pose"
    )
    source: str = ""


class DistanceSpec(Words):
    """A constant distance between points of two bodies, as of a massless rod."""

    type: Literal["distance"]
    between: BodyPoints = Field(description="two points, body.point")
    length: Length | None = Field(
        default=None, description="m; default: the distance in the reference pose"
    )
    source: str = ""


_CONSTRAINTS: dict[str, type[Words]] = {"coupling": CouplingSpec, "distance": DistanceSpec}


def _tag(value: Any) -> str:
    return f"<{value['type'] if isinstance(value, dict) else value.type}>"


def _known(value: Any) -> Any:
    if isinstance(value, tuple(_CONSTRAINTS.values())):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping, got {kind(value)}")
    given = value.get("type")
    if isinstance(given, str) and given in _CONSTRAINTS:
        return value
    hint = suggestion(str(given), _CONSTRAINTS) or f"choose one of: {', '.join(_CONSTRAINTS)}"
    what = "unknown constraint type {got}" if "type" in value else "type is missing"
    raise PydanticCustomError("constraint", what, {"got": kind(given), "remedy": hint})


ConstraintSpec: TypeAlias = Annotated[
    Annotated[CouplingSpec, Tag("<coupling>")] | Annotated[DistanceSpec, Tag("<distance>")],
    Discriminator(_tag),
    BeforeValidator(_known),
]
