"""Reading measurements of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from mechid.errors import DataError, MechidError, ModelError
from mechid.importing.resolve import mechanism_of
from mechid.kinematics.model import held_values, kinematic_model
from mechid.kinematics.tables import Floats
from mechid.measurementfile.checks import Clean, clean, odd_values
from mechid.measurementfile.document import (
    MappingDocument,
    data_error,
    load_mapping,
    validate_mapping,
)
from mechid.measurementfile.join import read_log
from mechid.measurementfile.mapping import (
    Role,
    Signal,
    default_mapping,
    find_quantity,
    signals_of,
    unused_note,
)
from mechid.measurementfile.timebase import gather
from mechid.measurementfile.wrench import Sensed, generalised_forces
from mechid.mechanism.records import IndependentCoordinate, JointCoordinate, Limit, Mechanism
from mechid.signals.record import Measurement, Preparation
from mechid.textfile.numbers import number
from mechid.textfile.yamlio import Source

Window: TypeAlias = tuple[float | None, float | None]

_MANY_RADIANS = 50.0  # eight turns: more in one log looks like degrees
_BEYOND = 0.1  # of the range of a joint: so far beyond its limits something else is wrong
_FAR = 20.0  # sizes of the mechanism: no point of it gets there


def file_and_part(data: str | Path) -> tuple[Path, Window | None]:
    """Return the file of FILE or FILE@FROM:TO, and the part of it, s from the start of the log.

    Several files of a log, FILE+FILE@FROM:TO, stay together.

    A file whose name has such an ending is taken as it is.

    Raises
    ------
    DataError
        If the part is no range of times.
    """
    text = str(data)
    name, sign, part = text.rpartition("@")
    if not sign or Path(text).exists():
        return Path(text), None
    low, sign, high = part.partition(":")
    if not sign:
        raise DataError(f"{part} is not a part of a log", where=text, remedy="write FILE@FROM:TO")
    start, end = (number(word, text) if word.strip() else None for word in (low, high))
    if start is not None and end is not None and not start < end:
        raise DataError(
            f"the start must be before the end, got {start:g} and {end:g} s", where=text
        )
    return Path(name), (start, end)


def read_measurement(
    path: str | Path,
    model: Mechanism | str | Path,
    mapping: str | Path | Mapping[str, Any] | None = None,
    *,
    use: Window | None = None,
) -> Measurement:
    """Read a measurement of a mechanism.

    Parameters
    ----------
    path : str or Path
        Text table (.csv, .tsv, .txt, .dat, .asc), .parquet, .mat, .h5, .hdf5, .mf4, or ROS bag
        (.bag, .db3, .mcap, or the folder of a bag). Several files of one log as "FILE+FILE"; a part
        as "FILE@FROM:TO", in seconds from the start of the log.
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    mapping : path or dict, optional
        Mapping file, or its content as plain data. Default: channels are named as what they
        are, in SI units: `time`, coordinates and forces of the model, `name.d` and `name.dd`.
    use : (from, to), optional
        The part to use, s from the start of the log, instead of the range of the mapping; None
        for no bound. It is cut out before anything is filtered, so that parts of one log know
        nothing of each other.

    Raises
    ------
    DataError
        With the file, the channel, and the row or the time.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0, harmonics=2)
    >>> log = mechid.synthesise("five_bar", motion, rate=50.0)
    >>> written = mechid.save_measurement(log, "log.csv")
    >>> mechid.read_measurement("log.csv", "five_bar").forces
    ('M1', 'M2')
    """
    mechanism = mechanism_of(model)
    path, part = file_and_part(path)
    use = part if use is None else use
    document, source = _document(mapping)
    try:
        channels, document = read_log(path, document)
        if document is None:
            document = default_mapping(channels, mechanism)
        if use is not None:
            document = document.model_copy(update={"range": use})
        signals, notes = signals_of(document, channels, mechanism)
        raw = gather(channels, document, signals)
        notes = [*channels.notes, *notes, *raw.notes]
        found = clean(raw, signals, document, channels.file)
    except MechidError as error:
        if mapping is None and error.where.partition(".")[0] in get_args(Role):
            raise error.located(str(path)) from None  # the log itself states what is wrong
        raise _placed(error, source) from None
    notes += [*found.notes, *odd_values(found, signals)]
    notes += unused_note(channels, signals, raw.channel)
    coordinates = tuple(find_quantity(mechanism, s.name) for s in signals if s.role == "positions")
    y = _columns(found, signals, "positions")
    _check_values(coordinates, y, mechanism, channels.file)
    notes += [*_turns(coordinates, y), *_beyond(coordinates, y, mechanism)]
    rates: list[Floats | None] = []
    roles: tuple[Role, ...] = ("speeds", "accelerations")
    for role in roles:
        names = {s.name for s in signals if s.role == role}
        whole = all(c.name in names for c in coordinates)
        rates.append(_columns(found, signals, role, coordinates) if whole else None)
        if names and not whole:
            absent = ", ".join(c.name for c in coordinates if c.name not in names)
            notes.append(f"{role} not used: missing for {absent}")
    coordinates, y, rates = _with_held(mechanism, coordinates, y, rates)
    sensed = Sensed(
        tuple(s.name for s in signals if s.role == "forces"),
        _columns(found, signals, "forces"),
        found.valid[:, [s.role == "forces" for s in signals]],
    )
    sensed = generalised_forces(mechanism, coordinates, y, sensed)
    if not sensed.forces:
        notes.append("no forces are measured")
    spec = document.prepare
    return Measurement(
        time=found.time,
        coordinates=coordinates,
        y=y,
        forces=sensed.forces,
        tau=sensed.tau,
        valid=sensed.valid,
        yd=rates[0],
        ydd=rates[1],
        sigma=_deviations(signals, len(coordinates)),
        force_sigma=_force_deviations(signals, sensed.forces),
        preparation=Preparation(
            method=spec.method,
            cutoff=spec.cutoff,
            period=spec.period,
            harmonics=spec.harmonics,
            decimation=spec.decimation,
            ignore_below=spec.ignore_below,
        ),
        notes=tuple(notes),
        source=channels.file,
    )


def _with_held(
    mechanism: Mechanism,
    coordinates: tuple[IndependentCoordinate, ...],
    y: Floats,
    rates: list[Floats | None],
) -> tuple[tuple[IndependentCoordinate, ...], Floats, list[Floats | None]]:
    """Add the coordinates that the model holds, where nobody measured them."""
    still = held_values(mechanism)
    measured = [c.name for c in coordinates]
    held = tuple(c for c in mechanism.coordinates if c.name in still and c.name not in measured)
    if not held:
        return coordinates, y, rates
    at = np.tile([still[c.name] for c in held], (len(y), 1))
    rates = [None if x is None else np.hstack([x, np.zeros_like(at)]) for x in rates]
    return (*coordinates, *held), np.hstack([y, at]), rates


def _deviations(signals: list[Signal], n: int) -> tuple[float | None, ...]:
    """Return the stated deviations of all coordinates; those that were added have next to none."""
    stated = [s.sigma for s in signals if s.role == "positions"]
    least = min((s for s in stated if s is not None), default=None)
    return (*stated, *([least] * (n - len(stated))))


def _force_deviations(signals: list[Signal], forces: tuple[str, ...]) -> dict[str, float]:
    """Return the stated deviations of forces; those made of several channels have none."""
    own = [s for s in signals if s.role == "forces" and s.name in forces]
    return {s.name: s.sigma for s in own if s.sigma is not None}


def _document(
    mapping: str | Path | Mapping[str, Any] | None,
) -> tuple[MappingDocument | None, Source | None]:
    if mapping is None:
        return None, None
    if isinstance(mapping, Mapping):
        try:
            return validate_mapping({"measurement": 1, **mapping}), None
        except ModelError as error:
            raise data_error(error) from None
    return load_mapping(mapping)


def _placed(error: MechidError, source: Source | None) -> MechidError:
    """Put the line of the mapping file before a mistake that lies there."""
    path = tuple(error.where.split(".")) if source is not None else ()
    for n in range(len(path), 1, -1):
        # Names have dots themselves: the entry is the first part, the name what follows.
        key = (path[0], ".".join(path[1:n]))
        if source is not None and key in source.lines:
            return error.located(source.place(key))
    return error


def _columns(
    found: Clean,
    signals: list[Signal],
    role: Role,
    order: tuple[IndependentCoordinate, ...] | None = None,
) -> Floats:
    places = {s.name: j for j, s in enumerate(signals) if s.role == role}
    names = list(places) if order is None else [c.name for c in order]
    return np.ascontiguousarray(found.values[:, [places[name] for name in names]])


def _check_values(
    coordinates: tuple[IndependentCoordinate, ...], y: Floats, mechanism: Mechanism, file: str
) -> None:
    size = kinematic_model(mechanism).size
    for c, values in zip(coordinates, y.T, strict=True):
        far = float(np.abs(values).max())
        if c.unit == "m" and far > _FAR * size:
            raise DataError(
                f"{c.name} reaches {far:.4g} m, but the size of the mechanism is {size:.3g} m",
                where=file,
                remedy="state the unit in the mapping, such as unit: mm",
            )
    if not np.ptp(y, axis=0).any():
        raise DataError("nothing moves: all positions are constant", where=file)


def _turns(coordinates: tuple[IndependentCoordinate, ...], y: Floats) -> list[str]:
    return [
        f"{c.name} ranges over {span:.4g} rad, {span / (2 * np.pi):.3g} turns: degrees?"
        for c, span in zip(coordinates, np.ptp(y, axis=0), strict=True)
        if c.unit == "rad" and span > _MANY_RADIANS
    ]


def _beyond(
    coordinates: tuple[IndependentCoordinate, ...], y: Floats, mechanism: Mechanism
) -> list[str]:
    """Say which joints go beyond their limits."""
    joints = {joint.name: joint for joint in mechanism.joints}
    notes = []
    for c, values in zip(coordinates, y.T, strict=True):
        limits = joints[c.joint].limits if isinstance(c, JointCoordinate) else ()
        limit = limits[c.index] if isinstance(c, JointCoordinate) and limits else Limit()
        if limit.lower is None or limit.upper is None:
            continue
        slack = _BEYOND * (limit.upper - limit.lower)
        low, high = float(values.min()), float(values.max())
        if low < limit.lower - slack or high > limit.upper + slack:
            notes.append(
                f"{c.name} ranges from {low:.4g} to {high:.4g} {c.unit}, outside the joint "
                f"limits {limit.lower:.4g} to {limit.upper:.4g}: check unit, sign and "
                "offset"
            )
    return notes
