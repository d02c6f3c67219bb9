"""The first half of the way of a log: from a file to a motion with forces, ready for estimation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mechid.errors import DataError, ModelError
from mechid.measurementfile.channels import MissingChannelError
from mechid.measurementfile.join import log_files
from mechid.measurementfile.mapping import NOT_USED
from mechid.measurementfile.read import Window, file_and_part, read_measurement
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions, changed
from mechid.outputs import real_path
from mechid.runs.files import file_hash
from mechid.runs.record import DataFile
from mechid.runs.truth import Truth, find_truth, read_truth
from mechid.signals.prepare import prepare as derive
from mechid.signals.record import Measurement, Preparation, PreparedMeasurement
from mechid.tasks.inputs import mechanism_of, wrong_type
from mechid.tasks.synthesise import Synthesis

LogMapping: TypeAlias = str | Path | Mapping[str, Any] | None
# A mapping for all logs, or files: "FILE" for all, "LOG=FILE" for one.
Mappings: TypeAlias = LogMapping | Sequence[str | Path]


@dataclass(frozen=True)
class ChosenMappings:
    """A mapping for all logs (None: channels are named as what they are), and those of single
    logs."""

    common: LogMapping = None
    own: Mapping[str, str] = field(default_factory=dict)

    def of(self, data: Any) -> LogMapping:
        """Return the mapping of a log."""
        return next((self.own[n] for n in _names(data) if n in self.own), self.common)

    @property
    def files(self) -> list[str]:
        """All mapping files."""
        common = [str(self.common)] if isinstance(self.common, str | Path) else []
        return list(dict.fromkeys([*common, *self.own.values()]))


def chosen_mappings(given: Mappings, logs: Sequence[Any]) -> ChosenMappings:
    """Return mappings as they are given: "FILE" for all logs, "LOG=FILE" for one.

    LOG is a log as it is given, or its file without the range. A file whose name has a "=" is
    taken as it is.

    Raises
    ------
    DataError
        If two are given for the same, or one for a log that is not there.
    """
    if given is None or isinstance(given, Mapping):
        return ChosenMappings(given)
    common: str | None = None
    own: dict[str, str] = {}
    known = {name for log in logs for name in _names(log)}
    for text in map(str, [given] if isinstance(given, str | Path) else given):
        log, sign, file = text.rpartition("=")
        if not sign or Path(text).is_file():
            if common is not None:
                raise DataError(
                    f"one mapping file can be for all logs, got {common} and {text}",
                    remedy="write LOG=FILE for the mapping of a single log",
                )
            common = text
        elif log not in known:
            shown = ", ".join(sorted(_names(x)[-1] for x in logs if _names(x)))
            raise DataError(f"there is no log {log} for the mapping {file}; choose one of: {shown}")
        elif own.setdefault(log, file) != file:
            raise DataError(f"the log {log} has two mappings, {own[log]} and {file}")
    return ChosenMappings(common, own)


def _names(data: Any) -> list[str]:
    """Return what a log may be called: as it is given, or its file without the range."""
    if not isinstance(data, str | Path):
        return []
    return [str(data), str(file_and_part(data)[0])]


IDENTIFICATION, VALIDATION = "identification", "validation"
_NO_OVERLAP = "give parts that do not overlap, FILE@FROM:TO"


def prepare(
    data: Any,
    model: Any,
    options: Preparation | None = None,
    *,
    mapping: str | Path | Mapping[str, Any] | None = None,
    **words: Any,
) -> PreparedMeasurement:
    """Return a measurement with speeds and accelerations of the independent coordinates.

    Parameters
    ----------
    data : Measurement, Synthesis, str or Path
        A file as `read_measurement` takes it; a part of it as "FILE@FROM:TO" (s from its start).
    model : Mechanism, str or Path
    options : Preparation, optional
        Default: as requested by the measurement file.
    mapping : path or dict, optional
        Which channel of a file is what.
    **words
        Fields of `Preparation`: method, cutoff (Hz), period (s), harmonics, decimation,
        ignore_below. They override those of the measurement file.

    Returns
    -------
    PreparedMeasurement

    Raises
    ------
    DataError
        If the options do not suit the data, or the measured quantities do not determine the
        independent coordinates.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0, harmonics=2)
    >>> log = mechid.synthesise("five_bar", motion, rate=50.0, periods=3)
    >>> ready = mechid.prepare(log, "five_bar", decimation=2)
    >>> ready.y.shape, ready.decimation
    ((150, 2), 2)
    """
    mechanism = mechanism_of(model)
    given = {name: value for name, value in words.items() if value is not None}
    if isinstance(data, PreparedMeasurement):
        if options is not None or given:
            raise DataError(
                "the measurement is prepared already",
                where=data.source,
                remedy=f"omit {next(iter(given), 'options')}, or give the log itself",
            )
        if data.y.shape[1] != len(mechanism.coordinates):
            raise DataError(
                f"the measurement must have the {len(mechanism.coordinates)} coordinates "
                f"of {mechanism.name}, got {data.y.shape[1]}",
                where=data.source,
                remedy="give the model that was measured",
            )
        return data
    read = _read(data, mechanism, mapping)
    asked = read.preparation if options is None else options
    try:
        return derive(read, mechanism, changed(asked, given))
    except ModelError as error:  # a joint or body of another mechanism
        raise DataError(
            f"the measurement does not belong to {mechanism.name}, {error.what}",
            where=read.source,
            remedy="give the model that was measured",
        ) from None


def prepared_motions(
    data: Sequence[tuple[str, Any]],
    mechanism: Mechanism,
    options: IdentifyOptions,
    mappings: ChosenMappings,
) -> tuple[PreparedMeasurement, ...]:
    """Return prepared motions: `data` has the role of each in a run, and where it comes from.

    Raises
    ------
    DataError
        Also if a mapping for all logs fits some of them only.
    """
    words: dict[str, Any] = {
        "period": options.period,
        "cutoff": options.cutoff,
        "decimation": options.decimation,
    }
    found = []
    fits = ""  # a log that the mapping for all fits
    for name, one in data:
        mapping = mappings.of(one)
        common = mapping is not None and mapping is mappings.common
        try:
            ready = prepare(one, mechanism, mapping=mapping, **words)
        except MissingChannelError as error:
            if not (common and fits):
                raise
            raise DataError(
                f"the mapping of {fits} does not fit: {error.what}",
                where=error.where,
                remedy=f"give this log a mapping of its own, {one}=FILE",
            ) from None
        _check_forces(ready, mechanism)
        fits = fits or (ready.source if common else "")
        found.append(replace(ready, name=name))
    return tuple(found)


def numbered(role: str, n: int) -> list[str]:
    """Return names of n motions of one role: role, role-2, role-3, …"""
    return [role if k == 0 else f"{role}-{k + 1}" for k in range(n)]


def several(given: Any) -> Sequence[Any]:
    """Return a list of measurements, whether one was given or several."""
    return list(given) if isinstance(given, list | tuple) else [] if given is None else [given]


def check_apart(logs: Sequence[Any]) -> None:
    """Reject logs that are given twice, and parts of a log that overlap.

    Raises
    ------
    DataError
    """
    for one, other in combinations(logs, 2):
        if _same(one, other):
            raise DataError("a log is given twice", where=str(getattr(one, "source", one)))
        if _overlap(one, other):
            raise DataError(
                f"{one} and {other} overlap: samples would count twice", remedy=_NO_OVERLAP
            )


def check_unused(validation: Sequence[Any], logs: Sequence[Any]) -> None:
    """Reject files for validation with samples that were used for the identification.

    Records may be the same: who has them in hand knows what the error on them means.

    Raises
    ------
    DataError
    """
    for other, log in product(validation, logs):
        if _overlap(other, log):
            raise _used(other)


def check_samples(
    motions: Sequence[PreparedMeasurement],
    files: Sequence[DataFile],
    logs: Sequence[PreparedMeasurement],
    used: Sequence[DataFile],
) -> None:
    """Reject motions for validation from files, and times, that a run was identified from.

    A file is what it contains, whatever its name. Files of the motions, and those of the run, have
    the names of the motions as roles.

    Raises
    ------
    DataError
    """
    for motion, log in product(motions, logs):
        own, others = (
            {file.sha256 for file in known if file.role == m.name}
            for known, m in ((files, motion), (used, log))
        )
        first = max(motion.time[0], log.time[0])
        if own & others and first < min(motion.time[-1], log.time[-1]):
            raise _used(motion.source)


def _used(other: Any) -> DataError:
    return DataError(
        "a motion for validation is part of the identification: its error would say nothing of "
        "other motions",
        where=str(other),
        remedy=f"validate with another motion, or {_NO_OVERLAP}",
    )


def _is_file(log: Any) -> bool:
    return isinstance(log, str | Path)


def _same(one: Any, other: Any) -> bool:
    return one is other or (_is_file(one) and _is_file(other) and str(one) == str(other))


def _overlap(one: Any, other: Any) -> bool:
    """Return whether two files, or parts of one, have samples in common."""
    if not (_is_file(one) and _is_file(other)):
        return False
    (file, a), (same, b) = file_and_part(one), file_and_part(other)
    if real_path(file) != real_path(same):
        return False
    spans = [_span(part) for part in (a, b)]
    return max(low for low, _ in spans) < min(high for _, high in spans)


def _span(part: Window | None) -> tuple[float, float]:
    low, high = (None, None) if part is None else part
    return (-np.inf if low is None else low), (np.inf if high is None else high)


def truth_of(
    logs: Sequence[Any], given: Truth | str | Path | None
) -> tuple[Truth | None, list[DataFile]]:
    """Return the truth behind synthetic data, if it is known, and its file.

    Raises
    ------
    DataError
        If logs have different ones.
    """
    if isinstance(given, Truth):
        return given, []
    files = []
    found = [log.truth for log in logs if isinstance(log, Synthesis)]
    if given is None:
        paths = [find_truth(file_and_part(x)[0]) for x in logs if isinstance(x, str | Path)]
        files = [path for path in dict.fromkeys(paths) if path is not None]
    else:
        files, found = [Path(given)], []
    found += [read_truth(path) for path in files]
    for other in found[1:]:
        if other.parameters != found[0].parameters or np.any(other.values != found[0].values):
            raise DataError(
                "the logs come from different true parameters",
                where=", ".join(map(str, files)),
                remedy="create them with the same --truth, or give one with --truth",
            )
    # One of equal truths stands for all.
    known = [DataFile(str(path), file_hash(path), "truth") for path in files[:1]]
    return (found[0] if found else None), known


def data_files(motions: Iterable[PreparedMeasurement], mappings: ChosenMappings) -> list[DataFile]:
    """Return names and hashes of the files that were read, of those that are still there."""
    there = [(m, f) for m in motions if m.source for path in log_files(m.source) for f in _in(path)]
    found = [DataFile(str(f), file_hash(f), m.name) for m, f in there]
    return [*found, *(DataFile(file, file_hash(file), "map") for file in mappings.files)]


def input_files(model: Any, data: Sequence[Any], mappings: ChosenMappings) -> list[Path]:
    """Return the files that a step reads: of the model, of logs, of mappings."""
    logs = [file_and_part(x)[0] for x in data if isinstance(x, str | Path)]
    found = [file for log in logs for file in log_files(log)]
    if isinstance(model, str | Path):
        found.append(Path(str(model).partition("@")[0]))
    return [path for path in (*found, *map(Path, mappings.files)) if path.exists()]


def _in(path: Path) -> list[Path]:
    """Return a file, or the files of a folder, if it is there."""
    return [f for f in sorted([path, *path.glob("*")]) if f.is_file()]


def _read(data: Any, mechanism: Mechanism, mapping: Any) -> Measurement:
    match data:
        case str() | Path():
            return read_measurement(data, mechanism, mapping)
        case Synthesis():
            return data.measurement
        case Measurement():
            return data
    raise wrong_type("data", "a Measurement, what synthesise returns, or a file", data)


def _check_forces(motion: PreparedMeasurement, mechanism: Mechanism) -> None:
    """Reject a measurement without forces."""
    if not motion.forces:
        unused = [note for note in motion.notes if note.startswith(NOT_USED)]
        mapped = "; say in a mapping file (--map) which of them are forces" if unused else ""
        raise DataError(
            f"no force of the mechanism was measured{''.join(f' ({note})' for note in unused)}",
            where=motion.source,
            remedy=f"measure one of: {', '.join(c.force for c in mechanism.coordinates)}{mapped}",
        )
    if not motion.tau[motion.valid].any():
        raise DataError(
            "all measured forces are zero",
            where=motion.source,
            remedy="check the channels, scales and offsets of the forces",
        )
