"""What the page asks about a log; runs in the worker.

Everything is said before anything is identified: channels, a mapping to begin with, what is wrong.
"""

from __future__ import annotations

import re
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.measurementfile.channels import Channel, Channels
from mechid.measurementfile.clock import Clock, find_clock
from mechid.measurementfile.document import load_mapping
from mechid.measurementfile.join import read_log
from mechid.measurementfile.mapping import default_mapping
from mechid.measurementfile.read import read_measurement
from mechid.measurementfile.units import parse_unit
from mechid.mechanism.records import Mechanism, force_unit
from mechid.studio.models import model_of
from mechid.studio.refused import words_of
from mechid.tasks.measured import prepare
from mechid.textfile.yamlio import read_file, write

POINTS = 1200  # of a curve: twice as many pixels as a panel is wide
_PREVIEW = 8  # first samples of a channel
_LIKE = 0.6  # of names: less alike, they are different things
_ENDS = re.compile(r"(actual|act|pos|position|meas|measured|force|torque|effort|angle)", re.I)


def inspect(path: str) -> dict[str, Any]:
    """Return the channels of a log, and its clock.

    Parameters
    ----------
    path : str
        FILE, or FILE+FILE for several files of one log.
    """
    channels, _ = read_log(path, None)
    problems = list(channels.notes)
    clock = None
    try:
        clock = find_clock(channels, None)
    except DataError as error:
        problems.append(str(error))
    found = [_column(name, c, clock) for name, c in channels.channels.items()]
    time = clock.time if clock is not None else None
    return {
        "columns": found,
        "clock": None if clock is None else clock.channel,
        "samples": max((c["samples"] for c in found), default=0),
        "rate": None if time is None else _rate(time),
        "start": None if time is None or not len(time) else float(time[0]),
        "end": None if time is None or not len(time) else float(time[-1]),
        "problems": problems + ([] if clock is None else list(clock.words)),
    }


def guess(path: str, model: str) -> dict[str, Any]:
    """Return a mapping to begin with: channels named as what they are, or nearly so.

    `sure` lists the quantities whose channel has exactly their name, `missing` those for which no
    channel looks right.
    """
    mechanism = model_of(None, model).mechanism
    channels, _ = read_log(path, None)
    wanted = _wanted(mechanism)
    try:
        document = default_mapping(channels, mechanism)
    except DataError:
        mapping, sure = _alike(channels, wanted), []
    else:
        mapping = document.model_dump(exclude_defaults=True)
        mapping = {
            role: {name: {"channel": spec["channel"]} for name, spec in mapping[role].items()}
            for role in ("positions", "speeds", "accelerations", "forces")
            if mapping.get(role)
        }
        sure = [name for part in mapping.values() for name in part]
    clock = None
    with suppress(DataError):  # of several clocks the person chooses one
        clock = find_clock(channels, None)
    if clock is not None and clock.channel:
        mapping["time"] = {"channel": clock.channel}
    mapped = {name for role in ("positions", "forces") for name in mapping.get(role, {})}
    return {
        "mapping": {"measurement": 1, **mapping},
        "sure": sure,
        "missing": [name for _, name, _ in wanted if name not in mapped],
        "quantities": [{"role": role, "name": name, "unit": unit} for role, name, unit in wanted],
        "text": write({"measurement": 1, **mapping}),
    }


def mapping_of(path: str) -> dict[str, Any]:
    """Return the content of a mapping file, after it was checked."""
    load_mapping(path)
    data, _ = read_file(Path(path), path)
    return {"mapping": data, "text": write(data)}


def check(path: str, model: str, mapping: dict[str, Any] | str | None = None) -> dict[str, Any]:
    """Return what a log says of a model through a mapping, and what is wrong with it.

    Parameters
    ----------
    path : str
    model : str
        File or `zoo:NAME`.
    mapping : dict or str, optional
        Content of a mapping file, or its path.

    Returns
    -------
    dict
        `ok`, `errors`, `notes`, `warnings`; `series`: measured coordinates and forces in SI units,
        thinned; `text`: the mapping file.
    """
    ready = model_of(None, model)
    text = write({"measurement": 1, **mapping}) if isinstance(mapping, dict) else None
    answer: dict[str, Any] = {
        "ok": False, "errors": [], "warnings": [], "notes": [], "series": [], "text": text,
    }  # fmt: skip
    try:
        read = read_measurement(path, ready.mechanism, mapping)
        units = {c.force: force_unit(c) for c in ready.mechanism.coordinates}
        answer["notes"] = list(read.notes)
        answer["rate"], answer["samples"] = read.rate, len(read.time)
        answer["series"] = [
            *(_series("positions", c.name, c.unit, read.time, read.y[:, i])
              for i, c in enumerate(read.coordinates)),
            *(_series("forces", name, units.get(name, ""), read.time,
                      np.where(read.valid[:, k], read.tau[:, k], np.nan))
              for k, name in enumerate(read.forces)),
        ]  # fmt: skip
        prepared = prepare(read, ready.mechanism)
        answer["notes"] = list(dict.fromkeys([*read.notes, *prepared.notes]))
        answer["warnings"] = list(prepared.warnings)
        solve_motion(ready, prepared.y, prepared.yd, prepared.ydd, time=prepared.time)
    except MechidError as error:
        answer["errors"] = [words_of(error)]
    else:
        answer["ok"] = True
    return answer


