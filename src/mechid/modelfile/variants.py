"""Variants: named changes merged into a document before it is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mechid.errors import ModelError
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key, Source


def with_variants(data: dict[str, Any], names: Iterable[str], source: Source) -> dict[str, Any]:
    """Return the document with variants merged in, one after another."""
    variants = data.get("variants")
    known = variants if isinstance(variants, dict) else {}
    result = dict(data)
    for name in names:
        if name not in known:
            raise ModelError(
                f"there is no variant {name}",
                path=("variants",),
                remedy=hint(name, known, "the file has no variants"),
            )
        if not isinstance(known[name], dict):
            raise ModelError(
                "a variant is a mapping of changes",
                path=("variants", name),
                remedy="write key: value",
            )
        result = merged(result, known[name], ("variants", name))
        source.overlay((), ("variants", name))
    # A file that includes this one may ask for more of them; only those are looked at.
    return result | {"variants": {k: v for k, v in known.items() if isinstance(v, dict)}}


def merged(
    base: dict[str, Any], change: dict[str, Any], path: Key, *, keep_null: bool = False
) -> dict[str, Any]:
    """Return a document with changes merged in, mapping by mapping; null removes an entry.

    A null inside a variant (`keep_null`) stays: it removes an entry when the variant is asked for.
    """
    result = dict(base)
    for key, value in change.items():
        here = (*path, key)
        if value is None and not keep_null:
            if key not in result:
                raise ModelError(
                    f"the file has no {key} to remove", path=here, remedy=hint(key, result)
                )
            del result[key]
        elif isinstance(value, dict):
            inner = result.get(key)
            keep = keep_null or path[-1:] == ("variants",)
            result[key] = merged(
                inner if isinstance(inner, dict) else {}, value, here, keep_null=keep
            )
        else:
            result[key] = value
    return result
