"""From plain data to a `Document` and back, and the schema of model files."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from mechid.errors import ModelError
from mechid.modelfile.document import FORMAT_VERSION, Document
from mechid.modelfile.spec_geometry import FrameSpec
from mechid.modelfile.units import SI, Units, UnitsSpec
from mechid.textfile.formats import check_text_format
from mechid.textfile.parse import parsed, schema_of


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the model file."""
    return schema_of(Document, "mechid model file")


def validate(data: dict[str, Any]) -> Document:
    """Return the document of plain data; the first mistake becomes a `ModelError`."""
    if "mechid" not in data:
        raise ModelError("mechid is missing", path=(), remedy="start the file with mechid: 1")
    check_text_format(data, "mechid", "model file", FORMAT_VERSION)
    try:
        units = Units.of(UnitsSpec.model_validate(data.get("units", {})))
    except ValidationError:
        units = SI  # the document is refused below, with the place of the mistake
    return parsed(Document, data, {"units": units})


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
