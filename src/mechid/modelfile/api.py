"""Loading, building and saving mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mechid.errors import ModelError
from mechid.mechanism.records import Mechanism
from mechid.modelfile.build import build_document
from mechid.modelfile.document import FORMAT_VERSION
from mechid.modelfile.dump import document_of
from mechid.modelfile.validate import plain, validate
from mechid.modelfile.variants import with_variant
from mechid.modelfile.zoo import zoo_names, zoo_path
from mechid.textfile.words import suggestion
from mechid.textfile.yamlio import Source, read, read_file, write


def load(spec: str | Path) -> Mechanism:
    """Return the mechanism of a model file or of the zoo.

    Parameters
    ----------
    spec : str or Path
        Name of a mechanism of the zoo, or path of a model file; either may end in `@variant`.

    Raises
    ------
    ModelError
        With file, line, entry and remedy, if there is no such model or it is described wrongly.
    """
    path, shown, variant = _find(spec)
    data, source = read_file(path, shown)
    return _located(data, source, variant)


def loads(text: str, *, name: str = "<text>", variant: str | None = None) -> Mechanism:
    """Return the mechanism of a model file given as text; `name` stands for it in messages."""
    data, source = read(text, name)
    return _located(data, source, variant)


def build(**words: Any) -> Mechanism:
    """Return a mechanism from the words of the model file, given as Python keywords.

    Values are dicts, lists, tuples, numbers, arrays and strings as in the file, or the Pydantic
    objects of `mechid.modelfile`; `mechid` (the version of the format) may be left out.
    """
    data = {"mechid": FORMAT_VERSION, **plain(words)}
    return build_document(validate(data))


def on_base(mechanism: Mechanism, **words: Any) -> Mechanism:
    """Return a mechanism that stands on a moving base instead of the ground.

    Parameters
    ----------
    mechanism : Mechanism
    words :
        Of the key `base` of the model file: `type` of the joint that carries the base (default:
        free), `at`, `axis`, `frame`, `held`, `force`, `between`.
    """
    if "base" in (body.name for body in mechanism.bodies) and "between" not in words:
        words["between"] = ("ground", "moving_base")
    return build(**document_of(mechanism) | {"base": words})


def dumps(mechanism: Mechanism) -> str:
    """Return a mechanism as the text of a model file; loading it gives an equal mechanism.

    The text is the resolved form: variants, subassemblies and tables are expanded and every frame
    is spelled out.
    """
    return write(document_of(mechanism))


def save(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism to a model file, in the form of `dumps`."""
    text = dumps(mechanism)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot write the file: {error.strerror}", where=str(path)) from None


def _located(data: dict[str, Any], source: Source, variant: str | None) -> Mechanism:
    try:
        if variant is not None:
            data = with_variant(data, variant, source)
        return build_document(validate(data))
    except ModelError as error:
        raise source.locate(error) from None


def _find(spec: str | Path) -> tuple[Path, str, str | None]:
    """Return path, name in messages, and variant of what `load` is asked for."""
    text, variant = str(spec), None
    if "@" in text and not Path(text).is_file():
        text, _, variant = text.rpartition("@")
    if text in zoo_names():
        return zoo_path(text), f"{text}.yaml", variant
    path = Path(text)
    if path.is_file():
        return path, text, variant
    names = zoo_names()
    hint = suggestion(path.stem, names)
    raise ModelError(
        f"there is no file {text}" + ("" if path.suffix else " and no such mechanism in the zoo"),
        remedy=hint or f"the zoo has {', '.join(names)}",
    )
