"""The record of an identification: what was used, what came out."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats
from mechid.mechanism.records import Mechanism
from mechid.reduction.contribution import Contribution
from mechid.reduction.reduce import Reduction

FORMAT_VERSION = 1
STAGES = ("data", "estimate", "reduction", "validation")
_LIBRARIES = ("mechid", "numpy", "scipy", "numba", "pyarrow")


@dataclass(frozen=True)
class DataFile:
    """A file that a run read: its name, its SHA-256, and what it was for."""

    name: str
    sha256: str
    role: str


@dataclass(frozen=True)
class About:
    """Where a run comes from.

    Attributes
    ----------
    command : str
        The command line, to repeat it.
    model : str
        As it was asked for: a name of the zoo or a file, with @variant.
    options : mapping
        All options, defaults included.
    seed : int
    files : tuple of DataFile
    versions : mapping
        Of Python, mechid and the libraries that numbers depend on.
    """

    command: str = ""
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    files: tuple[DataFile, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


def library_versions() -> dict[str, str]:
    """Return the versions of Python, mechid and the libraries that numbers depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


@dataclass(frozen=True, eq=False)
class ParameterTable:
    """The base parameters, and what is known of them without measuring.

    Attributes
    ----------
    names : tuple of str
        Parameters that head them.
    units : tuple of str
    text, latex : tuples of str
        Their expressions.
    dependent : tuple of str
        The choice that makes them: parameters that others carry along.
    cad, cad_sigma : arrays (b,)
        CAD values and their deviations; not a number where there are none.
    truth : array (b,), optional
        True values, of synthetic data.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    text: tuple[str, ...]
    latex: tuple[str, ...]
    dependent: tuple[str, ...]
    cad: Floats
    cad_sigma: Floats
    truth: Floats | None = None


@dataclass(frozen=True, eq=False)
class MotionData:
    """A measured motion, prepared.

    Attributes
    ----------
    name : str
        "identification", "validation-1", …
    source : str
        The file it comes from.
    time : array (N,)
    y, yd, ydd : arrays (N, n_i)
        Independent coordinates of the mechanism, in its order.
    forces : tuple of str
        The n_d forces that were measured.
    tau : array (N, n_d)
        Not a number where nothing valid was measured.
    decimation : int
        W and τ are passed through a low-pass filter, and every so many samples are kept.
    notes, warnings : tuples of str
        How it was prepared, and what that is worth.
    ignore_below : mapping coordinate → speed
        Its force does not count where a coordinate is slower, after that filter (m/s or rad/s).
    """

    name: str
    source: str
    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats
    forces: tuple[str, ...]
    tau: Floats
    decimation: int = 1
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ignore_below: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ForceCourse:
    """Measured and predicted forces of a motion, (N, n_d) each.

    Attributes
    ----------
    name : str
        Of the motion.
    time : array (N,)
    forces : tuple of str
    measured : array
        Not a number where nothing valid was measured.
    predicted : array
        By the model of the run.
    sigma : array
        Deviation of the prediction that the parameters cause.
    total : array
        That of a measurement: with the noise of the channel.
    cad : array
        Predicted by the CAD values alone; not a number without them.
    """

    name: str
    time: Floats
    forces: tuple[str, ...]
    measured: Floats
    predicted: Floats
    sigma: Floats
    total: Floats
    cad: Floats


@dataclass(frozen=True, eq=False)
class FullSet:
    """All parameters: bodies that can exist, with the base values that were identified.

    Attributes
    ----------
    parameters : tuple of str
        Names of all p parameters.
    values : array (p,)
    difference : float
        Largest difference of their base values from those identified, relative to the terms.
    distance : float
        The same in deviations, all together; 0 if some possible bodies have the identified values.
    border : tuple of str
        Bodies and coefficients that are hardly possible.
    """

    parameters: tuple[str, ...]
    values: Floats
    difference: float
    distance: float
    border: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """An identification, as far as it came.

    Attributes
    ----------
    about : About
    mechanism : Mechanism
    parameters : ParameterTable
    motions : tuple of MotionData
        The identification motion first.
    estimate : Estimate, optional
        Of all base parameters.
    contribution : Contribution, optional
        Of each base parameter to the forces of the identification motion, by CAD values.
    reduction : Reduction, optional
        The reduced model and the curves behind its size.
    courses : tuple of ForceCourse
        Forces of all motions.
    validation : tuple of mapping
        One row per motion and model ("cad", "estimate", "reduced"), ready for JSON: `motion`,
        `model`, `size` and `total` (E_p summed over the forces), and by force in `forces`: `E_p`,
        `rms`, `absolute`, `r2`; for the final model `coverage` of its intervals of 95 %, `lag_one`
        and `white` (probability that residuals are white).
    warnings : tuple of str
        What a reader should know before trusting the result, in plain words.
    stages : tuple of str
        Which of `STAGES` are complete.
    full : FullSet, optional
        All parameters that go with the final values, for export.
    """

    about: About
    mechanism: Mechanism
    parameters: ParameterTable
    motions: tuple[MotionData, ...]
    estimate: Estimate | None = None
    contribution: Contribution | None = None
    reduction: Reduction | None = None
    courses: tuple[ForceCourse, ...] = ()
    validation: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    full: FullSet | None = None

    @property
    def reduced(self) -> Estimate | None:
        """The estimate after reduction, if there was one."""
        return None if self.reduction is None else self.reduction.estimate

    @property
    def final(self) -> Estimate:
        """The estimate to predict with: the reduced one if there is one.

        Raises
        ------
        DataError
            If the run was stopped before.
        """
        found = self.reduced or self.estimate
        if found is None:
            raise DataError("the run has no estimate: it was stopped before", remedy="repeat it")
        return found

    def values(self) -> Floats:
        """Return the final values of all base parameters, (b,); zero where one was eliminated."""
        at = {name: i for i, name in enumerate(self.parameters.names)}
        found = np.zeros(len(at))
        for name, value in zip(self.final.parameters, self.final.values, strict=True):
            found[at[name]] = value
        return found
