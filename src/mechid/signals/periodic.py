"""Motions that repeat: an average period with its Fourier series, ready for estimation."""

from __future__ import annotations

import numpy as np

from mechid.errors import DataError
from mechid.estimation.clipping import clip_limits
from mechid.kinematics.tables import Floats
from mechid.signals import fourier
from mechid.signals.filters import decimation_of
from mechid.signals.noise import noise_warnings
from mechid.signals.record import Mask, Measurement, Noise, Preparation, PreparedMeasurement


def prepare_periodic(m: Measurement, options: Preparation) -> PreparedMeasurement:
    """Return one period: positions as a Fourier series, forces averaged over the periods.

    Raises
    ------
    DataError
        If the period is not given, or does not suit the record.
    """
    if options.period is None:
        raise DataError("a Fourier series needs a period", remedy="give the period in seconds")
    exact = fourier.samples_per_period(options.period, m.rate, len(m.time))
    per = round(exact)
    notes = list(m.notes)
    y, tau, valid = m.y, m.tau, m.valid
    rate = per / options.period
    # A fraction of a sample that adds up to less than a hundredth over the record does no harm.
    if abs(exact - per) * len(m.time) / exact > 0.01:
        y, tau, valid = _resampled(m, rate)
        notes.append(f"resampled at {rate:.8g} Hz: a period has {exact:.6g} samples")
    moved, forced = fourier.average(y, per), fourier.average(tau, per, valid)
    harmonics = options.harmonics or fourier.choose_harmonics(moved)
    motion = fourier.series(moved.mean, rate, harmonics)
    whole = len(y) // per
    chosen = "" if options.harmonics else ", those above the noise"
    notes.append(f"Fourier series of {harmonics} harmonics{chosen}; average of {whole} periods")
    stray = sorted({*moved.stray, *forced.stray})
    if stray:
        listed = ", ".join(str(k + 1) for k in stray)
        notes.append(f"period {listed} differs from the others: exclude transients from the range")
    # Variance of the kth derivative of a series with white noise: σ²/(P M) Σ 2 ω_h^2k.
    w = 2 * np.pi / options.period * np.arange(1, harmonics + 1)
    gains = [np.sqrt(2 * np.sum(w ** (2 * k)) / (whole * per)) for k in (1, 2)]
    count = np.maximum(forced.count.mean(axis=0), 1)
    tau_mean = _with_limits(forced.mean, tau, valid)
    noise = Noise(
        moved.sigma, gains[0] * moved.sigma, gains[1] * moved.sigma, forced.sigma / np.sqrt(count)
    )
    decimation = decimation_of(options.decimation or 1, per)
    return PreparedMeasurement(
        time=m.time[0] + np.arange(per) / rate,
        y=motion[0],
        yd=motion[1],
        ydd=motion[2],
        forces=m.forces,
        tau=np.where(forced.count > 0, tau_mean, np.nan),
        source=m.source,
        method="fourier",
        noise=noise if whole > 1 else None,
        decimation=1 if decimation is None else decimation.factor,
        notes=tuple(notes),
        warnings=tuple(noise_warnings(m.names, noise.yd, noise.ydd, *motion[1:])),
    )


def _with_limits(mean: Floats, tau: Floats, valid: Mask) -> Floats:
    """Return mean forces (M, n_d) that stand at the limit of a sensor where one sample behind them
    does: such means are recognised as clipped, and would be in between otherwise."""
    found, per = mean.copy(), len(mean)
    whole = len(tau) // per * per
    for j in range(tau.shape[1]):
        for limit in clip_limits(tau[valid[:, j], j]):
            at = (valid[:whole, j] & (tau[:whole, j] == limit)).reshape(-1, per)
            found[at.any(axis=0), j] = limit
    return found


def _resampled(m: Measurement, rate: float) -> tuple[Floats, Floats, Mask]:
    """Return positions, forces and their mask at another rate."""
    from scipy.interpolate import make_interp_spline

    n = int(np.floor((m.time[-1] - m.time[0]) * rate * (1 + 1e-12))) + 1
    time = m.time[0] + np.arange(n) / rate
    y = np.asarray(make_interp_spline(m.time, m.y, k=3)(time))
    tau = np.stack([np.interp(time, m.time, x) for x in m.tau.T], axis=1)
    valid = np.stack([np.interp(time, m.time, x) == 1.0 for x in m.valid.T], axis=1)
    return y, tau, valid
