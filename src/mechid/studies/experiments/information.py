"""Experiment `information`: what a measurement can tell at best, without drawing any noise.

White noise and Gaussian errors of the CAD values make everything linear: the covariance after the
measurement is (AᵀA + P⁻¹)⁻¹, with the rows A of all sensors in units of their noise.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.estimation.linear import prior_factor, with_prior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.kinematics.motion import solve_motion
from mechid.options import IdentifyOptions
from mechid.signals.errors import rms
from mechid.studies.experiment import Experiment, Outcome, Row
from mechid.studies.experiments import shared
from mechid.studies.experiments.identification_settings import OTHERS
from mechid.studies.experiments.shared import Sampling, words_key
from mechid.tasks.identification_prior import prior_of
from mechid.tasks.load_cells import SensorRows, sensor_rows
from mechid.validation.errors import prediction_error

ALL = "all"
NOTHING = ("none",)  # forces, if only other sensors measure
_RESTING = 0.9  # of the standard deviation before: so much is left of what the data hardly show
_KEPT = 24


@dataclass(frozen=True, kw_only=True)
class InformationSettings:
    """What is measured, and how exactly.

    Attributes
    ----------
    model : str
    base : str
        Base set whose parameters are reported, as in `IdentifyOptions`.
    cad_error : float, optional
        Relative error of the CAD values; by default as the model declares.
    motion : mapping
        Options of `excite`; or {file: …}, a trajectory.
    validation : tuple of mapping
        Motions that are predicted, likewise.
    rate : float
        Samples per second.
    seconds, periods : float, optional
        How long the motion is measured: s, or durations of the trajectory; one by default.
    forces : tuple of str
        That are measured; by default all. "none" for none.
    noise : float
        Standard deviation of the forces relative to their root mean square.
    noise_of : "motion" or "validation"
        Over which motions: the one that is measured, or those that are predicted.
    floor : float
        Noise besides, independent of it: standard deviation relative to the root mean square over
        the motions that are predicted.
    sensors : tuple of str
        Load cells besides, as in `mechid.tasks.load_cells`: "force:JOINT", "moment:JOINT",
        "axial:BODY".
    sensor_noise : float
        Standard deviation of their signals, relative to the root mean square over a sensor.
    report : "errors" or "parameters"
    """

    model: str
    base: str = "balanced"
    cad_error: float | None = 0.2
    motion: Mapping[str, Any] = field(default_factory=dict)
    validation: tuple[Mapping[str, Any], ...] = OTHERS
    rate: float = 50.0
    seconds: float | None = None
    periods: float | None = None
    forces: tuple[str, ...] = ()
    noise: float = 0.05
    noise_of: Literal["motion", "validation"] = "motion"
    floor: float = 0.0
    sensors: tuple[str, ...] = ()
    sensor_noise: float = 0.05
    report: Literal["errors", "parameters"] = "errors"

    def __post_init__(self) -> None:
        """Reject settings that make no sense."""
        for name in ("noise", "sensor_noise"):
            if not 0 < getattr(self, name) < float("inf"):
                raise DataError(f"{name} must be > 0, got {getattr(self, name):g}")
        if not 0 <= self.floor < float("inf"):
            raise DataError(f"floor must be ≥ 0, got {self.floor:g}")
        if self.seconds is not None and self.periods is not None:
            raise DataError("seconds and periods exclude each other", remedy="give one of them")

    @property
    def measured(self) -> Sampling:
        """The motion that is measured."""
        return Sampling(self.model, words_key(self.motion), self.rate, self.seconds, self.periods)

    @property
    def others(self) -> tuple[Sampling, ...]:
        """The motions that are predicted, each for one of its durations."""
        return tuple(
            replace(self.measured, words=words_key(words), seconds=None, periods=None)
            for words in self.validation
        )


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known of the parameters before and after a measurement.

    Attributes
    ----------
    prior : Prior
    before, after : arrays (p, r)
        Roots of the covariance of all parameters.
    condition : float
        Of the rows of the base parameters, in units of the noise, columns of unit length.
    """

    prior: Prior
    before: Floats
    after: Floats
    condition: float

    def errors(self, r: Regression, *, after: bool = True) -> Floats:
        """Return the expected E_p of each force of a motion with all parameters, (n_d,)."""
        T = self.after if after else self.before
        expected = np.linalg.norm(r.W @ T, axis=2)
        tau = r.W @ self.prior.values + r.known
        return prediction_error(tau + expected, tau, r.valid)

    def sigma(self, *, after: bool = True) -> Floats:
        """Return the standard deviations of the base parameters, (b,)."""
        T = self.after if after else self.before
        return np.asarray(np.linalg.norm(self.prior.matrix @ T, axis=1))


def knowledge(settings: InformationSettings) -> Knowledge:
    """Return what a measurement would tell."""
    prior = prior_for(settings)
    blocks = []
    if settings.forces != NOTHING:
        blocks.append(force_rows(settings, prior))
    if settings.sensors:
        rows = sensors_of(settings.measured, settings.sensors)
        blocks.append(in_units_of_noise(rows, prior.values, settings.sensor_noise))
    if not blocks:
        raise DataError("nothing is measured", remedy="name forces or sensors")
    return knowledge_of(prior, np.concatenate(blocks))


