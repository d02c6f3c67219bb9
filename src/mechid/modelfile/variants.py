"""Variants: named changes merged into a document before it is read."""

from __future__ import annotations

from typing import Any

from mechid.errors import ModelError
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key, Source


def with_variant(data: dict[str, Any], name: str, source: Source | None) -> dict[str, Any]:
    """Return the document with a variant merged in, mapping by mapping; null removes an entry."""
    variants = data.get("variants")
    if not isinstance(variants, dict) or name not in variants:
        known = list(variants) if isinstance(variants, dict) else []
        raise ModelError(
            f"there is no variant {name}",
            path=("variants",),
            remedy=hint(name, known, "the file has no variants"),
        )
    change = variants[name]
    if not isinstance(change, dict):
        raise ModelError(
            "a variant is a mapping of changes", path=("variants", name), remedy="write key: value"
        )
    base = {key: value for key, value in data.items() if key != "variants"}
    merged = _merged(base, change, ("variants", name))
    if source is not None:
        source.overlay((), ("variants", name))
    return merged


def _merged(base: dict[str, Any], change: dict[str, Any], path: Key) -> dict[str, Any]:
    result = dict(base)
    for key, value in change.items():
        here = (*path, key)
        if value is None:
            if key not in result:
                raise ModelError(
                    f"the file has no {key} to remove", path=here, remedy=hint(key, result)
                )
            del result[key]
        elif isinstance(value, dict):
            inner = result.get(key)
            result[key] = _merged(inner if isinstance(inner, dict) else {}, value, here)
        else:
            result[key] = value
    return result
