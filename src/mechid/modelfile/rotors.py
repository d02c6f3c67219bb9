"""A rotor behind a gear, written in one line with its joint: a transmission with one motor."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, TypeAdapter

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import JOINT_KINDS
from mechid.modelfile.document import plain
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_elements import ElementSpec, RotorSpec
from mechid.modelfile.spec_joints import JointSpec

_ELEMENT: TypeAdapter[Any] = TypeAdapter(ElementSpec, config=ConfigDict(defer_build=True))
_GEAR = ("ratio", "coordinate")  # the other keys are those of a motor


def rotor_of(local: str, joint: Entry) -> tuple[str, Entry] | None:
    """Return the transmission of a joint that has a rotor, under its name in the joint's scope."""
    spec: RotorSpec | None = joint.spec.rotor
    if spec is None:
        return None
    path = (*joint.path, "rotor")
    # A row of a table is no JointSpec, and has one coordinate.
    several = isinstance(joint.spec, JointSpec)
    coordinates = JOINT_KINDS[joint.spec.type].coordinates if several else ()
    if len(coordinates) > 1 and spec.coordinate is None:
        raise ModelError(
            f"joint {local} has several coordinates",
            path=path,
            remedy=f"give coordinate: {' or '.join(coordinates)}",
        )
    name = f"{local}_rotor"
    words = {
        "type": "transmission",
        "coordinates": [f"{local}.{spec.coordinate}" if spec.coordinate else local],
        "motors": {name: {k: v for k, v in plain(spec).items() if k not in _GEAR}},
        "matrix": [[spec.ratio]],
    }
    element = _ELEMENT.validate_python(words)
    return name, Entry(joint.scope.final(name), element, joint.scope, path)