def knowledge_of(prior: Prior, A: Floats) -> Knowledge:
    """Return what rows A (m, p), in units of their noise, tell."""
    F = prior_factor(prior.covariance)
    solved = with_prior(A, np.zeros(len(A)), np.zeros(A.shape[1]), F)
    places = [prior.parameters.index(name) for name in prior.base]
    return Knowledge(prior, F, solved.root, replace(solved, A=A[:, places]).condition)


def force_rows(settings: InformationSettings, prior: Prior) -> Floats:
    """Return the rows of the measured forces in units of their noise, (m, p)."""

    def of(by: Sampling) -> Regression:
        r = shared.observed(by)
        return shared.of_forces(replace(r, tau=r.W @ prior.values + r.known), settings.forces)

    own = of(settings.measured)
    others = settings.others or (settings.measured,)
    usual = rms(np.concatenate([of(by).tau for by in others]))
    size = rms(own.tau) if settings.noise_of == "motion" else usual
    sigma = np.hypot(settings.noise * size, settings.floor * usual)
    return _stacked(own.W / np.where(sigma > 0, sigma, np.inf)[:, None])


def in_units_of_noise(rows: SensorRows, phi: Floats, noise: float) -> Floats:
    """Return the rows of sensors (m, p): noise is one for all components of a sensor."""
    power = np.mean((rows.W @ phi + rows.known) ** 2, axis=0)
    of = np.array(rows.sensor)
    sigma = noise * np.sqrt([np.mean(power[of == name]) for name in rows.sensor])
    return _stacked(rows.W / np.where(sigma > 0, sigma, np.inf)[:, None])


def _stacked(W: Floats) -> Floats:
    return W.reshape(-1, W.shape[-1])


def prior_for(settings: InformationSettings) -> Prior:
    """Return the CAD values; values that a model leaves open are as wide as the forces allow."""
    return _prior(settings.model, settings.base, settings.cad_error, settings.measured)


@lru_cache(_KEPT)
def _prior(spec: str, base: str, cad_error: float | None, by: Sampling) -> Prior:
    model, r = shared.mechanism(spec), shared.observed(by)
    whole = replace(r, tau=r.W @ np.nan_to_num(shared.true_values(spec)) + r.known)
    options = IdentifyOptions(cad_error=cad_error, base=base)
    return prior_of(model, shared.columns(spec, base).base, whole, options)[0]


@lru_cache(_KEPT)
def sensors_of(by: Sampling, names: tuple[str, ...], skip_open: bool = False) -> SensorRows:
    """Return the rows of load cells along a motion."""
    table = shared.sampled(by)
    motion = solve_motion(shared.mechanism(by.spec), table.y, table.yd, table.ydd, time=table.time)
    return sensor_rows(motion, names, skip_open=skip_open)


def run(cells: Sequence[InformationSettings]) -> Iterator[Outcome]:
    """Yield the rows of each cell, or the error that refuses it."""
    for settings in cells:
        try:
            known = knowledge(settings)
            report = _errors if settings.report == "errors" else _parameters
            yield report(settings, known)
        except MechidError as error:
            yield error


def _errors(settings: InformationSettings, known: Knowledge) -> list[Row]:
    rows: list[Row] = []
    left = known.sigma() / np.maximum(known.sigma(after=False), np.finfo(float).tiny)
    common: Row = {
        "parameters": len(left),
        "resting": int(np.count_nonzero(left >= _RESTING)),
        "condition": known.condition if np.isfinite(known.condition) else None,
    }
    for k, by in enumerate(settings.others):
        r = shared.observed(by)
        after, before = known.errors(r), known.errors(r, after=False)
        first: Row = {"predicted": k + 1, "force": ALL}
        rows.append(
            {**first, "E_p": float(np.sum(after)), "E_p_cad": float(np.sum(before)), **common}
        )
        for j, force in enumerate(r.channels):
            errors = {"E_p": float(after[j]), "E_p_cad": float(before[j])}
            rows.append({**first, "force": force, **errors, **dict.fromkeys(common)})
    return rows


def _parameters(settings: InformationSettings, known: Knowledge) -> list[Row]:
    before, after = known.sigma(after=False), known.sigma()
    return [
        {
            "parameter": name,
            "cad": float(known.prior.mean[i]),
            "cad_sigma": float(before[i]),
            "sigma": float(after[i]),
            "left": float(after[i] / before[i]) if before[i] > 0 else None,
            "resting": bool(after[i] >= _RESTING * before[i]),
        }
        for i, name in enumerate(known.prior.base)
    ]


def _shared(settings: InformationSettings) -> Hashable:
    return settings.base, settings.measured, settings.others


EXPERIMENT = Experiment(InformationSettings, _shared, run, version=2)
