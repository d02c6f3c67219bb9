"""Experiment `identification`: data with known truth are identified, other motions predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.estimation.compression import compressible
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.estimation.regression import Floats, Regression
from mechid.reduction.contribution import contribution
from mechid.reduction.curves import reduction_curves
from mechid.reduction.reduce import reduce_model
from mechid.reduction.size import OneStandardError
from mechid.studies.experiment import Experiment, Outcome, Row
from mechid.studies.experiments.identification_data import Data, data_key, kept_data
from mechid.studies.experiments.identification_settings import (
    CAD,
    REDUCED,
    RELEVANT,
    IdentificationSettings,
)
from mechid.tasks.estimators import estimator_of
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
    """

    forces: tuple[Floats, ...]
    sigma: tuple[Floats, ...] = ()
    estimate: Estimate | None = None


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
        estimator = estimator_of(name, settings.estimator_settings)
        fits = data.small is not None and compressible(estimator)
        estimate = estimator(data.small if fits and data.small else problem, prior)
    # Exact forces have neither noise nor offsets, and there may be more of them than are measured.
    names = data.others[0].channels if data.others else ()
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
    told = [predict(model, r) for r in data.others]
    return Found(tuple(p.forces for p in told), tuple(p.sigma for p in told), estimate)


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
    of_parameters = _parameters_inside(found.estimate, data)
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


def _parameters_inside(estimate: Estimate | None, data: Data) -> Row:
    """Return which part of the parameters of each kind lies in its intervals."""
    found: Row = {}
    for name in ("determined", "resting"):
        for level, width in LEVELS.items():
            found[f"{name}_{level}"] = None
            if estimate is not None:
                rest = np.array([p in estimate.resting for p in estimate.parameters])
                z = _z(estimate, data)[rest == (name == "resting")]
                inside = np.abs(z) <= width
                found[f"{name}_{level}"] = float(np.mean(inside)) if len(z) else None
    return found


def _error_rows(found: Found, data: Data) -> list[Row]:
    rows: list[Row] = []
    common = _scores(found.estimate, data)
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


def _scores(estimate: Estimate | None, data: Data) -> Row:
    """Return what is said of an estimate as a whole."""
    names = ("parameters", "condition", "inside", "rms_z", "resting", "warnings", "taken")
    if estimate is None:
        return dict.fromkeys(names)
    z = _z(estimate, data)
    taken = [text.partition(" taken:")[0] for text in estimate.known if " taken: error" in text]
    return {
        "parameters": len(estimate.parameters),
        "condition": _finite(estimate.condition),
        "inside": float(np.mean(np.abs(z) <= INSIDE)),
        "rms_z": _finite(float(np.sqrt(np.mean(z**2)))),
        "resting": len(estimate.resting),
        "warnings": len(estimate.warnings),
        "taken": ", ".join(taken),
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _z(estimate: Estimate, data: Data) -> Floats:
    """Return errors of the parameters in standard deviations."""
    at = [data.problem.parameters.index(name) for name in estimate.parameters]
    off = estimate.values - data.truth[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(off == 0, 0.0, off / estimate.sigma)


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
    found = _found(settings, data).estimate
    if found is None:
        raise DataError("CAD values alone estimate no parameters", remedy="use report: errors")
    z = _z(found, data)
    at = [data.problem.parameters.index(name) for name in found.parameters]
    spread = np.sqrt(np.maximum(np.diag(data.prior.base_covariance), 0.0))
    return [
        {
            "parameter": name,
            "truth": float(data.truth[i]),
            "cad": float(data.prior.mean[i]),
            "cad_sigma": float(spread[i]),
            "value": float(found.values[k]),
            "sigma": float(found.sigma[k]),
            "z": _finite(float(z[k])),
            "resting": name in found.resting,
        }
        for k, (i, name) in enumerate(zip(at, found.parameters, strict=True))
    ]


_REPORTS = {"errors": _errors, "coverage": _coverage, "sizes": _sizes, "parameters": _parameters}
EXPERIMENT = Experiment(
    IdentificationSettings, lambda settings: settings.shared, run, data_key, version=2
)
