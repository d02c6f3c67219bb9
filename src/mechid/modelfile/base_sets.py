"""Named choices of dependent parameters in a model file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mechid.errors import ModelError
from mechid.mechanism.element_terms import terms_of
from mechid.mechanism.records import Body, ForceElement, NamedBaseSet
from mechid.modelfile.document import Document
from mechid.spatial.inertia import NAMES
from mechid.textfile.words import hint
from mechid.textfile.yamlio import FileKind, read_file

_KIND = FileKind("file of a base set", "dependent:", "dependent, source")


def read_base_set(path: str | Path) -> NamedBaseSet:
    """Return the base set of a file: the entries `dependent` and `source`, as in a model file.

    Raises
    ------
    ModelError
        With the file, the line and the entry. Names of parameters are not checked here.
    """
    data, source = read_file(Path(path), str(path), _KIND)
    names = data.get("dependent")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        wrong = ModelError(
            "expected a list of dependent parameters",
            path=("dependent",) if "dependent" in data else (),
            remedy="as dependent: [m_1, Ixx_2]",
        )
        raise source.locate(wrong)
    if strange := [key for key in data if key not in ("dependent", "source")]:
        wrong = ModelError(f"unknown entry {strange[0]}", path=(strange[0],), remedy="remove it")
        raise source.locate(wrong)
    return NamedBaseSet(Path(path).stem, tuple(names), str(data.get("source", "")))


def base_sets(
    document: Document, bodies: tuple[Body, ...], elements: tuple[ForceElement, ...]
) -> tuple[NamedBaseSet, ...]:
    """Return the named base sets of a document; parameters that do not exist are an error.

    Whether a choice is valid is decided where base sets are computed, not here.
    """
    if not document.base_sets:
        return ()
    known = set(parameter_names(bodies, elements))
    for name, spec in document.base_sets.items():
        for i, parameter in enumerate(spec.dependent):
            path = ("base_sets", name, "dependent", i)
            if parameter not in known:
                raise ModelError(
                    f"there is no parameter {parameter}",
                    path=path,
                    remedy=_remedy(parameter, known, len(bodies)),
                )
            if parameter in spec.dependent[:i]:
                raise ModelError(f"{parameter} is listed twice", path=path, remedy="remove one")
    return tuple(
        NamedBaseSet(name, tuple(spec.dependent), spec.source)
        for name, spec in document.base_sets.items()
    )


def parameter_names(bodies: Iterable[Body], elements: Iterable[ForceElement]) -> list[str]:
    """Return the names of all parameters: ten per body, and coefficients to be identified."""
    names = [f"{x}_{i}" for i, _ in enumerate(bodies, start=1) for x in NAMES]
    terms = (term for e in elements for _, term in terms_of(e))
    return names + [term.name for term in terms if term.coefficient.identify]


def _remedy(wrong: str, known: set[str], n_bodies: int) -> str:
    for name in NAMES:
        number = wrong.removeprefix(name)
        if number != wrong and number.isdigit() and f"{name}_{number}" in known:
            return f"did you mean {name}_{number}?"
        if wrong.startswith(f"{name}_") and wrong.removeprefix(f"{name}_").isdigit():
            return f"bodies are numbered 1 to {n_bodies}"
    return hint(wrong, sorted(known))
