"""From a measurement to what the estimators take: coordinates with their rates, forces, noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import make_interp_spline

from mechid.errors import DataError, MechidError
from mechid.kinematics.quantities import independent_index
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.signals import fourier
from mechid.signals.filters import Decimation
from mechid.signals.interpolate import derivatives
from mechid.signals.lowpass import dropped, low_pass
from mechid.signals.noise import Derive, amplification, noise_warnings
from mechid.signals.project import project
from mechid.signals.record import Measurement, Method, Noise, Preparation, Prepared
from mechid.signals.spectrum import HIGHEST, choose_cutoff, spectrum
from mechid.signals.spline import choose_penalty, reach, smooth_spline

_PROBE = 4096  # samples of the record on which the response to one sample is computed


def prepare(
    measurement: Measurement, mechanism: Mechanism, options: Preparation | None = None
) -> Prepared:
    """Return a measurement with speeds and accelerations of the independent coordinates.

    Parameters
    ----------
    measurement : Measurement
    mechanism : Mechanism
    options : Preparation, optional
        Default: what the measurement asks for.

    Raises
    ------
    DataError
        If the options do not suit the data, or the measured quantities do not determine the
        independent coordinates.
    """
    options = measurement.preparation if options is None else options
    try:
        whole = independent(measurement, mechanism)
        return _WAYS[_method(whole, options)](whole, options)
    except MechidError as error:
        raise (error.located(measurement.source) if measurement.source else error) from None


def independent(measurement: Measurement, mechanism: Mechanism) -> Measurement:
    """Return the measurement with the independent coordinates, in the order of the mechanism."""
    own = [independent_index(mechanism, c) for c in measurement.coordinates]
    n_i = len(mechanism.coordinates)
    if sorted(i for i in own if i is not None) == list(range(n_i)) and len(own) == n_i:
        order = [own.index(i) for i in range(n_i)]
        y, yd, ydd = (
            None if x is None else x[:, order]
            for x in (measurement.y, measurement.yd, measurement.ydd)
        )
        assert y is not None
        return replace(measurement, coordinates=mechanism.coordinates, y=y, yd=yd, ydd=ydd)
    found = project(
        mechanism,
        measurement.coordinates,
        measurement.y,
        speeds=measurement.yd,
        accelerations=measurement.ydd,
        sigma=_weights(measurement),
        time=measurement.time,
    )
    note = "independent coordinates projected from " + ", ".join(measurement.names)
    if found.free:
        rest = ", ".join(
            f"{c.name} {misfit:.2g} {c.unit}"
            for c, misfit in zip(measurement.coordinates, found.misfit, strict=True)
        )
        note += f"; what remains (rms): {rest}"
    return replace(
        measurement,
        coordinates=mechanism.coordinates,
        y=found.y,
        yd=found.yd,
        ydd=found.ydd,
        sigma=(),
        notes=(*measurement.notes, note),
    )


def _weights(measurement: Measurement) -> Floats | None:
    """Return the stated deviations, if there is one for each coordinate."""
    stated = [s for s in measurement.sigma if s is not None]
    if not stated:
        return None
    if len(stated) < len(measurement.coordinates):
        raise DataError(
            "some measured quantities have a deviation, others not",
            remedy="state sigma for all of them, or for none",
        )
    return np.array(stated)


def _method(m: Measurement, options: Preparation) -> Method:
    if options.method != "auto":
        return options.method
    if m.yd is not None and m.ydd is not None:
        return "given"
    return "fourier" if options.period is not None else "low-pass"


def _given(m: Measurement, options: Preparation) -> Prepared:
    if m.yd is None or m.ydd is None:
        raise DataError(
            "speeds and accelerations are not given", remedy="choose how to derive them"
        )
    note = "speeds and accelerations as given"
    return _finished(m, options, (m.y, m.yd, m.ydd), 0, "given", note, None)


def _interpolate(m: Measurement, options: Preparation) -> Prepared:
    note = "speeds and accelerations of a spline of degree 5 through the samples"
    if m.yd is not None:
        note = "accelerations of a spline of degree 5 through the measured speeds"
        return _finished(
            m, options, (m.y, m.yd, derivatives(m.time, m.yd)[0]), 0, "interpolate", note, None
        )

    def derive(values: Floats) -> tuple[Floats, Floats, Floats]:
        return values, *derivatives(np.arange(len(values)) / m.rate, values)

    return _finished(m, options, derive(m.y), 0, "interpolate", note, derive)


def _low_pass(m: Measurement, options: Preparation) -> Prepared:
    rate = m.rate
    source, order, what = (m.y, 2, "positions") if m.yd is None else (m.yd, 1, "speeds")
    cutoff, chosen = options.cutoff, ""
    if cutoff is None:
        best = choose_cutoff([spectrum(x) for x in source.T], order)
        if best is None or best >= HIGHEST:
            found = _interpolate(m, options)
            note = f"no noise floor in the spectrum of the {what}: nothing to filter"
            return replace(found, notes=(*found.notes, note))
        cutoff, chosen = best * rate, ", where their spectrum reaches its noise"
    note = (
        f"{what} low-pass filtered without delay at {cutoff:.4g} Hz{chosen}, "
        "then central differences"
    )
    drop = dropped(rate, cutoff)

    def derive(values: Floats) -> tuple[Floats, Floats, Floats]:
        return low_pass(values, rate, cutoff)

    y, yd, ydd = derive(m.y)
    if m.yd is not None:
        yd, ydd, _ = derive(m.yd)
    linear = derive if m.yd is None else None
    found = _finished(m, options, (y, yd, ydd), drop, "low-pass", note, linear)
    factor = options.decimation
    if factor is None:  # the parallel filter cuts where that of the positions does, or above
        factor = max(1, int(Decimation(1).cutoff * rate / cutoff))
    return replace(found, cutoff=cutoff, decimation=_decimation(factor, len(found.time)))


def _spline(m: Measurement, options: Preparation) -> Prepared:
    penalty = choose_penalty(m.y)
    drop = reach(penalty)
    if len(m.y) <= 2 * drop + 1:
        raise DataError(
            f"{len(m.y)} samples are too few to smooth with a spline",
            remedy=f"it smooths over {drop} samples; choose another method, or give more samples",
        )

    def derive(values: Floats) -> tuple[Floats, Floats, Floats]:
        return smooth_spline(values, m.rate, penalty)

    y, yd, ydd = (x[drop : len(x) - drop] for x in derive(m.y))
    half = m.rate / (2 * np.pi * penalty**0.25)  # its gain is 1/(1 + λ ω⁴)
    note = (
        f"positions smoothed with a cubic spline that leaves half of an amplitude at {half:.4g} Hz "
        "(cross-validation), and differentiated"
    )
    return _finished(m, options, (y, yd, ydd), drop, "spline", note, derive)


def _finished(
    m: Measurement,
    options: Preparation,
    motion: tuple[Floats, Floats, Floats],
    drop: int,
    method: Method,
    note: str,
    derive: Derive | None,
) -> Prepared:
    """Put a derived motion together with the forces at its samples, noise and warnings."""
    n = len(m.time)
    inner = slice(drop, n - drop)
    y, yd, ydd = motion
    sigma = np.array([spectrum(x).sigma for x in m.y.T])
    tau = np.array([spectrum(x).sigma for x in m.tau.T])
    gains = (1.0, np.nan, np.nan) if derive is None else amplification(derive, min(n, _PROBE))
    noise = Noise(sigma, gains[1] * sigma, gains[2] * sigma, tau)
    notes = [*m.notes, note]
    if drop:
        notes.append(f"{drop} samples dropped at each end")
    decimation = None if options.decimation is None else _decimation(options.decimation, len(y))
    return Prepared(
        m.time[inner],
        y,
        yd,
        ydd,
        m.forces,
        m.tau[inner],
        m.valid[inner],
        method,
        noise=noise,
        decimation=decimation,
        notes=tuple(notes),
        warnings=tuple(noise_warnings(m.names, noise, yd, ydd)),
    )


def _decimation(factor: int, n: int) -> Decimation | None:
    if factor == 1:
        return None
    decimation = Decimation(factor)
    decimation.kept(n)
    return decimation


def _fourier(m: Measurement, options: Preparation) -> Prepared:
    if options.period is None:
        raise DataError("a Fourier series needs the period", remedy="give the period in seconds")
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
    chosen = "" if options.harmonics else ", those that stand out of the noise"
    notes.append(f"Fourier series of {harmonics} harmonics{chosen}; average of {whole} periods")
    stray = sorted({*moved.stray, *forced.stray})
    if stray:
        listed = ", ".join(str(k + 1) for k in stray)
        notes.append(f"period {listed} is unlike the others: leave transients out of the range")
    # Variance of the kth derivative of a series with white noise: σ²/(P M) Σ 2 ω_h^2k.
    w = 2 * np.pi / options.period * np.arange(1, harmonics + 1)
    gains = [np.sqrt(2 * np.sum(w ** (2 * k)) / (whole * per)) for k in (1, 2)]
    count = np.maximum(forced.count.mean(axis=0), 1)
    noise = Noise(
        moved.sigma, gains[0] * moved.sigma, gains[1] * moved.sigma, forced.sigma / np.sqrt(count)
    )
    return Prepared(
        m.time[0] + np.arange(per) / rate,
        *motion,
        m.forces,
        forced.mean,
        forced.count > 0,
        "fourier",
        noise=noise if whole > 1 else None,
        decimation=None if options.decimation is None else _decimation(options.decimation, per),
        notes=tuple(notes),
        warnings=tuple(noise_warnings(m.names, noise, *motion[1:])) if whole > 1 else (),
    )


def _resampled(m: Measurement, rate: float) -> tuple[Floats, Floats, np.ndarray]:
    """Return positions, forces and their mask at another rate."""
    n = int(np.floor((m.time[-1] - m.time[0]) * rate * (1 + 1e-12))) + 1
    time = m.time[0] + np.arange(n) / rate
    y = np.asarray(make_interp_spline(m.time, m.y, k=3)(time))
    tau = np.stack([np.interp(time, m.time, x) for x in m.tau.T], axis=1)
    valid = np.stack([np.interp(time, m.time, x) == 1.0 for x in m.valid.T], axis=1)
    return y, tau, valid


_WAYS = {
    "given": _given,
    "interpolate": _interpolate,
    "low-pass": _low_pass,
    "spline": _spline,
    "fourier": _fourier,
}
