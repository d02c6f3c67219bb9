"""The trajectory file as Pydantic models, in the words of the model file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mechid.errors import ModelError
from mechid.textfile.formats import check_text_format
from mechid.textfile.parse import parsed, schema_of
from mechid.textfile.words import DottedName, ParameterName, Scalar, Words

FORMAT_VERSION = 1


class FourierSpec(Words):
    """Finite Fourier series: offset + Σ a_j/(ωj) sin(ωjt) - b_j/(ωj) cos(ωjt), ω = 2π frequency."""

    frequency: Scalar = Field(description="base frequency, Hz")
    offset: Scalar = Field(default=0, description="A0, m or rad")
    a: list[Scalar] = Field(description="amplitudes of the speed, m/s or rad/s")
    b: list[Scalar] = Field(description="amplitudes of the speed, m/s or rad/s")


class BSplineSpec(Words):
    """Spline on uniform knots."""

    values: list[Scalar] = Field(description="control values, m or rad")
    degree: int = 5
    ends: Literal["periodic", "rest", "free"] = "periodic"
    length: Scalar | None = Field(default=None, description="s; default: the duration")


class SineSpec(Words):
    """offset + amplitude sin(2π frequency t + phase)."""

    amplitude: Scalar
    frequency: Scalar = Field(description="Hz")
    phase: Scalar = Field(default=0, description="rad")
    offset: Scalar = 0


class ChirpSpec(Words):
    """Sine whose frequency changes linearly from the first to the second one."""

    amplitude: Scalar
    start_frequency: Scalar = Field(description="Hz, at the start")
    end_frequency: Scalar = Field(description="Hz, at the end of its length")
    length: Scalar | None = Field(default=None, description="s; default: the duration")
    phase: Scalar = Field(default=0, description="rad")
    offset: Scalar = 0


class ExpressionSpec(Words):
    """Expression of the time t and of parameters."""

    text: str
    parameters: dict[ParameterName, Scalar] = Field(default={}, description="values of its own")
    period: Scalar | None = Field(default=None, description="s, if it repeats")


class TableSpec(Words):
    """Samples: a column of a table, or written out."""

    file: str | None = Field(default=None, description="CSV or Parquet, beside this file")
    column: str | None = Field(default=None, description="default: the name of the coordinate")
    time: list[Scalar] | None = Field(default=None, description="s")
    positions: list[Scalar] | None = Field(default=None, description="m or rad")
    speeds: list[Scalar] | None = None
    accelerations: list[Scalar] | None = None
    periodic: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> TableSpec:
        written = self.time is not None and self.positions is not None
        rest = (self.time, self.positions, self.speeds, self.accelerations)
        if (self.file is None and not written) or (
            self.file is not None and any(x is not None for x in rest)
        ):
            raise ValueError("a table needs either file, or time and positions")
        if self.file is None and self.column is not None:
            raise ValueError("column needs a file")
        return self


def _expression(value: Any) -> Any:
    return {"text": str(value)} if isinstance(value, str | int | float) else value


class ScaledSpec(Words):
    """A given signal times a factor that may be designed."""

    signal: FamilySpec
    factor: Scalar = 1


class FamilySpec(Words):
    """How one coordinate moves: one of these."""

    fourier: FourierSpec | None = None
    bspline: BSplineSpec | None = None
    sine: SineSpec | None = None
    chirp: ChirpSpec | None = None
    constant: Scalar | None = Field(default=None, description="m or rad")
    expression: Annotated[ExpressionSpec | None, BeforeValidator(_expression)] = None
    table: TableSpec | None = None
    sum: list[FamilySpec] | None = None
    scaled: ScaledSpec | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> FamilySpec:
        if len(self.model_fields_set) != 1:
            said = " and ".join(sorted(self.model_fields_set)) or "nothing"
            raise PydanticCustomError(
                "element",
                "expected one kind of motion, got {said}",
                {"said": said, "remedy": f"choose one of: {', '.join(FamilySpec.model_fields)}"},
            )
        (said,) = self.model_fields_set
        if getattr(self, said) is None:
            raise ValueError(f"{said} is empty; define how the coordinate moves")
        return self


class TrajectoryDocument(Words):
    """A motion of all independent coordinates of a mechanism. SI units."""

    trajectory: Literal[1] = Field(description="version of the format")
    name: str = ""
    duration: Scalar = Field(description="s")
    rate: Scalar | None = Field(default=None, description="samples per second; default: enough")
    parameters: dict[ParameterName, Scalar] = Field(default={}, description="named numbers")
    coordinates: dict[DottedName, FamilySpec] = Field(description="how each coordinate moves")


def validate_trajectory(data: dict[str, Any]) -> TrajectoryDocument:
    """Return the document of plain data; the first mistake becomes a `ModelError`."""
    if "trajectory" not in data:
        remedy = "start the file with trajectory: 1"
        if "mechid" in data:
            remedy = "this is a model file; give it as the model"
        raise ModelError("trajectory is missing", path=(), remedy=remedy)
    check_text_format(data, "trajectory", "trajectory file", FORMAT_VERSION)
    return parsed(TrajectoryDocument, data)


def trajectory_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the trajectory file."""
    return schema_of(TrajectoryDocument, "mechid trajectory file")
