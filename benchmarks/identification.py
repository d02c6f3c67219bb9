"""What estimators make of the same data: the suspension with known truth, over many seeds.

`python benchmarks/identification.py` prints the study; `--docs` writes
docs/reference/identification-study.md with its figure; `--quick` takes three seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from identification_cases import LAWS, SETS, Floats, Law, Measured, World, motions
from identification_page import write_page

from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.estimator import Estimator
from mechid.estimation.huber import Huber
from mechid.estimation.linear import condition
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.estimation.physical import PhysicallyConsistent
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.ridge import Ridge
from mechid.estimation.truncated import Truncated
from mechid.estimation.weighted import WeightedLeastSquares
from mechid.reduction.contribution import contribution
from mechid.reduction.curves import reduction_curves
from mechid.reduction.reduce import reduce_model
from mechid.reduction.size import OneStandardError
from mechid.validation.blocks import Blocks
from mechid.validation.errors import force_errors

RELEVANT = 20  # parameters of the sources
SEEDS = 20
WRONG = 0.05  # CAD errors that are declared where they are 20 %
ESTIMATORS: Mapping[str, Estimator] = {
    "least squares, all 83": OrdinaryLeastSquares(),
    "weighted": WeightedLeastSquares(),
    "Huber": Huber(),
    "ridge (GCV)": Ridge(),
    "truncated SVD": Truncated(),
    "MAP, diagonal prior": MaximumAPosteriori(scale=1.0),
    "MAP, full prior": MaximumAPosteriori(prior="full", scale=1.0),
    "MAP, diagonal, scale estimated": MaximumAPosteriori(),
    "MAP, full, scale estimated": MaximumAPosteriori(prior="full"),
    "physically consistent": PhysicallyConsistent(),
    "auto (default)": Automatic(),
    "auto, diagonal prior": Automatic(prior="diagonal"),
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """E_p (summed over the forces) of one seed and one law of errors, by method and motion."""

    law: Law
    seed: int
    errors: dict[tuple[str, str], float]
    curves: dict[str, Floats]
    condition: dict[str, float]


def total(estimate: Estimate, regression: Regression) -> float:
    """Return E_p summed over the forces."""
    return force_errors(predict(estimate, regression).forces, regression).total


def outcome(world: World, made: dict[str, Measured], law: Law, seed: int) -> Outcome:
    """Identify once, in every way."""
    errors: dict[tuple[str, str], float] = {}
    curves: dict[str, Floats] = {}
    kappa: dict[str, float] = {}
    cad = world.cad(seed)
    for name in SETS:
        problem = made["sources"].problem(name, made["sources"].noisy(law, seed))
        validation = made["validation"].problem(name)
        order = contribution(problem, world.cad_values(name, cad)).ranking.order
        found = reduction_curves(order, problem, OrdinaryLeastSquares(), validation=[validation])
        curves[name] = found.validation_total[:, 0]
        errors["sources", name] = float(curves[name][RELEVANT - 1])
        W = validation.select(order[:RELEVANT]).W
        kappa[name] = condition(W.reshape(-1, RELEVANT))
    for motion in ("sources", "default"):
        problem = made[motion].problem("T1", made[motion].noisy(law, seed))
        validation = made["validation"].problem("T1")
        known = world.prior("T1", cad)
        forces = validation.W @ known.mean + validation.known
        errors[motion, "CAD alone"] = force_errors(forces, validation).total
        for name, estimator in ESTIMATORS.items():
            estimate = estimator(problem, known)
            errors[motion, name] = total(estimate, validation)
        if motion == "default":
            order = contribution(problem, known.mean).ranking.order[:RELEVANT]
            reduced = OrdinaryLeastSquares()(problem.select(order))
            errors[motion, "sources' way"] = total(reduced, validation)
        errors[motion, "reduced, one standard error, rest CAD"] = total(
            _reduced(problem, known), validation
        )
        misled = {
            f"auto, {100 * WRONG:g} % declared": world.prior("T1", cad, WRONG),
            "auto, declared as in the file": world.prior("T1", cad, None),
            "auto, CAD values wrong one by one": replace(known, values=world.single(seed)),
        }
        for label, wrong in misled.items():
            errors[motion, label] = total(Automatic()(problem, wrong), validation)
    return Outcome(law, seed, errors, curves, kappa)


def _reduced(problem: Regression, known: Prior) -> Estimate:
    ranking = contribution(problem, known.mean).ranking
    return reduce_model(
        ranking,
        problem,
        prior=known,
        rest="cad",
        choose=OneStandardError(),
        folds=Blocks(5),
    ).estimate


_WORLD: tuple[World, dict[str, Measured]] | None = None


def _begin(given: tuple[World, dict[str, Measured]]) -> None:
    global _WORLD
    _WORLD = given


def _one(job: tuple[Law, int]) -> Outcome:
    assert _WORLD is not None
    return outcome(*_WORLD, *job)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", action="store_true", help="write the page of the documentation")
    parser.add_argument("--quick", action="store_true", help="three seeds")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    begin = time.perf_counter()
    world = World.of("sla_suspension", "sla_suspension@measured")
    made = motions(world)
    print(f"motions designed in {time.perf_counter() - begin:.0f} s", flush=True)
    jobs = [(law, seed) for law in LAWS for seed in range(3 if options.quick else options.seeds)]
    found = []
    with ProcessPoolExecutor(
        options.workers, initializer=_begin, initargs=((world, made),)
    ) as pool:
        for result in pool.map(_one, jobs):
            found.append(result)
            print(f"{result.law} {result.seed}: {time.perf_counter() - begin:.0f} s", flush=True)
    page = Path(__file__).parents[1] / "docs" / "reference" / "identification-study.md"
    print(write_page(found, RELEVANT, page if options.docs else None))


if __name__ == "__main__":
    main()
