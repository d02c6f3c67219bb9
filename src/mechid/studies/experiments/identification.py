"""Experiment `identification`: data with known truth are identified, other motions predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError, MechidError
from mechid.estimation.compression import compressible
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.reduction.contribution import contribution
from mechid.reduction.curves import reduction_curves
from mechid.reduction.reduce import reduce_model
from mechid.reduction.size import OneStandardError
from mechid.signals.record import PreparedMeasurement
from mechid.studies.experiment import Experiment, Outcome, Row
from mechid.studies.experiments.identification_data import (
    Data,
    data_key,
    declared_error,
    kept_data,
)
from mechid.studies.experiments.identification_settings import (
    CAD,
    REDUCED,
    RELEVANT,
    IdentificationSettings,
)
from mechid.tasks.enrich import enriched
from mechid.tasks.estimators import estimator_of, joint_of
from mechid.tasks.regress import regression_of
from mechid.validation.blocks import Blocks
from mechid.validation.errors import force_errors

ALL = "all"  # the row of all forces together
INSIDE = 1.96  # standard deviations: 95 %
# Standard deviations of intervals that hold so many percent of normal errors.
LEVELS: Mapping[int, float] = MappingProxyType({50: 0.6745, 68: 0.9945, 95: INSIDE})


def run(cells: Sequence[IdentificationSettings]) -> Iterator[Outcome]:
    """Yield the rows of each cell, or the error that refuses it."""
    for settings in cells:
        try:
            yield _REPORTS[settings.report](settings, kept_data(settings))
        except MechidError as error:
            yield error


@dataclass(frozen=True, eq=False)
class Found:
    """What was found.

    Attributes
    ----------
    forces : tuple of array (N, n_d)
        Predicted forces of other motions.
    sigma : tuple of array (N, n_d)
        Their standard deviations; empty without an estimate.
    estimate : Estimate, optional
        Behind them; CAD values alone have none.
    truth : mapping parameter → float
        True values of its parameters, of those that the model had from the start.
    """

    forces: tuple[Floats, ...]
    sigma: tuple[Floats, ...] = ()
    estimate: Estimate | None = None
    truth: Mapping[str, float] = field(default_factory=dict)


def _found(settings: IdentificationSettings, data: Data) -> Found:
    name, _, number = settings.estimator.partition(":")
    prior, problem = data.prior, data.problem
    if name == CAD:
        return Found(_cad_forces(data))
    if name == RELEVANT:
        order = contribution(problem, prior.mean).ranking.order[: int(number)]
        estimate = OrdinaryLeastSquares()(problem.select(order))
    elif name == REDUCED:
        estimate = reduce_model(
            contribution(problem, prior.mean).ranking,
            problem,
            prior=prior,
            rest="cad",
            choose=OneStandardError(),
            folds=Blocks(5),
        ).estimate
    else:
        estimator = estimator_of(*settings.chosen)
        if joint_of(estimator) and data.cad is not None and data.motion is not None:
            return _identified(settings, data, data.cad, data.motion)
        fits = data.small is not None and compressible(estimator)
        estimate = estimator(data.small if fits and data.small else problem, prior)
    truth = dict(zip(data.problem.parameters, data.truth.tolist(), strict=True))
    return _predicted(estimate, data.others, truth)


def _identified(
    settings: IdentificationSettings, data: Data, cad: Mechanism, motion: PreparedMeasurement
) -> Found:
    """Return what `mechid identify` finds: its model may have more than that of the study."""
    name, known_settings = settings.chosen
    options = IdentifyOptions(
        estimator=name,
        settings=dict(known_settings),
        cad_error=declared_error(settings),
        base=settings.base or "balanced",
    )
    found = enriched(cad, [motion], options)
    model, base = dynamic_model(found.mechanism), found.base
    known = [c.name for c in dynamic_model(cad).columns]
    phi = dict(zip(known, data.phi.tolist(), strict=True))
    values = base.matrix @ np.array([phi.get(c.name, 0.0) for c in model.columns])
    truth = {n: x for n, x in zip(base.base, values.tolist(), strict=True) if n in phi}
    others = [
        regression_of(
            model,
            replace(motion, time=p.time, y=p.y, yd=p.yd, ydd=p.ydd, tau=r.tau, forces=r.channels,
                    decimation=1),
            found.estimate.parameters,
        )
        for p, r in zip(data.paths, data.others, strict=True)
    ]  # fmt: skip
    return _predicted(found.estimate, others, truth)


def _predicted(
    estimate: Estimate, others: Sequence[Regression], truth: Mapping[str, float]
) -> Found:
    # Exact forces have neither noise nor offsets, and there may be more of them than are measured.
    names = others[0].channels if others else ()
    lacking = np.zeros(len(estimate.channels))
    if estimate.unmodelled is not None:
        lacking = estimate.unmodelled
    known = dict(zip(estimate.channels, lacking.tolist(), strict=True))
    model = replace(
        estimate,
        errors=None,
        noise=np.zeros(len(names)),
        unmodelled=np.array([known.get(name, 0.0) for name in names]),
    )
    told = [predict(model, r) for r in others]
    forces, sigma = (tuple(x) for x in zip(*((p.forces, p.sigma) for p in told), strict=True))
    return Found(forces, sigma, estimate, truth)


def _cad_forces(data: Data) -> tuple[Floats, ...]:
    return tuple(r.W @ data.prior.mean + r.known for r in data.others)


def _errors(settings: IdentificationSettings, data: Data) -> list[Row]:
    """Return a row for each motion and force, and one for all forces of each motion."""
    return _error_rows(_found(settings, data), data)


def _coverage(settings: IdentificationSettings, data: Data) -> list[Row]:
    """Return the same rows, with shares inside intervals of 50, 68 and 95 %: of exact forces, and
    in rows of all forces of parameters that the data determine or that rest on the prior."""
    found = _found(settings, data)
    rows = _error_rows(found, data)
    of_parameters = _parameters_inside(found)
    for row in rows:
        for level, width in LEVELS.items():
            row[f"forces_{level}"] = None
            if found.sigma:
                k = int(str(row["predicted"])) - 1
                inside = _inside(found.forces[k], found.sigma[k], data.others[k], width)
                names = data.others[k].channels
                here = inside if row["force"] == ALL else inside[names.index(str(row["force"]))]
                row[f"forces_{level}"] = float(np.mean(here))
        row |= of_parameters if row["force"] == ALL else dict.fromkeys(of_parameters)
    return rows


def _parameters_inside(by: Found) -> Row:
    """Return which part of the parameters of each kind lies in its intervals."""
    found: Row = {}
    for name in ("determined", "resting"):
        for level, width in LEVELS.items():
            found[f"{name}_{level}"] = None
            if by.estimate is not None:
                own = [p for p in by.estimate.parameters if p in by.truth]
                rest = np.array([p in by.estimate.resting for p in own])
                z = _z(by)[rest == (name == "resting")]
                inside = np.abs(z) <= width
                found[f"{name}_{level}"] = float(np.mean(inside)) if len(z) else None
    return found


def _error_rows(found: Found, data: Data) -> list[Row]:
    rows: list[Row] = []
    common = _scores(found)
    cad = _cad_forces(data)
    for k, r in enumerate(data.others):
        inside = _inside(found.forces[k], found.sigma[k], r) if found.sigma else None
        errors, of_cad = (force_errors(x[k], r) for x in (found.forces, cad))
        overall, cad_overall = (
            float(np.sqrt(np.mean(np.square(list(e.overall.values()))))) for e in (errors, of_cad)
        )
        rows.append(
            {
                "predicted": k + 1,
                "force": ALL,
                "E_p": errors.total,
                "E_p_cad": of_cad.total,
                "overall": overall,
                "overall_cad": cad_overall,
                "inside_forces": None if inside is None else float(np.mean(inside)),
                **common,
            }
        )
        for j, force in enumerate(r.channels):
            rows.append(
                {
                    "predicted": k + 1,
                    "force": force,
                    "E_p": float(errors.prediction[j]),
                    "E_p_cad": float(of_cad.prediction[j]),
                    "overall": float(errors.prediction[j]),
                    "overall_cad": float(of_cad.prediction[j]),
                    "inside_forces": None if inside is None else float(inside[j]),
                    **dict.fromkeys(common),
                }
            )
    return rows


def _inside(forces: Floats, sigma: Floats, r: Regression, width: float = INSIDE) -> Floats:
    """Return which part of the exact forces lies in their intervals, of 95 % by default, (n_d,)."""
    return np.asarray(np.mean(np.abs(forces - r.tau) <= width * sigma, axis=0))


def _scores(found: Found) -> Row:
    """Return what is said of an estimate as a whole."""
    estimate = found.estimate
    names = ("parameters", "condition", "inside", "rms_z", "resting", "warnings", "taken")
    if estimate is None:
        return dict.fromkeys(names)
    z = _z(found)
    return {
        "parameters": len(estimate.parameters),
        "condition": _finite(estimate.condition),
        "inside": float(np.mean(np.abs(z) <= INSIDE)),
        "rms_z": _finite(float(np.sqrt(np.mean(z**2)))),
        "resting": len(estimate.resting),
        "warnings": len(estimate.warnings),
        "taken": ", ".join(f.name for f in estimate.found if f.likely),
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _z(found: Found) -> Floats:
    """Return errors of the parameters in standard deviations, of those with a true value."""
    assert found.estimate is not None
    rows = zip(found.estimate.parameters, found.estimate.values, found.estimate.sigma, strict=True)
    off, sigma = (
        np.array([(x - found.truth[n], s) for n, x, s in rows if n in found.truth]).reshape(-1, 2).T
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(off == 0, 0.0, off / sigma)


def _sizes(settings: IdentificationSettings, data: Data) -> list[Row]:
    """Return a row for each size of the model, parameters in the order of their contribution."""
    prior, problem = data.prior, data.problem
    order = contribution(problem, prior.mean).ranking.order
    found = reduction_curves(
        order,
        problem,
        _single(settings),
        prior=prior,
        sizes=[n for n in settings.sizes if n <= len(order)] or None,
        validation=data.others,
    )
    return [
        {
            "size": int(size),
            "predicted": k + 1,
            "E_p": float(found.validation_total[i, k]),
            "E_p_identification": float(found.identification_total[i]),
            "condition": _finite(float(found.condition[i])),
            "raw_condition": _finite(float(found.raw_condition[i])),
        }
        for i, size in enumerate(found.sizes)
        for k in range(len(data.others))
    ]


def _single(settings: IdentificationSettings) -> OrdinaryLeastSquares:
    found = estimator_of(settings.estimator, settings.estimator_settings)
    if not isinstance(found, OrdinaryLeastSquares):
        raise DataError("report sizes needs the estimator ols", remedy="set estimator: ols")
    return found


def _parameters(settings: IdentificationSettings, data: Data) -> list[Row]:
    """Return a row for each estimated parameter."""
    by = _found(settings, data)
    found = by.estimate
    if found is None:
        raise DataError("CAD values alone estimate no parameters", remedy="use report: errors")
    own = [k for k, name in enumerate(found.parameters) if name in by.truth]
    at = {name: i for i, name in enumerate(data.problem.parameters)}
    spread = np.sqrt(np.maximum(np.diag(data.prior.base_covariance), 0.0))
    return [
        {
            "parameter": name,
            "truth": by.truth[name],
            "cad": float(data.prior.mean[at[name]]),
            "cad_sigma": float(spread[at[name]]),
            "value": float(found.values[k]),
            "sigma": float(found.sigma[k]),
            "z": _finite(float(z)),
            "resting": name in found.resting,
        }
        for z, k in zip(_z(by).tolist(), own, strict=True)
        if (name := found.parameters[k]) in at
    ]


_REPORTS = {"errors": _errors, "coverage": _coverage, "sizes": _sizes, "parameters": _parameters}
EXPERIMENT = Experiment(
    IdentificationSettings, lambda settings: settings.shared, run, data_key, version=3
)
