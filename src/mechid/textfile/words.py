"""The smallest words of the format: names, numbers, vectors, and the base of every record."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, Protocol, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from mechid.textfile import expressions

_SHOWN = 60  # characters of a value in a message
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_DIRECTION = re.compile(rf"-?{_NAME.pattern}(\.[xyz])?")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """Return 'did you mean …?' if something known is spelled like `wrong`, else ''."""
    near = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ""


class Words(BaseModel):
    """Base of the records of the format: unknown keys are an error that suggests the right one."""

    # (Built when it is used: of most files only the outermost is.)
    model_config = ConfigDict(defer_build=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            needed = [
                field.alias or name
                for name, field in cls.model_fields.items()
                if field.is_required()
            ]
            shown = ", ".join(f"{key}: …" for key in needed)
            remedy = f"write {{{shown}}}" if needed else ""
            raise PydanticCustomError(
                "mapping", "expected a mapping, got {got}", {"got": kind(data), "remedy": remedy}
            )
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for key in data:
            if key not in known and key not in cls.model_fields:
                listed = f"choose one of: {', '.join(sorted(known))}"
                remedy = suggestion(str(key), known) or listed
                shown = str(key) if str(key).strip() else kind(str(key))
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {shown}",
                    {"shown": shown, "key": str(key), "remedy": remedy},
                )
        return data


def hint(wrong: str, known: Iterable[str], none: str = "") -> str:
    """Return a suggestion, or what is known, or `none` if nothing is."""
    known = list(known)
    listed = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return suggestion(wrong, known) or (f"choose one of: {listed}" if known else none)


def kind(value: object) -> str:
    """Say in the words of the format what a value is."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return f"a list of {len(value)}"
        case str():
            return f'"{_shortened(value)}"'
    return _shortened(str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a name, got {kind(value)}")
    if not _NAME.fullmatch(value):
        raise ValueError(
            f'"{value}" is not a name; write a letter or underscore, then letters, digits, '
            "underscores or hyphens"
        )
    return value


def _dotted(value: object) -> str:
    if isinstance(value, str) and all(map(_NAME.fullmatch, value.split(".", 1))):
        return value
    return _name(value)


def _parameter(value: object) -> str:
    if not isinstance(value, str) or not _PARAMETER.fullmatch(value):
        raise ValueError(
            f"{kind(value)} is not a parameter name; write a letter or underscore, then "
            "letters, digits or underscores"
        )
    if value in expressions.RESERVED:
        raise ValueError(f"{value} has a fixed meaning in expressions; choose another name")
    return value


def _direction_word(value: object) -> str:
    if isinstance(value, str) and _DIRECTION.fullmatch(value):
        return value
    raise ValueError(f"{kind(value)} is not a direction; write a name, x, -y or body.z")


def _number(value: object) -> float | str:
    if isinstance(value, str):
        expressions.parse(value)
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"expected a number or an expression, got {kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, got {number}; omit it if unknown")
    return int(value) if isinstance(value, int) else number


class UnitSystem(Protocol):
    """Units in which the numbers of a file are given; the context of its validation holds them."""

    def convert(self, scalar: float | str, unit: str) -> float | str:
        """Return a scalar as written, in this SI unit."""

    def scale(self, scalar: float | str, unit: str) -> float | str:
        """Return a scalar that was converted as a plain number, in this SI unit."""


def units_of(info: ValidationInfo) -> UnitSystem | None:
    """Return the units of the file that is being validated, if it declares any."""
    units: UnitSystem | None = (info.context or {}).get("units")
    return units


@dataclass(frozen=True)
class Quantity:
    """Marks a number or an expression with its SI unit; `spread` allows a share in % too."""

    unit: str = ""
    spread: bool = False

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return the check, which knows the units of the file."""
        return core_schema.with_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return what a schema says of it."""
        words = "number, expression or angle with unit"
        return {
            "anyOf": [{"type": "number"}, {"type": "string"}],
            "description": "standard deviation: 0.002, or 5 %" if self.spread else words,
        }

    def _checked(self, value: object, info: ValidationInfo) -> float | str:
        if self.spread and isinstance(value, str) and value.strip().endswith("%"):
            expressions.parse(value.strip()[:-1])
            return value.strip()
        number, units = _number(value), units_of(info)
        return number if units is None else units.convert(number, self.unit)


def two(value: object) -> object:
    """Check that a value is a list of two."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return value
    raise ValueError(f"expected a list of two, got {kind(value)}; write [a, b]")


def _three(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) == 3:
        return value
    raise ValueError(f"expected three numbers, got {kind(value)}; write [x, y, z]")


_NAME_SCHEMA = {"type": "string", "pattern": f"^{_NAME.pattern}$"}

Scalar: TypeAlias = Annotated[Any, Quantity()]
Spread: TypeAlias = Annotated[Any, Quantity(spread=True)]
Name: TypeAlias = Annotated[str, PlainValidator(_name), WithJsonSchema(_NAME_SCHEMA)]
ParameterName: TypeAlias = Annotated[
    str,
    PlainValidator(_parameter),
    WithJsonSchema({"type": "string", "pattern": f"^{_PARAMETER.pattern}$"}),
]
DottedName: TypeAlias = Annotated[
    str,
    PlainValidator(_dotted),
    WithJsonSchema({"type": "string", "pattern": rf"^{_NAME.pattern}(\.{_NAME.pattern})?$"}),
]
DirectionWord: TypeAlias = Annotated[
    str,
    PlainValidator(_direction_word),
    WithJsonSchema({"type": "string", "pattern": f"^{_DIRECTION.pattern}$"}),
]
three = BeforeValidator(_three)
Vector: TypeAlias = Annotated[tuple[Scalar, Scalar, Scalar], three]
Matrix: TypeAlias = Annotated[tuple[Vector, Vector, Vector], three]
