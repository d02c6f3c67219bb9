"""The record of an identification: what was used, what came out."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate, Finding
from mechid.estimation.regression import Floats
from mechid.mechanism.records import Mechanism
from mechid.options.identify import DEFAULT_OPTIONS, IdentifyOptions
from mechid.reduction.contribution import Contribution
from mechid.reduction.reduce import Reduction
from mechid.shown import Plotted, Shown, Tabular
from mechid.signals.record import PreparedMeasurement
from mechid.validation.diagnosis_record import Diagnosis
from mechid.validation.logs import LogSpread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RunPlot: TypeAlias = Literal["forces", "motion", "contribution", "reduction", "coverage"]
FORMAT_VERSION = 2
MOST_PERCENT = 1000.0  # of a value: larger standard deviations are not told apart
ALL_LOGS, LEFT_OUT = "all logs", "each log left out"
_ROUNDING = 1e-9  # of the forces: a smaller error is that of the computation
STAGES = ("data", "estimate", "reduction", "validation")
_LIBRARIES = ("mechid", "numpy", "scipy", "numba", "pyarrow")


@dataclass(frozen=True)
class DataFile:
    """A file that a run read: its name, its SHA-256, and what it was for."""

    name: str
    sha256: str
    role: str


@dataclass(frozen=True, kw_only=True)
class About:
    """Where a run comes from.

    Attributes
    ----------
    command : str
        The command line, to repeat it; empty if the run was made in Python.
    model : str
        As requested: a name of the zoo or a file, with @variant.
    options : IdentifyOptions
        All options, defaults included.
    files : tuple of DataFile
    versions : mapping
        Of Python, mechid and the libraries that numbers depend on.
    """

    command: str = ""
    model: str = ""
    options: IdentifyOptions = DEFAULT_OPTIONS
    files: tuple[DataFile, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


def library_versions() -> dict[str, str]:
    """Return the versions of Python, mechid and the libraries that numbers depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ParameterTable(Shown):
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
        CAD values and their standard deviations; NaN where there are none.
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


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ForceHistory(Plotted, Tabular):
    """Measured and predicted forces of a motion over time, (N, n_d) each, N or N m.

    Attributes
    ----------
    name : str
        Of the motion.
    time : array (N,)
        s.
    forces : tuple of str
    measured : array
        NaN where nothing valid was measured.
    predicted : array
        By the model of the run.
    sigma : array
        Standard deviation of the prediction: by the parameters, and by what the model does not
        describe.
    total : array
        That of a measurement: with the noise of the channel, and its drift. In a motion with
        measured forces, by the sensors of the identification, which keep their gain errors, so that
        it may be less than `sigma`.
    cad : array
        By CAD values alone; NaN where some are missing.
    notes : tuple of str
        What a reader should know of the motion.
    """

    name: str
    time: Floats
    forces: tuple[str, ...]
    measured: Floats
    predicted: Floats
    sigma: Floats
    total: Floats
    cad: Floats
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return lower and upper bounds, (N, n_d), between which a share `level` of forces lies."""
        if not 0 < level < 1:
            raise DataError(f"level must be between 0 and 1, got {level:g}", remedy="as 0.95")
        half = ndtri(0.5 + level / 2) * self.total
        return self.predicted - half, self.predicted + half


@dataclass(frozen=True)
class ForceError:
    """How well a model predicts one force of a motion.

    Attributes
    ----------
    E_p : float
        ‖τ_est - τ‖/‖τ‖.
    rms : float
        Root mean square of τ_est - τ, N or N m.
    absolute : float
        Σ abs(τ_est - τ)/Σ abs(τ - mean τ).
    r2 : float
        1 - Σ(τ_est - τ)²/Σ(τ - mean τ)².
    coverage, lag_one, white : float, optional
        Of the final model only: share of forces within their intervals of 95 %, correlation of
        neighbouring residuals, and the probability that white residuals are as correlated as these.
    """

    E_p: float
    rms: float
    absolute: float
    r2: float
    coverage: float | None = None
    lag_one: float | None = None
    white: float | None = None


@dataclass(frozen=True)
class ValidationRow:
    """How well one model of a run predicts the forces of one motion.

    Attributes
    ----------
    motion : str
    model : "cad", "estimate" or "reduced"
    size : int
        Number of estimated parameters; 0 for CAD values.
    total : float
        E_p summed over the forces, the definition of the sources; it grows with their number.
    forces : mapping force → ForceError
    overall : mapping unit → float
        ‖τ_est - τ‖/‖τ‖ over all forces of a unit, N or N m.
    """

    motion: str
    model: str
    size: int
    total: float
    forces: Mapping[str, ForceError]
    overall: Mapping[str, float] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """The overall error as one number: that of the forces, or the root mean square of that of
        the forces in N and that of the moments in N m, where there are both."""
        values = np.array(list(self.overall.values()), dtype=float)
        return float(np.sqrt(np.mean(values**2))) if values.size else float("nan")

    @property
    def words(self) -> str:
        """The overall error in percent, of newtons and newton metres apart."""
        return overall_words(self.overall)


def overall_words(overall: Mapping[str, float | None]) -> str:
    """Return errors by unit in percent; the units are named if there are several."""
    found = {unit: np.nan if x is None else x for unit, x in overall.items()}
    named = {unit: f" ({unit})" if len(found) > 1 else "" for unit in found}
    return ", ".join(f"{_percent(x)}{named[unit]}" for unit, x in found.items())


def _percent(x: float) -> str:
    """Return a share in percent; what is rounding is not spelled out."""
    return f"{100 * x:.3g} %" if not x < _ROUNDING else f"< {100 * _ROUNDING:g} %"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FullSet(Shown):
    """All parameters: bodies that can exist, with the base values that were identified.

    Attributes
    ----------
    parameters : tuple of str
        Names of all p parameters.
    values : array (p,)
    difference : float
        Largest difference of their base values from those identified, relative to the terms.
    distance : float
        The same in standard deviations, all together; 0 if physically consistent bodies have the
        identified values.
    border : tuple of str
        Bodies and coefficients that are hardly possible.
    missed : mapping base parameter → float
        Base values that differ from those identified, and by how much.
    covariance : mapping body → array (10, 10)
        Of the parameters of each body: uncertainty of the base values, and of the CAD values in
        what the forces do not determine. Empty where it is not known.
    """

    parameters: tuple[str, ...]
    values: Floats
    difference: float
    distance: float
    border: tuple[str, ...]
    missed: Mapping[str, float] = field(default_factory=dict)
    covariance: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Run(Plotted, Tabular):
    """An identification, as far as it came.

    Attributes
    ----------
    about : About
    mechanism : Mechanism
    parameters : ParameterTable
    motions : tuple of PreparedMeasurement
        Logs of the identification first, then motions for validation.
    estimate : Estimate, optional
        Of all base parameters.
    contribution : Contribution, optional
        Of each base parameter to the forces of the identification motion, by CAD values.
    reduction : Reduction, optional
        The reduced model and the curves behind its size.
    forces : tuple of ForceHistory
        Measured and predicted forces of all motions.
    validation : tuple of ValidationRow
        One per motion and model ("cad", "estimate", "reduced").
    warnings : tuple of str
        What a reader should know before trusting the result, in plain words.
    stages : tuple of str
        Which of `STAGES` are complete.
    full : FullSet, optional
        All parameters that go with the final values, for export.
    diagnosis : tuple of Diagnosis
        What is wrong with the measured forces and with the model.
    added : tuple of Finding
        What the machine has besides its model, and was written into that.
    n_logs : int
        How many of the motions are logs of the identification.
    left_out : tuple of ValidationRow
        Errors on each of several logs: "cad", and "estimate" of the model identified from the
        other logs; motion "all logs" is all of them together.
    spread : LogSpread, optional
        How much estimates from single logs differ.
    """

    about: About
    mechanism: Mechanism
    parameters: ParameterTable
    motions: tuple[PreparedMeasurement, ...]
    estimate: Estimate | None = None
    contribution: Contribution | None = None
    reduction: Reduction | None = None
    forces: tuple[ForceHistory, ...] = ()
    validation: tuple[ValidationRow, ...] = ()
    warnings: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    full: FullSet | None = None
    diagnosis: tuple[Diagnosis, ...] = ()
    added: tuple[Finding, ...] = ()
    n_logs: int = 1
    left_out: tuple[ValidationRow, ...] = ()
    spread: LogSpread | None = None

    @property
    def logs(self) -> tuple[PreparedMeasurement, ...]:
        """Motions that the model was identified from."""
        return self.motions[: self.n_logs]

    @property
    def others(self) -> tuple[PreparedMeasurement, ...]:
        """Motions for validation."""
        return self.motions[self.n_logs :]

    @property
    def unfinished(self) -> str:
        """In words, before which of the stages that were asked for it ended; empty if none."""
        asked = (x for x in STAGES if x != "reduction" or self.about.options.reduce is not None)
        missing = [stage for stage in asked if stage not in self.stages]
        return f"it ended before its {' and '.join(missing)}" if missing else ""

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
            raise DataError(
                "the run has no estimate: it was stopped before that stage", remedy="repeat it"
            )
        return found

    def values(self) -> Floats:
        """Return the final values of all base parameters, (b,); zero where one was eliminated."""
        at = {name: i for i, name in enumerate(self.parameters.names)}
        found = np.zeros(len(at))
        for name, value in zip(self.final.parameters, self.final.values, strict=True):
            found[at[name]] = value
        return found

    def errors(self, motion: str) -> dict[str, float]:
        """Return the overall error on a motion by model: "cad", "estimate", "reduced".

        It is ‖τ_est - τ‖/‖τ‖ over all forces of the motion; where some are in N and some in N m,
        the root mean square of the two.

        Raises
        ------
        DataError
            If the run has no such motion.
        """
        found = {row.model: row.error for row in self.validation if row.motion == motion}
        if not found:
            known = ", ".join(dict.fromkeys(row.motion for row in self.validation))
            raise DataError(f"there is no validation on {motion}", remedy=f"choose one of: {known}")
        return found

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows: model, sizes and errors."""
        sources = ", ".join(dict.fromkeys(m.source for m in self.logs if m.source))
        rows: dict[str, object] = {
            "mechanism": self.mechanism.name,
            "stages": self.stages,
            "data": f"{sum(len(m.time) for m in self.logs)} samples of "
            + ", ".join(self.motions[0].forces)
            + (f" ({sources})" if sources else ""),
            "base parameters": len(self.parameters.names),
        }
        if self.unfinished:
            rows["not finished"] = self.unfinished
        if self.estimate is not None:
            rows["estimator"] = f"{self.estimate.method}, condition {self.estimate.condition:.3g}"
        if self.reduction is not None:
            rows["reduction"] = f"{self.reduction.size.size} parameters ({self.reduction.size.why})"
        for row in self.left_out[-1:]:
            rows[f"error, {LEFT_OUT}"] = row.words
        for motion in self.motions[:4] if self.validation else ():
            rows[f"error, {motion.name}"] = ", ".join(
                f"{row.model} {row.words}" for row in self.validation if row.motion == motion.name
            )
        if self.warnings:
            rows["warnings"] = f"{len(self.warnings)}, first: {self.warnings[0]}"
        return rows

    def plot(self, what: RunPlot = "forces") -> Figure:
        """Return a Matplotlib figure.

        Parameters
        ----------
        what : str
            "forces": measured and predicted, of a motion that was not used if there is one;
            "motion": the first log; "contribution" of each parameter to the forces;
            "reduction": errors and condition number over the number of parameters; "coverage":
            share of measured forces within intervals of each level.
        """
        return self._drawn(what)


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Plotted, Tabular):
    """How the models of a run do on motions that were not used for it.

    Attributes
    ----------
    run : Run
        With these motions added.
    motions : tuple of str
        Names of the new motions in it.
    """

    run: Run
    motions: tuple[str, ...]

    @property
    def rows(self) -> tuple[ValidationRow, ...]:
        """Errors, one row per motion and model."""
        return tuple(row for row in self.run.validation if row.motion in self.motions)

    @property
    def forces(self) -> tuple[ForceHistory, ...]:
        """Measured and predicted forces of the motions."""
        return tuple(history for history in self.run.forces if history.name in self.motions)

    @property
    def diagnosis(self) -> tuple[Diagnosis, ...]:
        """What is wrong with the motions, or with the model on them."""
        return tuple(d for d in self.run.diagnosis if d.motion in self.motions)

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows: the errors of each model."""
        return {
            f"{row.motion}, {row.model}": f"{row.words}: "
            + ", ".join(f"{name} {100 * e.E_p:.3g} %" for name, e in row.forces.items())
            for row in self.rows
        }
