"""The first half of the way of a log: from a file to a motion with forces, ready for estimation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
from mechid.measurementfile.read import file_and_part, read_measurement
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions, changed
from mechid.runs.files import file_hash
from mechid.runs.record import DataFile
from mechid.runs.truth import Truth, read_truth, truth_path
from mechid.signals.prepare import prepare as derive
from mechid.signals.record import Measurement, Preparation, PreparedMeasurement
from mechid.tasks.inputs import mechanism_of, wrong_type
from mechid.tasks.synthesise import Synthesis

IDENTIFICATION = "identification"


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
        A file as `read_measurement` takes it; a part of it as "FILE@FROM:TO" (s).
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
    data: Any,
    others: Any,
    mechanism: Mechanism,
    options: IdentifyOptions,
    mapping: str | Path | Mapping[str, Any] | None = None,
    *,
    first: str = IDENTIFICATION,
    known: int = 0,
) -> tuple[PreparedMeasurement, ...]:
    """Return prepared motions by their role in a run: one to identify with, others to validate.

    `data` may be None; `known` is how many motions for validation a run has already.
    """
    motions = [] if data is None else [(first, data)]
    motions += [(f"validation-{k}", one) for k, one in enumerate(several(others), start=known + 1)]
    words: dict[str, Any] = {
        "period": options.period,
        "cutoff": options.cutoff,
        "decimation": options.decimation,
    }
    found = []
    for name, one in motions:
        ready = prepare(one, mechanism, mapping=mapping, **words)
        _check_forces(ready, mechanism)
        found.append(replace(ready, name=name))
    return tuple(found)


def several(given: Any) -> Sequence[Any]:
    """Return a list of measurements, whether one was given or several."""
    return list(given) if isinstance(given, list | tuple) else [] if given is None else [given]


def truth_of(data: Any, given: Truth | str | Path | None) -> tuple[Truth | None, list[DataFile]]:
    """Return the truth behind synthetic data, if it is known, and its file."""
    if isinstance(given, Truth):
        return given, []
    if given is None and isinstance(data, Synthesis):
        return data.truth, []
    if given is None:
        if not isinstance(data, str | Path):
            return None, []
        beside = truth_path(file_and_part(data)[0])
        if not beside.is_file():
            return None, []
        given = beside
    return read_truth(given), [DataFile(str(given), file_hash(given), "truth")]


def data_files(motions: Iterable[PreparedMeasurement], mapping: Any = None) -> list[DataFile]:
    """Return names and hashes of the files that were read, of those that are still there."""
    there = [m for m in motions if m.source and Path(m.source).is_file()]
    found = [DataFile(m.source, file_hash(m.source), m.name) for m in there]
    if isinstance(mapping, str | Path):
        found.append(DataFile(str(mapping), file_hash(mapping), "map"))
    return found


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
        raise DataError(
            "no force of the mechanism was measured",
            where=motion.source,
            remedy=f"measure one of: {', '.join(c.force for c in mechanism.coordinates)}",
        )
    if not motion.tau[motion.valid].any():
        raise DataError(
            "all measured forces are zero",
            where=motion.source,
            remedy="check the channels, scales and offsets of the forces",
        )
