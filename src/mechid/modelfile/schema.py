"""The JSON Schema of the model file, for editors."""

from __future__ import annotations

from typing import Any

from mechid.modelfile.document import Document


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the model file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mechid model file",
        **{k: v for k, v in Document.model_json_schema(by_alias=True).items() if k != "title"},
    }
