"""Gravity: a vector, a direction, or how the ground frame is mounted."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import Vec3
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.scope import Scope
from mechid.modelfile.spec_geometry import GravitySpec
from mechid.modelfile.transforms import roll_pitch_yaw
from mechid.modelfile.vectors import vec3
from mechid.textfile.yamlio import Key

# m/s². A thousand times what ultracentrifuges reach; beyond it only arithmetic fails.
_STRONGEST = 1e10


def gravity(spec: Any, geometry: Geometry, file: Scope) -> Vec3:
    """Return the weight per unit mass in ground axes, m/s².

    Raises
    ------
    ModelError
        If it is larger than anything that could be meant.
    """
    found = _gravity(spec, geometry, file)
    if (size := float(np.linalg.norm(found))) > _STRONGEST:
        raise ModelError(
            f"gravity must be < {_STRONGEST:g} m/s², got {size:.3g}",
            path=("gravity",),
            remedy="check its unit; on Earth it is 9.81 m/s²",
        )
    return found


def _gravity(spec: Any, geometry: Geometry, file: Scope) -> Vec3:
    path: Key = ("gravity",)
    if isinstance(spec, tuple):
        return geometry.numbers.vector(spec, file, path).value
    here: Key = (*path, "direction")
    if isinstance(spec, str):
        spec, here = GravitySpec(direction=spec), path
    magnitude = geometry.numbers.value(spec.magnitude, file, (*path, "magnitude"))
    if magnitude < 0:
        raise ModelError(
            f"the magnitude must be ≥ 0, got {magnitude:g}",
            path=(*path, "magnitude"),
            remedy="reverse the direction",
        )
    if spec.direction is not None and spec.rpy is not None:
        raise ModelError(
            "direction and rpy exclude each other", path=path, remedy="remove one of them"
        )
    down = np.array([0.0, 0.0, -1.0])
    if spec.direction is not None:
        down = geometry.direction(spec.direction, file, here).vector
    elif spec.rpy is not None:
        turned = roll_pitch_yaw(geometry.numbers, spec.rpy, file, (*path, "rpy"))
        down = np.array(turned.frame(geometry.numbers).rotation).T @ down
    return vec3(magnitude * down)
