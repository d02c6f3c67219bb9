"""A study: what its file says, with all cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
from mechid.shown import Shown
from mechid.studies.cells import Part, read_part
from mechid.studies.document import PartSpec, StudyDocument, validate_study
from mechid.textfile.words import hint
from mechid.textfile.yamlio import FileKind, read, read_file

ONE_PART = "results"  # the name of the part of a study without parts
_KIND = FileKind("study file", "title: …", "title, experiment, axes")
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, eq=False, repr=False)
class Study(Shown):
    """Grids of experiments.

    Attributes
    ----------
    name : str
        Of the library, or of the file without its ending.
    title, about : str
    parts : tuple of Part
        Each gives one table.
    published : mapping
        Published figures, for the page.
    quick : bool
        Whether this is the quick size.
    text : str
        The study file.
    path : Path
        Where it is.
    """

    name: str
    title: str
    about: str
    parts: tuple[Part, ...]
    published: Mapping[str, Any]
    quick: bool
    text: str
    path: Path

    def part(self, name: str | None = None) -> Part:
        """Return a part; by default the only one.

        Raises
        ------
        DataError
            If there is no such part, or the name is left out and there are several.
        """
        found: Part = only({part.name: part for part in self.parts}, name, self.name)
        return found

    @property
    def n_cells(self) -> int:
        """Number of cells of all parts."""
        return sum(len(part.cells) for part in self.parts)

    def summary(self) -> Mapping[str, object]:
        """Return title, size and parts."""
        sizes = {part.name: f"{len(part.cells)} cells" for part in self.parts}
        return {"name": self.name, "title": self.title, "quick": self.quick, "parts": sizes}


def only(parts: Mapping[str, Any], name: str | None, where: str) -> Any:
    """Return the part of a name; without one, the only part there is."""
    if name is None and len(parts) == 1:
        return next(iter(parts.values()))
    if name is None or name not in parts:
        what = "the study has several parts" if name is None else f"there is no part {name}"
        raise DataError(what, where=where, remedy=hint(name or "", parts))
    return parts[name]


def library() -> tuple[str, ...]:
    """Return the names of the studies that ship with the package."""
    return tuple(sorted(path.stem for path in library_folder().glob("*.yaml")))


def library_title(name: str) -> str:
    """Return the title of a study that ships with the package, without laying out its cells."""
    data, _ = read_file(library_folder() / f"{name}.yaml", name, _KIND)
    return str(data.get("title", ""))


def library_folder() -> Path:
    """Return the folder of the studies that ship with the package."""
    return Path(str(resources.files("mechid.studies"))) / "library"


def load_study(study: str | Path, *, quick: bool = False) -> Study:
    """Read a study file and lay out its cells.

    Parameters
    ----------
    study : str or Path
        A name of the library, or a path. Files that settings name lie beside it.
    quick : bool
        Whether its quick size is taken.

    Raises
    ------
    MechidError
        With file, line and remedy.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> text = "title: T\\nexperiment: identification\\nsettings: {model: pendulum}\\n"
    >>> _ = Path("s.yaml").write_text(text + "axes: {estimator: [cad, ols], seed: {count: 2}}")
    >>> mechid.load_study("s.yaml").n_cells
    4
    """
    path = study_path(study)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        words = getattr(error, "strerror", None) or "not UTF-8 text"
        raise DataError(f"cannot read the file: {words}", where=str(study)) from None
    return loads_study(text, path, quick=quick)


def loads_study(text: str, path: Path, *, quick: bool = False) -> Study:
    """Return the study of a file given as text; `path` is where it would be."""
    shown = path.name if path.parent == library_folder() else str(path)
    try:
        data, source = read(text, shown, _KIND)
        with source.locating():
            document = validate_study(data)
            parts = tuple(
                read_part(name, spec, where, path.parent, quick=quick)
                for name, spec, where in _parts(document)
            )
    except ModelError as error:
        raise DataError(error.what, where=error.where, remedy=error.remedy) from None
    return Study(
        path.stem,
        document.title,
        " ".join(document.about.split()),
        parts,
        document.published,
        quick,
        text,
        path,
    )


def _parts(document: StudyDocument) -> list[tuple[str, PartSpec, tuple[str, ...]]]:
    if document.parts:
        return [(name, spec, ("parts", name)) for name, spec in document.parts.items()]
    one = {name: getattr(document, name) for name in PartSpec.model_fields}
    return [(ONE_PART, PartSpec.model_construct(**one), ())]


def study_path(study: str | Path) -> Path:
    """Return the file of a study: a path, or a name of the library.

    Raises
    ------
    DataError
        If there is neither.
    """
    path = Path(study)
    if path.suffix in _SUFFIXES or path.is_file():
        if not path.is_file():
            raise DataError("there is no such file", where=str(study))
        return path
    if str(study) not in library():
        raise DataError(
            f"there is no file {study} and no such study in the library",
            remedy=hint(str(study), library(), "give a study file"),
        )
    return library_folder() / f"{study}.yaml"
