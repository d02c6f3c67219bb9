"""Several files of one log, each with its own clock, as channels with times of their own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from mechid.errors import DataError
from mechid.measurementfile.channels import Channel, Channels, read_channels
from mechid.measurementfile.clock import date, find_clock
from mechid.measurementfile.document import FileSpec, MappingDocument
from mechid.measurementfile.timebase import check_increasing


def log_files(path: str | Path) -> list[Path]:
    """Return the files of a log: FILE, or FILE+FILE+… unless a file has that name."""
    text = str(path)
    names = [text] if "+" not in text or Path(text).exists() else text.split("+")
    return [Path(name.strip()) for name in names]


def read_log(
    path: str | Path, document: MappingDocument | None
) -> tuple[Channels, MappingDocument | None]:
    """Return the channels of a log, and the mapping without the entries that have been used.

    Channels of several files have times on one clock; a name that several files have is written
    `name@1`, `name@2`, files counted as they are given.

    Raises
    ------
    DataError
        If a file cannot be read, or the times of the files do not overlap.
    """
    files = log_files(path)
    specs = list(document.files) if document is not None else []
    if specs and len(specs) != len(files):
        raise DataError(
            f"the mapping has {len(specs)} entries for files, the log has {len(files)} files",
            where="files",
            remedy="give one entry for each file, in their order; {} for nothing special",
        )
    specs = specs or [FileSpec()] * len(files)
    table = {} if document is None else {"table": document.table}
    read = [
        read_channels(file, **(table if spec.table is None else {"table": spec.table}))
        for file, spec in zip(files, specs, strict=True)
    ]
    if len(files) == 1 and not document_clock(specs[0]):
        return read[0], document
    parts = [_timed(c, spec, document) for c, spec in zip(read, specs, strict=True)]
    whole = _merged(parts)
    if document is not None:
        document = document.model_copy(update={"time": None, "rate": None})
    return whole, document


def document_clock(spec: FileSpec) -> bool:
    """Tell whether a file has a clock of its own in the mapping."""
    return spec.time is not None or spec.rate is not None or spec.shift != 0


def _timed(channels: Channels, spec: FileSpec, document: MappingDocument | None) -> Channels:
    """Return channels that have times, all on the clock of their file."""
    own = channels.channels
    rate, time = spec.rate, spec.time
    if document is not None and rate is None and time is None:
        rate, time = document.rate, document.time
    if time is None and rate is None and all(c.time is not None for c in own.values()):
        found = {n: replace(c, time=_plus(c.time, spec.shift)) for n, c in own.items()}
        return replace(channels, channels=found)
    words: tuple[str, ...] = ()
    if rate is not None:
        n = max(len(c.values) for c in own.values())
        name, times, origin = "", np.arange(n) / rate, Fraction(0)
    else:
        clock = find_clock(channels, time)
        if clock is None:
            raise DataError(
                "missing channel time",
                where=channels.file,
                remedy="name the time channel of each file in the mapping, "
                "files: [{time: NAME}, {rate: 1000}]",
            )
        name, times, origin, words = clock.channel, clock.time, clock.origin, clock.notes
    check_increasing(times, f"{channels.file}: channel {name}" if name else channels.file)
    found = {}
    for label, channel in own.items():
        if label == name:
            continue
        if channel.problem is None and len(channel.values) != len(times):
            problem = DataError(
                f"channel {label} has {len(channel.values)} samples, the times {len(times)}"
            )
            channel = Channel(np.zeros(0), problem=problem)
        found[label] = replace(channel, time=_plus(times, spec.shift))
    said = (f"{Path(channels.file).name}: {word}" for word in words)
    return Channels(channels.file, found, (*channels.notes, *said), origin)


def _plus(time: np.ndarray | None, shift: float) -> np.ndarray:
    assert time is not None
    return time + shift if shift else time


def _merged(parts: list[Channels]) -> Channels:
    origin = parts[0].origin
    spans = []
    for part in parts:
        later = float(part.origin - origin)
        ends = [(c.time[0], c.time[-1]) for c in part.channels.values()
                if c.time is not None and len(c.time) and c.problem is None]  # fmt: skip
        if not ends:
            raise DataError("the file has no numeric channels", where=part.file)
        spans.append((later + min(a for a, _ in ends), later + max(b for _, b in ends)))
    names = [Path(part.file).name for part in parts]
    said = ", ".join(
        f"{name} {_when(a, part.origin, origin)} to {_when(b, part.origin, origin)}"
        for name, (a, b), part in zip(names, spans, parts, strict=True)
    )
    file = "+".join(part.file for part in parts)
    start, end = max(a for a, _ in spans), min(b for _, b in spans)
    if not start < end:
        raise DataError(
            f"the times of the files do not overlap: {said}",
            where=file,
            remedy=_apart(parts),
        )
    count = Counter(name for part in parts for name in part.channels)
    channels = {}
    for k, part in enumerate(parts, start=1):
        later = float(part.origin - origin)
        for name, c in part.channels.items():
            label = name if count[name] == 1 else f"{name}@{k}"
            channels[label] = replace(c, time=None if c.time is None else _plus(c.time, later))
    notes = [note for part in parts for note in part.notes]
    if len(parts) > 1:
        notes.append(f"joined on time: {said}; {start:.6g} s to {end:.6g} s in common")
    return Channels(file, channels, tuple(notes), origin)


def _apart(parts: list[Channels]) -> str:
    """Say what to do about files without a common time: of the same channels they are parts of a
    log, of others recordings by other clocks."""
    if all(set(part.channels) == set(parts[0].channels) for part in parts):
        files = " ".join(Path(part.file).name for part in parts)
        return f"files with the same channels, one after the other, are logs of their own: {files}"
    return "give the difference of the clocks in the mapping, files: [{}, {shift: S}]"


def _when(time: float, own: Fraction, origin: Fraction) -> str:
    return f"{time:.6g} s" if own == origin or own else date(own + Fraction(time))
