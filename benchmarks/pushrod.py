"""The push-rod suspension: contribution and then singular values, against singular values alone.

`python benchmarks/pushrod.py` prints the study; `--docs` writes docs/reference/pushrod-study.md and
its figure; `--quick` takes fewer samples and seeds and leaves the default estimator out.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: matrices here are small

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from pushrod_case import (
    ALL,
    AUTO,
    CAD,
    CAD_ERROR,
    ELIMINATIONS,
    FULL,
    NOISE,
    ONE,
    ONE_RULE,
    PUBLISHED_SET,
    QUICK,
    RANK_1,
    RANK_2,
    RANKS,
    STROKES,
    THRESHOLD,
    TWO,
    Case,
    Size,
    Study,
)
from pushrod_page import page
from pushrod_tables import figure

from mechid.estimation.automatic import Automatic
from mechid.estimation.estimate import Estimate
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.estimation.perturb import perturbed
from mechid.estimation.regression import Floats, Regression
from mechid.plots.panels import write_figure
from mechid.reduction.contribution import contribution
from mechid.reduction.deviation import by_deviation
from mechid.reduction.regroup import Regrouped, regroup
from mechid.tasks.cad_prior import prior_from_cad

DOCS = Path(__file__).resolve().parents[1] / "docs"
OLS = OrdinaryLeastSquares()


def by_singular_values(r: Regression, rank: int | None = None) -> Regrouped:
    """Regroup with columns as they are, in SI units, as the paper does."""
    return regroup(r, rank, scale=np.ones(len(r.parameters)))


def by_rule(r: Regression) -> Estimate:
    """Estimate, dropping parameters by relative deviation."""
    found = by_deviation(r)
    return OLS(r.select(found.order[: found.natural]))


def fits(r: Regression, heads: Mapping[str, Sequence[str]]) -> dict[str, Estimate]:
    """Estimate each model by plain least squares."""
    found = {model: OLS(r.select(names)) for model, names in heads.items()}
    found[ONE_RULE] = by_rule(r.select(heads[ONE]))
    return {model: found[model] for model in (ALL, ONE, ONE_RULE, TWO) if model in found}


def study(size: Size) -> Study:
    """Compute everything."""
    case = Case.of(size.samples)
    mean = case.contribution(case.values)
    kept = mean.above(THRESHOLD)
    contributions = {n: contribution(r, case.values) for n, r in case.motions.items()}
    contributions["mean"] = mean
    eliminated = {}
    for what, found in contributions.items():
        for threshold in ELIMINATIONS:
            left = np.isin(found.parameters, found.above(threshold))
            eliminated[what, threshold] = [
                case.error(r.W @ (case.values * left), n) for n, r in case.motions.items()
            ]
    groups = {name: groups_of(r, kept) for name, r in case.motions.items()}
    heads = {
        name: {model: g.regression.parameters for model, g in of.items()}
        for name, of in groups.items()
    }
    return Study(
        case,
        size,
        contributions,
        eliminated,
        [*ranks(case, ONE, mean.parameters), *ranks(case, TWO, kept)],
        fits(case.motions["T2"], heads["T2"]),
        fits(case.measured("T2", NOISE, 0), heads["T2"]),
        OLS(case.motions["T2"].select(PUBLISHED_SET)),
        groups["T2"],
        cross(case, heads, size.seeds),
        reasons(size.samples, kept),
        with_wrong_cad(case, size.cad_seeds),
    )


def groups_of(r: Regression, kept: Sequence[str]) -> dict[str, Regrouped]:
    """Return the models of a motion; they depend on W alone."""
    return {
        ALL: by_singular_values(r),
        ONE: by_singular_values(r, RANK_1),
        TWO: by_singular_values(r.select(kept), RANK_2),
    }


def ranks(
    case: Case, model: str, names: Sequence[str]
) -> list[tuple[str, int, float, list[float], list[float]]]:
    """Impose ranks on T2 with some of the parameters; exact forces."""
    r = case.motions["T2"].select(names)
    values = case.values[np.isin(case.motions["T2"].parameters, names)]
    rows = []
    most = by_singular_values(r).rank
    for rank in (*(x for x in RANKS if x < most), most):
        g = by_singular_values(r, rank)
        heads = g.regression.parameters
        mapped = [
            case.error(m.select(heads).W @ (g.matrix @ values), n) for n, m in case.motions.items()
        ]
        raw = float(np.linalg.cond(g.regression.stacked()[0]))
        rows.append((model, g.rank, raw, mapped, case.errors(OLS(g.regression))))
    return rows


def cross(
    case: Case, heads: Mapping[str, Mapping[str, Sequence[str]]], seeds: int
) -> dict[tuple[str, str, str], Floats]:
    """Identify with each motion and predict all."""
    found: dict[tuple[str, str, str], list[list[float]]] = {}
    for law, noise, springs in (("0", 0.0, False), ("τ", NOISE, False), ("force", NOISE, True)):
        for name in case.motions:
            for seed in range(seeds if noise else 1):
                r = case.measured(name, noise, seed, springs=springs)
                for model, estimate in fits(r, heads[name]).items():
                    found.setdefault((law, name, model), []).append(case.errors(estimate))
    return {key: np.array(rows) for key, rows in found.items()}


def reasons(samples: int, kept: Sequence[str]) -> dict[tuple[bool, float], dict[str, float]]:
    """Identify with T2 and predict T1, with and without weight, for a long and a short stroke."""
    found = {}
    for gravity, stroke in product((True, False), STROKES):
        case = Case.of(samples, gravity=gravity, stroke=stroke)
        r = case.motions["T2"]
        heads = {model: g.regression.parameters for model, g in groups_of(r, kept).items()}
        found[gravity, stroke] = {m: case.errors(e)[0] for m, e in fits(r, heads).items()}
    return found


def with_wrong_cad(case: Case, seeds: int) -> dict[tuple[str, str], Floats]:
    """The same with erroneous CAD values, beside the default of mechid; 5 % of τ."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for seed in range(seeds):
        wrong = perturbed(case.mechanism, CAD_ERROR, np.random.default_rng([seed, 99]))
        prior = prior_from_cad(wrong, case.base, cad_error=CAD_ERROR)
        kept = case.contribution(prior.values).above(THRESHOLD)
        nothing = [case.error(r.W @ prior.values, n) for n, r in case.motions.items()]
        for name in case.motions:
            r = case.measured(name, NOISE, seed)
            heads = {m: g.regression.parameters for m, g in groups_of(r, kept).items()}
            # The default sees the forces as a sensor does, with springs and dampers in them.
            full = replace(
                r,
                W=case.base.observation(r.W),
                parameters=case.base.base,
                tau=r.tau + case.known[name],
                known=case.known[name],
            )
            mine = Automatic()(full, prior)
            rows = {CAD: nothing, AUTO: base_errors(case, mine)}
            rows |= {model: case.errors(e) for model, e in fits(r, heads).items() if model != ALL}
            for model, row in rows.items():
                found.setdefault((name, model), []).append(row)
    return {key: np.array(rows) for key, rows in found.items()}


def base_errors(case: Case, estimate: Estimate) -> list[float]:
    """Return the errors of an estimate of base parameters on all motions."""
    return [
        case.error(case.base.observation(r.W) @ estimate.values, n) for n, r in case.motions.items()
    ]


def main() -> None:
    """Print or write the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help="write the page and its figure")
    parser.add_argument("--quick", action="store_true", help="less of all, to see that it runs")
    options = parser.parse_args()
    found = study(QUICK if options.quick else FULL)
    text = page(found)
    print(text)
    if options.docs:
        (DOCS / "reference" / "pushrod-study.md").write_text(text, encoding="utf-8")
        write_figure(DOCS / "img" / "pushrod_cross.svg", lambda: figure(found))


if __name__ == "__main__":
    main()
