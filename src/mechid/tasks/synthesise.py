"""Make measurements with known truth: forces of true parameters along a motion, with errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechid.blas_threads import one_blas_thread
from mechid.dynamics.columns import Column
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.joint_friction import joint_sliding
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import observation_blocks
from mechid.errors import DataError, KinematicsError, MechidError
from mechid.estimation.perturb import perturbed
from mechid.importing.load import load
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.tables import Floats
from mechid.measurementfile.write import prepared_columns
from mechid.mechanism.records import Mechanism
from mechid.options import SynthesiseOptions, step_options, to_words
from mechid.runs.truth import Truth, read_truth, write_with_truth
from mechid.shown import Plotted, Tabular
from mechid.signals.errors import coloured, rms
from mechid.signals.interpolate import at_times, between_samples
from mechid.signals.record import Measurement, PreparedMeasurement
from mechid.tables.files import table_suffix, table_writer, write_table
from mechid.tables.motion import TIME, MotionTable
from mechid.tables.observe import Columns
from mechid.tasks.inputs import mechanism_of, motion_of, wrong_type
from mechid.tasks.keywords import keywords_of
from mechid.tasks.synthesise_checks import check_options
from mechid.tasks.synthetic_errors import (
    ENCODER,
    FRICTION_LAWS,
    READER,
    RECORDER,
    SENSOR,
    WITHOUT_RATES,
    Channels,
    Drawn,
    ForcePath,
    MachineErrors,
    of_encoders,
    sampling,
    sensed,
    sizes,
    transmitted,
    unit_factors,
)

_SAME = 1e-9  # columns that differ by no more than rounding, relative to their size
_KINDS = ("friction", "viscous_friction")


def taken_up(motion: Motion, drawn: Mapping[str, Mapping[str, float]]) -> tuple[Floats, Drawn]:
    """Return what friction in joints adds to the parameters of the model (p,), and what is left of
    it: friction of joints for which the model has none.

    Parameters
    ----------
    motion : Motion
    drawn : mapping kind → joint → coefficient
        Of all errors of the machine.
    """
    added = np.zeros(len(dynamic_model(motion.model.mechanism).columns))
    left: Drawn = {kind: dict(values) for kind, values in drawn.items()}
    kinds = [kind for kind in _KINDS if kind in drawn]
    units = {
        (kind, sliding.joint): sliding.forces(FRICTION_LAWS[kind](sliding.speeds, 0.0))
        for sliding in (joint_sliding(motion) if kinds else ())
        for kind in kinds
    }
    if not units:
        return added, left
    apart = {key: np.zeros(len(added)) for key in units}
    for part, seen in observation_blocks(motion):
        for key, unit in units.items():
            gap = np.abs(seen.W - unit[part][..., None]).max(axis=(0, 1))
            apart[key] = np.maximum(apart[key], gap)
    for (kind, joint), unit in units.items():
        size = float(np.abs(unit).max(initial=0.0))
        nearest = int(np.argmin(apart[kind, joint]))
        if size > 0 and apart[kind, joint][nearest] <= _SAME * size:  # a joint at rest shows none
            added[nearest] += left[kind].pop(joint, 0.0)
    return added, left


# Samples in one, where forces are recorded late: a wheel may turn far from one to the next. Long
# motions, in all not more than this, have fewer.
_FINER, _MOST = 32, 2_000_000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Synthesis(Plotted, Tabular):
    """Measurements with known truth.

    Attributes
    ----------
    mechanism : Mechanism
        Whose CAD values are to be corrected.
    options : SynthesiseOptions
    time : array (N,)
        s.
    y : array (N, n_i)
        Measured coordinates, m or rad.
    yd, ydd : arrays (N, n_i)
        True speeds and accelerations.
    tau : array (N, n_d)
        Measured forces, N or N m.
    exact : array (N, n_d)
        True forces.
    columns : tuple of Column
        All parameters of the model.
    phi : array (p,)
        True parameters, with the friction of joints that the model has parameters for.
    sigma : array (n_d,)
        Root mean square of the errors of each force, before wrong units.
    errors : mapping kind → channel → value
        What was drawn: offsets, gains (factor less one), limits, steps, root mean squares, in SI
        units; displacements of joints (m), coefficients of friction (N m or N; viscous N m s/rad or
        N s/m), compliances (rad or m per unit of force) and plays (rad or m); of crosstalk the
        factors of all forces.
    notes : tuple of str
        What a reader should know of the motion.
    """

    mechanism: Mechanism
    options: SynthesiseOptions
    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats
    tau: Floats
    exact: Floats
    columns: tuple[Column, ...]
    phi: Floats
    sigma: Floats
    errors: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the forces."""
        return tuple(c.force for c in self.mechanism.coordinates)

    @property
    def measured_rates(self) -> bool:
        """Whether speeds and accelerations are measured."""
        exact = not any(getattr(self.options, name) for name in WITHOUT_RATES)
        return exact and not {"elasticity", "backlash"} & set(self.errors)

    @property
    def measurement(self) -> Measurement:
        """What was measured, as `read_measurement` returns it."""
        return Measurement(
            time=self.time,
            coordinates=self.mechanism.coordinates,
            y=self.y,
            forces=self.forces,
            tau=self.tau,
            valid=np.ones(self.tau.shape, dtype=bool),
            yd=self.yd if self.measured_rates else None,
            ydd=self.ydd if self.measured_rates else None,
        )

    @property
    def truth(self) -> Truth:
        """The true parameters."""
        made = {
            "model": self.mechanism.name,
            "options": to_words(self.options),
            "drawn": dict(zip(self.forces, self.sigma.tolist(), strict=True)),
            "errors": self.errors,
        }
        return Truth(tuple(c.name for c in self.columns), self.phi, made)

    def table(self) -> Columns:
        """Return named columns: time, coordinates (with `.d` and `.dd`), forces.

        Coordinates that the model holds have none.
        """
        columns: Columns = {TIME: self.time}
        for i, c in enumerate(self.mechanism.coordinates):
            if c.held:
                continue
            columns[c.name] = self.y[:, i]
            if self.measured_rates:
                columns[f"{c.name}.d"] = self.yd[:, i]
                columns[f"{c.name}.dd"] = self.ydd[:, i]
        for i, force in enumerate(self.forces):
            if force in columns:
                raise MechidError(
                    f"the name of force {force} is also that of another column",
                    where=self.mechanism.name,
                    remedy="give it another name in the model file",
                )
            columns[force] = self.tau[:, i]
        return columns


