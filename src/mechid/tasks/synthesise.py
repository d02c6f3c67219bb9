"""Make measurements with known truth: forces of true parameters along a motion, with errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.signal import lfilter

from mechid.dynamics.columns import Column
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.errors import DataError, MechidError
from mechid.estimation.perturb import perturbed
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.runs.truth import Truth
from mechid.tables.motion import TIME, MotionTable
from mechid.tables.observe import Columns

NoiseKind: TypeAlias = Literal["white", "proportional", "coloured", "gain"]
NOISE_KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)


@dataclass(frozen=True)
class Level:
    """Size of an error: a share of the signal (of its root mean square, or of each sample), or an
    absolute deviation in the unit of the signal."""

    value: float
    relative: bool = True


@dataclass(frozen=True)
class ForceNoise:
    """Errors of the measured forces.

    Attributes
    ----------
    kind : str
        "white": normal deviates of the same deviation at all samples. "proportional": of a
        deviation proportional to each sample. "coloured": as white, but each sample remembers the
        one before. "gain": one constant factor per force.
    level : Level
        Of all forces; a relative level is a share of the root mean square of each force, for
        "proportional" of each sample, for "gain" the deviation of the factor from one.
    channels : mapping force → Level
        Of single forces, instead.
    correlation : float
        Of neighbouring samples of coloured noise.
    time_constant : float, optional
        Instead of it, s: the correlation falls to 1/e in this time.
    """

    kind: NoiseKind = "white"
    level: Level = Level(0.0)
    channels: Mapping[str, Level] = field(default_factory=dict)
    correlation: float = 0.9
    time_constant: float | None = None


@dataclass(frozen=True)
class Errors:
    """What makes measurements differ from the model.

    Attributes
    ----------
    forces : ForceNoise
    positions : Level, optional
        White noise of the coordinates; a relative level is a share of the deviation of each from
        its mean.
    coordinates : mapping coordinate → Level
        Of single coordinates, instead.
    cad : float
        Relative error of the CAD values: truth is drawn about them.
    """

    forces: ForceNoise = ForceNoise()
    positions: Level | None = None
    coordinates: Mapping[str, Level] = field(default_factory=dict)
    cad: float = 0.0

    @property
    def in_positions(self) -> bool:
        """Whether positions have errors."""
        return self.positions is not None or bool(self.coordinates)


@dataclass(frozen=True, eq=False)
class Synthesis:
    """Measurements with known truth.

    Attributes
    ----------
    mechanism : Mechanism
        Whose CAD values are to be corrected.
    time : array (N,)
    y : array (N, n_i)
        Measured coordinates.
    yd, ydd : arrays (N, n_i)
        True speeds and accelerations.
    tau : array (N, n_d)
        Measured forces.
    exact : array (N, n_d)
        True forces.
    columns : tuple of Column
    phi : array (p,)
        True parameters.
    sigma : array (n_d,)
        Root mean square of the errors that were drawn for each force.
    """

    mechanism: Mechanism
    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats
    tau: Floats
    exact: Floats
    columns: tuple[Column, ...]
    phi: Floats
    sigma: Floats

    def table(self, *, positions_only: bool = False) -> Columns:
        """Return named columns: time, coordinates (with `.d` and `.dd`), forces.

        Coordinates that the model holds have none.
        """
        columns: Columns = {TIME: self.time}
        for i, c in enumerate(self.mechanism.coordinates):
            if c.held:
                continue
            columns[c.name] = self.y[:, i]
            if not positions_only:
                columns[f"{c.name}.d"] = self.yd[:, i]
                columns[f"{c.name}.dd"] = self.ydd[:, i]
        for i, c in enumerate(self.mechanism.coordinates):
            if c.force in columns:
                raise MechidError(
                    f"the force {c.force} has the name of another column",
                    where=self.mechanism.name,
                    remedy="give it another name in the model file",
                )
            columns[c.force] = self.tau[:, i]
        return columns


def synthesise(
    mechanism: Mechanism,
    motion: MotionTable,
    errors: Errors = Errors(),  # noqa: B008 - frozen
    *,
    truth: Mechanism | Truth | None = None,
    seed: int = 0,
) -> Synthesis:
    """Return measurements of a motion as a mechanism with other parameters would give them.

    Parameters
    ----------
    mechanism : Mechanism
        The model, whose CAD values are wrong.
    motion : MotionTable
    errors : Errors
    truth : Mechanism or Truth, optional
        The mechanism that is measured, or the parameters of earlier data; by default `mechanism`
        with parameters drawn about its CAD values, or those values if `errors.cad` is zero.
    seed : int
        Everything random follows from it; truth, forces and positions have streams of their own,
        so that another noise does not mean another truth.

    Raises
    ------
    DataError
        For errors that make no sense, or a truth with other coordinates or parameters.
    """
    _check(mechanism, errors, seed)
    draw_truth, draw_forces, draw_positions = np.random.default_rng(seed).spawn(3)
    model = dynamic_model(mechanism)
    if truth is None:
        drawn = perturbed(mechanism, errors.cad, draw_truth) if errors.cad else mechanism
        phi, measured = parameter_values(dynamic_model(drawn)), mechanism
    else:
        phi = _values_of(truth, mechanism, errors)
        measured = truth if isinstance(truth, Mechanism) else mechanism
    solved = solve_motion(measured, motion.y, motion.yd, motion.ydd, time=motion.time)
    exact = inverse_dynamics(solved, phi).tau
    tau = exact + _force_errors(exact, motion.time, mechanism, errors.forces, draw_forces)
    return Synthesis(
        mechanism,
        motion.time,
        motion.y + _position_errors(motion.y, mechanism, errors, draw_positions),
        motion.yd,
        motion.ydd,
        tau,
        exact,
        model.columns,
        phi,
        _rms(tau - exact),
    )


def _values_of(truth: Mechanism | Truth, mechanism: Mechanism, errors: Errors) -> Floats:
    """Return the parameters of another model or of earlier data, if they are those of the first."""
    if errors.cad:
        raise DataError(
            "truth is given, and is to be drawn about the CAD values too",
            remedy="give a CAD error or the truth, not both",
        )
    if isinstance(truth, Truth):
        return _same_parameters(truth, mechanism)
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
                remedy="take a variant of the same model",
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
            f"the truth is none of {mechanism.name}: it {words}",
            remedy="take one that was made with this model",
        )
    return truth.of(names)


def _force_errors(
    exact: Floats, time: Floats, mechanism: Mechanism, noise: ForceNoise, rng: np.random.Generator
) -> Floats:
    n, n_d = exact.shape
    levels = [noise.channels.get(c.force, noise.level) for c in mechanism.coordinates]
    share = np.array([level.value for level in levels])
    relative = np.array([level.relative for level in levels])
    if noise.kind == "gain":
        return np.asarray(exact * share * rng.standard_normal(n_d))
    deviates = rng.standard_normal((n, n_d))
    if noise.kind == "proportional":
        return np.asarray(np.abs(exact) * share * deviates)
    if noise.kind == "coloured":
        deviates = coloured(deviates, _correlation(noise, time))
    return np.asarray(deviates * np.where(relative, share * _rms(exact), share))


def coloured(deviates: Floats, correlation: float) -> Floats:
    """Return independent normal deviates (N, n) as a stationary AR(1) process of deviation one."""
    a = correlation
    innovations = np.sqrt(1 - a**2) * deviates
    innovations[:1] = deviates[:1]  # stationary from the first sample on
    return np.asarray(lfilter([1.0], [1.0, -a], innovations, axis=0))


def _correlation(noise: ForceNoise, time: Floats) -> float:
    if noise.time_constant is None:
        return noise.correlation
    return float(np.exp(-np.median(np.diff(time)) / noise.time_constant)) if len(time) > 1 else 0.0


def _position_errors(
    y: Floats, mechanism: Mechanism, errors: Errors, rng: np.random.Generator
) -> Floats:
    none = Level(0.0)
    levels = [
        errors.coordinates.get(c.name, errors.positions or none) for c in mechanism.coordinates
    ]
    share = np.array([level.value for level in levels])
    relative = np.array([level.relative for level in levels])
    return np.asarray(
        rng.standard_normal(y.shape) * np.where(relative, share * np.std(y, axis=0), share)
    )


def _rms(values: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def _check(mechanism: Mechanism, errors: Errors, seed: int) -> None:
    noise = errors.forces
    if noise.kind not in NOISE_KINDS:
        raise DataError(
            f"there is no noise {noise.kind}", remedy=f"use one of {', '.join(NOISE_KINDS)}"
        )
    levels = {"the force noise": noise.level, "the position noise": errors.positions}
    levels |= {f"the noise of {name}": level for name, level in noise.channels.items()}
    levels |= {f"the noise of {name}": level for name, level in errors.coordinates.items()}
    for what, level in levels.items():
        if level is not None and not 0 <= level.value < np.inf:
            raise DataError(f"{what} is {level.value:g}", remedy="give zero or a positive number")
    if noise.kind in ("proportional", "gain"):
        for name, level in noise.channels.items():
            if not level.relative:
                raise DataError(
                    f"the {noise.kind} noise of {name} is absolute",
                    remedy="give it in percent of the force",
                )
    for given, known, what in (
        (noise.channels, [c.force for c in mechanism.coordinates], "force"),
        (errors.coordinates, [c.name for c in mechanism.coordinates], "coordinate"),
    ):
        for name in given:
            if name not in known:
                raise DataError(
                    f"there is no {what} {name}",
                    where=mechanism.name,
                    remedy=f"those are {', '.join(known)}",
                )
    if not -1 < noise.correlation < 1:
        raise DataError(
            f"the correlation is {noise.correlation:g}", remedy="give a number between -1 and 1"
        )
    if noise.time_constant is not None and not 0 < noise.time_constant < np.inf:
        raise DataError(
            f"the time constant is {noise.time_constant:g} s", remedy="give a positive one"
        )
    if not 0 <= errors.cad < 1:
        raise DataError(f"the CAD error is {errors.cad:g}", remedy="give a share from 0 to 1")
    if seed < 0:
        raise DataError(f"the seed is {seed}", remedy="give a number from 0 on")
