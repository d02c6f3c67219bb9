"""Observation matrices of load cells: what joints and rods transmit is linear in the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reactions import JointReactions
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
    rods = [body.name for body in mechanism.bodies if _is_rod(mechanism, body.name)]
    return (
        *(f"{FORCE}:{name}" for name in joints),
        *(f"{MOMENT}:{name}" for name in joints),
        *(f"{AXIAL}:{name}" for name in rods),
    )


def sensor_rows(motion: Motion, sensors: Sequence[str], *, skip_open: bool = False) -> SensorRows:
    """Return the observation matrix of load cells along a motion.

    Parameters
    ----------
    motion : Motion
    sensors : sequence of str
        "force:JOINT" and "moment:JOINT": three components of what a joint does to its second body;
        "axial:BODY": the force along a body with two joints, as strain gauges see it. Axes of the
        components do not matter to equal noise; they are those of the ground.
    skip_open : bool
        Whether sensors whose force redundant constraints leave open are left out.

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
    maps = {name: _signals(motion, name) for name in sensors}
    first = _reactions(motion, np.zeros(p))
    for name, signals in list(maps.items()):
        if np.any(first.undetermined[:, signals.joint, signals.part]):
            if not skip_open:
                raise DataError(
                    f"redundant constraints leave the force of {name} open",
                    remedy="choose another place, or a model without redundant constraints",
                )
            del maps[name]
    base = _all(first, maps.values())
    columns = [_all(_reactions(motion, unit), maps.values()) - base for unit in np.eye(p)]
    return SensorRows(
        np.stack(columns, axis=-1),
        base,
        tuple(f"{name}.{axis}" for name, signals in maps.items() for axis in signals.axes),
        tuple(name for name, signals in maps.items() for _ in signals.axes),
    )


def _is_rod(mechanism: Mechanism, body: str) -> bool:
    """Return whether a body has two joints, in different places."""
    joints = [mechanism.joints[k] for k in _joints_of(mechanism, body)]
    places = [(j.frame_a if j.body_a == body else j.frame_b).origin for j in joints]
    return len(places) == 2 and not np.allclose(places[0], places[1])


def _joints_of(mechanism: Mechanism, body: str) -> list[int]:
    return [k for k, j in enumerate(mechanism.joints) if body in (j.body_a, j.body_b)]


@dataclass(frozen=True, eq=False)
class _Signals:
    """What a sensor shows: components along `by` (N, m, 3) of the force or moment of a joint."""

    by: Floats
    joint: int
    moment: bool
    axes: tuple[str, ...]

    @property
    def part(self) -> slice:
        """Its place among the six components of a reaction."""
        return slice(3, 6) if self.moment else slice(0, 3)


def _signals(motion: Motion, sensor: str) -> _Signals:
    mechanism = motion.model.mechanism
    kind, _, name = sensor.partition(":")
    if kind == AXIAL:
        first, second = _joints_of(mechanism, name)
        along = _origin(motion, second, name) - _origin(motion, first, name)
        length = np.linalg.norm(along, axis=1, keepdims=True)
        return _Signals((along / length)[:, None, :], first, False, ("axial",))
    at = next(k for k, j in enumerate(mechanism.joints) if j.name == name)
    ground = np.broadcast_to(np.eye(3), (len(motion.y), 3, 3))
    return _Signals(ground, at, kind == MOMENT, ("x", "y", "z"))


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


def _reactions(motion: Motion, phi: Floats) -> JointReactions:
    found = inverse_dynamics(motion, phi, reactions=True).reactions
    assert found is not None
    return found


def _all(found: JointReactions, signals: Iterable[_Signals]) -> Floats:
    """Return the signals of all sensors, (N, k)."""
    out = [np.zeros((len(found.force), 0))]
    for s in signals:
        values = (found.moment if s.moment else found.force)[:, s.joint]
        out.append(np.einsum("nmi,ni->nm", s.by, values))
    return np.concatenate(out, axis=1)
