"""From a measurement to what the estimators take: coordinates with their rates, forces, noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.quantities import independent_index
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.signals.contradiction import contradiction, probable_cause
from mechid.signals.filters import Decimation, decimation_of, edge, zero_phase
from mechid.signals.gross import refuse_gross, without_turns
from mechid.signals.interpolate import derivatives, unsure
from mechid.signals.lowpass import dropped, low_pass
from mechid.signals.moving import slow_speeds
from mechid.signals.noise import Derive, amplification, noise_warnings
from mechid.signals.periodic import prepare_periodic
from mechid.signals.project import project
from mechid.signals.record import Measurement, Method, Noise, Preparation, PreparedMeasurement
from mechid.signals.spectrum import HIGHEST, Spectrum, choose_cutoff, motion_band, spectrum
from mechid.signals.spline import choose_penalty, reach, smooth_spline

# Products of coordinates and speeds have harmonics of the motion; the parallel filter leaves five.
_HARMONICS = 5.0
# What lies this far above the parallel filter does not pass it: no use in leaving it in positions.
_ABOVE = 4.0
# Edges of a filter after which nothing is left of its response.
_DECAYED = 20


def prepare(
    measurement: Measurement, mechanism: Mechanism, options: Preparation | None = None
) -> PreparedMeasurement:
    """Return a measurement with speeds and accelerations of the independent coordinates.

    Parameters
    ----------
    measurement : Measurement
    mechanism : Mechanism
    options : Preparation, optional
        Default: as requested by the measurement file.

    Raises
    ------
    DataError
        If the options do not suit the data, or the measured quantities do not determine the
        independent coordinates.
    """
    options = measurement.preparation if options is None else options
    try:
        slow = slow_speeds(options.ignore_below, mechanism)
        refuse_gross(measurement, mechanism)
        continuous, turns = without_turns(measurement)
        whole = independent(continuous, mechanism)
        method = _method(whole, options)
        if whole.yd is not None and method in ("fourier", "spline"):
            whole = replace(whole, notes=(*whole.notes, "measured speeds are not used"))
        found = _WAYS[method](whole, options)
        return replace(
            found,
            ignore_below=options.ignore_below,
            force_sigma=measurement.force_sigma,
            notes=(*found.notes, *slow),
            warnings=(*turns, *whole.warnings, *found.warnings),
        )
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
    weights = _weights(measurement)
    try:
        found = project(
            mechanism,
            measurement.coordinates,
            measurement.y,
            speeds=measurement.yd,
            accelerations=measurement.ydd,
            sigma=weights,
            time=measurement.time,
        )
    except KinematicsError as error:
        if len(measurement.coordinates) == n_i:
            raise
        hint = probable_cause(measurement, mechanism)
        raise DataError(error.what, where=error.where, remedy=hint) from None
    doubt = contradiction(measurement, mechanism, found.misfit) if found.free else ""
    note = "independent coordinates projected from " + ", ".join(measurement.names)
    if found.free:
        rest = ", ".join(
            f"{c.name} {misfit:.2g} {c.unit}"
            for c, misfit in zip(measurement.coordinates, found.misfit, strict=True)
        )
        note += f"; residual (rms): {rest}"
    return replace(
        measurement,
        coordinates=mechanism.coordinates,
        y=found.y,
        yd=found.yd,
        ydd=found.ydd,
        sigma=(),
        notes=(*measurement.notes, note),
        warnings=(*measurement.warnings, *([doubt] if doubt else [])),
    )


def _weights(measurement: Measurement) -> Floats | None:
    """Return the stated standard deviations, if there is one for each coordinate."""
    stated = [s for s in measurement.sigma if s is not None]
    if not stated:
        return None
    if len(stated) < len(measurement.coordinates):
        raise DataError(
            "sigma is given for some measured quantities only",
            remedy="give sigma for all measured quantities, or for none",
        )
    return np.array(stated)


def _method(m: Measurement, options: Preparation) -> Method:
    if options.method != "auto":
        return options.method
    if m.yd is not None and m.ydd is not None:
        return "given"
    return "fourier" if options.period is not None else "low-pass"


def _given(m: Measurement, options: Preparation) -> PreparedMeasurement:
    if m.yd is None or m.ydd is None:
        raise DataError(
            "speeds and accelerations are not measured",
            remedy="choose another method to derive them",
        )
    note = "speeds and accelerations as given"
    return _finished(m, options, (m.y, m.yd, m.ydd), 0, "given", note, None)


def _interpolate(m: Measurement, options: Preparation) -> PreparedMeasurement:
    note = "speeds and accelerations of a spline of degree 5 through the samples"
    drop = unsure(len(m.y))
    inner = slice(drop, len(m.y) - drop)
    if m.yd is not None:
        note = "accelerations of a spline of degree 5 through the measured speeds"
        motion = (m.y[inner], m.yd[inner], derivatives(m.time, m.yd)[0][inner])
        return _finished(m, options, motion, drop, "interpolate", note, None)

    def derive(values: Floats) -> tuple[Floats, Floats, Floats]:
        return values, *derivatives(np.arange(len(values)) / m.rate, values)

    y, yd, ydd = (x[inner] for x in derive(m.y))
    return _finished(m, options, (y, yd, ydd), drop, "interpolate", note, derive)


def _low_pass(m: Measurement, options: Preparation) -> PreparedMeasurement:
    rate = m.rate
    source, order, what = (m.y, 2, "positions") if m.yd is None else (m.yd, 1, "speeds")
    cutoff, chosen = options.cutoff, ""
    spectra = [spectrum(x) for x in source.T]
    factor = _parallel_factor(spectra if m.yd is None else [spectrum(x) for x in m.y.T])
    if cutoff is None:
        best = choose_cutoff(spectra, order)
        if best is None or best >= HIGHEST:
            found = _interpolate(m, options)
            note = f"no noise floor in the spectrum of the {what}: nothing to filter"
            return replace(found, notes=(*found.notes, note))
        most = _ABOVE * Decimation(factor).cutoff
        chosen = ", where the spectrum meets the noise floor"
        if factor > 1 and most < best:
            best, chosen = most, f", {_ABOVE:g} times the cut-off of the parallel filter"
        cutoff = best * rate
    note = (
        f"{what} low-pass filtered without delay at {cutoff:.4g} Hz{chosen}, "
        "then central differences"
    )

    def derive(values: Floats) -> tuple[Floats, Floats, Floats]:
        return low_pass(values, rate, cutoff)

    y, yd, ydd = derive(m.y)
    drop = dropped(rate, cutoff)
    if m.yd is not None:
        yd, ydd, _ = derive(m.yd)
    linear = derive if m.yd is None else None
    found = _finished(m, options, (y, yd, ydd), drop, "low-pass", note, linear, parallel=factor)
    return replace(found, cutoff=cutoff)


def _parallel_factor(spectra: list[Spectrum]) -> int:
    """Return by what to decimate so that the parallel filter leaves the band of the motion."""
    band = motion_band(spectra)
    return 1 if band is None else max(1, int(Decimation(1).cutoff / (_HARMONICS * band)))


def _spline(m: Measurement, options: Preparation) -> PreparedMeasurement:
    drop = reach(0.0)
    if len(m.y) > 2 * drop + 1:
        penalty = choose_penalty(m.y)
        drop = reach(penalty)
    if len(m.y) <= 2 * drop + 1:
        raise DataError(
            f"{len(m.y)} samples are too few to smooth with a spline",
            remedy=f"it smooths over {drop} samples; choose another method, or use a longer record",
        )

    def derive(values: Floats) -> tuple[Floats, Floats, Floats]:
        return smooth_spline(values, m.rate, penalty)

    y, yd, ydd = (x[drop : len(x) - drop] for x in derive(m.y))
    half = m.rate / (2 * np.pi * penalty**0.25)  # its gain is 1/(1 + λ ω⁴)
    note = (
        f"positions smoothed with a cubic spline that leaves half of an amplitude at {half:.4g} Hz "
        "(cross-validation), and differentiated"
    )
    factor = _parallel_factor([spectrum(x) for x in m.y.T])
    return _finished(m, options, (y, yd, ydd), drop, "spline", note, derive, parallel=factor)


def _finished(
    m: Measurement,
    options: Preparation,
    motion: tuple[Floats, Floats, Floats],
    drop: int,
    method: Method,
    note: str,
    derive: Derive | None,
    *,
    parallel: int = 1,
) -> PreparedMeasurement:
    """Put a derived motion together with the forces at its samples, noise and warnings."""
    n = len(m.time)
    inner = slice(drop, n - drop)
    y, yd, ydd = motion
    sigma = np.array([spectrum(x).sigma for x in m.y.T])
    tau = np.array([spectrum(x).sigma for x in m.tau.T])
    decimation = decimation_of(options.decimation or parallel, len(y))
    # On so many samples the response to one of them decays, whatever the length of the record.
    enough = min(n, _DECAYED * max(drop, 0 if decimation is None else edge(decimation.cutoff), 200))
    gains = (np.nan,) * 3 if derive is None else amplification(derive, enough)
    noise = Noise(sigma, gains[1] * sigma, gains[2] * sigma, tau)
    notes = [*m.notes, note]
    if drop:
        notes.append(f"{drop} samples dropped at each end")
    if decimation is not None:
        notes.append(
            f"parallel filter of W and forces at {decimation.cutoff * m.rate:.4g} Hz, then one "
            f"sample in {decimation.factor}"
        )
    return PreparedMeasurement(
        time=m.time[inner],
        y=y,
        yd=yd,
        ydd=ydd,
        forces=m.forces,
        tau=np.where(m.valid, m.tau, np.nan)[inner],
        source=m.source,
        method=method,
        noise=noise,
        decimation=1 if decimation is None else decimation.factor,
        notes=tuple(notes),
        warnings=tuple(_warnings(m, sigma, yd, ydd, derive, decimation, enough)),
    )


def _warnings(
    m: Measurement,
    sigma: Floats,
    yd: Floats,
    ydd: Floats,
    derive: Derive | None,
    decimation: Decimation | None,
    enough: int,
) -> list[str]:
    """Return where noise is large beside the motion, after the parallel filter if there is one."""
    if derive is None:
        return []

    def passed(values: Floats) -> Floats:
        return values if decimation is None else zero_phase(values, decimation.cutoff)

    def filtered(values: Floats) -> tuple[Floats, Floats, Floats]:
        first, second, third = derive(values)
        return first, passed(second), passed(third)

    gains = amplification(filtered, enough)
    return noise_warnings(m.names, gains[1] * sigma, gains[2] * sigma, passed(yd), passed(ydd))


_WAYS = {
    "given": _given,
    "interpolate": _interpolate,
    "low-pass": _low_pass,
    "spline": _spline,
    "fourier": prepare_periodic,
}
