"""Smooth time histories of one coordinate, from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.kinematics.tables import Floats

_SHORTEST, _LONGEST = 2.4, 8.0  # s, for one coordinate to go up, down and back
_SPEED = 3.0  # rad/s or m/s, on average, unless the times above forbid
_RAMP = 0.2  # share of a swing in which it swells, and in which it fades
_LOPSIDED = 0.3  # a swing with less room than this share on one side goes to the other side only


@dataclass(frozen=True)
class Reach:
    """How far a coordinate goes from its start: up and down, or once around by `turn`."""

    up: float = 0.0
    down: float = 0.0
    turn: float = 0.0

    def halved(self, k: int) -> Reach:
        """Return the reach halved k times; half a turn is a quarter to both sides."""
        if self.turn and k:
            return Reach(self.turn / 2, self.turn / 2).halved(k)
        return self if k == 0 else Reach(self.up / 2**k, self.down / 2**k)


@dataclass(frozen=True)
class TimeHistory:
    """Values relative to the start, speeds and accelerations, (N,) each."""

    y: Floats
    yd: Floats
    ydd: Floats


def at_rest(n: int) -> TimeHistory:
    """Return the time history of a coordinate at rest."""
    return TimeHistory(np.zeros(n), np.zeros(n), np.zeros(n))


def sweep(reach: Reach, rate: float) -> TimeHistory:
    """Go up, down and back, or once around, at `rate` samples per second."""
    path = 2 * (abs(reach.turn) or reach.up + reach.down)
    steps = np.ceil(np.clip(path / _SPEED, _SHORTEST, _LONGEST) * rate)
    duration = float(steps) / rate
    x = _shares(duration, rate)
    if reach.turn:
        keys = [(0.0, 1.0, 0.0, reach.turn)]
    else:
        keys = [
            (0.0, 0.25, 0.0, reach.up),
            (0.25, 0.75, reach.up, -reach.down),
            (0.75, 1.0, -reach.down, 0.0),
        ]
    history = at_rest(x.size)
    for begin, end, low, high in keys:
        inside = (x >= begin) & (x <= end)
        s, s1, s2 = smooth_step((x[inside] - begin) / (end - begin))
        span = (end - begin) * duration
        history.y[inside] = low + (high - low) * s
        history.yd[inside] = (high - low) * s1 / span
        history.ydd[inside] = (high - low) * s2 / span**2
    return history


def swing(reach: Reach, times: int, duration: float, rate: float) -> TimeHistory:
    """Swing to and fro a number of times, swelling and fading; a turn is made once."""
    x = _shares(duration, rate)
    if reach.turn:
        s, s1, s2 = smooth_step(x)
        return _timed(reach.turn * s, reach.turn * s1, reach.turn * s2, duration)
    w, w1, w2 = smooth_step(np.minimum(np.minimum(x, 1 - x) / _RAMP, 1.0))
    w1, w2 = np.where(x < 0.5, w1, -w1) / _RAMP, w2 / _RAMP**2
    k = 2 * np.pi * times
    short, long = sorted((reach.up, reach.down))
    if short < _LOPSIDED * long:
        a = (long if reach.up > reach.down else -long) / 2
        f, f1, f2 = a * (1 - np.cos(k * x)), a * k * np.sin(k * x), a * k**2 * np.cos(k * x)
    else:
        f, f1, f2 = (
            short * np.sin(k * x),
            short * k * np.cos(k * x),
            -short * k**2 * np.sin(k * x),
        )
    return _timed(w * f, w1 * f + w * f1, w2 * f + 2 * w1 * f1 + w * f2, duration)


def smooth_step(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return 10x³ - 15x⁴ + 6x⁵ and its derivatives: from 0 to 1, at rest at both ends."""
    return (
        x**3 * (10 + x * (6 * x - 15)),
        30 * (x * (1 - x)) ** 2,
        60 * x * (1 - x) * (1 - 2 * x),
    )


def _shares(duration: float, rate: float) -> Floats:
    return np.linspace(0.0, 1.0, round(duration * rate) + 1)


def _timed(y: Floats, y1: Floats, y2: Floats, duration: float) -> TimeHistory:
    return TimeHistory(y, y1 / duration, y2 / duration**2)
