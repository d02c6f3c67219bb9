"""One identification with known truth: how its intervals cover the truth, by class of parameter."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from tests.uncertainty.laws import CAD_ERROR, LAWS, NOISE, as_declared
from tests.uncertainty.machines import MACHINES

from mechid.estimation.automatic import Automatic
from mechid.estimation.doubtful_forces import with_doubtful_forces
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.regression import Bools, Floats
from mechid.mechanism.records import Mechanism
from mechid.options import Level, NoiseLevels, SynthesiseOptions
from mechid.options.words import changed
from mechid.signals.record import PreparedMeasurement
from mechid.spatial.inertia import tensor, transform
from mechid.studies.experiments import shared
from mechid.studies.experiments.identification_data import Data, data_of
from mechid.studies.experiments.identification_settings import IdentificationSettings
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.doubtful_elasticity import doubtful_elasticity, elastic_candidate
from mechid.tasks.doubtful_friction import (
    doubtful_friction,
    friction_candidates,
    friction_words,
)
from mechid.tasks.doubtful_places import doubtful_places
from mechid.tasks.measured import prepare
from mechid.tasks.misplaced_joints import misplaced_joints
from mechid.tasks.synthesise import measured_forces, synthesise
from mechid.tasks.synthetic_errors import MachineErrors
from mechid.validation.diagnosis import diagnose

# Posterior by prior standard deviation below which the data decide, and from which the prior does.
DATA, PRIOR = 0.1, 0.9
# Ratio of the smallest to the largest central moment below which a body is slender.
SLENDER = 0.1
# What makes the noise of the forces, and how far the seed of another measurement is.
_NOISE = (
    "noise", "noise_kind", "time_constant", "outliers", "outlier_size", "quantisation", "hum",
    "hum_frequency",
)  # fmt: skip
_FRESH = 1_000_000
# An offset or a gain that the data could not show is named in any case, and says nothing of other
# errors.
_DOUBTS = ("not be seen", "do not exclude")
INSIDE = {"68": 1.0, "95": 1.959964}


def settings_of(machine: str, law: str, seed: int) -> IdentificationSettings:
    """Return the cell of a study."""
    plain = IdentificationSettings(**MACHINES[machine], cad_error=CAD_ERROR, seed=seed)
    return changed(plain, {**NOISE, **LAWS[law].data})


def trial_data(machine: str, law: str, seed: int) -> Data:
    """Return what the estimator is given, and the truth."""
    settings = settings_of(machine, law, seed)
    data = data_of(settings)
    if LAWS[law].own_axes:
        data = replace(data, truth=_about_own_axes(settings))
    if LAWS[law].cad is as_declared:
        return data
    rng = np.random.default_rng([seed, zlib.crc32(law.encode())])
    cad = LAWS[law].cad(shared.mechanism(settings.model), rng)
    base = shared.columns(settings.model, settings.base).base
    return replace(data, prior=prior_from_cad(cad, base, cad_error=CAD_ERROR))


def _about_own_axes(settings: IdentificationSettings) -> Floats:
    """Return the true base parameters with the frame of each body moved as its joints are, on
    average."""
    true = shared.mechanism(settings.truth_model)
    _, drawn = MachineErrors(settings.errors(true), {}).mechanism(true)
    moved, phi = drawn["hardpoints"], shared.true_values(settings.truth_model).copy()
    for i, body in enumerate(true.bodies):
        own = [moved[j.name] for j in true.joints
               if j.name in moved and body.name in (j.body_a, j.body_b)]  # fmt: skip
        if own:
            by = np.array(body.frame.rotation).T @ np.mean(own, axis=0)
            values = phi[10 * i : 10 * i + 10]
            phi[10 * i : 10 * i + 10] = transform(values, np.eye(3), -by)
    return shared.columns(settings.model, settings.base, settings.listed).matrix @ phi


def trial(machine: str, law: str, seed: int) -> dict[str, Any]:
    """Return counts of each class, and what the result says of itself."""
    data = trial_data(machine, law, seed)
    settings = settings_of(machine, law, seed)
    declared = dict(LAWS[law].declared)
    places = declared.pop("hardpoints", None)
    estimate = Automatic(**declared)(data.problem, data.prior)
    estimate, misfit = _with_doubts(estimate, data, settings, places)
    named = [text for text in estimate.known if _any(LAWS[law].named, text)]
    warned = [w for w in estimate.warnings if not _any(_DOUBTS, w) or _any(LAWS[law].named, w)]
    return {
        "machine": machine,
        "law": law,
        "seed": seed,
        "said": [*warned, *named, *misfit],
        "taken": [
            text.partition(" taken:")[0] for text in estimate.known if " taken: error" in text
        ],
        "classes": {
            **_parameters(estimate, data, machine),
            **_forces(estimate, data, settings),
        },
    }


def _any(words: tuple[str, ...], text: str) -> bool:
    return any(x in text for x in words)


def _with_doubts(
    estimate: Estimate, data: Data, settings: IdentificationSettings, places: float | None
) -> tuple[Estimate, tuple[str, ...]]:
    """Return an estimate with what `identify` finds missing in the model, and what is said.

    Places of joints are known to the standard deviation that is declared, m, or as is usual.
    """
    problem, log = data.problem, _log(data, settings)
    mechanism = shared.mechanism(settings.model)
    found = diagnose(
        problem,
        estimate,
        [log],
        prior=data.prior,
        lacking=[
            *friction_candidates(estimate, mechanism, problem, [log]),
            *elastic_candidate(estimate, mechanism, [log]),
        ],
    )
    words = friction_words(mechanism, estimate.parameters, found.friction, contained=True)
    if places is None:
        elsewhere = misplaced_joints(mechanism, [log], data.prior)
    else:
        levels = NoiseLevels(Level(places, relative=False))
        elsewhere = doubtful_places(mechanism, [log], levels, data.prior)
    for doubts in (
        elsewhere,
        doubtful_friction(found.friction),
        doubtful_elasticity(found.elasticity),
    ):
        if doubts is not None:
            estimate = with_doubtful_forces(estimate, problem, data.prior, doubts)
    elastic = tuple(d.text for d in found.found if d.kind == "elasticity")
    return estimate, (*words, *elastic)


def _log(data: Data, settings: IdentificationSettings) -> PreparedMeasurement:
    """Return the motion as `identify` has it."""
    motion, problem = shared.sampled(settings.measured), data.problem
    if len(problem.time) == len(motion.time):
        return PreparedMeasurement(
            time=motion.time,
            y=motion.y,
            yd=motion.yd,
            ydd=motion.ydd,
            forces=problem.channels,
            tau=problem.tau,
        )
    # Speeds and accelerations are derived from the positions.
    true = shared.mechanism(settings.truth_model)
    log = synthesise(true, motion, settings.errors(true))
    return prepare(log, shared.mechanism(settings.model))


def _parameters(estimate: Estimate, data: Data, machine: str) -> dict[str, Any]:
    open_ = np.diag(data.prior.base_covariance) > 0
    z = np.zeros(len(open_))
    z[open_] = (estimate.values - data.truth)[open_] / estimate.sigma[open_]
    return {
        name: _counts(z[own & open_])
        for name, own in classes(estimate, data, machine)
        if np.any(own & open_)
    }


def _forces(estimate: Estimate, data: Data, settings: IdentificationSettings) -> dict[str, Any]:
    """Return counts of predicted forces of another motion: exact ones, and with fresh noise.

    The noise is as large as that of the measured motion; sensors are calibrated.
    """
    (other,) = data.others
    told = predict(replace(estimate, errors=None), other)
    of_noise = {name: getattr(settings, name) for name in _NOISE}
    options = SynthesiseOptions(**of_noise, seed=settings.seed + _FRESH)
    model, time = shared.mechanism(settings.model), shared.sampled(settings.measured).time
    exact = _exact(settings.model, settings.measured)
    noise = measured_forces(model, time, exact, options)[0] - exact
    return {
        "forces without noise": _counts(((told.forces - other.tau) / told.sigma).ravel()),
        "forces with noise": _counts(((told.forces - other.tau - noise) / told.total).ravel()),
    }


@lru_cache
def _exact(model: str, by: shared.Sampling) -> Floats:
    return synthesise(shared.mechanism(model), shared.sampled(by)).exact


def classes(estimate: Estimate, data: Data, machine: str) -> Iterator[tuple[str, Bools]]:
    """Yield the classes of parameters; the last two overlap with the first three."""
    before = np.sqrt(np.maximum(np.diag(data.prior.base_covariance), 0.0))
    ratio = estimate.sigma / np.where(before > 0, before, np.inf)
    yield "seen by the data", ratio < DATA
    yield "seen by both", (ratio >= DATA) & (ratio < PRIOR)
    yield "resting on the prior", ratio >= PRIOR
    columns = [data.prior.parameters.index(name) for name in estimate.parameters]
    slender, elements = _kinds(MACHINES[machine]["model"])
    yield "moments of slender bodies", slender[columns]
    yield "friction and drives", elements[columns]


@lru_cache
def _kinds(model: str) -> tuple[Bools, Bools]:
    """Return which of all parameters are moments of slender bodies, and which of elements."""
    mechanism: Mechanism = shared.mechanism(model)
    p, n = len(shared.true_values(model)), len(mechanism.bodies)
    slender, elements = np.zeros(p, dtype=bool), np.arange(p) >= 10 * n
    for i, body in enumerate(mechanism.bodies):
        if body.inertia is not None:
            moments = np.linalg.eigvalsh(tensor(np.array(body.inertia.inertia_center)))
            slender[10 * i + 4 : 10 * i + 10] = moments[0] < SLENDER * moments[-1]
    return slender, elements


def _counts(z: Floats) -> dict[str, float]:
    size = np.abs(z)
    return {
        "n": len(z),
        **{name: int(np.count_nonzero(size <= limit)) for name, limit in INSIDE.items()},
        "worst": float(np.max(size)),
    }
