"""A moving base: everything that the file puts on the ground stands on a body that a joint carries.

The base is an ordinary body with an ordinary joint, and its coordinates are independent ones: the
equations of motion know nothing of it. Its motion is prescribed where a motion is read, its
generalised forces are what the ground does to it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND, IDENTITY, Joint, Mechanism, Point
from mechid.modelfile.document import Document
from mechid.modelfile.scope import Entry, Kind, Scope
from mechid.modelfile.spec_bodies import BodySpec
from mechid.modelfile.spec_elements import CoordinateSpec
from mechid.modelfile.spec_joints import BaseSpec, JointSpec

_PATH = ("base",)


def base_entries(document: Document, file: Scope) -> list[tuple[Kind, Entry]]:
    """Return body, joint and coordinates of the base; the body may also stand under `bodies`."""
    spec = document.base
    if spec is None:
        return []
    name = _name(spec)
    entries: list[tuple[Kind, Entry]] = [
        ("joints", Entry(name, _joint(spec), file, _PATH)),
        (
            "coordinates",
            Entry(name, CoordinateSpec(joint=name, force=spec.force, held=spec.held), file, _PATH),
        ),
    ]
    if name not in document.bodies:
        spec_of_body = BodySpec.model_validate({"massless": True, "frame": {"origin": (0, 0, 0)}})
        entries.append(("bodies", Entry(name, spec_of_body, file, _PATH)))
    return entries


def _name(spec: BaseSpec) -> str:
    a, b = spec.between
    if a != GROUND or b == GROUND:
        raise ModelError(
            f"the base stands between {a} and {b}",
            path=(*_PATH, "between"),
            remedy="give [ground, name of the base]",
        )
    return b


def _joint(spec: BaseSpec) -> JointSpec:
    words = {key: getattr(spec, key) for key in JointSpec.model_fields}
    if spec.frame is not None:
        if spec.frames is not None:
            raise ModelError(
                "frame and frames exclude each other",
                path=(*_PATH, "frame"),
                remedy="give one of them",
            )
        words["frames"] = (spec.frame, spec.frame)
    elif spec.at is None and spec.frames is None:
        words["at"] = (0, 0, 0)
    return JointSpec.model_construct(**words)


def put_on_base(mechanism: Mechanism, document: Document) -> Mechanism:
    """Return the mechanism with everything that was on the ground on the base, if there is one.

    The frame of the base is the ground frame in the reference pose, so that nothing else changes.
    Gravity, loads in ground axes and coordinates of points along a direction keep the ground.

    Raises
    ------
    ModelError
        If the base has a frame of its own.
    """
    if document.base is None:
        return mechanism
    name = _name(document.base)
    frame = mechanism.body(name).frame
    if (frame.origin, frame.rotation) != (IDENTITY.origin, IDENTITY.rotation):
        raise ModelError(
            "the frame of the base is that of the ground in the reference pose",
            path=("bodies", name),
            remedy="give it frame: {origin: [0, 0, 0]}",
        )

    def on_base(joint: Joint) -> Joint:
        moved: Joint = _moved(joint, name)
        return joint if joint.name == name else moved

    return replace(
        mechanism,
        joints=tuple(on_base(joint) for joint in mechanism.joints),
        elements=_moved(mechanism.elements, name),
        points=_points(mechanism, name),
        coordinates=_moved(mechanism.coordinates, name),
        constraints=_moved(mechanism.constraints, name),
    )


def _points(mechanism: Mechanism, name: str) -> tuple[Point, ...]:
    """Return the points as a file orders them: by name, then in the order of the bodies."""
    found = {(p.name, p.body): p for p in _moved(mechanism.points, name)}
    names = list(dict.fromkeys(p.name for p in mechanism.points))
    bodies = [GROUND, *(body.name for body in mechanism.bodies)]
    key = sorted(found, key=lambda k: (names.index(k[0]), bodies.index(k[1])))
    return tuple(found[k] for k in key)


def _moved(record: Any, name: str) -> Any:
    """Return a record with the base in the place of the ground."""
    if isinstance(record, tuple):
        return tuple(_moved(item, name) for item in record)
    if isinstance(record, Point):
        return replace(record, body=name) if record.body == GROUND else record
    if not is_dataclass(record) or isinstance(record, type):
        return record
    changes = {f.name: _moved(getattr(record, f.name), name) for f in fields(record)}
    bodies = {key: name for key in ("body_a", "body_b") if changes.get(key) == GROUND}
    return replace(record, **changes | bodies)
