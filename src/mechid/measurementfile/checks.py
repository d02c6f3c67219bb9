"""What may be wrong with samples, and what is done about it: gaps, uneven times, odd values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.measurementfile.document import MappingDocument
from mechid.measurementfile.mapping import Signal
from mechid.measurementfile.timebase import GAP, Raw, is_even
from mechid.textfile.expressions import LARGEST

Mask = npt.NDArray[np.bool_]
_CLIPPED_RUN = 5  # samples in a row at the extreme value


@dataclass(frozen=True, eq=False)
class Clean:
    """Signals at a constant rate: time (N,), values (N, k) without nan, valid (N, k)."""

    time: Floats
    values: Floats
    valid: Mask
    notes: tuple[str, ...]


def clean(raw: Raw, signals: list[Signal], document: MappingDocument, file: str) -> Clean:
    """Fill short gaps of positions, mark those of forces, and make the rate constant.

    Raises
    ------
    DataError
        For gaps of positions that are too long, and for uneven times if the mapping rejects them.
    """
    notes: list[str] = []
    _refuse_huge(raw, signals, file)
    _refuse_pauses(raw, document.gaps, file)
    values, valid = raw.values.copy(), np.isfinite(raw.values)
    for j, signal in enumerate(signals):
        if valid[:, j].all():
            continue
        if signal.role == "forces":
            notes.append(_mask(raw, values, valid, j, signal, file))
        else:
            notes.append(_fill(raw, values, valid, j, signal, document.gaps, file))
    found = Clean(raw.time, values, valid, tuple(notes))
    return _even(found, signals, document, file)


def _runs(missing: Mask) -> list[tuple[int, int]]:
    """Return first and last + 1 of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _refuse_huge(raw: Raw, signals: list[Signal], file: str) -> None:
    """Reject numbers whose squares would not be finite."""
    huge = np.argwhere(np.isfinite(raw.values) & (np.abs(raw.values) > LARGEST))
    if len(huge):
        k, j = huge[0]
        raise DataError(
            f"{raw.values[k, j]:.4g} is out of range",
            where=f"{file}: {signals[j].words}, row {raw.rows[k]}",
            remedy="check the value and its unit",
        )


def _refuse_pauses(raw: Raw, most: int, file: str) -> None:
    steps = np.diff(raw.time)
    step = float(np.median(steps))
    lost = np.rint(steps / step) - 1  # no integers: a pause may be longer than these can count
    long = np.flatnonzero((steps > GAP * step) & (lost > most))
    if long.size:
        k = int(long[0])
        raise DataError(
            f"no samples between {raw.time[k]:.6g} s and {raw.time[k + 1]:.6g} s "
            f"(the step is {step:.4g} s)",
            where=f"{file}: row {raw.rows[k + 1]}",
            remedy=f"choose a range before or after it; gaps of up to {most} samples are filled",
        )


def _mask(raw: Raw, values: Floats, valid: Mask, j: int, signal: Signal, file: str) -> str:
    """Fill missing forces with what lies between, for filters; they stay not valid."""
    there = valid[:, j]
    if not there.any():
        raise DataError("all samples are missing", where=f"{file}: {signal.words}")
    values[:, j] = np.interp(raw.time, raw.time[there], values[there, j])
    n = int((~there).sum())
    return f"{signal.words}: {n} samples missing, not used (first at {_first(raw, there)})"


def _fill(
    raw: Raw, values: Floats, valid: Mask, j: int, signal: Signal, most: int, file: str
) -> str:
    there = valid[:, j]
    runs = _runs(~there)
    for a, b in runs:
        if b - a > most or a == 0 or b == len(there):
            outer = a == 0 or b == len(there)
            raise DataError(
                f"no value for {b - a} samples, {raw.time[a]:.6g} s to {raw.time[b - 1]:.6g} s",
                where=f"{file}: {signal.words}, row {raw.rows[a]}",
                remedy="choose a range without them"
                + ("" if outer else f"; gaps of up to {most} samples are filled"),
            )
    first = _first(raw, there)
    values[:, j] = _spline(raw.time[there], values[there, j], raw.time)
    valid[:, j] = True
    n = sum(b - a for a, b in runs)
    return f"{signal.words}: {n} samples missing, interpolated (first at {first})"


def _first(raw: Raw, there: Mask) -> str:
    return f"{raw.time[int(np.argmin(there))]:.6g} s"


def _spline(x: Floats, y: Floats, at: Floats) -> Floats:
    from scipy.interpolate import make_interp_spline

    return np.asarray(make_interp_spline(x, y, k=min(3, len(x) - 1))(at))


def _even(found: Clean, signals: list[Signal], document: MappingDocument, file: str) -> Clean:
    time = found.time
    if is_even(time):
        return replace(found, time=np.linspace(time[0], time[-1], len(time)))
    steps = np.diff(time)
    if document.irregular == "refuse":
        k = int(np.argmax(np.abs(steps - np.median(steps))))
        raise DataError(
            f"the rate is not constant: steps of {steps.min():.6g} s to {steps.max():.6g} s",
            where=f"{file}: t = {time[k]:.6g} s",
            remedy="resample the log, or write irregular: resample",
        )
    step = float(np.median(steps))
    n = 1 + int(np.maximum(np.rint(steps / step), 1).sum())  # with those that were lost
    even = np.linspace(time[0], time[-1], n)
    values, valid = np.empty((n, len(signals))), np.ones((n, len(signals)), dtype=bool)
    after = np.clip(np.searchsorted(time, even, side="left"), 1, len(time) - 1)
    # A new sample amid lost ones, not at one of the old.
    apart = np.minimum(np.abs(time[after] - even), np.abs(even - time[after - 1]))
    lost = (steps[after - 1] > GAP * step) & (apart > 0.5 * step * (GAP - 1))
    for j, signal in enumerate(signals):
        if signal.role == "forces":
            values[:, j] = np.interp(even, time, found.values[:, j])
            whole = np.interp(even, time, found.valid[:, j].astype(float)) > 1 - 1e-9
            valid[:, j] = whole & ~lost
        else:
            values[:, j] = _spline(time, found.values[:, j], even)
    note = (
        f"resampled at {1 / (even[1] - even[0]):.6g} Hz: steps of {steps.min():.4g} s to "
        f"{steps.max():.4g} s"
    )
    return Clean(even, values, valid, (*found.notes, note))


def odd_values(found: Clean, signals: list[Signal]) -> list[str]:
    """Say which signals are constant, and which forces stay at their extreme value."""
    notes = []
    for j, signal in enumerate(signals):
        values = found.values[found.valid[:, j], j]
        if values.size and np.ptp(values) == 0:
            notes.append(f"{signal.words} is constant ({values[0]:g})")
        elif signal.role == "forces":
            notes += _clipped(found, j, signal)
    return notes


def _clipped(found: Clean, j: int, signal: Signal) -> list[str]:
    values, valid = found.values[:, j], found.valid[:, j]
    notes = []
    for extreme in (values[valid].max(), values[valid].min()):
        runs = [b - a for a, b in _runs((values == extreme) & valid) if b - a >= _CLIPPED_RUN]
        if runs:
            notes.append(
                f"{signal.words} stays at {extreme:g} for up to {max(runs)} samples "
                f"({sum(runs)} in all): saturated?"
            )
    return notes
