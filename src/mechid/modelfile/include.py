"""Files that are put together: other files included, then variants, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mechid.errors import ModelError
from mechid.modelfile.zoo import zoo_names, zoo_path
from mechid.outputs import real_path
from mechid.textfile.paths import is_file
from mechid.textfile.words import hint, kind, suggestion
from mechid.textfile.yamlio import Key, Source, read_file


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


def read_model(spec: str | Path) -> tuple[dict[str, Any], Source]:
    """Return the data of a model of the zoo or a file, put together."""
    path, shown, variants = _find(str(spec), Path())
    data, source = read_file(path, shown)
    return put_together(data, source, variants, (path,)), source


def put_together(
    data: dict[str, Any], source: Source, variants: tuple[str, ...], around: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """Return a document merged over those it includes, with variants merged in one after another.

    `around` are the files that are being read, the innermost last; paths are relative to it.
    """
    base: dict[str, Any] = {}
    names = _included(data, source)
    for path, name in names.items():
        part, lines = _part(name, path, source, around)
        with source.locating():
            if part.get("units") != data.get("units"):
                raise ModelError(
                    f"{lines.file} has other units",
                    path=path,
                    remedy="declare the same units in both files",
                )
            base = merged(base, part, path)
        source.include(lines)
    with source.locating():
        if names:
            data = merged(base, {k: v for k, v in data.items() if k != "include"}, ())
        return with_variants(data, variants, source) if variants else data


def _part(
    name: str, path: Key, source: Source, around: tuple[Path, ...]
) -> tuple[dict[str, Any], Source]:
    with source.locating():
        file, shown, variants = _find(name, around[-1].parent if around else Path(), path)
        if real_path(file) in [real_path(other) for other in around]:
            chain = " -> ".join(other.name for other in (*around, file))
            raise ModelError(
                f"the file includes itself: {chain}", path=path, remedy="remove one of these"
            )
    data, lines = read_file(file, shown)
    return put_together(data, lines, variants, (*around, file)), lines


def _included(data: dict[str, Any], source: Source) -> dict[Key, str]:
    """Return the names of the files to include, by their place."""
    given = data.get("include", [])
    names: dict[Key, Any] = (
        {("include", i): name for i, name in enumerate(given)}
        if isinstance(given, list)
        else {("include",): given}
    )
    with source.locating():
        for path, name in names.items():
            if not isinstance(name, str) or not name:
                raise ModelError(
                    f"expected the name of a file, got {kind(name)}",
                    path=path,
                    remedy="write include: other.yaml",
                )
    return names


def _find(text: str, folder: Path, path: Key = ()) -> tuple[Path, str, tuple[str, ...]]:
    """Return file, name in messages, and variants of the request, seen from a folder."""
    variants: list[str] = []
    while "@" in text and not is_file(folder / text):
        text, _, variant = text.rpartition("@")
        variants.insert(0, variant)
    if text in zoo_names():
        return zoo_path(text), f"{text}.yaml", tuple(variants)
    file = folder / text
    if is_file(file):
        return file, str(file), tuple(variants)
    names = zoo_names()
    raise ModelError(
        f"there is no file {file}" + ("" if file.suffix else " and no such mechanism in the zoo"),
        path=path,
        remedy=suggestion(file.stem, names) or f"the zoo has {', '.join(names)}",
    )
