"""From a validated document to a `Mechanism`, one step per line."""

from __future__ import annotations

from collections.abc import Mapping

from mechid.errors import ModelError
from mechid.mechanism.records import IndependentCoordinate, Joint, Mechanism, Start
from mechid.modelfile.base import put_on_base
from mechid.modelfile.base_sets import base_sets
from mechid.modelfile.bodies import body
from mechid.modelfile.checks import check_connected, check_loads, check_unique
from mechid.modelfile.constraints import constraint
from mechid.modelfile.coordinate_units import constraint_in_si, element_in_si
from mechid.modelfile.coordinates import check_orientations, coordinates
from mechid.modelfile.dh import Links
from mechid.modelfile.document import Document
from mechid.modelfile.elements import Elements
from mechid.modelfile.expand import Expanded, expand
from mechid.modelfile.frames import Frames
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.gravity import gravity
from mechid.modelfile.joints import joint
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.points import PointBook
from mechid.modelfile.spec_joints import JointSpec
from mechid.modelfile.units import Units
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key


def build_document(document: Document) -> Mechanism:
    """Return the mechanism that a document describes."""
    model = expand(document)
    entries = model.entries
    numbers = Numbers(entries["parameters"])
    links = Links(document.denavit_hartenberg, model.file, numbers)
    geometry = Geometry(model, numbers, Frames(links))
    book = PointBook(geometry)
    parameters = numbers.records()
    joints = _joints(model, links, geometry, book)
    check_connected({name: e.path for name, e in entries["bodies"].items()}, joints.values())
    bodies = tuple(body(entry, geometry, book) for entry in entries["bodies"].values())
    units = Units.of(document.units)
    constraints = tuple(
        constraint(constraint_in_si(entry, joints, units), joints, bodies, geometry, book)
        for entry in entries["constraints"].values()
    )
    chosen = _coordinates(model, joints, geometry, book)
    elements = Elements(joints, geometry, book)
    records = tuple(
        elements.build(element_in_si(entry, joints, units))
        for entry in entries["elements"].values()
    )
    check_loads(records, chosen, joints, {n: e.path for n, e in entries["elements"].items()})
    for entry in entries["points"].values():
        book.add_given(entry)
    found = Mechanism(
        name=document.name,
        gravity=gravity(document.gravity, geometry, model.file),
        bodies=bodies,
        joints=tuple(joints.values()),
        coordinates=chosen,
        elements=records,
        points=book.records(),
        parameters=parameters,
        cut=_cut(document, joints, links),
        start=_start(document, numbers, model, {c.name: c.unit for c in chosen}),
        title=document.title,
        source=document.source,
        base_sets=base_sets(document, bodies, records),
        constraints=constraints,
    )
    return put_on_base(found, document)


def _joints(model: Expanded, links: Links, geometry: Geometry, book: PointBook) -> dict[str, Joint]:
    return {
        name: joint(entry, geometry, book)
        if isinstance(entry.spec, JointSpec)
        else links.joint(name)
        for name, entry in model.entries["joints"].items()
    }


def _coordinates(
    model: Expanded, joints: Mapping[str, Joint], geometry: Geometry, book: PointBook
) -> tuple[IndependentCoordinate, ...]:
    chosen: list[IndependentCoordinate] = []
    paths: dict[str, Key] = {}
    for entry in model.entries["coordinates"].values():
        for c in coordinates(entry, joints, geometry, book):
            if c.name in paths:
                raise ModelError(
                    f"there are two coordinates {c.name}", path=entry.path, remedy="rename one"
                )
            paths[c.name] = entry.path
            chosen.append(c)
    check_unique(chosen, paths)
    check_orientations(tuple(chosen), joints, paths)
    return tuple(chosen)


def _cut(document: Document, joints: Mapping[str, Joint], links: Links) -> tuple[str, ...] | None:
    if document.cut is None:
        # A table says by itself which joints are cut, unless further joints may close more loops.
        return links.cut() if links.cut() and len(joints) == len(links.joints) else None
    for i, name in enumerate(document.cut):
        if name not in joints:
            raise ModelError(
                f"there is no joint {name}",
                path=("cut", i),
                remedy=hint(name, joints),
            )
        if name in document.cut[:i]:
            raise ModelError(f"{name} is listed twice", path=("cut", i), remedy="remove one")
    return tuple(document.cut)


def _start(document: Document, numbers: Numbers, model: Expanded, unit: Mapping[str, str]) -> Start:
    values, units = [], Units.of(document.units)
    for key, per in (("positions", ""), ("speeds", "/s")):
        given = getattr(document.start, key)
        for name in given:
            if name not in unit:
                raise ModelError(
                    f"there is no independent coordinate {name}",
                    path=("start", key, name),
                    remedy=hint(name, unit, "the file defines no coordinates"),
                )
        values.append(
            tuple(
                (
                    name,
                    numbers.value(
                        units.scale(scalar, unit[name] + per), model.file, ("start", key, name)
                    ),
                )
                for name, scalar in given.items()
            )
        )
    return Start(values[0], values[1])
