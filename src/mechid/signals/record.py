"""Records of measurements: as they were read, and as the estimators take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import IndependentCoordinate
from mechid.shown import Plotted, Tabular, changes_repr

Mask: TypeAlias = npt.NDArray[np.bool_]
Method: TypeAlias = Literal["auto", "given", "low-pass", "fourier", "spline", "interpolate"]


@dataclass(frozen=True)
class Preparation:
    """How a measurement is prepared; None leaves the choice to the data.

    Attributes
    ----------
    method : str
        Where speeds and accelerations come from. "auto": as measured if they are; a Fourier series
        if the period is known; else a low-pass filter and central differences.
    cutoff : float, optional
        Of the low-pass filter, Hz: half of an amplitude at this frequency is left.
    period : float, optional
        Of a motion that repeats, s.
    harmonics : int, optional
        Of the Fourier series.
    decimation : int, optional
        Every how many samples are kept after the parallel filter; 1: no parallel filter.
    ignore_below : mapping coordinate → speed
        The force of a coordinate does not count where it moves slower than this (m/s or rad/s,
        after the parallel filter): near standstill the sign of dry friction is not known.
    """

    method: Method = "auto"
    cutoff: float | None = None
    period: float | None = None
    harmonics: int | None = None
    decimation: int | None = None
    ignore_below: Mapping[str, float] = field(default_factory=dict)

    __repr__ = changes_repr


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Plotted, Tabular):
    """What was measured, in SI units, at a constant rate.

    Attributes
    ----------
    time : array (N,)
        s.
    coordinates : tuple of IndependentCoordinate
        What the columns of `y` are: the independent coordinates of the mechanism in its order, or
        other quantities of it.
    y : array (N, n)
        m or rad.
    yd, ydd : arrays (N, n), or None
        Where they were measured for all coordinates.
    forces : tuple of str
        Names of the measured forces; it may be fewer than the mechanism has.
    tau : array (N, n_d)
        N or N m; finite also where they are not valid.
    valid : array (N, n_d) of bool
        False where a force was not measured.
    sigma : tuple of float or None
        Stated standard deviations of the coordinates, m or rad; None where nothing is stated.
    force_sigma : mapping force → float
        Stated standard deviations of forces, N or N m.
    preparation : Preparation
        Preparation requested by the measurement file.
    notes : tuple of str
        What was found and repaired on reading.
    warnings : tuple of str
        What is doubtful about the positions.
    source : str
        The file, for messages.
    """

    time: Floats
    coordinates: tuple[IndependentCoordinate, ...]
    y: Floats
    forces: tuple[str, ...]
    tau: Floats
    valid: Mask
    yd: Floats | None = None
    ydd: Floats | None = None
    sigma: tuple[float | None, ...] = ()
    force_sigma: Mapping[str, float] = field(default_factory=dict)
    preparation: Preparation = Preparation()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""

    @property
    def rate(self) -> float:
        """Samples per second."""
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(c.name for c in self.coordinates)


@dataclass(frozen=True, eq=False)
class Noise:
    """Estimated standard deviations of white noise, of single samples of the prepared record.

    Attributes
    ----------
    y, yd, ydd : arrays (n_i,)
        Of the coordinates before filtering, and of speeds and accelerations after it; nan where
        nothing can be said.
    tau : array (n_d,)
        Of the forces before the parallel filter (after averaging over periods).
    """

    y: Floats
    yd: Floats
    ydd: Floats
    tau: Floats


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PreparedMeasurement(Plotted, Tabular):
    """A measured motion with its forces, ready for estimation.

    Attributes
    ----------
    time : array (N,)
        s.
    y, yd, ydd : arrays (N, n_i)
        Independent coordinates of the mechanism in its order, speeds and accelerations (m or rad,
        per s, per s²).
    forces : tuple of str
        The n_d forces that were measured.
    tau : array (N, n_d)
        N or N m; not a number where nothing valid was measured.
    name : str
        Its role in a run: "identification", "validation-1", …
    source : str
        The file it comes from; empty for data that were given as records.
    method : str
        Where speeds and accelerations come from.
    cutoff : float or None
        Of the low-pass filter, Hz.
    noise : Noise or None
        Estimated noise of the measurement.
    decimation : int
        W and τ are passed through a parallel low-pass filter, and every so many samples are kept.
    ignore_below : mapping coordinate → speed
        Its force does not count where a coordinate is slower, after that filter (m/s or rad/s).
    force_sigma : mapping force → float
        Stated standard deviations of forces, N or N m.
    notes, warnings : tuples of str
        How it was prepared, and what to know before trusting it.
    """

    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats
    forces: tuple[str, ...]
    tau: Floats
    name: str = "identification"
    source: str = ""
    method: str = "given"
    cutoff: float | None = None
    noise: Noise | None = None
    decimation: int = 1
    ignore_below: Mapping[str, float] = field(default_factory=dict)
    force_sigma: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def valid(self) -> Mask:
        """Which forces were measured, (N, n_d)."""
        return np.isfinite(self.tau)
