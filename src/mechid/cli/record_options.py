"""Options of a command from a record of the library: the same words and the same defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

F = TypeVar("F", bound=Callable[..., Any])


def given(**words: Any) -> dict[str, Any]:
    """Return the options that were given on the command line, by the names of the library."""
    return {k: v for k, v in words.items() if v is not None and v is not False and v != []}


def with_option_names(line: str) -> str:
    """Return a message with options as the command line writes them: --cad-error for cad_error."""
    from mechid import options as o

    records = (
        o.ExciteOptions,
        o.IdentifyOptions,
        o.ImportOptions,
        o.ReduceOptions,
        o.SynthesiseOptions,
    )
    names = {f.name for record in records for f in fields(record) if "_" in f.name}
    pattern = rf"(?<![\w/.-])({'|'.join(sorted(names))})(?![\w.])"
    return re.sub(pattern, lambda m: f"--{m[1].replace('_', '-')}", line)


def record_options(record: type, table: Mapping[str, Any]) -> Callable[[F], F]:
    """Return a decorator: `**words` of a command become options for fields of a record.

    Parameters
    ----------
    record : type
        A dataclass of options; its defaults are shown.
    table : mapping field → typer.Option
        Help, bounds, and names where they are not that of the field. What is not given on the
        command line is None.
    """
    kinds = get_type_hints(record)
    known = {f.name: f for f in fields(record)}

    def made(function: F) -> F:
        signature = inspect.signature(function, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        own = [p.replace(kind=p.KEYWORD_ONLY) for p in own]
        more = []
        for name, option in table.items():
            option.show_default = _shown(known[name])
            if float in (kinds[name], *get_args(kinds[name])):
                option.metavar = "<number>"
            parsed: Any = _kind(kinds[name]) | None
            kind = Annotated[parsed, option]
            more.append(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
                )
            )
        command: Any = function
        command.__signature__ = signature.replace(parameters=[*more, *own])
        command.__annotations__ = {p.name: p.annotation for p in (*own, *more)}
        return function

    return made


def _kind(kind: Any) -> Any:
    """Return the type that the command line parses; the library reads "5%" and lists itself."""
    parts = set(get_args(kind)) | {kind}
    if get_origin(kind) is Literal or bool in parts:
        return kind
    if int in parts and float not in parts:
        return int
    return list[str] if _many(kind) else str


def _many(kind: Any) -> bool:
    """Return whether an option may be repeated."""
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and (
        issubclass(origin, Mapping) or origin.__name__ == "NoiseLevels"
    )


def _shown(known: Field[Any]) -> str | bool:
    value = known.default
    if value is MISSING or value is None or value == () or not value:
        return False
    return "yes" if value is True else str(value)
