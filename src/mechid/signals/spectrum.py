"""Noise floor of a sampled signal, and the cut-off frequency that suits it.

The noise is taken as white: its spectral density is that of the upper half of the spectrum, where
a mechanism does not move. The cut-off is the one that makes the expected error of the derivative
least: what a low-pass filter takes from the signal, and what it leaves of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.kinematics.tables import Floats
from mechid.signals.filters import gain

# Sidelobes of the Kaiser window lie 220 dB below the peak: slow motions leak nothing upwards.
_WINDOW = ("kaiser", 28.0)
_SMOOTH = 9  # bins; neighbours are correlated through the window
_SEEN = 4.0  # times the floor: a bin that has more is signal
_MOST = 0.999
_SPARSE = 0.1  # of the octave below
_STEEP = 3.0  # the spectrum of noise does not fall by more within the band
_ROUNDING = 1e-9  # of the range: no sensor resolves 30 bits, what is below is arithmetic
LEAST_SAMPLES = 64
_LONGEST = 1 << 17  # samples of a segment, whose spectra are averaged
HIGHEST = 0.4  # cut-off, cycles per sample


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Spectral density over frequency (1/sample), and the standard deviation of white noise; NaN if
    there is none."""

    frequency: Floats
    density: Floats
    sigma: float


def spectrum(values: Floats) -> Spectrum:
    """Return the spectrum of samples (N,) taken at unit rate."""
    from scipy.ndimage import convolve1d
    from scipy.signal import welch

    if len(values) < LEAST_SAMPLES or not np.ptp(values) > 0:
        return Spectrum(np.zeros(0), np.zeros(0), float("nan"))
    n = min(len(values) // 2, _LONGEST)
    step = n - (3 * n) // 4
    starts = range(0, len(values) - n + 1, step)
    # One after the other: all together take many times the memory of the record.
    raw: Floats = np.zeros(n // 2 + 1)
    for k in starts:
        f, power = welch(values[k : k + n], window=_WINDOW, nperseg=n, detrend="linear")
        raw += power / len(starts)
    # Not a running sum: its rounding errors carry the peaks into the floor.
    density = convolve1d(raw, np.full(_SMOOTH, 1 / _SMOOTH), mode="nearest")
    low, high = (
        float(np.median(density[(f >= a / 2) & (f < b / 2)])) for a, b in ((0.4, 0.6), (0.6, 0.8))
    )
    # White noise is flat; what still falls is the motion itself, and no floor is in sight.
    sigma = float(np.sqrt((low + high) / 4)) if low < _STEEP * high else float("nan")
    return Spectrum(f, density, sigma if sigma > _ROUNDING * np.ptp(values) else float("nan"))


def choose_cutoff(spectra: list[Spectrum], order: int) -> float | None:
    """Return the cut-off (1/sample) that suits all of some signals, for their `order` derivative.

    It is the highest of those that suit each; None if no signal has a floor, so that there is
    nothing to filter.
    """
    found = [_best(s, order) for s in spectra if np.isfinite(s.sigma)]
    return max(found, default=None)


def motion_band(spectra: list[Spectrum]) -> float | None:
    """Return the frequency (1/sample) below which the mechanism moves.

    99.9 % of the power of the speed of each signal lies below it; None if no spectrum is known.
    """
    found = []
    for s in spectra:
        if not len(s.frequency):
            continue
        signal = _signal(s, 2 * s.sigma**2) if np.isfinite(s.sigma) else s.density
        power = np.cumsum(s.frequency**2 * signal)
        found.append(float(s.frequency[np.searchsorted(power, _MOST * power[-1])]))
    return max(found, default=None)


def _best(s: Spectrum, order: int) -> float:
    floor = 2 * s.sigma**2
    signal = _signal(s, floor)
    weight = s.frequency ** (2 * order)
    trial = np.geomspace(4 * s.frequency[1], HIGHEST, 200)
    cost = [
        float(np.sum(weight * ((1 - h) ** 2 * signal + h**2 * floor)))
        for h in (gain(s.frequency, fc) for fc in trial)
    ]
    return float(trial[int(np.argmin(cost))])


def _signal(s: Spectrum, floor: float) -> Floats:
    """Return the density of the motion: what stands out of the floor, but for stray lines.

    Encoders and converters leave lines far above the motion, which accelerations would magnify.
    They stand alone, and all that is above them together is less than the noise.
    """
    seen = s.density > _SEEN * floor
    excess = np.where(seen, s.density - floor, 0.0)
    k = np.arange(len(seen))
    below = np.concatenate([[0], np.cumsum(seen)])
    alone = below[k + 1] - below[k // 2] < _SPARSE * (k + 1 - k // 2)
    above = np.cumsum(excess[::-1])[::-1] * (s.frequency[1] - s.frequency[0])
    return np.where(alone & (above < s.sigma**2), 0.0, excess)
