"""A YAML file of joints that close the loops of a robot, for formats that have no word for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from mechid.errors import ModelError
from mechid.importing.poses import Pose, unit
from mechid.importing.robot import LoopJoint, Robot
from mechid.importing.urdf_loops import LOOP_KINDS, WITH_AXIS
from mechid.importing.xml import LARGEST
from mechid.mechanism.records import GROUND
from mechid.spatial.rotations import matrix_from_rpy, snap
from mechid.textfile.parse import parsed
from mechid.textfile.words import Vector, Words, hint, kind, two
from mechid.textfile.yamlio import FileKind, read_file

_FILE = FileKind("file of loop joints", "joints:", "joints")


def _kind(value: object) -> str:
    if not isinstance(value, str) or value not in LOOP_KINDS:
        raise ValueError(f"unknown joint type {kind(value)}; {hint(str(value), LOOP_KINDS)}")
    return LOOP_KINDS[value]


class _Loop(Words):
    type: Annotated[str, BeforeValidator(_kind)]
    between: Annotated[tuple[str, str], BeforeValidator(two)] = Field(description="two links")
    at: Annotated[tuple[Vector, Vector], BeforeValidator(two)] = Field(
        description="the point in the frame of each link, m"
    )
    axis: Annotated[tuple[Vector, Vector], BeforeValidator(two)] | None = Field(
        default=None, description="the axis in the frame of each link"
    )
    rpy: Annotated[tuple[Vector, Vector], BeforeValidator(two)] | None = Field(
        default=None, description="fixed: orientation of the joint frame in each link, rad"
    )


class _Loops(Words):
    joints: dict[str, _Loop]


def with_loops(robot: Robot, path: Path) -> Robot:
    """Return the robot with the loop joints of a YAML file added.

    Raises
    ------
    ModelError
        With file, line and entry.
    """
    data, source = read_file(path, str(path), _FILE)
    with source.locating():
        names = {link.name for link in robot.links}
        taken = {j.name for link in robot.links for j in link.joints}
        taken |= {loop.name for loop in robot.loops}
        loops = []
        for name, spec in parsed(_Loops, data).joints.items():
            if name in taken:
                raise ModelError(
                    f"there is a joint {name} already", path=("joints", name), remedy="rename it"
                )
            loops.append(_loop(name, spec, names, source.place(("joints", name))))
    return replace(robot, loops=(*robot.loops, *loops))


def _loop(name: str, spec: _Loop, links: set[str], place: str) -> LoopJoint:
    path = ("joints", name)
    for i, link in enumerate(spec.between):
        if link not in links and link != GROUND:
            raise ModelError(
                f"there is no link {link}",
                path=(*path, "between", i),
                remedy=hint(link, (*sorted(links), GROUND)),
            )
    a, b = (None if x == GROUND and x not in links else x for x in spec.between)
    if (spec.axis is not None) != (spec.type in WITH_AXIS):
        needs = "needs" if spec.axis is None else "has no"
        raise ModelError(f"a {spec.type} joint {needs} axis", path=path)
    turns = [np.eye(3)] * 2
    if spec.rpy is not None:
        turns = [snap(matrix_from_rpy(_numbers(v, (*path, "rpy")))) for v in spec.rpy]
    poses = [Pose(_numbers(p, (*path, "at")), R) for p, R in zip(spec.at, turns, strict=True)]
    axes = None
    if spec.axis is not None:
        found = [unit(_numbers(v, (*path, "axis"))) for v in spec.axis]
        if found[0] is None or found[1] is None:
            raise ModelError("an axis is zero", path=(*path, "axis"), remedy="give a direction")
        axes = (found[0], found[1])
    return LoopJoint(name, spec.type, (a, b), (poses[0], poses[1]), axes, place)


def _numbers(vector: Any, path: tuple[str, ...]) -> np.ndarray:
    if any(isinstance(x, str) for x in vector):
        raise ModelError("expected numbers", path=path, remedy="expressions are not known here")
    found = np.array(vector, dtype=float)
    if not np.all(np.abs(found) <= LARGEST):
        raise ModelError(f"numbers must be at most {LARGEST:g}", path=path, remedy="check them")
    return found
