"""Find what is attached to a body, from a log with it and an identification without."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mechid.base.complete import listed_base
from mechid.base.nullspace import parameter_columns
from mechid.blas_threads import one_blas_thread
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError
from mechid.estimation.payload import (
    Ten,
    all_ten,
    central_values,
    estimate_groups,
    payload_groups,
)
from mechid.estimation.regression import Floats, Regression, joined
from mechid.mechanism.records import GROUND, Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.options import IdentifyOptions, changed
from mechid.options.weighing import weighings
from mechid.runs.payload import Payload
from mechid.runs.record import Run
from mechid.tasks.clipped import without_clipped
from mechid.tasks.estimators import estimator_of, joint_of
from mechid.tasks.inputs import run_of
from mechid.tasks.measured import (
    Mappings,
    chosen_mappings,
    data_files,
    numbered,
    prepared_motions,
    several,
)
from mechid.tasks.regress import declared, regression_of
from mechid.tasks.stages import same_forces
from mechid.textfile.words import hint

_NOTED = 1.0  # standard deviations: a shift by the condition of physics worth a word
_OF_LOGS = ("offsets", "drifts")
_NONE = 2.0  # a mass below so many of its standard deviations may be none


@one_blas_thread()
def payload(
    run: Run | str | Path,
    data: Any,
    *,
    body: str | None = None,
    known_mass: float | str | tuple[float, float] | None = None,
    mapping: Mappings = None,
    period: float | None = None,
    cutoff: float | None = None,
    decimation: int | None = None,
) -> Payload:
    """Return mass, centre of mass and inertia of something that is attached to a body.

    The estimate of the run is the prior of the mechanism, with its covariance; the second log
    determines the payload. Friction, gains and delays of the forces are those of the run.

    Parameters
    ----------
    run : Run, str or Path
        An identification without payload, or its folder.
    data : Measurement, PreparedMeasurement, Synthesis, str or Path, or a list of these
        Motions with the payload, as for `identify`; the same forces as in the run.
    body : str, optional
        What it is attached to. Default: the one body at the end of the chain, that is with one
        joint only.
    known_mass : float, str or (float, float), optional
        Measured mass of the payload, kg, as 2.5, "2.5±0.01" or (2.5, 0.01).
    mapping : path, dict or list, optional
        As for `identify`.
    period, cutoff, decimation : numbers, optional
        How the measurements are prepared, as in `Preparation` (s, Hz, samples).

    Returns
    -------
    Payload
        In the frame of the body; NaN for what the forces do not determine.

    Raises
    ------
    DataError
        If it is not clear which body is meant, or other forces were measured than in the run.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="1%", cad_error="10%", periods=2)
    >>> run = mechid.identify("five_bar", log, cad_error="10%")
    >>> second = mechid.synthesise("five_bar", motion, noise="1%", truth=log.truth, seed=1)
    >>> found = mechid.payload(run, second, body="coupler_1")  # nothing is attached
    >>> found.groups, bool(abs(found.mass) < 4 * found.central_sigma[0])
    (('m', 'mx', 'mz', 'Iyy'), True)
    """
    before = run_of(run)
    estimate = before.estimate
    if estimate is None:
        raise DataError("the run has no estimate", remedy="repeat the identification")
    mechanism = before.mechanism
    name = attached_body(mechanism, body)
    mass = _mass(known_mass)
    how = changed(IdentifyOptions(), {"period": period, "cutoff": cutoff, "decimation": decimation})
    logs = several(data)
    mappings = chosen_mappings(mapping, logs)
    named = list(zip(numbered("payload", len(logs)), logs, strict=True))
    motions = prepared_motions(named, mechanism, how, mappings)
    if not motions:
        raise DataError("no data with the payload", remedy="give one log or more")
    model = dynamic_model(mechanism)
    regressions: list[Regression] = []
    clipped: list[str] = []
    for k, motion in enumerate(motions):
        same_forces(motion, estimate.channels)
        slow = motion.ignore_below or before.motions[0].ignore_below
        own = regression_of(model, replace(motion, ignore_below=slow), estimate.parameters)
        own = declared(own, before.about.options.noise, motion.force_sigma)
        expected = own.W @ estimate.values + own.known
        place = f" of log {k + 1}" if len(motions) > 1 else ""
        own, words = without_clipped(own, motion, expected, place)
        regressions.append(own)
        clipped += words
    regression = joined(regressions)
    columns, lengths = _columns(before, name)
    groups = payload_groups(columns, lengths, characteristic_size(mechanism))
    without = _settled(before.about.options)
    found = estimate_groups(regression, estimate, columns, groups, without=without)
    r = len(groups.heads)
    g, C = found.values[-r:], found.covariance[-r:, -r:]
    ten = all_ten(groups, g, C, mass)
    known = None if mass is None else np.eye(10)[:1]
    values, J = central_values(ten)
    seen = groups.part(set(groups.names) - set(found.resting))
    single = [seen.determines(row, known) for row in np.eye(10)]
    about = np.array([seen.determines(row, known) for row in J])
    if ten.phi[0] < _NONE * np.sqrt(ten.covariance[0, 0]):
        about[1:] = False  # where nothing may be, there is no centre
    empty = regression.W @ estimate.values + regression.known
    if estimate.errors is not None:
        empty = empty + estimate.errors.offset
    result = Payload(
        model=mechanism.name,
        body=name,
        rank=r,
        groups=groups.names,
        group_values=g,
        group_covariance=C,
        values=np.where(single, ten.phi, np.nan),
        sigma=np.where(single, _sigma(np.eye(10), ten.covariance), np.nan),
        central=np.where(about, values, np.nan),
        central_sigma=np.where(about, _sigma(J, ten.covariance), np.nan),
        full=ten.phi,
        covariance=ten.covariance,
        distance=ten.distance,
        known_mass=mass,
        forces=regression.channels,
        noise=found.noise,
        without=_errors(regression.tau - empty, regression),
        explained=_errors(found.residuals, regression),
        words=tuple(w for w in found.known if " CAD values of " not in f" {w}"),
        notes=tuple(dict.fromkeys(note for m in motions for note in m.notes)),
        files=tuple(data_files(motions, mappings)),
    )
    prepared = (w for m in motions for w in m.warnings)
    warnings = [*prepared, *clipped, *found.warnings]
    if unseen := [name for name in groups.names if name in found.resting]:
        warnings.append(f"the motion or the measured forces do not show {', '.join(unseen)}")
    warnings += [*_same_logs(before, result), *_warnings(result, ten)]
    return replace(result, warnings=tuple(dict.fromkeys(warnings)))


def attached_body(mechanism: Mechanism, asked: str | None) -> str:
    """Return the body that something is attached to: as asked, or the one end of the chain.

    Bodies without mass do not count as ends.

    Raises
    ------
    DataError
        If there is no such body, or it is not clear which one is the end.
    """
    bodies = [b.name for b in mechanism.bodies if not b.massless]
    if asked is not None:
        if asked not in bodies:
            raise DataError(f"there is no body {asked} with a mass", remedy=hint(asked, bodies))
        return asked
    joints = [(j.body_a, j.body_b) for j in mechanism.joints if not j.kind.holds_nothing]
    names = {b.name for b in mechanism.bodies}
    while True:
        count = Counter(name for pair in joints for name in pair)
        ends = [b for b in names if count[b] <= 1 and b != GROUND]
        empty = [b for b in ends if b not in bodies]
        if not empty:
            break
        names -= set(empty)
        joints = [pair for pair in joints if not set(pair) & set(empty)]
    if len(ends) != 1:
        which = f"{len(ends)} bodies have one joint only" if ends else "all bodies are in loops"
        raise DataError(
            f"the body that the payload is attached to is not clear: {which}",
            remedy=f"name the body, one of: {', '.join(bodies)}",
        )
    return ends[0]


def _mass(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    (found,) = weighings({"payload": given}, "known_mass")
    return found.mass, found.sigma


def _settled(options: IdentifyOptions) -> tuple[str, ...]:
    """Return the errors of single logs that the run was told are not there."""
    joint = joint_of(estimator_of(options.estimator, options.settings))
    if joint is not None:
        return tuple(name for name in _OF_LOGS if name not in joint.families)
    return _OF_LOGS if options.settings.get("offsets") == 0 else ()


def _columns(run: Run, body: str) -> tuple[Floats, Floats]:
    """Return B_p (b, 10) of a body, and the powers of length of the base parameters (b,)."""
    chosen = listed_base(run.mechanism, run.parameters.dependent, run.parameters.names)
    assert run.estimate is not None
    rows = [chosen.base.index(name) for name in run.estimate.parameters]
    owners = [column.owner for column in parameter_columns(run.mechanism)]
    first = owners.index(body)
    units = dict(zip(run.parameters.names, run.parameters.units, strict=True))
    powers = {"kg": 0, "kg m": 1, "kg m²": 2}
    lengths = np.array([powers.get(units[name], 0) for name in run.estimate.parameters])
    return chosen.matrix[rows, first : first + 10], lengths


def _sigma(J: Floats, covariance: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", J, covariance, J), 0.0)))


def _errors(residuals: Floats, regression: Regression) -> Floats:
    valid = regression.valid & np.isfinite(residuals)  # not what the estimator left out
    left = np.sum(np.where(valid, residuals, 0.0) ** 2, axis=0)
    size = np.sum(np.where(valid, regression.tau, 0.0) ** 2, axis=0)
    return np.asarray(np.sqrt(left / np.where(size > 0, size, np.nan)))


def _same_logs(run: Run, found: Payload) -> list[str]:
    used = {file.sha256 for file in run.about.files if file.role not in ("map", "truth")}
    same = [file.name for file in found.files if file.sha256 in used]
    return [f"{name} was used in the run: standard deviations are too small" for name in same]


def _warnings(found: Payload, ten: Ten) -> list[str]:
    said = []
    if ten.distance > _NOTED:
        said.append(
            f"no body has the values that fit best: they were moved by {ten.distance:.2g} standard "
            "deviations; check the log, or give the measured mass"
        )
    m, s = found.central[0], found.central_sigma[0]
    if np.isfinite(m) and m < _NONE * s:
        said.append(
            f"the mass, {m:.3g} ± {s:.2g} kg, does not differ from zero: no centre is given; check "
            "that the payload was attached"
        )
    if found.known_mass is not None and np.isfinite(found.values[0]) and "m" in found.groups:
        k = found.groups.index("m")
        seen, spread = found.group_values[k], np.sqrt(found.group_covariance[k, k])
        apart = abs(seen - found.known_mass[0]) / np.hypot(spread, found.known_mass[1])
        if apart > 3:
            said.append(
                f"the forces say {seen:.4g} ± {spread:.2g} kg, the measured mass is "
                f"{found.known_mass[0]:.4g} kg: {apart:.2g} standard deviations apart"
            )
    return said
