"""Expansion: copies of subassemblies and Denavit-Hartenberg links become entries of one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import JOINT_KINDS
from mechid.mechanism.records import GROUND
from mechid.modelfile import dh
from mechid.modelfile.base import base_entries
from mechid.modelfile.document import Document, MirrorPlane, Parts, Use
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.rotors import rotor_of
from mechid.modelfile.scope import KINDS, SINGULAR, Entry, Kind, Reflection, Scope
from mechid.modelfile.spec_bodies import BodySpec
from mechid.modelfile.spec_geometry import PointIn
from mechid.modelfile.spec_joints import JointSpec
from mechid.modelfile.vectors import EXACT_ZERO, unit, vec3
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key

_MOST_COPIES = 1000  # of subassemblies: a few lines can stand for billions
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass
class Expanded:
    """Every entry of the document under its final name, in order."""

    document: Document
    file: Scope
    entries: dict[Kind, dict[str, Entry]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    parameters: dict[str, Entry] = field(default_factory=dict)  # known before their place in order
    copies: int = 0

    def add(self, kind: Kind, entry: Entry, scope: Scope, local: str) -> None:
        """Add an entry that a scope calls `local`; a name that exists is an error."""
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
                path=scope.use or entry.path,
                remedy="give the use a prefix or suffix" if scope.use else "rename one of them",
            )
        table[entry.name] = entry
        for around in scope.chain:  # each scope outside sees it under the name it has there
            around.own[kind].setdefault(local, entry.name)
            local = around.around(local)

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
    expanded = Expanded(document, Scope())
    _expand_parts(expanded, expanded.file, document)
    for kind, entry in base_entries(document, expanded.file):  # last: others keep their numbers
        expanded.add(kind, entry, expanded.file, entry.name)
    for kind in KINDS:
        if kind != "directions":
            expanded.sort(kind, getattr(document.order, kind), ("order", kind))
    return expanded


def _expand_parts(expanded: Expanded, scope: Scope, parts: Parts, use: Use | None = None) -> None:
    """Add what the uses in a scope make, then the scope's own entries."""
    own: dict[Kind, dict[str, Entry]] = {}
    for kind in KINDS:
        own[kind] = {
            local: Entry(scope.final(local), spec, scope, (*scope.path, kind, local))
            for local, spec in getattr(parts, kind).items()
        }
        # Copies may mean these names before the entries are added.
        scope.own[kind] = {local: entry.name for local, entry in own[kind].items()}
    for local, entry in own["joints"].items():
        own["joints"][local] = replace(entry, spec=_at_origin(entry.spec, parts))
    if use is not None and scope.outer is not None:
        for local, spec in use.parameters.items():
            # What a use says is written outside the copy, and so are the names in it.
            path: Key = (*scope.use, "parameters", local)
            own["parameters"][local] = Entry(scope.final(local), spec, scope.outer, path)
    expanded.parameters |= {entry.name: entry for entry in own["parameters"].values()}
    for name, inner in parts.use.items():
        _expand_use(expanded, scope, (*scope.path, "use", name), inner)
    links = _expand_table(expanded) if scope is expanded.file else set()
    for kind in KINDS:
        for local, entry in own[kind].items():
            if kind != "bodies" or local not in links:
                expanded.add(kind, entry, scope, local)
    tables = expanded.entries["joints"] if scope is expanded.file else {}
    rows = {name: e for name, e in tables.items() if not isinstance(e.spec, JointSpec)}
    for local, entry in (rows | own["joints"]).items():
        if (rotor := rotor_of(local, entry)) is not None:
            expanded.add("elements", rotor[1], scope, rotor[0])


def _at_origin(spec: JointSpec, parts: Parts) -> JointSpec:
    """Return a joint that says no point, at the frame of a body that is given in the other."""
    if spec.at is None and spec.frames is None and "at" in JOINT_KINDS[spec.type].needs:
        for child, parent in (spec.between, spec.between[::-1]):
            body = parts.bodies.get(child)
            if body is not None and body.frame is not None and body.frame.in_ == parent:
                return spec.model_copy(
                    update={"at": PointIn.model_construct(in_=child, at=(0, 0, 0))}
                )
    return spec


def _expand_table(expanded: Expanded) -> set[str]:
    """Add bodies and joints of a Denavit-Hartenberg table; `bodies` may say more of its links.

    Returns the names of the links.
    """
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
        link = Entry(entry.name, spec or BodySpec(), entry.scope, path)
        expanded.add("bodies", link, expanded.file, link.name)
    for entry in joints:
        expanded.add("joints", entry, expanded.file, entry.name)
    return {entry.name for entry in bodies}


def _expand_use(expanded: Expanded, outer: Scope, path: Key, use: Use) -> None:
    known = expanded.document.subassemblies
    if use.subassembly not in known:
        raise ModelError(
            f"there is no subassembly {use.subassembly}",
            path=(*path, "subassembly"),
            remedy=hint(use.subassembly, known, "define it"),
        )
    around = [str(scope.path[-1]) for scope in reversed(outer.chain) if scope.path]
    if use.subassembly in around:
        raise ModelError(
            f"a subassembly contains itself: {' -> '.join([*around, use.subassembly])}",
            path=(*path, "subassembly"),
            remedy="use another one",
        )
    expanded.copies += 1
    if expanded.copies > _MOST_COPIES:
        raise ModelError(
            f"the file uses more than {_MOST_COPIES} copies of subassemblies",
            path=path,
            remedy="use fewer of them in each other",
        )
    parts = known[use.subassembly]
    for local in use.parameters:
        if local not in parts.parameters:
            raise ModelError(
                f"subassembly {use.subassembly} has no parameter {local}",
                path=(*path, "parameters", local),
                remedy=hint(local, parts.parameters, "it has no parameters"),
            )
    scope = Scope(
        path=("subassemblies", use.subassembly),
        use=path,
        prefix=use.prefix,
        suffix=use.suffix,
        renames=use.rename,
        plane=_reflection(expanded, outer, use, path),
        outer=outer,
    )
    _expand_parts(expanded, scope, parts, use)
    every = {local for kind in KINDS for local in scope.own[kind]}
    for local in use.rename:
        if local not in every:
            raise ModelError(
                f"subassembly {use.subassembly} has nothing called {local}",
                path=(*path, "rename", local),
                remedy=hint(local, sorted(every), "it is empty"),
            )


def _reflection(expanded: Expanded, outer: Scope, use: Use, path: Key) -> Reflection | None:
    if use.mirror is None:
        return None
    if not isinstance(use.mirror, MirrorPlane):
        return Reflection(EXACT_ZERO, _AXES[use.mirror])
    here: Key = (*path, "mirror")
    numbers = Numbers(expanded.parameters)
    normal = unit(numbers.vector(use.mirror.normal, outer, (*here, "normal")).array)
    if normal is None:
        raise ModelError(
            "the normal of the mirror plane must not be zero",
            path=(*here, "normal"),
            remedy="give a nonzero vector",
        )
    point = numbers.vector(use.mirror.point, outer, (*here, "point"))
    return Reflection(point, vec3(normal))