@keywords_of(SynthesiseOptions)
@one_blas_thread()
def synthesise(
    model: Mechanism | str | Path,
    motion: Any,
    options: SynthesiseOptions = SynthesiseOptions(),  # noqa: B008 - frozen
    *,
    truth: Mechanism | Truth | str | Path | None = None,
    rate: float | None = None,
    periods: float | None = None,
    **words: Any,
) -> Synthesis:
    """Return measurements of a motion as a mechanism with other parameters would give them.

    Parameters
    ----------
    model : Mechanism, str or Path
        The model, whose CAD values are wrong; or what `load` takes.
    motion : DesignedMotion, Trajectory, Motion, MotionTable, str or Path
        The motion that is measured; a file is a trajectory (.yaml) or a table.
    options : SynthesiseOptions
    truth : Mechanism, Truth, str or Path, optional
        The mechanism that is measured, or the parameters of earlier data (DATA.truth.json), with
        what else their machine had: geometry, friction, hysteresis, springs. By default `model`
        with parameters drawn about its CAD values, or those values if `cad_error` is zero.
    rate : float, optional
        Samples per second of a trajectory.
    periods : float, optional
        Periods of a trajectory to go through.
    **words
        Fields of `SynthesiseOptions`, as noise="5%", noise={"M1": 0.5}, position_noise=1e-4,
        cad_error="20%", offset="5%", friction={"hinge": 0.1}, seed=1.

    Returns
    -------
    Synthesis
        What `identify`, `prepare` and `save_measurement` take.

    Raises
    ------
    DataError
        For options that make no sense, or a truth with other coordinates or parameters.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0, harmonics=2)
    >>> log = mechid.synthesise("five_bar", motion, noise="5%", cad_error="20%", rate=100.0)
    >>> log.tau.shape
    (100, 2)
    >>> worse = mechid.synthesise("five_bar", motion, offset={"M1": 0.2}, friction="3%")
    >>> abs(worse.errors["offset"]["M1"])  # N m, the sign is drawn
    0.2
    """
    mechanism = mechanism_of(model)
    options = step_options(SynthesiseOptions, options, words)
    check_options(mechanism, options)
    table = motion_of(motion, mechanism, rate=rate, periods=periods)
    if isinstance(truth, str | Path):
        truth = read_truth(truth) if str(truth).lower().endswith(".json") else load(truth)
    if truth is None:
        error = options.cad_error
        drawn = perturbed(mechanism, error, _streams(options)[0]) if error else mechanism
        phi, measured = parameter_values(dynamic_model(drawn)), mechanism
    else:
        phi = _values_of(truth, mechanism, options)
        measured = truth if isinstance(truth, Mechanism) else mechanism
    machine = MachineErrors(options, truth.errors if isinstance(truth, Truth) else {})
    measured, moved = machine.mechanism(measured)
    try:
        solved = solve_motion(measured, table.y, table.yd, table.ydd, time=table.time)
    except MechidError as error:
        raise _located(error, motion, moved) from None
    exact, resisted = machine.forces(solved, inverse_dynamics(solved, phi).tau)
    finer = None
    if needs_path(options) and len(table.time) > 1:
        between = finer_motion(table)
        path = solve_motion(measured, between.y, between.yd, between.ydd, time=between.time)
        same = MachineErrors(SynthesiseOptions(friction_fade=options.friction_fade), resisted)
        finer = ForcePath(between.time, same.forces(path, inverse_dynamics(path, phi).tau)[0])
    tau, of_sensors = measured_forces(mechanism, table.time, exact, options, finer)
    of_y = Channels.of_coordinates(mechanism, table.time, table.y)
    instants, clock = sampling(table.time, options)
    taken = None
    if clock and finer is not None:
        taken = at_times(table.time, instants, table.y), finer.at(instants)
    y, driven = machine.positions(solved, exact, taken)
    y, encoder = sensed(y, of_y, of_encoders(mechanism, options), ENCODER)
    deviates = _streams(options)[2].standard_normal(y.shape)
    y = y + deviates * of_y.sizes("position_noise", options.position_noise)
    y, reader = sensed(y, of_y, options, READER)
    more, lacking = taken_up(solved, resisted)
    per_coordinate, per_force = unit_factors(mechanism, options.units)
    return Synthesis(
        mechanism=mechanism,
        options=options,
        time=table.time,
        y=y * per_coordinate,
        yd=table.yd * per_coordinate,
        ydd=table.ydd * per_coordinate,
        tau=tau * per_force,
        exact=exact,
        columns=dynamic_model(mechanism).columns,
        phi=phi + more,
        sigma=rms(tau - exact),
        errors=moved | lacking | driven | of_sensors | encoder | reader,
        notes=table.notes,
    )


