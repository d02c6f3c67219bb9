"""From plain data to a `Document`, with one clear message instead of Pydantic's list."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mechid.errors import ModelError
from mechid.modelfile.document import Document
from mechid.modelfile.spec_geometry import FrameSpec
from mechid.modelfile.words import kind

M = TypeVar("M", bound=BaseModel)


def validate(data: dict[str, Any]) -> Document:
    """Return the document of plain data; the first mistake becomes a `ModelError`."""
    if "mechid" not in data:
        raise ModelError("mechid is missing", path=(), remedy="start the file with mechid: 1")
    return parsed(Document, data)


def parsed(kind_of: type[M], data: dict[str, Any]) -> M:
    """Return the record of plain data; the first mistake becomes a `ModelError`."""
    try:
        return kind_of.model_validate(data)
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
        case "missing":
            what, path = f"{path[-1]} is missing", path[:-1]
            remedy = "add it"
        case "value_error":
            what, _, remedy = str(context["error"]).partition("; ")
        case "string_type":
            what, remedy = f"expected text, got {kind(error['input'])}", "put it in quotes"
        case "dict_type":
            what = f"expected a mapping, got {kind(error['input'])}"
            remedy = "write name: {…} entries, or leave the key out"
        case "list_type" | "tuple_type":
            what, remedy = f"expected a list, got {kind(error['input'])}", "write [a, b, …]"
        case "bool_type" | "bool_parsing":
            what = f"expected true or false, got {kind(error['input'])}"
        case "literal_error":
            what = f"expected {context['expected']}, got {kind(error['input'])}"
        case _:
            message = error["msg"]
            what = f"{message[:1].lower()}{message[1:]}, got {kind(error['input'])}"
    return ModelError(" ".join(what.split()), path=path, remedy=" ".join(remedy.split()))


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
