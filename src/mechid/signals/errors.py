"""What sensors do to signals: functions of samples (N, n) and sizes (n,), one per kind of error.

Each returns the signal with the error, and what was drawn for each channel. Sizes have the unit of
the signal unless said otherwise; a size of zero changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from mechid.dynamics.hysteresis import dahl
from mechid.errors import DataError
from mechid.kinematics.tables import Floats

Drawn: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Sensing:
    """What an error needs besides the signal.

    Attributes
    ----------
    time : array (N,)
        s.
    rms : array (n,)
        Root mean square of each signal without errors.
    rng : numpy.random.Generator
    hum_frequency : float
        Hz.
    outlier_size : float
        Standard deviation of outliers as a multiple of `rms`.
    dense : bool
        Whether signals have samples in between, so that they may jump from one to the next.
    """

    time: Floats
    rms: Floats
    rng: np.random.Generator
    hum_frequency: float = 50.0
    outlier_size: float = 3.0
    dense: bool = False


def delay(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals that are late (s); before the first sample they had its value."""
    if len(by.time) < 2 or not size.any():
        return x, size
    duration = float(by.time[-1] - by.time[0])
    if size.max() >= duration:
        raise DataError(
            f"delay must be less than the duration, {duration:g} s, got {size.max():g} s"
        )
    earlier = np.maximum(by.time[:, None] - size, by.time[0])
    late = [_between(x[:, j], earlier[:, j], by) for j in range(x.shape[1])]
    return np.where(size > 0, np.stack(late, axis=1), x), size


def lowpass(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals behind a filter ω²/(s² + √2 ω s + ω²), size being its cut-off ω/2π (Hz).

    Before the first sample they had its value. Between samples they are taken as straight lines.
    """
    some = [
        _second_order(x[:, j], 2 * np.pi * f, np.diff(by.time)) if f > 0 else x[:, j]
        for j, f in enumerate(size.tolist())
    ]
    return np.stack(some, axis=1) if some else x, size


def jittered(time: Floats, size: float, rng: np.random.Generator) -> Floats:
    """Return the instants (N,) of samples whose record says time; size is their standard deviation.

    None is before the first or after the last recorded time.
    """
    return np.clip(time + size * rng.standard_normal(len(time)), time[0], time[-1])


def sampled(x: Floats, instants: Floats, by: Sensing) -> Floats:
    """Return signals at instants (M,) within their times, (M, n)."""
    return np.stack([_between(x[:, j], instants, by) for j in range(x.shape[1])], axis=1)


def crosstalk(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals that contain parts of all others; size is the root mean square of these.

    Each of the others is as large a part by its root mean square, of either sign. Drawn is the
    factor of each other signal, (n, n).
    """
    factor = by.rng.choice([-1.0, 1.0], (len(size), len(size)))
    np.fill_diagonal(factor, 0.0)
    factor /= np.where(by.rms > 0, by.rms, np.inf)
    found = rms(x @ factor.T)
    factor *= (size / np.where(found > 0, found, np.inf))[:, None]
    return x + x @ factor.T, factor


def gain(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals times 1 ± size."""
    drawn = _signed(size, by)
    return x * (1 + drawn), drawn


def offset(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals plus or minus size."""
    drawn = _signed(size, by)
    return x + drawn, drawn


def drift(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals with two slow waves, periods 2 T and T for a log of T; size is their root mean
    square."""
    phase = np.linspace(0, np.pi, len(x))[:, None]
    a, b = by.rng.uniform(0, 2 * np.pi, (2, x.shape[1]))
    return x + size * _unit_rms(np.cos(phase + a) + np.cos(2 * phase + b)), size


def random_walk(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals with a sum of independent steps; size is its root mean square."""
    steps = by.rng.standard_normal(x.shape)
    steps[:1] = 0.0
    return x + size * _unit_rms(np.cumsum(steps, axis=0)), size


def hum(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals with a sine wave of amplitude size."""
    phase = by.rng.uniform(0, 2 * np.pi, x.shape[1])
    angle = 2 * np.pi * by.hum_frequency * by.time[:, None]
    return x + size * np.sin(angle + phase), size


def outliers(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals in which a share (size) of the samples has a large normal error; drawn is the
    share that was hit."""
    hit = by.rng.uniform(size=x.shape) < size
    large = by.outlier_size * by.rms * by.rng.standard_normal(x.shape)
    return x + np.where(hit, large, 0.0), hit.mean(axis=0)


def clipping(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals that do not exceed size."""
    limit = np.where(size > 0, size, np.inf)
    return np.clip(x, -limit, limit), size


def quantisation(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return signals rounded to multiples of size."""
    step = np.where(size > 0, size, 1.0)
    return np.where(size > 0, step * np.rint(x / step), x), size


def eccentricity(x: Floats, size: Floats, by: Sensing) -> Drawn:
    """Return angles q as q + size · sin(q + phase)."""
    return x + size * np.sin(x + by.rng.uniform(0, 2 * np.pi, x.shape[1])), size


def hysteresis(y: Floats, size: Floats, width: Floats) -> Floats:
    """Return Dahl's friction (N, n) of coordinates y (N, n), from zero on.

    The law of friction elements with hysteresis, of sizes (n,) and widths (n,).
    """
    parts = [
        x * dahl(path, w) if w > 0 else np.zeros(len(path))
        for path, x, w in zip(y.T, size, width, strict=True)
    ]
    return np.stack(parts, axis=1) if parts else np.zeros_like(y)


def coloured(deviates: Floats, correlation: float) -> Floats:
    """Return independent normal deviates (N, n) as a stationary AR(1) process of standard deviation
    one."""
    from scipy.signal import lfilter

    a = correlation
    innovations = np.sqrt(1 - a**2) * deviates
    innovations[:1] = deviates[:1]  # stationary from the first sample on
    return np.asarray(lfilter([1.0], [1.0, -a], innovations, axis=0))


def rms(x: Floats) -> Floats:
    """Return the root mean square of each signal."""
    return np.asarray(np.sqrt(np.mean(x**2, axis=0)))


def _between(x: Floats, at: Floats, by: Sensing) -> Floats:
    """Return one signal at other times."""
    from scipy.interpolate import Akima1DInterpolator, CubicSpline

    # Forces jump where friction changes its sign: no oscillation beside that.
    curve = partial(Akima1DInterpolator, method="makima") if by.dense else CubicSpline
    return np.asarray(curve(by.time, x)(at))


def _second_order(x: Floats, omega: float, steps: Floats) -> Floats:
    """Return one signal behind the filter: 2 Re(A z) with ż = p z + x, exact for straight lines."""
    p = omega * (-1 + 1j) / np.sqrt(2)
    ph = p * steps
    decay = np.exp(ph)
    gained = x[:-1] * (decay - 1) / p + np.diff(x) * ((decay - 1) / ph - 1) / p
    start = -complex(x[0]) / p  # at rest
    pairs = zip(decay.tolist(), gained.tolist(), strict=True)
    z = accumulate(pairs, lambda z, step: step[0] * z + step[1], initial=start)
    return np.asarray(2 * np.real(-1j * omega / np.sqrt(2) * np.array(list(z))))


def _signed(size: Floats, by: Sensing) -> Floats:
    return np.asarray(size * by.rng.choice([-1.0, 1.0], len(size)))


def _unit_rms(x: Floats) -> Floats:
    found = rms(x)
    return np.asarray(x / np.where(found > 0, found, 1.0))
