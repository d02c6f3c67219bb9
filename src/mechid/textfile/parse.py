"""From plain data to a record, and to its schema, with one clear message for a mistake."""

from __future__ import annotations

from types import NoneType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mechid.errors import ModelError
from mechid.textfile.words import kind

M = TypeVar("M", bound=BaseModel)


def parsed(kind_of: type[M], data: dict[str, Any], context: dict[str, Any] | None = None) -> M:
    """Return the record of plain data; the first mistake becomes a `ModelError`.

    `context` is what the checks of fields may ask for, such as the units of the file.
    """
    try:
        return kind_of.model_validate(data, context=context)
    except ValidationError as error:
        raise model_error(error.errors(include_url=False)[0]) from None


def model_error(error: ErrorDetails) -> ModelError:
    """Return one mistake that Pydantic found, in the words of the format and with its path."""
    path = tuple(
        part for part in error["loc"] if not (isinstance(part, str) and part[:1] in ("<", "["))
    )
    context = error.get("ctx", {})
    remedy = str(context.get("remedy", ""))
    match error["type"]:
        case "unknown_key":
            path = (*path, str(context["key"]))
            what = error["msg"]
        case "mapping" | "element":
            what = error["msg"]
            if error["input"] is None:
                remedy = "write {} for an entry without keys"
            remedy = remedy or "write {key: value, …}"
        case "missing":
            what, path = f"{path[-1]} is missing", path[:-1]
            remedy = "add it"
        case "value_error":
            what, _, remedy = str(context["error"]).partition("; ")
        case "string_type":
            what = f"expected text, got {kind(error['input'])}"
            inside = isinstance(error["input"], dict | list | tuple | NoneType)
            remedy = "write one text, or omit the key" if inside else "put it in quotes"
        case "dict_type":
            what = f"expected a mapping, got {kind(error['input'])}"
            remedy = "write name: {…} entries, or omit the key"
        case "list_type" | "tuple_type":
            what, remedy = f"expected a list, got {kind(error['input'])}", "write [a, b, …]"
        case "bool_type" | "bool_parsing":
            what = f"expected true or false, got {kind(error['input'])}"
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            what = f"expected an integer, got {kind(error['input'])}"
        case "float_type" | "float_parsing":
            what = f"expected a number, got {kind(error['input'])}"
        case "literal_error":
            what = f"expected {context['expected']}, got {kind(error['input'])}"
        case _:
            message = error["msg"]
            what = f"{message[:1].lower()}{message[1:]}, got {kind(error['input'])}"
    return ModelError(" ".join(what.split()), path=path, remedy=" ".join(remedy.split()))


def schema_of(document: type[BaseModel], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **{k: v for k, v in document.model_json_schema(by_alias=True).items() if k != "title"},
    }
