"""Which channels make up which quantity: from a mapping file, or from the names of the channels.

Measured quantities by name, as records.

An independent coordinate by its name; a joint with one coordinate, or `joint.coordinate`;
`body.point.x` (or y, z) for a point along an axis of the ground; `body.point-body.point` for a
distance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mechid.dynamics.wrench import sensed_joints
from mechid.errors import DataError
from mechid.measurementfile.channels import Channels, listed
from mechid.measurementfile.document import Angle, MappingDocument, SignalSpec
from mechid.measurementfile.units import Dimension, Unit, parse_unit
from mechid.mechanism.records import (
    DistanceCoordinate,
    IndependentCoordinate,
    JointCoordinate,
    Mechanism,
    PointCoordinate,
)
from mechid.tables.names import find_point
from mechid.textfile.words import hint

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def find_quantity(mechanism: Mechanism, name: str) -> IndependentCoordinate:
    """Return what a name stands for.

    Raises
    ------
    DataError
        If it is nothing of this mechanism.
    """
    for coordinate in mechanism.coordinates:
        if coordinate.name == name:
            return coordinate
    joints = {joint.name: joint for joint in mechanism.joints}
    stem, _, label = name.partition(".")
    if stem in joints:
        joint = joints[stem]
        # An orientation is a quaternion, which no single channel measures.
        known = joint.kind.coordinates[: joint.kind.n_scalars]
        if label in known or (not label and len(known) == 1):
            k = known.index(label) if label else 0
            return JointCoordinate(name, stem, k, "", joint.kind.units[k])
    point, _, axis = name.rpartition(".")
    if point and axis in _AXES:
        return PointCoordinate(name, find_point(mechanism, point), _AXES[axis], "")
    parts = name.split("-")
    for k in range(1, len(parts)):  # a name may have a dash itself
        a, b = "-".join(parts[:k]).strip(), "-".join(parts[k:]).strip()
        try:
            return DistanceCoordinate(name, find_point(mechanism, a), find_point(mechanism, b), "")
        except DataError:
            if k == len(parts) - 1:
                raise
    raise DataError(
        f"{name} is not a quantity of this mechanism",
        remedy=hint(name, [*(c.name for c in mechanism.coordinates), *joints])
        + "; or write body.point.x, or body.point-body.point for a distance",
    )


Role: TypeAlias = Literal["positions", "speeds", "accelerations", "forces"]
SUFFIX: dict[Role, str] = {"positions": "", "speeds": ".d", "accelerations": ".dd"}
EFFORT = ".effort"
NOT_USED = "not used: "  # how the note about other channels begins
_ORDER = {"positions": 0, "speeds": -1, "accelerations": -2}


@dataclass(frozen=True)
class Signal:
    """A quantity and the channels it is made of: SI value = size · (Σ factor channel + offset)."""

    role: Role
    name: str
    factors: tuple[tuple[str, float], ...]
    offset: float
    size: float
    sigma: float | None
    delay: float = 0.0

    @property
    def words(self) -> str:
        """The signal for messages: its channel, and what it is."""
        names = ", ".join(name for name, _ in self.factors)
        label = f"{self.name}{SUFFIX.get(self.role, '')}"
        return f"channel {names}" + ("" if names == label else f" ({label})")


def default_mapping(channels: Channels, mechanism: Mechanism) -> MappingDocument:
    """Return the mapping of channels that are named as what they are.

    The independent coordinates if they are all there; else all channels that name a joint, a point
    coordinate or a distance too.

    Raises
    ------
    DataError
        If the channels name no coordinate.
    """
    have = channels.channels
    names = [c.name for c in mechanism.coordinates if not c.held or c.name in have]
    positions = [name for name in names if name in have]
    if len(positions) < len(names):
        others = _others(have, mechanism, names)
        if len(positions) + len(others) < len(names):
            absent = [name for name in names if name not in have]
            channels.get(absent[0])  # says what is missing
        positions += others
    known = [c.force for c in mechanism.coordinates] + list(_sensed(mechanism))
    forces = {name: name for name in known if name in have}
    # ROS names the force of a joint after the joint.
    efforts = {c.force: f"{c.name}{EFFORT}" for c in mechanism.coordinates if c.force not in have}
    forces |= {force: channel for force, channel in efforts.items() if channel in have}
    data = {
        "measurement": 1,
        "positions": {name: name for name in positions},
        "forces": forces,
    }
    for role in ("speeds", "accelerations"):
        stems = {name: f"{name}{SUFFIX[role]}" for name in positions}
        data[role] = {name: label for name, label in stems.items() if label in have}
    return MappingDocument.model_validate(data)


def _others(have: Iterable[str], mechanism: Mechanism, names: list[str]) -> list[str]:
    found = []
    for name in have:
        try:
            find_quantity(mechanism, name)
        except DataError:
            continue
        if name not in names:
            found.append(name)
    return found


def signals_of(
    document: MappingDocument, channels: Channels, mechanism: Mechanism
) -> tuple[list[Signal], list[str]]:
    """Return the signals of a mapping, with units checked, and notes about them.

    Raises
    ------
    DataError
        For quantities, channels or units that do not exist or do not fit.
    """
    forces = {c.force: _force_dimension(c) for c in mechanism.coordinates} | _sensed(mechanism)
    signals: list[Signal] = []
    notes: list[str] = []
    roles: tuple[Role, ...] = ("positions", "speeds", "accelerations", "forces")
    for role in roles:
        for name, spec in getattr(document, role).items():
            if role == "forces":
                if name not in forces:
                    raise DataError(
                        f"there is no force {name}", remedy=hint(name, list(forces))
                    ).located(f"forces.{name}")
                wanted = forces[name]
            else:
                try:
                    quantity = find_quantity(mechanism, name)
                except DataError as error:
                    raise error.located(f"{role}.{name}") from None
                wanted = _dimension(quantity, _ORDER[role])
            unit = _unit(spec, channels, wanted, f"{role}.{name}", notes)
            _refuse_angles(spec, unit, wanted, f"{role}.{name}")
            signals.append(_signal(role, name, spec, unit, channels))
    return signals, notes


def _signal(
    role: Role, name: str, spec: SignalSpec, unit: Unit | None, channels: Channels
) -> Signal:
    size = 1.0 if unit is None else unit.size
    factors = tuple(
        (channels.name_of(n), spec.sign * spec.scale * f) for n, f in spec.factors.items()
    )
    sigma = None if spec.sigma is None else spec.sigma * size
    return Signal(role, name, factors, spec.offset, size, sigma, spec.delay)


def _dimension(quantity: IndependentCoordinate, seconds: int) -> Dimension:
    return (1, 0, 0, seconds) if quantity.unit == "m" else (0, 1, 0, seconds)


def _force_dimension(coordinate: IndependentCoordinate) -> Dimension:
    return (1, 0, 1, -2) if coordinate.unit == "m" else (2, 0, 1, -2)


def _sensed(mechanism: Mechanism) -> dict[str, Dimension]:
    """Return the components of wrenches that sensors in joints may measure."""
    names = [name for joint in sensed_joints(mechanism) for name in joint.components]
    return {n: (1, 0, 1, -2) if n.rpartition(".")[2][0] == "F" else (2, 0, 1, -2) for n in names}


_SI = {
    (1, 0): "m", (0, 1): "rad"}  # fmt: skip


def _words(dimension: Dimension) -> str:
    """Return the SI unit of a dimension."""
    if dimension[2]:
        return "N" if dimension[0] == 1 else "N m"
    seconds = {0: "", -1: "/s", -2: "/s²"}[dimension[3]]
    return _SI[dimension[0], dimension[1]] + seconds


def _unit(
    spec: SignalSpec, channels: Channels, wanted: Dimension, where: str, notes: list[str]
) -> Unit | None:
    """Return the unit of a signal: that of the mapping, else that which the file states."""
    stated = {channels.get(name).unit for name in spec.factors} - {""}
    if spec.unit is not None:
        try:
            unit = parse_unit(spec.unit)
        except DataError as error:
            raise error.located(f"{where}.unit") from None
        _check(unit, wanted, where)
        _compare(spec, unit, stated, where, notes)
        return unit
    if len(stated) != 1 or spec.scale != 1 or len(spec.factors) != 1:
        return None  # a scale may turn volts into newtons: SI by declaration
    (text,) = stated
    try:
        unit = parse_unit(text)
    except DataError:
        notes.append(f'{where}: unknown unit "{text}" in the file; SI is assumed')
        return None
    _check(unit, wanted, where)
    return unit


def _check(unit: Unit, wanted: Dimension, where: str) -> None:
    # Torques are sometimes stated per radian; angles of torques do not count.
    if unit.dimension != wanted:
        raise DataError(
            f'the unit "{unit.text}" does not match a quantity in {_words(wanted)}',
            where=where,
            remedy="check the unit and the channel",
        )


def _refuse_angles(spec: SignalSpec, unit: Unit | None, wanted: Dimension, where: str) -> None:
    """Reject `30 deg`, which is π/6, where the unit is not rad: it would be converted twice."""
    radians = wanted[:3] == (0, 1, 0) and (unit is None or unit.size == 1.0)
    text = _words(wanted) if unit is None else unit.text
    for key in ("offset", "sigma"):
        if isinstance(getattr(spec, key), Angle) and not radians:
            raise DataError(
                "the number has a unit of its own, which is not that of the quantity",
                where=f"{where}.{key}",
                remedy=f"write the plain number, in {text}",
            )


def _compare(spec: SignalSpec, unit: Unit, stated: set[str], where: str, notes: list[str]) -> None:
    """Tell when the file states another unit than the mapping."""
    if spec.scale != 1 or len(spec.factors) != 1:
        return
    for text in stated:
        try:
            other = parse_unit(text)
        except DataError:
            continue
        if other.dimension != unit.dimension:
            raise DataError(
                f'the mapping says "{unit.text}", the file "{text}"',
                where=where,
                remedy="check the channel; give a scale if the unit is converted",
            )
        if other.size != unit.size:
            notes.append(f'{where}: the file states "{text}"; "{unit.text}" of the mapping is used')


def unused_note(channels: Channels, signals: list[Signal], time: str | None) -> list[str]:
    """Say which channels were not used."""
    used = {name for signal in signals for name, _ in signal.factors} | {time}
    rest = [name for name in channels.channels if name not in used]
    return [f"{NOT_USED}{listed(rest, 6)}"] if rest else []
