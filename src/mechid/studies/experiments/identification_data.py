"""Data of one identification: what is measured, what is known, and what is to be predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import msgspec
import numpy as np
from scipy.linalg import block_diag

from mechid.dynamics.compile import dynamic_model
from mechid.estimation.compression import Compression
from mechid.estimation.perturb import perturbed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.altered import movable_joints
from mechid.mechanism.records import Mechanism
from mechid.options import SynthesiseOptions
from mechid.options.error_kinds import ERROR_KINDS
from mechid.signals.record import PreparedMeasurement
from mechid.studies.experiments import shared
from mechid.studies.experiments.identification_cad import with_centres_off, with_masses_exchanged
from mechid.studies.experiments.identification_machine import (
    with_longer_link,
    with_other_coefficient,
)
from mechid.studies.experiments.identification_settings import CAD, IdentificationSettings
from mechid.studies.experiments.shared import Columns, Sampling
from mechid.tables.motion import MotionTable
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.hardpoint_columns import HardpointColumns, hardpoint_columns
from mechid.tasks.measured import prepare
from mechid.tasks.regress import regression_of
from mechid.tasks.synthesise import (
    Synthesis,
    finer_motion,
    measured_forces,
    needs_path,
    synthesise,
)
from mechid.tasks.synthesise_checks import check_options
from mechid.tasks.synthetic_errors import WITHOUT_RATES, ForcePath, stream, unit_factors

_KEPT, _SEVERAL = 24, 8
_MACHINE = tuple(kind.name for kind in ERROR_KINDS if kind.machine)


@dataclass(frozen=True, eq=False)
class Data:
    """What an estimator is given, and what it is compared with.

    Attributes
    ----------
    problem : Regression
        Of the measured motion.
    small : Regression, optional
        The same, compressed: for estimators that do not need the order of the samples.
    others : tuple of Regression
        Other motions with their exact forces.
    prior : Prior
        CAD values with errors.
    truth : array (b,)
        True values of the estimated parameters.
    phi : array (p,)
        Those of all parameters of the model.
    cad : Mechanism, optional
        With these CAD values, if bodies have them.
    motion : PreparedMeasurement, optional
        What was measured, and `paths` the other motions, for `mechid identify`.
    """

    problem: Regression
    small: Regression | None
    others: tuple[Regression, ...]
    prior: Prior
    truth: Floats
    phi: Floats
    cad: Mechanism | None = None
    motion: PreparedMeasurement | None = None
    paths: tuple[MotionTable, ...] = ()


def kept_data(settings: IdentificationSettings) -> Data:
    """Return the data of a cell, kept for cells that try other estimators on the same data."""
    return _read(data_key(settings))


def data_key(settings: IdentificationSettings) -> bytes:
    """Return what the data of a cell depend on."""
    plain = replace(
        settings, estimator=CAD, estimator_settings={}, oracle={}, report="errors", sizes=()
    )
    return msgspec.json.encode(plain)


@lru_cache(_SEVERAL)
def _read(settings: bytes) -> Data:
    return data_of(msgspec.json.decode(settings, type=IdentificationSettings))


def data_of(settings: IdentificationSettings) -> Data:
    """Return the data of a cell; what it shares with others is computed once in a process."""
    chosen = shared.columns(settings.model, settings.base, settings.listed)
    truth = shared.mechanism(settings.truth_model)
    options = settings.errors(truth)
    check_options(truth, options)
    blank = _problem(settings.measured, settings.base, settings.listed, settings.forces)
    others = tuple(_problem(by, settings.base, settings.listed, ()) for by in settings.others)
    small: Regression | None = None
    moved: Mapping[str, Sequence[float]] = {}
    phi = shared.true_values(settings.truth_model)
    other = bool(settings.link or settings.one_coefficient)
    cad = _cad(settings)
    if other or any(getattr(options, name) for name in (*_MACHINE, *WITHOUT_RATES)):
        machine, moved = _machine(settings, truth)
        problem, exact, log, motion = _of_machine(settings, options, chosen, machine)
        moved, phi = log.errors.get("hardpoints", moved), log.phi
    else:
        time = shared.sampled(settings.measured).time
        by = settings.truth_model, settings.measured
        finer = _finer(*by) if needs_path(options) else None
        tau, _ = measured_forces(truth, time, _exact(*by), options, finer)
        tau = tau * unit_factors(truth, options.units)[1]
        problem = _with_forces(blank, tau, truth)
        factors = _compression(settings.measured, settings.base, settings.listed, settings.forces)
        if factors is not None:
            small = next(factors.problems(problem.tau[None]))
        exact = tuple(_exact(settings.truth_model, by) for by in settings.others)
        motion = _motion(shared.sampled(settings.measured), problem)
    found = Data(
        problem,
        small,
        tuple(_with_forces(r, tau, truth) for r, tau in zip(others, exact, strict=True)),
        _prior(settings, chosen, cad),
        chosen.matrix @ phi,
        phi,
        cad if settings.cad_draw == "bodies" and not settings.listed else None,
        motion,
        tuple(shared.sampled(by) for by in settings.others),
    )
    return _with_hardpoints(settings, found, moved) if settings.calibrate else found


def _with_hardpoints(
    settings: IdentificationSettings, data: Data, moved: Mapping[str, Sequence[float]]
) -> Data:
    """Return data in which displacements of the joints are parameters, too."""
    motions = (settings.measured, *settings.others)
    known = [_hardpoints(by) for by in motions]
    names = known[0].names
    model = shared.mechanism(settings.model)
    at = {c.force: j for j, c in enumerate(model.coordinates)}

    def wider(r: Regression, by: HardpointColumns) -> Regression:
        G = by.columns(data.prior.values)[:, [at[name] for name in r.channels]]
        W = np.concatenate([r.W, G], axis=2)
        return replace(r, W=W, parameters=(*r.parameters, *names), between=None)

    problem, *others = (
        wider(r, by) for r, by in zip((data.problem, *data.others), known, strict=True)
    )
    h = len(names)
    prior = replace(
        data.prior,
        parameters=(*data.prior.parameters, *names),
        base=(*data.prior.base, *names),
        matrix=block_diag(data.prior.matrix, np.eye(h)),
        values=np.append(data.prior.values, np.zeros(h)),
        covariance=block_diag(data.prior.covariance, settings.calibrate**2 * np.eye(h)),
    )
    zero = (0.0, 0.0, 0.0)
    true = [moved.get(joint, zero) for joint in movable_joints(model)]
    truth = np.append(data.truth, true)
    return Data(problem, None, tuple(others), prior, truth, np.append(data.phi, true))


@lru_cache(2 * _SEVERAL)
def _hardpoints(by: Sampling) -> HardpointColumns:
    return hardpoint_columns(shared.mechanism(by.spec), shared.sampled(by))


@lru_cache(_KEPT)
def _problem(by: Sampling, base: str, listed: bool, forces: tuple[str, ...]) -> Regression:
    names = shared.columns(by.spec, base, listed).names
    found = shared.of_forces(shared.observed(by).select(names), forces)
    return replace(found, W=np.ascontiguousarray(found.W))


@lru_cache(_KEPT)
def _compression(
    by: Sampling, base: str, listed: bool, forces: tuple[str, ...]
) -> Compression | None:
    return Compression.of(_problem(by, base, listed, forces))


@lru_cache(_KEPT)
def _exact(truth: str, by: Sampling) -> Floats:
    """Return the forces of a machine without errors of its own, (N, n_i)."""
    return synthesise(shared.mechanism(truth), shared.sampled(by)).exact


@lru_cache(_SEVERAL)
def _finer(truth: str, by: Sampling) -> ForcePath:
    """Return forces with samples in between."""
    finer = finer_motion(shared.sampled(by))
    return ForcePath(finer.time, synthesise(shared.mechanism(truth), finer).exact)


def _with_forces(r: Regression, tau: Floats, mechanism: Mechanism) -> Regression:
    """Return a problem with some of the forces (N, n_i) of a mechanism."""
    names = [c.force for c in mechanism.coordinates]
    return replace(r, tau=tau[:, [names.index(name) for name in r.channels]])


def _machine(
    settings: IdentificationSettings, truth: Mechanism
) -> tuple[Mechanism, Mapping[str, Sequence[float]]]:
    """Return the mechanism that is measured, and which of its joints are displaced."""
    moved: Mapping[str, Sequence[float]] = {}
    if settings.link:
        truth, moved = with_longer_link(truth, settings.link, settings.seed)
    if settings.one_coefficient:
        truth = with_other_coefficient(truth, settings.one_coefficient, settings.seed)
    return truth, moved


def _of_machine(
    settings: IdentificationSettings,
    options: SynthesiseOptions,
    chosen: Columns,
    truth: Mechanism,
) -> tuple[Regression, tuple[Floats, ...], Synthesis, PreparedMeasurement]:
    """Return the problem of a machine with errors of its own, its forces on other motions, how it
    was made, and what was measured."""
    model = shared.mechanism(settings.model)
    log = synthesise(truth, shared.sampled(settings.measured), options)
    exact = tuple(
        synthesise(truth, shared.sampled(by), truth=log.truth).exact for by in settings.others
    )
    if log.measured_rates:
        blank = _problem(settings.measured, settings.base, settings.listed, settings.forces)
        problem = _with_forces(blank, log.tau, truth)
        return problem, exact, log, _motion(shared.sampled(settings.measured), problem)
    motion = prepare(log, model)
    whole = regression_of(dynamic_model(model), motion, chosen.names)
    problem = shared.of_forces(whole, settings.forces)
    at = [motion.forces.index(name) for name in problem.channels]
    motion = replace(motion, forces=problem.channels, tau=motion.tau[:, at])
    return problem, exact, log, motion


def _motion(table: MotionTable, r: Regression) -> PreparedMeasurement:
    """Return a motion with the forces of a problem of its samples."""
    tau = np.where(r.valid, r.tau, np.nan)
    return PreparedMeasurement(
        time=table.time, y=table.y, yd=table.yd, ydd=table.ydd, forces=r.channels, tau=tau
    )


def _cad(settings: IdentificationSettings) -> Mechanism:
    """Return the mechanism with CAD values that have errors."""
    truth = shared.mechanism(settings.truth_model)
    if settings.cad_draw != "bodies":
        return truth
    cad = perturbed(truth, settings.cad_error, stream(settings.seed, "cad"))
    if settings.cad_centres:
        cad = with_centres_off(cad, truth, settings.cad_centres, settings.seed)
    if settings.cad_exchanged:
        cad = with_masses_exchanged(cad, truth, settings.seed)
    return cad


def declared_error(settings: IdentificationSettings) -> float | None:
    """Return the relative error of the CAD values that an estimator is told; None: the file's."""
    declared = settings.cad_error if settings.declared is None else settings.declared
    return None if settings.declared_in_file else declared


def _prior(settings: IdentificationSettings, chosen: Columns, cad: Mechanism) -> Prior:
    """Return CAD values with errors, and what is declared of them."""
    known = prior_from_cad(cad, chosen.base, cad_error=declared_error(settings))
    if settings.cad_draw != "bodies":
        rng = stream(settings.seed, "cad")
        phi = known.values * (1 + settings.cad_error * rng.standard_normal(len(known.values)))
        known = replace(known, values=phi)
    return replace(known, base=chosen.names, matrix=chosen.matrix)
