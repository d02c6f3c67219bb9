"""Single samples and frequencies: clipped, quantised, outliers, hum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.estimation.clipping import CLIPPED, clipped_samples
from mechid.estimation.regression import Bools, Floats, Regression
from mechid.signals.record import PreparedMeasurement
from mechid.validation.diagnosis_record import SETTLED, Diagnosis

# Rounding error (step/√12) relative to the residuals from which on a finer step would help.
_ROUGH = 0.3
# Beyond this many robust standard deviations lies one of 10⁷ samples of normal noise.
_FAR, _NEAR, _OUTLIERS = 5.5, 3.0, 0.001
_MANY = 0.05  # more than this is noise with heavy tails
# Median of the squared size of spectral lines of white noise, relative to their mean: ln 2.
_MEDIAN = float(np.log(2.0))
# Probability of such a line in white noise, and the part of the residuals that it must make up.
_LEVEL, _LINE = 1e-4, 0.05
_BAND = 1e-3  # of the squared size of the forces lies above the band of the motion
_AROUND = 21  # lines on each side whose median is the level of the noise there


# What to do about samples that were not left out.
EMPTY = "; leave these samples empty in the log, so that they do not count"


def clipped(
    motions: Sequence[PreparedMeasurement], r: Regression, model: Floats
) -> tuple[Diagnosis, ...]:
    """Name forces that stay at their extreme value while the model (N, n_d) says that they vary."""
    found = []
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        for log, motion in enumerate(motions):
            tau, there = _raw(motion, name)
            part = np.flatnonzero(r.logs == log)
            if not r.valid[part, j].any():
                continue
            expected = np.interp(motion.time, r.time[part], model[part, j])
            ends = list(clipped_samples(tau, expected))
            if not ends:
                continue
            at = np.any([where for _, where in ends], axis=0)
            counted = np.interp(motion.time[at], r.time[part], r.valid[part, j])
            n = int(np.count_nonzero(at))
            share = n / int(np.count_nonzero(there))
            limits = " and ".join(f"{level:.4g}" for level, _ in ends)
            found.append(
                Diagnosis(
                    "clipped",
                    name,
                    ends[0][0],
                    unit,
                    share / CLIPPED,
                    f"force {name} is clipped at {limits} {unit}: {n} samples "
                    f"({100 * share:.2g} %) have exactly this value",
                    "enlarge the range of the sensor, or measure a slower motion"
                    f"{EMPTY if counted.all() else ''}",
                )
            )
    return tuple(found)


def quantised(
    motions: Sequence[PreparedMeasurement], r: Regression, e: Floats
) -> tuple[Diagnosis, ...]:
    """Name forces whose step of resolution makes up the residuals."""
    found = []
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        tau, there = _raw(motions[0], name)
        levels = np.unique(tau[there])
        if not 3 <= len(levels) <= np.count_nonzero(there) / 4:
            continue
        gaps = np.diff(levels)
        step = float(gaps.min())
        if np.abs(gaps / step - np.round(gaps / step)).max() > 0.01:
            continue
        if not r.valid[:, j].any():
            continue
        left = float(np.sqrt(np.nanmean(e[:, j] ** 2)))
        if motions[0].decimation > 1:
            # The parallel filter averages rounding errors as it does noise.
            left *= np.sqrt(motions[0].decimation)
        share = min(step / np.sqrt(12) / left, 1e3) if left > 0 else 1e3
        if share > _ROUGH:
            found.append(
                Diagnosis(
                    "quantised",
                    name,
                    step,
                    unit,
                    share / _ROUGH,
                    f"force {name} has steps of {step:.3g} {unit}, whose rounding error is "
                    f"{100 * min(share, 1.0):.0f} % of the residuals",
                    "use a finer resolution or a smaller range of the sensor",
                )
            )
    return tuple(found)


def outliers(
    motions: Sequence[PreparedMeasurement], r: Regression, e: Floats, *, robust: bool = False
) -> tuple[Diagnosis, ...]:
    """Name forces with single samples far from all others; `robust` estimates need no remedy.

    Where a parallel filter has smeared them, they are sought in the forces before it, as
    differences from the median of five neighbours.
    """
    from scipy.ndimage import median_filter

    found = []
    remedy = "use --estimator huber, or leave these samples empty in the log"
    if robust:
        remedy = f"{SETTLED}: they count less"
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        n = far = 0
        largest = 0.0
        for log, motion in enumerate(motions):
            left = x = e[r.logs == log, j][r.valid[r.logs == log, j]]
            if motion.decimation > 1:
                tau, there = _raw(motion, name)
                x = tau[there] - median_filter(tau[there], 5, mode="nearest")
            if min(len(x), len(left)) < 50:
                continue
            # What is small beside the residuals does not matter.
            z = np.abs(x) / max(_robust(x), _robust(left))
            beside = np.maximum(np.append(z[1:], 0.0), np.append(0.0, z[:-1]))
            single = (z > _FAR) & (beside < np.maximum(_NEAR, 0.5 * z))
            n, far = n + len(x), far + int(np.count_nonzero(single))
            largest = max(largest, float(np.abs(x[single]).max(initial=0.0)))
        if max(3, _OUTLIERS * n) <= far <= _MANY * n:
            found.append(
                Diagnosis(
                    "outliers",
                    name,
                    largest,
                    unit,
                    far / max(3, _OUTLIERS * n),
                    f"force {name} has {far} outliers ({100 * far / n:.2g} % of the samples), the "
                    f"largest of {largest:.3g} {unit}",
                    remedy,
                )
            )
    return tuple(found)


def hum(
    motions: Sequence[PreparedMeasurement], r: Regression, e: Floats, forces: Floats
) -> tuple[Diagnosis, ...]:
    """Name forces with a periodic disturbance above the frequencies of the motion."""
    found = []
    at = np.flatnonzero(r.logs == 0)
    motion = motions[0]
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):
        time, x, model = r.time[at], e[at, j], forces[at, j]
        if motion.decimation > 1:
            # The filter takes hum away; before it, hum stands out above the band of the motion.
            tau, there = _raw(motion, name)
            there &= (motion.time >= time[0]) & (motion.time <= time[-1])
            inside = np.interp(motion.time[there], time, np.nan_to_num(model))
            time, x, model = motion.time[there], tau[there] - inside, inside
        here = np.isfinite(x)
        if np.count_nonzero(here) < 4 * _AROUND or np.count_nonzero(~here) > 0.05 * len(here):
            continue
        line = _line(np.interp(time, time[here], x[here]), model, time)
        if line is None:
            continue
        frequency, amplitude, strength = line
        found.append(
            Diagnosis(
                "hum",
                name,
                amplitude,
                unit,
                strength,
                f"force {name} has a periodic disturbance of {amplitude:.3g} {unit} at "
                f"{frequency:.4g} Hz",
                "shield the sensor or its cable, or filter more strongly (--decimation)",
            )
        )
    return tuple(found)


def _line(x: Floats, model: Floats, time: Floats) -> tuple[float, float, float] | None:
    """Return frequency (Hz), amplitude and strength of a line in a spectrum, if there is one."""
    from scipy.ndimage import median_filter

    n = len(x)
    step = float((time[-1] - time[0]) / (n - 1))
    window = np.hanning(n)
    power = np.abs(np.fft.rfft((x - x.mean()) * window)) ** 2
    motion = np.cumsum(np.abs(np.fft.rfft(np.nan_to_num(model - np.nanmean(model)) * window)) ** 2)
    first = max(int(np.searchsorted(motion, (1 - _BAND) * motion[-1])) + 3, _AROUND)
    if first > len(power) - 2 * _AROUND:
        return None
    # The larger of both sides: a line stands out, the slope of a coloured spectrum does not.
    beside = median_filter(power, _AROUND, mode="nearest")
    shift = _AROUND // 2 + 2
    level = np.maximum(np.roll(beside, shift), np.roll(beside, -shift)) / _MEDIAN
    ratio = power / np.maximum(level, np.finfo(float).tiny)
    k = first + int(np.argmax(ratio[first:-shift]))
    share = power[k - 1 : k + 2].sum() / power[1:].sum()
    # White noise exceeds x times its mean with the probability exp(-x), at each frequency; the
    # level nearby is known to a quarter.
    limit = 1.5 * np.log(len(power) / _LEVEL)
    if ratio[k] < limit or share < _LINE:
        return None
    return k / (n * step), float(np.sqrt(2 * share) * np.std(x)), float(ratio[k] / limit)


def _raw(motion: PreparedMeasurement, name: str) -> tuple[Floats, Bools]:
    """Return a force before the parallel filter, (N,), and where it was measured."""
    tau = motion.tau[:, motion.forces.index(name)]
    return tau, np.isfinite(tau)


def _robust(x: Floats) -> float:
    """Return the standard deviation of normal noise that has the same central 90 %."""
    low, high = np.quantile(x, (0.05, 0.95))
    return float(max((high - low) / 3.29, np.finfo(float).eps))
