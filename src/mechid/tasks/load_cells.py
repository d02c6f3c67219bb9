"""Observation matrices of load cells: what joints and rods transmit is linear in the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reactions import joint_reactions
from mechid.errors import DataError
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.textfile.words import hint

FORCE, MOMENT, AXIAL = "force", "moment", "axial"
KINDS = (FORCE, MOMENT, AXIAL)


@dataclass(frozen=True, eq=False)
class SensorRows:
    """What sensors show: W φ + known.

    Attributes
    ----------
    W : array (N, k, p)
    known : array (N, k)
        N or N m.
    names : tuple of str
        Of the k signals.
    sensor : tuple of str
        Which sensor each of them belongs to.
    """

    W: Floats
    known: Floats
    names: tuple[str, ...]
    sensor: tuple[str, ...]


def load_cells(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the load cells that a mechanism can have: force:JOINT, moment:JOINT, axial:BODY."""
    joints = [j.name for j in mechanism.joints if not j.kind.holds_nothing]
    rods = [body.name for body in mechanism.bodies if len(_joints_of(mechanism, body.name)) == 2]
    return (
        *(f"{FORCE}:{name}" for name in joints),
        *(f"{MOMENT}:{name}" for name in joints),
        *(f"{AXIAL}:{name}" for name in rods),
    )


def sensor_rows(motion: Motion, sensors: Sequence[str]) -> SensorRows:
    """Return the observation matrix of load cells along a motion.

    Parameters
    ----------
    motion : Motion
    sensors : sequence of str
        "force:JOINT" and "moment:JOINT": three components of what a joint does to its second body;
        "axial:BODY": the force along a body with two joints, as strain gauges see it. Axes of the
        components do not matter to equal noise; they are those of the ground.

    Raises
    ------
    DataError
        For a sensor that the mechanism cannot have, or whose force redundant constraints leave
        open.
    """
    mechanism = motion.model.mechanism
    known = load_cells(mechanism)
    for name in sensors:
        if name not in known:
            raise DataError(f"there is no load cell {name}", remedy=hint(name, known))
    p = len(dynamic_model(mechanism).columns)
    maps = [_signals(motion, name) for name in sensors]
    base = _all(motion, np.zeros(p), maps, sensors)
    columns = [_all(motion, unit, maps, sensors) - base for unit in np.eye(p)]
    names = [f"{s}.{x}" for s, (_, axes) in zip(sensors, maps, strict=True) for x in axes]
    owner = [s for s, (_, axes) in zip(sensors, maps, strict=True) for _ in axes]
    return SensorRows(np.stack(columns, axis=-1), base, tuple(names), tuple(owner))


def _joints_of(mechanism: Mechanism, body: str) -> list[int]:
    return [k for k, j in enumerate(mechanism.joints) if body in (j.body_a, j.body_b)]


# Directions (N, m, 3) of the signals of a sensor, the joint and what is seen of it; their names.
_Signals = tuple[tuple[Floats, int, str], tuple[str, ...]]


def _signals(motion: Motion, sensor: str) -> _Signals:
    mechanism = motion.model.mechanism
    kind, _, name = sensor.partition(":")
    if kind == AXIAL:
        first, second = _joints_of(mechanism, name)
        ends = [_origin(motion, k, name) for k in (first, second)]
        along = ends[1] - ends[0]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        if not np.all(length > 0):
            raise DataError(
                f"the joints of {name} are in one place: there is no axis along which to measure"
            )
        return ((along / length)[:, None, :], first, FORCE), ("axial",)
    at = next(k for k, j in enumerate(mechanism.joints) if j.name == name)
    return (np.broadcast_to(np.eye(3), (len(motion.y), 3, 3)), at, kind), ("x", "y", "z")


def _origin(motion: Motion, joint: int, body: str) -> Floats:
    """Return the place of a joint on one of its bodies, ground axes, (N, 3)."""
    mechanism = motion.model.mechanism
    j = mechanism.joints[joint]
    frame = j.frame_a if j.body_a == body else j.frame_b
    k = next(i for i, b in enumerate(mechanism.bodies) if b.name == body)
    moved = motion.bodies()
    return np.asarray(
        moved.position[:, k] + moved.rotation[:, k] @ np.asarray(frame.origin, dtype=float)
    )


def _all(motion: Motion, phi: Floats, maps: Sequence[_Signals], sensors: Sequence[str]) -> Floats:
    """Return the signals of all sensors for some parameters, (N, k)."""
    found = joint_reactions(motion, phi, inverse_dynamics(motion, phi).tau)
    out = []
    for (by, joint, kind), sensor in zip([m[0] for m in maps], sensors, strict=True):
        part = slice(0, 3) if kind == FORCE else slice(3, 6)
        if np.any(found.undetermined[:, joint, part]):
            raise DataError(
                f"redundant constraints leave the {kind} of {sensor} open",
                remedy="choose another place, or a model without redundant constraints",
            )
        values = (found.force if kind == FORCE else found.moment)[:, joint]
        out.append(np.einsum("nmi,ni->nm", by, values))
    return np.concatenate(out, axis=1)