def finer_motion(table: MotionTable) -> MotionTable:
    """Return a motion with samples in between, for forces that are recorded late."""
    m = int(np.clip(_MOST // len(table.time), 1, _FINER))
    parts = np.arange(m) / m
    time, path = between_samples(table.time, parts, table.y, table.yd, table.ydd)
    n = time.size - m + 1  # nothing follows the last sample
    y, yd, ydd = (x.reshape(-1, x.shape[-1])[:n] for x in path)
    return MotionTable(time.ravel()[:n], y, yd, ydd)


def measured_forces(
    mechanism: Mechanism,
    time: Floats,
    exact: Floats,
    options: SynthesiseOptions,
    finer: ForcePath | None = None,
) -> tuple[Floats, dict[str, dict[str, Any]]]:
    """Return exact forces (N, n_i) with the errors of their sensors, and what was drawn.

    Units are SI still; errors of the machine are no matter of its sensors. `finer` forces are what
    those at other instants are taken from, if they are given.
    """
    channels = Channels.of_forces(mechanism, time, exact)
    instants, clock = sampling(time, options)
    path = ForcePath(time, exact, dense=False) if finer is None else finer
    tau, line = transmitted(exact, channels, options, path, instants)
    tau, sensor = sensed(tau, channels, options, SENSOR)
    tau = tau + _force_noise(exact, channels, options)
    tau, recorder = sensed(tau, channels, options, RECORDER)
    return tau, line | clock | sensor | recorder


def needs_path(options: SynthesiseOptions) -> bool:
    """Return whether forces between the samples matter."""
    return bool(options.delay or options.lowpass or options.jitter)


def _located(error: MechidError, motion: Any, moved: Mapping[str, Any]) -> MechidError:
    """Say where a motion comes from, and that the mechanism is not quite the model."""
    if isinstance(error, KinematicsError) and isinstance(motion, str | Path):
        error = error.located(str(motion))
    if moved:
        remedy = "give smaller hardpoints, or those of single joints"
        return DataError(
            f"the mechanism with moved joints does not perform the motion: {error.what}",
            where=error.where,
            remedy=remedy,
        )
    return error


def save_measurement(
    log: Synthesis | PreparedMeasurement, path: str | Path, model: Any = None
) -> list[Path]:
    """Write a measurement as a table that `read_measurement` reads; return the files.

    Parameters
    ----------
    log : Synthesis or PreparedMeasurement
        The truth of synthetic data is written beside the table, DATA.truth.json, where `identify`
        finds it for comparison.
    path : str or Path
        .csv or .parquet.
    model : Mechanism, str or Path, optional
        Of a prepared measurement: whose coordinates they are.

    Raises
    ------
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("pendulum", random=2, starts=0, harmonics=2)
    >>> log = mechid.synthesise("pendulum", motion, noise="2%")
    >>> [path.name for path in mechid.save_measurement(log, "log.csv")]
    ['log.csv', 'log.csv.truth.json']
    """
    path = Path(path)
    table_suffix(path)
    if isinstance(log, Synthesis):
        return write_with_truth(path, table_writer(path, log.table()), log.truth)
    if not isinstance(log, PreparedMeasurement):
        raise wrong_type("log", "what synthesise or prepare returns", log)
    write_table(path, prepared_columns(log, mechanism_of(model)))
    return [path]


def _values_of(
    truth: Mechanism | Truth, mechanism: Mechanism, options: SynthesiseOptions
) -> Floats:
    """Return the parameters of another model or of earlier data, if they are those of the first."""
    if options.cad_error:
        raise DataError(
            "truth and cad_error exclude each other",
            remedy="give one of them, not both",
        )
    if isinstance(truth, Truth):
        return _same_parameters(truth, mechanism)
    if not isinstance(truth, Mechanism):
        raise wrong_type("truth", "a Mechanism, a Truth, a model or a .truth.json file", truth)
    for what, names in (
        ("coordinates", [[c.name for c in m.coordinates] for m in (mechanism, truth)]),
        ("forces", [[c.force for c in m.coordinates] for m in (mechanism, truth)]),
        (
            "parameters",
            [[c.name for c in dynamic_model(m).columns] for m in (mechanism, truth)],
        ),
    ):
        if names[0] != names[1]:
            raise DataError(
                f"the model of the truth has other {what} than {mechanism.name}",
                where=truth.name,
                remedy="use a variant of the same model",
            )
    return parameter_values(dynamic_model(truth))


def _same_parameters(truth: Truth, mechanism: Mechanism) -> Floats:
    """Return the parameters of a truth, in the order of the mechanism whose truth it must be."""
    names = [column.name for column in dynamic_model(mechanism).columns]
    strange = [name for name in truth.parameters if name not in names]
    absent = [name for name in names if name not in truth.parameters]
    if strange or absent:
        words = f"has a parameter {strange[0]}" if strange else f"lacks the parameter {absent[0]}"
        raise DataError(
            f"the truth does not belong to {mechanism.name}: it {words}",
            remedy="use one made with this model",
        )
    return truth.of(names)


def _force_noise(exact: Floats, channels: Channels, options: SynthesiseOptions) -> Floats:
    rng = _streams(options)[1]
    share = sizes(options.noise, channels.names, 1.0)
    if options.noise_kind == "gain":
        return np.asarray(exact * share * rng.standard_normal(exact.shape[1]))
    deviates = rng.standard_normal(exact.shape)
    if options.noise_kind == "proportional":
        return np.asarray(np.abs(exact) * share * deviates)
    if options.noise_kind == "coloured":
        deviates = coloured(deviates, _correlation(options, channels.time))
    return np.asarray(deviates * channels.sizes("noise", options.noise))


def _streams(options: SynthesiseOptions) -> list[np.random.Generator]:
    """Return the random numbers of the truth, of the noise of forces and of that of positions."""
    return np.random.default_rng(options.seed).spawn(3)


def _correlation(options: SynthesiseOptions, time: Floats) -> float:
    if options.time_constant is None:
        return options.correlation
    step = float(np.median(np.diff(time))) if len(time) > 1 else np.inf
    return float(np.exp(-step / options.time_constant))
