"""Estimators under errors that real machines have: worlds × mechanisms × seeds.

`python benchmarks/worlds_study.py` prints the tables; `--docs` writes
docs/reference/worlds-study.md; `--quick` takes two seeds; `--only auto --with results.json` runs
one method again and takes the others from earlier results.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from worlds_cases import DEFAULT_MACHINES, MACHINES, WORLDS, Case
from worlds_page import page
from worlds_scores import CAD, DEFAULT, INSIDE, SOURCES, Outcome

from mechid.errors import MechidError
from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.estimator import Estimator
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.estimation.physical import PhysicallyConsistent
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.weighted import WeightedLeastSquares
from mechid.reduction.contribution import contribution
from mechid.validation.errors import prediction_error

SEEDS = 5
RELEVANT = 20  # parameters of the sources
ESTIMATORS: Mapping[str, Estimator] = {
    "least squares": OrdinaryLeastSquares(),
    "weighted": WeightedLeastSquares(),
    "MAP, full prior": MaximumAPosteriori(prior="full", scale=1.0),
    "physical": PhysicallyConsistent(),
    DEFAULT: Automatic(),
}
METHODS = (CAD, SOURCES, *ESTIMATORS)


def outcome(
    case: Case, name: str, world: str, seed: int, methods: Sequence[str], known: Mapping[str, Any]
) -> dict[str, Any]:
    """Identify once, in every way; errors of forces are relative to the exact ones."""
    found: dict[str, Any] = {"machine": name, "world": world, "seed": seed}
    try:
        log, problem = case.measured(world, seed)
        others = case.others(log)
    except MechidError as error:
        return {**found, "refused": str(error), "methods": {}}
    done = {method: known[method] for method in METHODS if method in known}
    for method in methods:
        begin = time.perf_counter()
        try:
            result = _result(method, problem, case.prior(seed), others, case.truth(log))
        except MechidError as error:
            result = {"refused": str(error)}
        done[method] = {**result, "seconds": time.perf_counter() - begin}
    return {**found, "drawn": log.errors, "methods": done}


def _result(
    method: str, problem: Regression, prior: Prior, others: Sequence[Regression], truth: Floats
) -> dict[str, Any]:
    if method == CAD:
        return _errors([(r.W @ prior.mean + r.known) for r in others], others)
    if method == SOURCES:
        order = contribution(problem, prior.mean).ranking.order[:RELEVANT]
        estimate = OrdinaryLeastSquares()(problem.select(order))
        return _errors([predict(estimate, r).forces for r in others], others)
    estimate = ESTIMATORS[method](problem, prior)
    predicted = [predict(estimate, r) for r in others]
    # Offsets belong to sensors: they are no error of the model.
    offset = 0.0 if estimate.errors is None else estimate.errors.offset
    forces = [p.forces - offset for p in predicted]
    inside = [
        np.mean(np.abs(f - r.tau) <= INSIDE * p.sigma)
        for f, p, r in zip(forces, predicted, others, strict=True)
    ]
    return {
        **_errors(forces, others),
        **_scores(estimate, truth),
        "inside_forces": [float(x) for x in inside],
        "known": list(estimate.known),
        "warnings": list(estimate.warnings),
        **_channels(estimate),
    }


def _errors(forces: Sequence[Floats], others: Sequence[Regression]) -> dict[str, Any]:
    parts = [prediction_error(f, r.tau, r.valid) for f, r in zip(forces, others, strict=True)]
    return {
        "total": [float(np.sum(e)) for e in parts],
        "overall": [_overall(f, r) for f, r in zip(forces, others, strict=True)],
        "by_force": [e.tolist() for e in parts],
    }


def _overall(forces: Floats, r: Regression) -> float:
    """Return ‖error‖/‖force‖ over all forces of one unit; root mean square over the units."""
    units = np.array(r.units)
    squares = [
        np.sum((forces - r.tau)[:, units == u] ** 2) / np.sum(r.tau[:, units == u] ** 2)
        for u in sorted(set(r.units))
    ]
    return float(np.sqrt(np.mean(squares)))


def _scores(estimate: Estimate, truth: Floats) -> dict[str, Any]:
    off = estimate.values - truth
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(off == 0, 0.0, off / estimate.sigma)
    return {"z": dict(zip(estimate.parameters, z.tolist(), strict=True))}


def _channels(estimate: Estimate) -> dict[str, Any]:
    if estimate.errors is None:
        return {}
    return {
        "gain": dict(zip(estimate.channels, estimate.errors.gain.tolist(), strict=True)),
        "offset": dict(zip(estimate.channels, estimate.errors.offset.tolist(), strict=True)),
    }


def read_outcomes(path: Path | None) -> list[Outcome]:
    """Return earlier results, none without a path."""
    return json.loads(path.read_text(encoding="utf-8")) if path else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", action="store_true", help="write the page of the documentation")
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--mechanisms", nargs="+", choices=MACHINES, default=DEFAULT_MACHINES)
    parser.add_argument("--only", nargs="*", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--with", dest="given", type=Path, help="earlier results (JSON)")
    parser.add_argument("--before", type=Path, help="results of an earlier default, to compare")
    parser.add_argument("--motions", type=Path, help="folder of the designed motions, kept there")
    parser.add_argument("-o", "--output", type=Path, help="results as JSON")
    options = parser.parse_args()
    begin, found = time.perf_counter(), []
    given = read_outcomes(options.given)
    known = {(o["machine"], o["world"], o["seed"]): o["methods"] for o in given}
    for name in options.mechanisms:
        case = Case.of(MACHINES[name], options.motions)
        print(f"{name}: motions after {time.perf_counter() - begin:.0f} s", flush=True)
        for world in options.worlds:
            for seed in range(2 if options.quick else options.seeds):
                earlier = known.get((name, world, seed), {})
                found.append(outcome(case, name, world, seed, options.only, earlier))
            if options.output:
                options.output.write_text(json.dumps(found), encoding="utf-8")
            print(f"{name}, {world}: {time.perf_counter() - begin:.0f} s", flush=True)
    text = page(found, read_outcomes(options.before))
    print(text)
    if options.docs:
        path = Path(__file__).parents[1] / "docs" / "reference" / "worlds-study.md"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
