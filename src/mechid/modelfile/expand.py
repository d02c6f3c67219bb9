"""Expansion: copies of subassemblies and Denavit-Hartenberg links become entries of one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND
from mechid.modelfile import dh
from mechid.modelfile.base import base_entries
from mechid.modelfile.document import Document, MirrorPlane, Parts, Use
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.scope import KINDS, SINGULAR, Entry, Kind, Reflection, Scope
from mechid.modelfile.spec_bodies import BodySpec
from mechid.modelfile.vectors import EXACT_ZERO, unit, vec3
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass
class Expanded:
    """Every entry of the document under its final name, in order."""

    document: Document
    file: Scope
    entries: dict[Kind, dict[str, Entry]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )

    def add(self, kind: Kind, entry: Entry, use: Key = ()) -> None:
        """Add an entry, of the use at this path if any; a name that exists is an error."""
        table = self.entries[kind]
        if kind == "bodies" and entry.name == GROUND:
            raise ModelError(
                "ground is the fixed body and always exists",
                path=entry.path,
                remedy="remove the entry or rename the body",
            )
        if kind == "directions" and entry.path[-1] in ("x", "y", "z"):
            raise ModelError(
                f"{entry.path[-1]} is an axis of the ground", path=entry.path, remedy="rename it"
            )
        if entry.name in table:
            other = ".".join(map(str, table[entry.name].path))
            raise ModelError(
                f"there are two {kind} {entry.name} (the other is {other})",
                path=use or entry.path,
                remedy="give the use a prefix or suffix" if use else "rename one of them",
            )
        table[entry.name] = entry
        self.file.own[kind].setdefault(entry.name, entry.name)

    def sort(self, kind: Kind, first: Iterable[str], path: Key) -> None:
        """Move the named entries to the front, in this order."""
        table = self.entries[kind]
        ordered: dict[str, Entry] = {}
        for i, name in enumerate(first):
            if name not in table:
                raise ModelError(
                    f"there is no {SINGULAR[kind]} {name} to order",
                    path=(*path, i),
                    remedy=hint(name, table),
                )
            if name in ordered:
                raise ModelError(f"{name} is listed twice", path=(*path, i), remedy="remove one")
            ordered[name] = table[name]
        self.entries[kind] = {**ordered, **table}


def expand(document: Document) -> Expanded:
    """Return the entries of all uses and of the file, under their final names."""
    file = Scope()
    expanded = Expanded(document, file)
    for kind in KINDS:  # the copies may mean these names before the file's own entries are added
        file.own[kind] = {name: name for name in getattr(document, kind)}
    for name, use in document.use.items():
        _expand_use(expanded, name, use)
    _expand_table(expanded)
    for kind in KINDS:
        for name, spec in getattr(document, kind).items():
            if kind != "bodies" or name not in expanded.entries[kind]:
                expanded.add(kind, Entry(name, spec, file, (kind, name)))
    for kind, entry in base_entries(document, file):  # last: other bodies keep their numbers
        expanded.add(kind, entry)
    for kind in KINDS:
        if kind != "directions":
            expanded.sort(kind, getattr(document.order, kind), ("order", kind))
    return expanded


def _expand_table(expanded: Expanded) -> None:
    """Add bodies and joints of a Denavit-Hartenberg table; `bodies` may say more of its links."""
    document = expanded.document
    bodies, joints = dh.entries(document.denavit_hartenberg, expanded.file)
    for entry in bodies:
        path, spec = entry.path, document.bodies.get(entry.name)
        if spec is not None:
            path = ("bodies", entry.name)
            if spec.frame is not None:
                raise ModelError(
                    "this body has its frame from the Denavit-Hartenberg table",
                    path=(*path, "frame"),
                    remedy="remove the frame",
                )
        expanded.add("bodies", Entry(entry.name, spec or BodySpec(), entry.scope, path))
    for entry in joints:
        expanded.add("joints", entry)


def _expand_use(expanded: Expanded, name: str, use: Use) -> None:
    path: Key = ("use", name)
    document = expanded.document
    if use.subassembly not in document.subassemblies:
        raise ModelError(
            f"there is no subassembly {use.subassembly}",
            path=(*path, "subassembly"),
            remedy=hint(use.subassembly, document.subassemblies, "define it"),
        )
    parts = document.subassemblies[use.subassembly]
    scope = Scope(
        path=("subassemblies", use.subassembly),
        prefix=use.prefix,
        suffix=use.suffix,
        renames=use.rename,
        reflection=_reflection(expanded, use, path),
        file=expanded.file,
    )
    _check_words(parts, use, path)
    for kind in KINDS:
        scope.own[kind] = {local: scope.final(local) for local in getattr(parts, kind)}
    for kind in KINDS:
        for local, spec in getattr(parts, kind).items():
            entry = Entry(scope.final(local), spec, scope, (*scope.path, kind, local))
            if kind == "parameters" and local in use.parameters:
                # What a use says is written in the file, so its names are the file's.
                entry = Entry(
                    entry.name, use.parameters[local], expanded.file, (*path, kind, local)
                )
            expanded.add(kind, entry, path)


def _check_words(parts: Parts, use: Use, path: Key) -> None:
    for local in use.parameters:
        if local not in parts.parameters:
            raise ModelError(
                f"subassembly {use.subassembly} has no parameter {local}",
                path=(*path, "parameters", local),
                remedy=hint(local, parts.parameters, "it has none"),
            )
    every = {local for kind in KINDS for local in getattr(parts, kind)}
    for local in use.rename:
        if local not in every:
            raise ModelError(
                f"subassembly {use.subassembly} has nothing called {local}",
                path=(*path, "rename", local),
                remedy=hint(local, sorted(every), "it is empty"),
            )


def _reflection(expanded: Expanded, use: Use, path: Key) -> Reflection | None:
    if use.mirror is None:
        return None
    if not isinstance(use.mirror, MirrorPlane):
        return Reflection(EXACT_ZERO, _AXES[use.mirror])
    here: Key = (*path, "mirror")
    table = {
        name: Entry(name, spec, expanded.file, ("parameters", name))
        for name, spec in expanded.document.parameters.items()
    }
    numbers = Numbers(table)
    normal = unit(numbers.vector(use.mirror.normal, expanded.file, (*here, "normal")).array)
    if normal is None:
        raise ModelError(
            "the normal of the mirror plane is zero",
            path=(*here, "normal"),
            remedy="give a nonzero vector",
        )
    point = numbers.vector(use.mirror.point, expanded.file, (*here, "point"))
    return Reflection(point, vec3(normal))
