"""Templates: a model file and the table to fill in, from files that ship with the package."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
from mechid.importing.hardpoint_sheets import Meaning, as_csv, as_xlsx, sheets
from mechid.importing.hardpoint_table import UNITS
from mechid.importing.hardpoint_targets import Data
from mechid.modelfile.build import build_document
from mechid.modelfile.document import validate
from mechid.modelfile.include import merged, put_together, read_model
from mechid.modelfile.units import Units
from mechid.outputs import check_outputs, make_folder, write_all
from mechid.textfile.words import hint
from mechid.textfile.yamlio import FileKind, read_file, write

_KIND = FileKind("template", "template: 1", "title, model, meaning")
MODEL, TABLE = "model.yaml", "hardpoints"


@dataclass(frozen=True)
class TemplateEntry:
    """A template: its name, its title, and whether it has a left and a right side."""

    name: str
    title: str
    sides: bool


def _folder() -> Path:
    return Path(str(resources.files("mechid.importing"))) / "templates"


def template_names() -> tuple[str, ...]:
    """Return the names of the templates."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def _read(name: str) -> Data:
    return read_file(_folder() / f"{name}.yaml", f"{name}.yaml", _KIND)[0]


def templates() -> tuple[TemplateEntry, ...]:
    """Return every template."""
    return tuple(
        TemplateEntry(name, str(data["title"]), "mirrored" in data)
        for name in template_names()
        for data in (_read(name),)
    )


def template_model(name: str, *, mirror: bool = False) -> tuple[Data, Meaning]:
    """Return the data of the model of a template, and what its points and bodies are.

    Any other model is a template, too: its own points and bodies are then in the table.
    """
    if name not in template_names():
        return _other(name, mirror), {}
    file = _folder() / f"{name}.yaml"
    data, source = read_file(file, f"{name}.yaml", _KIND)
    if mirror and "mirrored" not in data:
        raise DataError(
            f"template {name} has no sides to mirror", remedy="leave mirror (--mirror) out"
        )
    model = put_together(data["model"], source, (), (file,))
    model = merged(model, data.get("mirrored" if mirror else "one_side", {}), ())
    model.pop("variants", None)  # they may change what the template left out
    meaning: Any = data.get("meaning", {})
    return model, meaning


def _other(name: str, mirror: bool) -> Data:
    try:
        model, source = read_model(name)
    except ModelError:
        if Path(name.partition("@")[0]).is_file():
            raise
        raise DataError(
            f"there is no template {name}", remedy=hint(name, template_names())
        ) from None
    if mirror:
        raise DataError(
            "only templates are mirrored",
            where=name,
            remedy="use a subassembly twice in the model file, one of them with mirror",
        )
    with source.locating():
        build_document(validate(model))
    return model


def template(
    name: str,
    folder: str | Path,
    *,
    mirror: bool = False,
    length: str = "mm",
    mass: str = "kg",
    force: bool = False,
) -> tuple[Path, ...]:
    """Write a model file and the table of its points and bodies to fill in; return the files.

    The table is written as CSV and, where openpyxl is installed, as an Excel workbook.

    Parameters
    ----------
    name : str
        A template, or any model (name of the zoo, model file).
    folder : str or Path
        Where `model.yaml`, `hardpoints.csv` and `hardpoints.xlsx` are written.
    mirror : bool
        Both sides of a suspension, the right one as the mirror image of the left one.
    length, mass : str
        Units of the table: m, cm, mm, in, ft; kg, g, t, lb. Moments of inertia have m².
    force : bool
        Replace files that exist.

    Raises
    ------
    DataError
        If there is no such template, or a file exists.

    Examples
    --------
    >>> import mechid
    >>> [path.name for path in mechid.template("macpherson", "axle", mirror=True)][:2]
    ['model.yaml', 'hardpoints.csv']
    >>> len(mechid.load("axle/model.yaml").bodies)
    11
    """
    for word, unit, dimension in (
        ("length", length, UNITS["length"]),
        ("mass", mass, UNITS["mass"]),
    ):
        if unit not in dimension:
            raise DataError(
                f'"{unit}" is not a unit of {word}', remedy=f"choose one of: {', '.join(dimension)}"
            )
    data, meaning = template_model(name, mirror=mirror)
    units = Units.of(validate(data).units)
    rows = sheets(data, units, Units(length=length, mass=mass), meaning)
    title = " ".join(str(data.get("title") or data["name"]).split())
    head = f"# Fill in {TABLE}.xlsx (or .csv); mechid fill {MODEL} {TABLE}.xlsx -o filled.yaml\n"
    folder = Path(folder)
    content = {
        MODEL: (head + write(data)).encode(),
        f"{TABLE}.csv": as_csv(rows, title).encode("utf-8-sig"),  # so that Excel reads it as UTF-8
    }
    if find_spec("openpyxl") is not None:
        content[f"{TABLE}.xlsx"] = as_xlsx(rows, title, name)
    files = {folder / file: data for file, data in content.items()}
    if not folder.exists():
        make_folder(folder)
    check_outputs(*files, force=force)
    write_all(files)
    return tuple(files)
