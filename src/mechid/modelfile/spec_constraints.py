"""Words for constraints besides joints: couplings of joint coordinates, distances of points."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mechid.modelfile.quantities import Length
from mechid.modelfile.spec_elements import BodyPoints, by_type
from mechid.textfile.words import DottedName, Scalar, Words, two


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


_SPECS: dict[str, type[Words]] = {"coupling": CouplingSpec, "distance": DistanceSpec}
ConstraintSpec: Any = by_type(_SPECS, "constraint")
