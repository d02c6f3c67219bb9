"""New models: from the zoo, from a template with a table of hardpoints, from files of other tools.

Runs in the worker.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

from mechid.importing.api import import_model
from mechid.importing.fill import fill
from mechid.importing.template import MODEL, TABLE, template, template_names
from mechid.modelfile.api import dumps, load
from mechid.modelfile.zoo import zoo_names, zoo_path
from mechid.outputs import write_text
from mechid.studio.refused import WRONG_INPUT, RefusedError


def new(source: str, path: str, table: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Write a model file and return its path, with what a person should know about it.

    Parameters
    ----------
    source : str
        zoo:NAME, template:NAME or import:FILE.
    path : str
        File to write.
    table : str, optional
        Spreadsheet of hardpoints for a template, or for a model of the zoo.
    options : dict
        `mirror` of a template.
    """
    if Path(path).exists():
        raise RefusedError(409, "the file exists", where=path, remedy="choose another name")
    kind, _, name = source.partition(":")
    notes: list[str] = []
    warnings: list[str] = []
    if kind == "zoo":
        text = zoo_text(name)
    elif kind == "template":
        with tempfile.TemporaryDirectory() as folder:
            template(_known(name), folder, mirror=options.get("mirror") is True)
            text = (Path(folder) / MODEL).read_text("utf-8").partition("\n")[2]
    elif kind == "import":
        found = import_model(name)
        text = found.text
        notes = list(found.notes)
        warnings = [f"left out: {words}" for words in found.left_out]
    else:
        raise RefusedError(
            WRONG_INPUT, f"cannot make a model from {source[:60]}", remedy="use zoo:, template: …"
        )
    if table is not None:
        filled = _filled(text, table)
        text, notes, warnings = filled.text, [*notes, *filled.notes], list(filled.warnings)
    write_text(Path(path), text)
    return {"path": path, "notes": notes, "warnings": warnings}


def _filled(text: str, table: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / MODEL
        model.write_text(text, encoding="utf-8")
        return fill(model, table)


def zoo_text(name: str) -> str:
    """Return the model file of a mechanism of the zoo; of NAME@variant with the variant in it."""
    plain, sign, _ = name.partition("@")
    if plain not in zoo_names():
        raise RefusedError(404, f"the zoo has no mechanism {plain[:60]}")
    return dumps(load(name)) if sign else zoo_path(name).read_text("utf-8")


def sheet(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the table of hardpoints of a template: as CSV text, and as a workbook in base64.

    Parameters
    ----------
    name : str
    options : dict
        `mirror`, `length` and `mass`, as of `mechid template`.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {path.suffix: path for path in template(_known(name), folder, **options)}
        book = files.get(".xlsx")
        return {
            "name": f"{TABLE}-{name}",
            "table": files[".csv"].read_text("utf-8-sig"),
            "book": None if book is None else base64.b64encode(book.read_bytes()).decode(),
        }


def _known(name: str) -> str:
    if name not in template_names():
        raise RefusedError(
            404,
            f"there is no template {name[:60]}",
            remedy=f"choose one of: {', '.join(template_names())}",
        )
    return name
