"""Redundant positions that contradict the loops, and what is probably wrong with one of them.

Each quantity is compared with what the others say it must be. Where a changed sign, an offset, a
delay or a factor makes the two agree, that is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechid.errors import MechidError
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.quantities import quantity_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.signals.project import project
from mechid.signals.record import Measurement
from mechid.signals.spectrum import spectrum

# A residual counts from this many standard deviations of the noise on, and from this part of the
# range of the quantity, since lengths of a mechanism are not exact.
_TIMES, _PART = 5.0, 2e-3
# What explains a residual leaves less than this, in the same measure.
_EXPLAINED = 1.0
_STEPS = 8  # of the search for a delay
_FACTORS = ((180 / np.pi, "degrees"), (1e3, "mm"), (1 / (2 * np.pi), "turns"), (1e2, "cm"))
_NEAR = 0.02


@dataclass(frozen=True)
class _Cause:
    words: str
    remedy: str
    left: float  # root mean square of what it does not explain


def contradiction(measurement: Measurement, mechanism: Mechanism, misfit: Floats) -> str:
    """Return a warning if redundant positions contradict the loops, with the probable cause.

    Parameters
    ----------
    measurement : Measurement
        More quantities than independent coordinates.
    mechanism : Mechanism
    misfit : array (m,)
        Root mean square of what the projection on the loops leaves, m or rad.
    """
    limit = _limits(measurement)
    worst = int(np.argmax(misfit / limit))
    if misfit[worst] <= limit[worst]:
        return ""
    c, noise = measurement.coordinates[worst], _noise(measurement)[worst]
    size = f", {misfit[worst] / noise:.2g} times its noise" if noise > 0 else ""
    return (
        f"measured positions contradict the loops: {c.name} by {misfit[worst]:.2g} {c.unit} "
        f"(rms){size}; {probable_cause(measurement, mechanism)}"
    )


def probable_cause(measurement: Measurement, mechanism: Mechanism) -> str:
    """Return which quantity is probably wrong, how, and what to do."""
    limit = _limits(measurement)
    found: list[tuple[float, str]] = []
    for j, quantity in enumerate(measurement.coordinates):
        others = [k for k in range(len(limit)) if k != j]
        expected = _expected(measurement, mechanism, j, others)
        if expected is None:
            continue
        values, rest = expected
        agreed = float(np.max(rest / limit[others]))
        for cause in _causes(measurement.y[:, j], values, measurement.time, quantity.unit):
            score = max(cause.left / limit[j], agreed)
            found.append((score, f"{quantity.name} {cause.words}: {cause.remedy}"))
    score, words = min(found, default=(np.inf, ""))
    if score < _EXPLAINED:
        return words
    return f"check sign, offset, delay and unit of {', '.join(measurement.names)}"


def _noise(m: Measurement) -> Floats:
    """Return standard deviations: those that are stated, else those of the noise floor."""
    stated = [*m.sigma, *[None] * (len(m.coordinates) - len(m.sigma))]
    found = [spectrum(x).sigma if s is None else s for s, x in zip(stated, m.y.T, strict=True)]
    return np.asarray(np.nan_to_num(np.array(found, dtype=float)))


def _limits(m: Measurement) -> Floats:
    floor = np.maximum(_PART * np.ptp(m.y, axis=0), np.finfo(float).tiny)
    return np.asarray(np.maximum(_TIMES * _noise(m), floor))


def _expected(
    m: Measurement, mechanism: Mechanism, j: int, others: list[int]
) -> tuple[Floats, Floats] | None:
    """Return a quantity (N,) as the others say, and what is left of these; None if they cannot."""
    quantities = tuple(m.coordinates[k] for k in others)
    try:
        found = project(mechanism, quantities, m.y[:, others], time=m.time)
        motion = solve_motion(mechanism, found.y, time=m.time)
    except MechidError:
        return None
    values = quantity_motion(motion, m.coordinates[j])[0]
    return (np.unwrap(values) if m.coordinates[j].unit == "rad" else values), found.misfit


def _causes(measured: Floats, expected: Floats, time: Floats, unit: str) -> Iterator[_Cause]:
    """Yield what may make measured values (N,) differ from the expected ones."""

    def rms(values: Floats) -> float:
        if unit == "rad":
            values = values - 2 * np.pi * np.rint(values / (2 * np.pi))
        return float(np.sqrt(np.mean(values**2)))

    yield _Cause(
        "fits with the opposite sign",
        "write sign: -1 in the mapping file",
        rms(measured + expected),
    )
    offset = float(np.median(measured - expected))
    if unit == "rad":
        offset -= 2 * np.pi * np.rint(offset / (2 * np.pi))
    yield _Cause(
        f"is off by {offset:.3g} {unit}",
        "correct its offset in the mapping file",
        rms(measured - expected - offset),
    )
    delay, left = _delay(measured, expected, time)
    yield _Cause(
        f"is {abs(1e3 * delay):.3g} ms {'late' if delay > 0 else 'early'}",
        "correct its delay in the mapping file",
        left,
    )
    if (spread := float(np.var(expected))) > 0:
        factor = float(np.cov(measured, expected, bias=True)[0, 1]) / spread
        if abs(abs(factor) - 1) < _NEAR:
            return
        rest = measured - factor * expected
        near = [words for f, words in _FACTORS if abs(factor / f - 1) < _NEAR]
        words = f"is {factor:.4g} times as large as the loops say"
        yield _Cause(
            f"{words}, as if in {near[0]}" if near else f"{words} (encoder counts, gear ratio?)",
            f"declare its unit, {near[0]}" if near else "give its scale in the mapping file",
            float(np.std(rest)),
        )


def _delay(measured: Floats, expected: Floats, time: Floats) -> tuple[float, float]:
    """Return the delay (s) that makes two signals agree best, and what it leaves."""
    from scipy.interpolate import make_interp_spline

    if len(time) < 8:
        return 0.0, np.inf
    spline = make_interp_spline(time, expected, k=3)
    slope = spline.derivative()
    most = 0.25 * float(time[-1] - time[0])
    delay, left = 0.0, np.inf
    for _ in range(_STEPS):
        inner = (time - delay >= time[0]) & (time - delay <= time[-1])
        at = time[inner] - delay
        rest, rate = measured[inner] - spline(at), slope(at)
        left = float(np.sqrt(np.mean(rest**2)))
        if not (power := float(rate @ rate)) > 0:
            break
        delay = float(np.clip(delay - float(rest @ rate) / power, -most, most))
    return delay, left
