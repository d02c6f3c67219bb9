"""JSON Schemas of files, for editors."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from mechid.modelfile.document import Document


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the model file."""
    return schema_of(Document, "mechid model file")


def schema_of(document: type[BaseModel], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **{k: v for k, v in document.model_json_schema(by_alias=True).items() if k != "title"},
    }
