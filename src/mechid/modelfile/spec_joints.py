"""Words for joints and for the rows of a Denavit-Hartenberg table."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from mechid.mechanism.joint_kinds import JOINT_KINDS, JointType
from mechid.mechanism.records import GROUND
from mechid.modelfile.quantities import Angle, Length
from mechid.modelfile.spec_elements import RotorSpec
from mechid.modelfile.spec_geometry import (
    DirectionOrPair,
    DirectionPair,
    JointFrameSpec,
    PointOrPair,
)
from mechid.textfile.words import Name, Scalar, Words, kind, suggestion, two, units_of

_LETTERS = {k.letter: name for name, k in JOINT_KINDS.items()}


def _joint_type(value: Any) -> Any:
    if isinstance(value, str):
        value = _LETTERS.get(value, value)
        if value in JOINT_KINDS:
            return value
    hint = suggestion(str(value), JOINT_KINDS) or f"choose one of: {', '.join(JOINT_KINDS)}"
    raise ValueError(f"unknown joint type {kind(value)}; {hint}")


def _range(value: Any) -> Any:
    if isinstance(value, list | tuple) and len(value) == 2:
        return value
    raise ValueError(f"expected [lower, upper], got {kind(value)}")


Range: TypeAlias = Annotated[tuple[Scalar | None, Scalar | None], BeforeValidator(_range)]


def _scaled(limits: Any, unit: str, info: ValidationInfo) -> Any:
    """Return a range, of a coordinate with this unit, in SI."""
    if limits is None or (units := units_of(info)) is None:
        return limits
    return tuple(None if x is None else units.scale(x, unit) for x in limits)


def _ranges_tag(value: Any) -> str:
    several = isinstance(value, list | tuple) and any(isinstance(v, list | tuple) for v in value)
    return "<several>" if several else "<one>"


class JointSpec(Words):
    """A joint between two bodies."""

    type: Annotated[
        JointType,
        BeforeValidator(_joint_type),
        WithJsonSchema({"enum": [*JOINT_KINDS], "type": "string"}),
    ]
    between: Annotated[tuple[Name, Name], BeforeValidator(two)] = Field(description="a and b")
    at: PointOrPair | None = Field(default=None, description="shared point, or [on a, on b]")
    axis: DirectionOrPair | None = Field(default=None, description="shared, or [fixed in a, in b]")
    axes: DirectionPair | None = Field(default=None, description="universal: [fixed in a, in b]")
    zero: DirectionPair | None = Field(default=None, description="they meet at angle zero")
    pitch: Length | None = Field(default=None, description="helical: advance per turn, m")
    limits: (
        Annotated[
            Annotated[Range, Tag("<one>")] | Annotated[list[Range | None], Tag("<several>")],
            Discriminator(_ranges_tag),
        ]
        | None
    ) = Field(default=None, description="[lower, upper] of the coordinate, or one per coordinate")
    rotor: RotorSpec | None = Field(default=None, description="motor behind a gear, on the joint")
    hidden: bool = Field(default=False, description="do not draw it")
    frames: Annotated[tuple[JointFrameSpec, JointFrameSpec], BeforeValidator(two)] | None = Field(
        default=None,
        description="the two joint frames, instead of at, axis, axes, zero",
    )
    source: str = ""

    @model_validator(mode="after")
    def _limits_in_si(self, info: ValidationInfo) -> JointSpec:
        units = JOINT_KINDS[self.type].units
        if isinstance(self.limits, list):
            pairs = zip(
                self.limits, units, strict=False
            )  # another number of them is an error later
            some = [_scaled(limits, unit, info) for limits, unit in pairs]
            self.limits = some + self.limits[len(some) :]
        elif units:
            self.limits = _scaled(self.limits, units[0], info)
        return self


class BaseSpec(JointSpec):
    """A body that everything stands on instead of the ground, and the joint that carries it."""

    type: Annotated[JointType, BeforeValidator(_joint_type)] = "free"
    between: Annotated[tuple[Name, Name], BeforeValidator(two)] = Field(
        default=(GROUND, "base"), description="ground and the base"
    )
    frame: JointFrameSpec | None = Field(
        default=None, description="both joint frames, such as the axes of a force plate"
    )
    held: bool = Field(default=False, description="it stands still; its forces are measured")
    force: str | None = Field(default=None, description="name of what does work on it")


def _link(value: Any) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value:
        return value
    raise ValueError(f"expected the number of a link or the name of a body, got {kind(value)}")


LinkRef: TypeAlias = Annotated[
    Any,
    PlainValidator(_link),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}),
]


class Transform(Words):
    """Rot(z, γ) Trans(z, b) Rot(x, α) Trans(x, d) Rot(z, θ) Trans(z, r)."""

    gamma: Angle = Field(default=0, description="γ, rad")
    b: Length = Field(default=0, description="m")
    alpha: Angle = Field(default=0, description="α, rad")
    d: Length = Field(default=0, description="m")
    theta: Angle = Field(default=0, description="θ, rad; for a revolute joint its offset")
    r: Length = Field(default=0, description="m; for a prismatic joint its offset")


class DenavitHartenbergRow(Transform):
    """One row of a modified Denavit-Hartenberg table (Khalil's convention)."""

    link: int | None = Field(default=None, description="number of the link that the row adds")
    closes: LinkRef | None = Field(default=None, description="link that a loop ends at")
    antecedent: LinkRef = Field(description="link before it; 0 is the ground")
    type: Literal["R", "P", "X", "revolute", "prismatic", "fixed"]
    body: Name | None = Field(default=None, description="name of the body, default link_j")
    joint: Name | None = Field(default=None, description="name of the joint, default qj")
    at: Scalar = Field(default=0, description="joint variable in the reference pose")
    to: Transform | None = Field(
        default=None, description="with closes: from the row's frame to the link's"
    )
    limits: Range | None = None
    rotor: RotorSpec | None = Field(default=None, description="motor behind a gear, on the joint")
    source: str = ""

    @model_validator(mode="after")
    def _variable_in_si(self, info: ValidationInfo) -> DenavitHartenbergRow:
        unit = "m" if JOINT_KINDS[_joint_type(self.type)].guide else "rad"
        self.limits = _scaled(self.limits, unit, info)
        if (units := units_of(info)) is not None:
            self.at = units.scale(self.at, unit)
        return self
