"""The one way to write options down: for files, and as people write them.

`to_words` and `from_words` are for files; `changed` also takes "5 %", "arm=3.4±0.05", "a,b".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from mechid.errors import DataError
from mechid.options.identify import Standstill, standstill
from mechid.options.noise import NoiseLevels
from mechid.options.reduce import ReduceOptions
from mechid.options.weighing import Weighing, weighings
from mechid.textfile.numbers import named, share

Record = TypeVar("Record")


def to_words(options: Any) -> dict[str, Any]:
    """Return a record of options as JSON knows it."""
    found: dict[str, Any] = _finite(msgspec.to_builtins(options))
    return found


def from_words(kind: type[Record], words: Any, where: str = "options") -> Record:
    """Return the record of options that `to_words` wrote; `where` is for messages.

    Raises
    ------
    DataError
        Naming the entry that is wrong.
    """
    try:
        return msgspec.convert(words, kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise DataError(
            what[0].lower() + what[1:], where=f"{where}{place.removesuffix('`')}"
        ) from None


def step_options(kind: type[Record], options: Any, words: Mapping[str, Any]) -> Record:
    """Return the options of a step, given as a record and as keywords.

    Raises
    ------
    DataError
        If the record is of another kind; else as `changed`.
    """
    if not isinstance(options, kind):
        raise DataError(
            f"options must be {kind.__name__}, got {type(options).__name__}",
            remedy="give single options by name",
        )
    return changed(options, words)


def changed(options: Record, words: Mapping[str, Any]) -> Record:
    """Return options with some of them given as people write them: text, numbers, records.

    The others are read and checked in the same way, so that records may be made with such words.

    Raises
    ------
    DataError
        For an option that does not exist, or a value that does not suit it.
    """
    kinds = get_type_hints(type(options))
    known = [f.name for f in fields(options)]  # type: ignore[arg-type]
    if unknown := [name for name in words if name not in known]:
        from mechid.textfile.words import hint

        raise DataError(f"there is no option {unknown[0]}", remedy=hint(unknown[0], known))
    values = {name: getattr(options, name) for name in known} | dict(words)
    values = {name: option_value(value, kinds[name], name) for name, value in values.items()}
    return replace(options, **values)  # type: ignore[type-var]


def option_value(value: Any, kind: Any, name: str) -> Any:
    """Return the value of an option of a type, given as people write it.

    Raises
    ------
    DataError
        If the value does not suit the option.
    """
    found = converted(_read(value, kind, name), kind, name)
    _check_sign(found, name)
    return found


def _read(value: Any, kind: Any, name: str) -> Any:
    """Return a value that may be text, of NumPy or a shorthand as the type has it."""
    value = _without_numpy(value)
    if kind in _READERS and value is not None:
        return _READERS[kind](value, name)
    if not isinstance(value, str):
        return value
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if float in kinds:
        return share(value, name)
    if int in kinds and value.strip().isdecimal():
        if len(value) > _DIGITS:
            raise DataError(f"{name} must have at most {_DIGITS} digits, got {len(value)}")
        return int(value)
    if any(get_origin(k) is tuple for k in kinds):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _without_numpy(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _without_numpy(entry) for key, entry in value.items()}
    return [_without_numpy(x) for x in value] if isinstance(value, list | tuple) else value


def converted(value: Any, kind: Any, name: str) -> Any:
    """Return a value of a type, or say what is expected.

    Raises
    ------
    DataError
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise DataError(f"{name} must be {_expected(kind)}, got {value!r}") from None


def _check_sign(value: Any, name: str) -> None:
    """Reject numbers below those that make sense."""
    if not isinstance(value, int | float):
        return
    if name in _POSITIVE and not 0 < value < float("inf"):
        raise DataError(f"{name} must be > 0, got {value:g}")
    if name in _NOT_NEGATIVE and not 0 <= value < float("inf"):
        raise DataError(f"{name} must be ≥ 0, got {value:g}")


def _expected(kind: Any) -> str:
    """Say what values a type has."""
    if get_origin(kind) in (Union, UnionType):
        parts = [_expected(part) for part in get_args(kind) if part is not NoneType]
        return " or ".join([*parts, *(["None"] if NoneType in get_args(kind) else [])])
    if get_origin(kind) is Literal:
        return f"one of: {', '.join(map(str, get_args(kind)))}"
    if get_origin(kind) is tuple:
        return "a list"
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        return "a mapping"
    words = {float: "a number", int: "an integer", str: "text", bool: "True or False"}
    return words.get(kind, getattr(kind, "__name__", str(kind)))


def _finite(value: Any) -> Any:
    """Return a value as JSON knows it: numbers that are none as None."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _reduction(given: Any, name: str) -> Any:
    """Return how to reduce: an order of elimination, True for the default, or a record."""
    if isinstance(given, str):
        return changed(ReduceOptions(), {"by": given})
    return (ReduceOptions() if given else None) if isinstance(given, bool) else given


def _texts(given: Any, name: str) -> Any:
    """Return texts by name, as `changed` reads them: a mapping, or NAME=TEXT once or several."""
    given = [given] if isinstance(given, str) else given
    return named([str(x) for x in given], name, "q1=deg") if isinstance(given, list) else given


# Types of options that people write in their own way.
_READERS: Mapping[Any, Callable[[Any, str], Any]] = MappingProxyType(
    {
        NoiseLevels: NoiseLevels.read,
        NoiseLevels | None: NoiseLevels.read,
        tuple[Weighing, ...]: weighings,
        Mapping[str, str]: _texts,
        ReduceOptions | None: _reduction,
        Standstill: standstill,
    }
)
_DIGITS = 18  # of an integer: 64 bits hold them
_POSITIVE = (
    "period", "cutoff", "decimation", "max_seconds", "frequency", "hum_frequency", "stribeck_speed",
    "hysteresis_width", "outlier_size",
)  # fmt: skip
_NOT_NEGATIVE = ("cad_error", "seed")