def _column(name: str, channel: Channel, clock: Clock | None) -> dict[str, Any]:
    values = channel.values
    there = values[np.isfinite(values)]
    times = clock.time if clock is not None and len(clock.time) == len(values) else None
    own = channel.time if channel.time is not None else times
    return {
        "name": name,
        "unit": channel.unit,
        "guess": "time" if clock is not None and name == clock.channel else _guess(channel.unit),
        "samples": len(values),
        "missing": int(len(values) - len(there)),
        "min": float(there.min()) if there.size else None,
        "max": float(there.max()) if there.size else None,
        "preview": values[:_PREVIEW].tolist(),
        "problem": None if channel.problem is None else str(channel.problem),
        "curve": _thinned(np.arange(float(len(values))) if own is None else own, values),
    }


def _guess(unit: str) -> str | None:
    """Return what the unit of a channel says it is: length, angle, speed, force, torque, time."""
    try:
        dimension = parse_unit(unit).dimension if unit else None
    except DataError:
        return None
    return {
        (1, 0, 0, 0): "length", (0, 1, 0, 0): "angle", (1, 0, 0, -1): "speed",
        (0, 1, 0, -1): "speed", (1, 0, 0, -2): "acceleration", (0, 1, 0, -2): "acceleration",
        (1, 0, 1, -2): "force", (2, 0, 1, -2): "torque", (0, 0, 0, 1): "time",
    }.get(dimension or (0, 0, 0, 0))  # fmt: skip


def _wanted(mechanism: Mechanism) -> list[tuple[str, str, str]]:
    """Return what a log should have: role, name, SI unit."""
    positions = [("positions", c.name, c.unit) for c in mechanism.coordinates if not c.held]
    forces = [("forces", c.force, force_unit(c)) for c in mechanism.coordinates if c.force]
    return [*positions, *forces]


def _alike(channels: Channels, wanted: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Return channels whose names resemble those of quantities and whose units fit, each once."""
    pairs = []
    for role, name, unit in wanted:
        for label, channel in channels.channels.items():
            if channel.problem is None and _fits(channel.unit, unit):
                pairs.append((_likeness(name, label), role, name, label))
    found: dict[str, Any] = {}
    taken: set[str] = set()
    for likeness, role, name, label in sorted(pairs, key=lambda p: (-p[0], p[2], p[3])):
        if likeness < _LIKE or label in taken or name in found.get(role, {}):
            continue
        taken.add(label)
        found.setdefault(role, {})[name] = {"channel": label}
    order = {(role, name): k for k, (role, name, _) in enumerate(wanted)}
    return {
        role: dict(sorted(part.items(), key=lambda item: order[role, item[0]]))
        for role, part in found.items()
    }


def _fits(stated: str, unit: str) -> bool:
    try:
        return not stated or parse_unit(stated).dimension == parse_unit(unit).dimension
    except DataError:
        return True


def _likeness(name: str, label: str) -> float:
    a, b = (re.sub(r"[^a-z0-9]", "", x.lower()) for x in (name, label))
    bare = re.sub(r"[^a-z0-9]", "", _ENDS.sub("", label.lower()))
    return max(SequenceMatcher(None, a, x).ratio() for x in (b, bare))


def _rate(time: Floats) -> float | None:
    steps = np.diff(time[np.isfinite(time)])
    return float(1 / np.median(steps)) if steps.size and np.median(steps) > 0 else None


def _series(role: str, name: str, unit: str, time: Floats, values: Floats) -> dict[str, Any]:
    return {"role": role, "name": name, "unit": unit, **_thinned(time, values)}


def _thinned(time: Floats, values: Floats) -> dict[str, Any]:
    """Return a curve with few points: of each stretch its lowest and highest sample."""
    n = len(values)
    if n <= POINTS:
        return {"time": time.tolist(), "values": values.tolist()}
    edges = np.linspace(0, n, POINTS // 2 + 1).astype(int)
    kept = []
    for a, b in pairwise(edges):
        part = values[a:b]
        if np.isfinite(part).any():
            kept += sorted({a + int(np.nanargmin(part)), a + int(np.nanargmax(part))})
        else:
            kept.append(int(a))
    return {"time": time[kept].tolist(), "values": values[kept].tolist()}
