"""Single samples that no sensor measures, found before filters spread them over their neighbours,
and jumps by a whole turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.signals.record import Measurement

# Distance from the median in units of the usual range. Outliers of forces are left to the robust
# estimators, as far as their squares do no harm.
_FAR_POSITION, _FAR_FORCE = 1e4, 1e6
_USUAL = (1.0, 99.0)  # percentiles
_LEAST = 1e-2  # range of a position that counts at least, in rad or sizes of the mechanism
_TURN = 0.1  # a jump by a turn differs from it by less, in turns


def refuse_gross(measurement: Measurement, mechanism: Mechanism) -> None:
    """Reject a measurement with a sample that is far beyond all others.

    Raises
    ------
    DataError
        With the channel, the time and the usual range.
    """
    size = characteristic_size(mechanism)
    for c, values in zip(measurement.coordinates, measurement.y.T, strict=True):
        least = _LEAST * (1.0 if c.unit == "rad" else size)
        _refuse(c.name, c.unit, values, measurement.time, _FAR_POSITION, least)
    for name, values, valid in zip(
        measurement.forces, measurement.tau.T, measurement.valid.T, strict=True
    ):
        if valid.any():
            _refuse(name, "", values[valid], measurement.time[valid], _FAR_FORCE, 0.0)


def _refuse(name: str, unit: str, values: Floats, time: Floats, far: float, least: float) -> None:
    low, middle, high = (float(x) for x in np.percentile(values, (_USUAL[0], 50.0, _USUAL[1])))
    usual = max(high - low, least)
    k = int(np.argmax(np.abs(values - middle)))
    # Halves, since the difference of the largest numbers is none.
    if usual > 0 and abs(values[k] / 2 - middle / 2) > far / 2 * usual:
        raise DataError(
            f"{name} is {values[k]:.3g} {unit}".rstrip()
            + f" at sample {k} (t = {time[k]:.6g} s), elsewhere {low:.3g} to {high:.3g}",
            remedy="remove this value from the log, or choose a part without it (FILE@FROM:TO)",
        )


def without_turns(measurement: Measurement) -> tuple[Measurement, tuple[str, ...]]:
    """Return a measurement whose angles do not jump by whole turns, and warnings of those that did.

    A sensor that counts from 0 to 2π, or from -π to π, jumps where it passes the end.
    """
    y, words = measurement.y.copy(), []
    for j, c in enumerate(measurement.coordinates):
        if c.unit != "rad" or len(y) < 2:
            continue
        turns = np.diff(y[:, j]) / (2 * np.pi)
        jumps = (np.abs(turns) > 0.5) & (np.abs(turns - np.rint(turns)) < _TURN)
        # A shaft that turns so fast in every sample is no sensor that jumps.
        if jumps.any() and np.mean(jumps) < _TURN:
            y[1:, j] -= 2 * np.pi * np.cumsum(np.where(jumps, np.rint(turns), 0.0))
            k = int(np.argmax(jumps))
            words.append(
                f"{c.name} jumps by {2 * np.pi * turns[k]:.3g} rad at t = "
                f"{measurement.time[k + 1]:.6g} s: taken as a turn of the sensor, and removed"
            )
    return (replace(measurement, y=y) if words else measurement), tuple(words)
