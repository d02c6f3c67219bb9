"""The mapping file as Pydantic models, in the words of the model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from mechid.errors import DataError, ModelError
from mechid.textfile import expressions
from mechid.textfile.expressions import LARGEST
from mechid.textfile.formats import check_text_format
from mechid.textfile.parse import parsed, schema_of
from mechid.textfile.words import Words, kind
from mechid.textfile.yamlio import FileKind, Source, read_file

FORMAT_VERSION = 1
_KIND = FileKind("mapping file", "measurement: 1", "time, positions, forces")


class Angle(float):
    """A number that was written with a unit of its own: rad."""


def _constant(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"expected a number or an expression, got {kind(value)}")
    tree = expressions.parse(value)
    if unknown := sorted(expressions.names(tree)):
        raise ValueError(f"{unknown[0]} is not defined here; write numbers, or expressions of them")
    number = expressions.evaluate(tree, {})
    if not abs(number) <= LARGEST:
        raise ValueError(f"{number:g} is out of range; check it")
    return Angle(number) if isinstance(value, str) and expressions.is_angle(value) else number


def _positive(value: Any) -> float:
    number = _constant(value)
    if number <= 0:
        raise ValueError(f"must be > 0, got {number:g}")
    if number < 1 / LARGEST:
        raise ValueError(f"{number:g} is out of range; check it")
    return number


def _count(value: Any) -> int:
    return _integer(value, least=0)


def _whole(value: Any) -> int:
    return _integer(value, least=1)


def _integer(value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected an integer, got {kind(value)}")
    if value < least:
        raise ValueError(f"must be ≥ {least}, got {value}")
    return value


_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string"}]}
Number: TypeAlias = Annotated[
    float,
    PlainValidator(_constant),
    WithJsonSchema({**_SCHEMA, "description": "number, expression or angle with unit"}),
]
Positive: TypeAlias = Annotated[
    float, PlainValidator(_positive), WithJsonSchema({**_SCHEMA, "description": "positive number"})
]
Count: TypeAlias = Annotated[
    int, PlainValidator(_count), WithJsonSchema({"type": "integer", "minimum": 0})
]

Whole: TypeAlias = Annotated[
    int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 1})
]


class SignalSpec(Words):
    """A quantity made of channels: sign · scale · Σ channels + offset, in its unit."""

    channel: str | None = Field(default=None, description="name of a channel of the log")
    channels: dict[str, Number] | None = Field(
        default=None, description="several channels, each with a factor; their sum is used"
    )
    scale: Number = Field(default=1.0, description="factor of the channel")
    sign: Annotated[Literal[1, -1], BeforeValidator(lambda v: int(v) if v in (1, -1) else v)] = 1
    offset: Number = Field(default=0.0, description="added after scale and sign, in the unit")
    unit: str | None = Field(default=None, description="mm, deg, kN, rpm, N mm, …; default: SI")
    sigma: Positive | None = Field(
        default=None,
        description="standard deviation, in the unit: weights redundant positions, declares the "
        "noise of a force",
    )

    delay: Number = Field(
        default=0.0, description="s by which the channel is late: it is shifted back by that"
    )

    @model_validator(mode="after")
    def _one_source(self) -> SignalSpec:
        if (self.channel is None) == (not self.channels):
            raise ValueError("expected either channel or channels")
        return self

    @property
    def factors(self) -> dict[str, float]:
        """Channels with their factors."""
        return {self.channel: 1.0} if self.channel is not None else dict(self.channels or {})


def _named(value: Any) -> Any:
    return {"channel": value} if isinstance(value, str) else value


class TimeSpec(Words):
    """The channel with the times."""

    channel: str
    unit: str | None = Field(
        default=None, description="s, ms, us, ns; default: by the file, the name, or the values"
    )


class TableSpec(Words):
    """How a text table is written, where the rules of the reader do not tell."""

    separator: Literal["comma", "semicolon", "tab", "space", ",", ";", "\t", " "] | None = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = Field(default=None, description="utf-8, latin-1, utf-16, …")
    header: Whole | None = Field(default=None, description="line of the names, counted from 1")
    units: Count | None = Field(default=None, description="line of the units; 0: there is none")
    names: list[str] | None = Field(default=None, description="of a table without a header")

    @model_validator(mode="after")
    def _one_header(self) -> TableSpec:
        if self.names is not None and (self.header is not None or self.units is not None):
            raise ValueError("names excludes header and units; remove one of them")
        return self


class FileSpec(Words):
    """What holds for one of several files of a log, instead of the entries for all."""

    time: Annotated[TimeSpec | None, BeforeValidator(_named)] = None
    rate: Positive | None = None
    table: TableSpec | None = None
    shift: Number = Field(default=0.0, description="s, added to the times of the file")

    @model_validator(mode="after")
    def _one_clock(self) -> FileSpec:
        if self.time is not None and self.rate is not None:
            raise ValueError("time and rate exclude each other; remove one")
        return self


class PrepareSpec(Words):
    """Where speeds and accelerations come from."""

    method: Literal["auto", "given", "low-pass", "fourier", "spline", "interpolate"] = "auto"
    cutoff: Positive | None = Field(default=None, description="of the low-pass filter, Hz")
    period: Positive | None = Field(default=None, description="of a motion that repeats, s")
    harmonics: Whole | None = Field(default=None, description="of the Fourier series")
    decimation: Whole | None = Field(default=None, description="1: keep all samples")
    ignore_below: dict[str, Positive] = Field(
        default={}, description="speeds below which the forces of a coordinate are ignored"
    )


def _range(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"expected [from, to], got {kind(value)}; null for no bound")
    low, high = (None if v is None else _constant(v) for v in value)
    if low is not None and high is not None and low >= high:
        raise ValueError(
            f"the start must be before the end, got {low:g} and {high:g}; write [from, to]"
        )
    return low, high


Signals: TypeAlias = dict[str, Annotated[SignalSpec, BeforeValidator(_named)]]


class MappingDocument(Words):
    """What the channels of a log are in a model."""

    measurement: Literal[1] = Field(description="version of the format")
    name: str = ""
    time: Annotated[TimeSpec | None, BeforeValidator(_named)] = Field(
        default=None, description="default: a channel time or t, or the times of the file"
    )
    rate: Positive | None = Field(
        default=None, description="samples per second of a log without times"
    )
    range: Annotated[tuple[float | None, float | None] | None, BeforeValidator(_range)] = Field(
        default=None, description="[from, to], s from the start of the log: the part to use"
    )
    positions: Signals = Field(description="independent coordinates, joints, points, distances")
    speeds: Signals = Field(default={}, description="rates of positions")
    accelerations: Signals = Field(default={}, description="rates of speeds")
    forces: Signals = Field(default={}, description="measured forces")
    gaps: Count = Field(
        default=5, description="longest gap in the positions that is interpolated, in samples"
    )
    irregular: Literal["resample", "refuse"] = Field(
        default="resample", description="what to do with times that are not equidistant"
    )
    prepare: PrepareSpec = PrepareSpec()
    table: TableSpec = Field(default=TableSpec(), description="how a text table is written")
    files: list[FileSpec] = Field(
        default=[], description="clocks and tables of the files A, B, … of a log A+B+…"
    )

    @model_validator(mode="after")
    def _consistent(self) -> MappingDocument:
        if not self.positions:
            raise ValueError("positions is missing; list the measured positions there")
        if self.time is not None and self.rate is not None:
            raise ValueError("time and rate exclude each other; remove one")
        for what, signals in (("speeds", self.speeds), ("accelerations", self.accelerations)):
            strange = [name for name in signals if name not in self.positions]
            if strange:
                raise ValueError(f"{what}: {strange[0]} has no position; add it under positions")
        return self


def load_mapping(path: str | Path) -> tuple[MappingDocument, Source]:
    """Return a mapping file, and where its entries stand.

    Raises
    ------
    DataError
        With file, line, entry and remedy.
    """
    try:
        return _validated(*read_file(Path(path), str(path), _KIND))
    except ModelError as error:
        raise data_error(error) from None


def _validated(data: dict[str, Any], source: Source) -> tuple[MappingDocument, Source]:
    try:
        return validate_mapping(data), source
    except ModelError as error:
        raise data_error(source.locate(error)) from None


def validate_mapping(data: dict[str, Any]) -> MappingDocument:
    """Return the document of plain data; the first mistake becomes a `ModelError`."""
    if "measurement" not in data:
        remedy = "start the file with measurement: 1"
        if "mechid" in data:
            remedy = "this is a model file; give it as the model"
        raise ModelError("measurement is missing", path=(), remedy=remedy)
    check_text_format(data, "measurement", "mapping file", FORMAT_VERSION)
    return parsed(MappingDocument, data)


def data_error(error: Exception) -> DataError:
    """Return a mistake in a mapping as a mistake in data."""
    assert isinstance(error, ModelError | DataError)
    return DataError(error.what, where=error.where, remedy=error.remedy)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the mapping file."""
    return schema_of(MappingDocument, "mechid mapping file")
