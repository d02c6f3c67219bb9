"""What designing a motion gains, and which criterion tells the later prediction error.

`python benchmarks/excitation.py` prints the study; `--docs` writes
docs/reference/excitation-study.md; `--quick` takes fewer motions.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from report import table
from scipy.stats import spearmanr

import mechid
from mechid.base.analyse import Rule
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.cad import cad_values
from mechid.base.choose import by_name, last
from mechid.base.experiment import EVERYTHING
from mechid.base.nullspace import NullSpace
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.estimation.linear import prior_factor
from mechid.exact.geometry import exact_geometry
from mechid.excitation.criteria import Criterion, prediction_factor, resolution, rms_forces
from mechid.excitation.criteria.root import Floats
from mechid.excitation.design import Design, design
from mechid.excitation.families import Family, Fourier
from mechid.excitation.limits import MotionLimit, slacks
from mechid.excitation.optimise import Effort, optimise
from mechid.excitation.problem import Problem
from mechid.excitation.sampling import sample_times
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Mechanism
from mechid.tasks.excite import Plan, criterion_of, usual_limits
from mechid.trajectoryfile import Expression

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "excitation-study.md"
PUBLISHED = {"T1": 1.13e12, "T2": 1.11e14, "T3": 9.55e13, "T4": 1.42e14, "T5": 1.21e19}
WHEELS = "50 sin(π f t)"
CONDITIONS = ("condition", "condition-equilibrated")
MEASURES = ("condition", "condition-equilibrated", "a", "d", "e", "prediction")
LIKE = "prediction, motions like these"
OWN = {
    "d": "d, noise of the motion",
    "prediction": "prediction, noise of the motion",
    LIKE: "prediction, motions like these, noise of the motion",
}
FREQUENCY, HARMONICS, SAMPLES = 1.0, 5, 60
NOISE = 0.05
TOLERANCE = 1e-3  # of the range of a limit
FINER = 8  # times as many samples for the check of the limits
ROUNDED = 12  # motions for the effect of errors in W
ENTRY_ERRORS = (0.0, 1e-12, 1e-10, 1e-9)  # relative to the largest entry of a column
OTHERS = ("planar_3rrr", "stewart_platform", "puma560@bare")
REACH = 0.3  # of the size of the mechanism, or rad per unit of it: where shrinking starts
VALIDATION = 8  # motions
TARGETS = 20  # motions that stand for those the model is for
TRUTHS = 24  # draws of the true parameters and of the noise

Judge: TypeAlias = Callable[[Observation], object]


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    random: int  # random motions that designs are compared with
    ranked: int  # of them, those whose prediction error is computed
    seeds: int  # designs of each base set
    set_effort: Effort  # of each of those
    criterion_seeds: int
    criterion_effort: Effort
    others_random: int
    wide: int


FULL = Size(400, 200, 5, Effort(10, 1, 20), 3, Effort(40, 1, 30), 400, 60)
QUICK = Size(30, 30, 1, Effort(5, 1, 4), 1, Effort(5, 1, 5), 30, 10)


@dataclass(frozen=True, eq=False)
class _Watched(Problem):
    """A problem whose motions are shown to `judge`; they all count the same."""

    judge: Judge = print

    def value(self, motion: Motion) -> float:
        self.judge(observation_matrix(motion, self.model))
        return 0.0


@dataclass(frozen=True, eq=False)
class Made:
    """A designed motion: what it shows, what it took, and the least slack of its limits."""

    seen: Observation
    evaluations: int
    least: float


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism, what is designed, and its transfers."""

    mechanism: Mechanism
    plan: Plan
    null: NullSpace

    @staticmethod
    def of(spec: str, fixed: dict[str, Family] | None = None) -> Case:
        """Load a mechanism."""
        mechanism = mechid.load(spec)
        plan = Plan("fourier", HARMONICS, FREQUENCY, SAMPLES, noise=NOISE, fixed=fixed)
        return Case(mechanism, plan, all_transfers(exact_geometry(mechanism), EVERYTHING)[0])

    def base(self, rule: Rule = last) -> BaseSet:
        """Return a base set."""
        return base_set(self.null, rule(self.null))

    @cached_property
    def limits(self) -> tuple[MotionLimit, ...]:
        """The usual limits of the command."""
        limits = usual_limits(kinematic_model(self.mechanism), self.plan.fixed or {})
        # An open chain is infinitely far from singular closures: that is no limit.
        return tuple(x for x in limits if x.lower is None or np.isfinite(x.lower))

    @cached_property
    def free(self) -> Design:
        """What is free: Fourier series of the coordinates whose motion is not given."""
        model = kinematic_model(self.mechanism)
        fixed = self.plan.fixed or {}
        families = {
            c.name: fixed.get(c.name) or Fourier.zeros(FREQUENCY, HARMONICS, home)
            for home, c in zip(model.home_y.tolist(), self.mechanism.coordinates, strict=True)
        }
        trajectory = Trajectory.of(families, 1 / FREQUENCY)
        names = [c.name for c in self.mechanism.coordinates if c.name not in fixed]
        return design(trajectory, sample_times(trajectory, samples=SAMPLES), free=names)

    def designed(self, criterion: Criterion, base: BaseSet, effort: Effort, seed: int) -> Made:
        """Design a motion as `design_motion` does."""
        logarithm = Criterion(criterion.name, replace(criterion.options, log=True))
        problem = Problem(self.mechanism, self.free, base.places, logarithm, self.limits)
        found = optimise(problem, effort, seed=seed)
        seen = observation_matrix(problem.motion(found.x))
        t = np.linspace(0.0, 1 / FREQUENCY, FINER * SAMPLES + 1)
        s = sample(found.trajectory, times=t)
        motion = solve_motion(kinematic_model(self.mechanism), s.y, s.yd, s.ydd, time=s.time)
        least = min(x.worst for x in slacks(self.limits, motion, gradients=False))
        return Made(seen, found.evaluations, least)

    def random_motions(self, n: int, seed: int, judge: Judge) -> None:
        """Show n random feasible motions to a function."""
        count = 0

        def once(seen: Observation) -> None:
            nonlocal count
            count += 1
            if count <= n:  # the best is looked at once more at the end
                judge(seen)

        places = np.zeros(0, dtype=np.int64)
        problem = _Watched(self.mechanism, self.free, places, Criterion("d"), self.limits, once)
        assert len(optimise(problem, Effort(n, 0, 1), seed=seed).random_values) == n

    def wide_motions(self, n: int, seed: int, judge: Judge) -> None:
        """The same, but each coordinate is first made as large as the limits allow it alone."""
        for seen in self._wide(n, seed):
            judge(seen)

    @lru_cache(maxsize=2)  # noqa: B019
    def _wide(self, n: int, seed: int) -> list[Observation]:
        free, start = self.free, np.array(self.free.start)
        none = np.zeros(0, dtype=np.int64)
        problem = Problem(self.mechanism, free, none, Criterion("d"), self.limits)
        rng, size = np.random.default_rng(seed), problem.model.kinematics.size
        ends = np.cumsum([0, *(part.size for part in free.parts(start))])
        found = []
        for _ in range(n):
            step = np.zeros(start.size)
            for a, b, basis in zip(ends[:-1], ends[1:], free.bases, strict=True):
                if a < b:
                    alone = np.zeros(start.size)
                    alone[a:b] = rng.standard_normal(b - a)
                    alone *= REACH * size / np.ptp(basis.position @ alone[a:b])
                    step += shrunk(problem, start, alone)
            x = start + shrunk(problem, start, step)
            found.append(observation_matrix(problem.motion(x)))
        return found


def shrunk(problem: Problem, start: Floats, step: Floats) -> Floats:
    """Return a step as large as the limits allow, to a fifth."""
    while not problem.feasible(start + step):
        step = 0.8 * step
    return step


def suspension(amplitude: str = "50") -> Case:
    """Return the suspension with its wheels driven as in the source."""
    wheels = Expression(f"{amplitude}*sin(pi*{FREQUENCY:g}*t)")
    return Case.of("sla_suspension", {"spin_r": wheels, "spin_l": wheels})


def plain_condition(W: Floats) -> float:
    """Return the condition number that an SVD of the matrix as it is gives."""
    s = np.linalg.svd(W.reshape(-1, W.shape[2]), compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0 else float("inf")


# ------------------------------------------------------------------------------ base sets


@dataclass(frozen=True)
class SetRow:
    """Conditions of one base set; ranges over seeds."""

    name: str
    plain: list[float]
    raw: list[float]
    equilibrated: list[float]
    best_raw: float
    best_equilibrated: float
    wide_raw: float
    wide_equilibrated: float
    seen: list[int]
    error: list[float]
    least: float


def set_rows(case: Case, size: Size) -> list[SetRow]:
    """Design motions for each base set of the source."""
    bases = {x: case.base(partial(by_name, name=x)) for x in PUBLISHED if x != "T5"}
    small = best_conditions(partial(case.random_motions, size.random, 0), bases)
    wide = best_conditions(partial(case.wide_motions, size.wide, 0), bases)
    return [
        set_row(case, size, name, base, [*small[name], *wide[name]]) for name, base in bases.items()
    ]


def best_conditions(
    motions: Callable[[Judge], object], bases: dict[str, BaseSet]
) -> dict[str, list[float]]:
    """Return the least condition numbers, raw and equilibrated, of some motions."""
    best = {name: [np.inf, np.inf] for name in bases}

    def judge(seen: Observation) -> None:
        for name, base in bases.items():
            W = base.observation(seen.W)
            for k, criterion in enumerate(CONDITIONS):
                best[name][k] = min(best[name][k], Criterion(criterion)(W))

    motions(judge)
    return best


def set_row(case: Case, size: Size, name: str, base: BaseSet, best: list[float]) -> SetRow:
    """Design motions for one base set."""
    criterion = Criterion("condition-equilibrated")
    made = [case.designed(criterion, base, size.set_effort, k) for k in range(size.seeds)]
    matrices = [base.observation(m.seen.W) for m in made]
    told = [resolution(W) for W in matrices]
    return SetRow(
        name,
        [plain_condition(W) for W in matrices],
        [Criterion("condition")(W) for W in matrices],
        [criterion(W) for W in matrices],
        *best,
        [t.seen for t in told],
        [t.error for t in told],
        min(m.least for m in made),
    )


# ------------------------------------------------------------------------------ prediction


@dataclass(frozen=True, eq=False)
class Bench:
    """True parameters, validation motions and criteria of one mechanism."""

    case: Case
    base: BaseSet
    prior: Floats
    truths: Floats
    validation: list[tuple[Floats, Floats]]
    criteria: dict[str, Criterion]
    sigma: Floats

    @staticmethod
    def of(case: Case, rule: Rule = last, wide: bool = False) -> Bench:
        """Draw truths and validation motions."""
        base = case.base(rule)
        cad = cad_values(base)
        F = prior_factor(cad.covariance)
        rng = np.random.default_rng(1)
        truths = cad.values[:, None] + F @ rng.standard_normal((F.shape[1], TRUTHS))
        others: list[tuple[Floats, Floats]] = []
        motions = case.wide_motions if wide else case.random_motions
        motions(
            VALIDATION + TARGETS,
            12345,
            lambda seen: others.append((base.observation(seen.W), seen.known)),
        )
        criteria = {
            name: criterion_of(case.mechanism, base, replace(case.plan, criterion=name))
            for name in MEASURES
        }
        usual = criteria["prediction"].options
        targets = others[VALIDATION:]
        forces = np.concatenate([W @ cad.values + known for W, known in targets])
        H = prediction_factor([W for W, _ in targets], rms_forces(forces))
        criteria[LIKE] = Criterion("prediction", replace(usual, targets=H))
        assert usual.sigma is not None
        return Bench(case, base, F, truths, others[:VALIDATION], criteria, usual.sigma)

    def judged(self, seen: Observation) -> dict[str, float]:
        """Return all criteria, and the mean prediction errors of estimators and noise laws."""
        W = self.base.observation(seen.W)
        found = {name: c(W) for name, c in self.criteria.items()}
        cad = cad_values(self.base).values
        tau = W @ cad + seen.known
        own = NOISE * rms_forces(tau)
        for law, sigma in (("own", own), ("fixed", self.sigma)):
            for estimator, estimate in (("prior", self._with_prior), ("plain", self._plain)):
                found[f"{estimator} {law}"] = self._error(estimate(W, sigma, cad))
            like = self.criteria[LIKE].options
            if law == "own":
                for name in ("d", "prediction"):
                    options = replace(self.criteria[name].options, sigma=sigma)
                    found[OWN[name]] = Criterion(name, options)(W)
                found[OWN[LIKE]] = Criterion("prediction", replace(like, sigma=sigma))(W)
        found["CAD"] = self._error(np.repeat(cad[:, None], TRUTHS, axis=1))
        return found

    def _noisy(self, W: Floats, sigma: Floats) -> Floats:
        """Return measured forces less what is known, (N, n_i, truths)."""
        rng = np.random.default_rng(2)
        noise = rng.standard_normal((*W.shape[:2], TRUTHS))
        return W @ self.truths + sigma[:, None] * noise

    def _with_prior(self, W: Floats, sigma: Floats, cad: Floats) -> Floats:
        """Least squares with the rows of the CAD prior: θ = θ_CAD + F z, |z| in deviations."""
        y = (self._noisy(W, sigma) - (W @ cad)[..., None]) / sigma[:, None]
        A = (W / sigma[:, None]).reshape(-1, W.shape[2]) @ self.prior
        r = A.shape[1]
        stacked = np.vstack([A, np.eye(r)])
        right = np.vstack([y.reshape(-1, TRUTHS), np.zeros((r, TRUTHS))])
        return cad[:, None] + self.prior @ np.linalg.lstsq(stacked, right)[0]

    def _plain(self, W: Floats, sigma: Floats, cad: Floats) -> Floats:
        y = self._noisy(W, sigma).reshape(-1, TRUTHS)
        return np.linalg.lstsq(W.reshape(-1, W.shape[2]), y)[0]

    def _error(self, theta: Floats) -> float:
        """Return E_p = Σ_j |τ_est - τ_true| / |τ_true|, mean over motions and truths."""
        total = []
        for W, known in self.validation:
            true = W @ self.truths + known[..., None]
            off = W @ (theta - self.truths)
            total.append(
                (np.linalg.norm(off, axis=0) / np.linalg.norm(true, axis=0)).sum(axis=0).mean()
            )
        return float(np.mean(total))


ERRORS = {
    "prior own": "with prior, noise 5 % of the forces of the motion",
    "prior fixed": "with prior, the same noise for all motions",
    "plain own": "plain, noise 5 % of the forces of the motion",
    "plain fixed": "plain, the same noise for all motions",
}


@dataclass(frozen=True, eq=False)
class Ranking:
    """Criteria and errors of random and of designed motions."""

    spec: str
    columns: dict[str, Floats]
    ranked: int
    designs: dict[str, list[dict[str, float]]]
    parameters: int
    evaluations: int
    least: float

    def correlation(self, criterion: str, error: str) -> float:
        """Return Spearman's rank correlation over random motions."""
        a, b = self.columns[criterion][: self.ranked], self.columns[error][: self.ranked]
        return float(spearmanr(a, b).statistic)


def ranking(case: Case, size: Size, rule: Rule = last) -> Ranking:
    """Judge random motions, and motions designed for each criterion."""
    bench = Bench.of(case, rule)
    found: list[dict[str, float]] = []
    plain = {name: c for name, c in bench.criteria.items() if name != LIKE}

    def judge(seen: Observation) -> None:
        if len(found) < size.ranked:
            found.append(bench.judged(seen))
        else:
            W = bench.base.observation(seen.W)
            found.append({name: c(W) for name, c in plain.items()})

    case.random_motions(size.random, 0, judge)
    columns = {name: np.array([f[name] for f in found if name in f]) for name in found[0]}
    designs: dict[str, list[dict[str, float]]] = {}
    evaluations, least = 0, np.inf
    for name in MEASURES:
        designs[name] = []
        for seed in range(size.criterion_seeds):
            made = case.designed(bench.criteria[name], bench.base, size.criterion_effort, seed)
            evaluations = max(evaluations, made.evaluations)
            least = min(least, made.least)
            designs[name].append(bench.judged(made.seen))
    ranked = min(size.ranked, len(found))
    b = bench.base.rank
    return Ranking(case.mechanism.name, columns, ranked, designs, b, evaluations, least)


def wide_ranking(case: Case, size: Size, rule: Rule) -> Ranking:
    """Judge wide random motions, with wide motions to be predicted; no designs."""
    bench = Bench.of(case, rule, wide=True)
    found: list[dict[str, float]] = []
    case.wide_motions(size.wide, 0, lambda seen: found.append(bench.judged(seen)))
    columns = {name: np.array([f[name] for f in found]) for name in found[0]}
    return Ranking(case.mechanism.name, columns, len(found), {}, bench.base.rank, 0, np.inf)


# ------------------------------------------------------------------------------ others


def other_row(spec: str, size: Size) -> list[str]:
    """Return designed and best random condition numbers of another mechanism."""
    case = Case.of(spec)
    base = case.base()
    values: list[float] = []
    name = "condition-equilibrated"
    case.random_motions(
        size.others_random, 0, lambda seen: values.append(Criterion(name)(base.observation(seen.W)))
    )
    criterion = Criterion(name)
    made = [
        case.designed(criterion, base, size.criterion_effort, k)
        for k in range(size.criterion_seeds)
    ]
    matrices = [base.observation(m.seen.W) for m in made]
    designed = [criterion(W) for W in matrices]
    told = resolution(matrices[int(np.argmin(designed))])
    return [
        f"`{spec}`",
        str(base.rank),
        f"{told.seen}",
        number(float(np.median(values))),
        number(min(values)),
        spread(designed),
        number(min(values) / min(designed)),
        "yes" if min(m.least for m in made) >= -TOLERANCE else "no",
    ]


# ------------------------------------------------------------------------------ page


def number(x: float) -> str:
    """Return a number with three digits."""
    return f"{x:.3g}" if 0.01 <= abs(x) < 1e4 else f"{x:.2e}"


def spread(values: Iterable[float]) -> str:
    """Return the median and the range of some values."""
    v = np.array(list(values))
    if len(v) == 1:
        return number(float(v[0]))
    return f"{number(float(np.median(v)))} ({number(v.min())} to {number(v.max())})"


def effort_words(e: Effort) -> str:
    """Return an effort in words."""
    return f"{e.random} random motions, {e.starts} start, at most {e.iterations} steps"


def sets_text(rows: Sequence[SetRow]) -> str:
    """Return the table of base sets."""
    cells = [
        [
            r.name,
            f"{PUBLISHED[r.name]:.2e}",
            spread(r.raw),
            number(r.best_raw),
            number(r.wide_raw),
            spread(r.equilibrated),
            number(r.best_equilibrated),
            number(r.wide_equilibrated),
            f"{min(r.seen)} to {max(r.seen)}",
            f"{min(r.error):.1g} to {max(r.error):.1g}",
        ]
        for r in rows
    ]
    cells.append(["T5", f"{PUBLISHED['T5']:.2e}", "no valid choice", *["-"] * 7])
    return table(SETS_HEAD, cells)


def gain(name: str, best: float, found: float, b: int) -> float:
    """Return by what factor a design is better; for d, of a variance (geometric mean)."""
    return float(np.exp((best - found) / b)) if name == "d" else best / found


def gains_text(r: Ranking, b: int, size: Size) -> str:
    """Return the section on gains."""
    cells = []
    for name in MEASURES:
        values = r.columns[name]
        designed = [d[name] for d in r.designs[name]]
        best = float(values.min())
        cells.append(
            [
                name,
                number(float(np.median(values))),
                number(best),
                spread(designed),
                number(gain(name, best, float(np.median(designed)), b)),
                number(gain(name, best, min(designed), b)),
            ]
        )
    head = (
        "criterion",
        "median random",
        f"best of {size.random} random",
        "designed",
        "gain, median",
        "gain, best",
    )
    return table(head, cells)


def ranks_text(r: Ranking) -> str:
    """Return the table of rank correlations."""
    cells = [
        [name, *(f"{r.correlation(name, error):+.2f}" for error in ERRORS)]
        for name in (*MEASURES, LIKE, *OWN.values())
    ]
    return table(("criterion", *ERRORS.values()), cells)


def designs_text(r: Ranking) -> str:
    """Return the table of errors of designed motions."""
    n = r.ranked

    def row(name: str, pick: Callable[[str], float]) -> list[str]:
        return [name, *(number(100 * pick(error)) for error in ERRORS)]

    cells = [
        row("random motions, median", lambda e: float(np.median(r.columns[e][:n]))),
        row("random motions, best", lambda e: float(r.columns[e][:n].min())),
    ]
    cells.append(row("CAD values, nothing identified", lambda e: float(r.columns["CAD"][0])))
    for name, found in r.designs.items():
        cells.append(row(f"designed for {name}", partial(_median_error, found)))
    return table(("motion", *ERRORS.values()), cells)


def _median_error(found: Sequence[dict[str, float]], error: str) -> float:
    return float(np.median([f[error] for f in found]))


# ------------------------------------------------------------------------------ rounding


def rounding_rows(motions: int) -> list[list[str]]:
    """Return raw condition numbers of T1 when entries of W carry errors, for two wheel motions."""
    rows = []
    for words, amplitude in (("50 rad", "50"), ("50°", "50*pi/180")):
        case = suspension(amplitude)
        base = case.base(partial(by_name, name="T1"))
        found: list[list[float]] = []

        def judge(
            seen: Observation, base: BaseSet = base, found: list[list[float]] = found
        ) -> None:
            W = base.observation(seen.W)
            noise = np.random.default_rng(3).standard_normal(W.shape)
            size = np.abs(W).max(axis=(0, 1))
            found.append([plain_condition(W + e * size * noise) for e in ENTRY_ERRORS])

        case.random_motions(motions, 0, judge)
        rows.append([words, *(number(x) for x in np.median(found, axis=0))])
    return rows


# ------------------------------------------------------------------------------ all


@dataclass(frozen=True, eq=False)
class Study:
    """Everything that the page says."""

    size: Size
    suspension: Ranking
    wide: Ranking
    five_bar: Ranking
    sets: list[SetRow]
    rounding: list[list[str]]
    others: list[list[str]]


def study(size: Size) -> Study:
    """Compute everything."""
    began = time.perf_counter()

    def done(what: str) -> None:
        print(f"[{time.perf_counter() - began:.0f} s] {what}", flush=True)

    case = suspension()
    sla = ranking(case, size, partial(by_name, name="T1"))
    done("suspension: criteria")
    wide = wide_ranking(case, size, partial(by_name, name="T1"))
    done("suspension: wide motions")
    five = ranking(Case.of("five_bar"), size)
    done("five-bar: criteria")
    sets = set_rows(case, size)
    done("suspension: base sets")
    rounding = rounding_rows(ROUNDED)
    done("suspension: rounding")
    others = [other_row(spec, size) for spec in OTHERS]
    done("others")
    return Study(size, sla, wide, five, sets, rounding, others)


def page(s: Study) -> str:
    """Return the page."""
    size = s.size
    least = [s.suspension.least, s.five_bar.least, *(r.least for r in s.sets)]
    return TEXT.format(
        frequency=FREQUENCY,
        harmonics=HARMONICS,
        samples=SAMPLES,
        wheels=WHEELS,
        finer=FINER,
        n=size.random,
        ranked=size.ranked,
        seeds=size.seeds,
        set_effort=effort_words(size.set_effort),
        effort=effort_words(size.criterion_effort),
        criterion_seeds=size.criterion_seeds,
        evaluations=max(s.suspension.evaluations, s.five_bar.evaluations),
        least="keep all limits"
        if min(least) >= 0
        else f"break no limit by more than {-min(least):.1g} of its range",
        wide_n=size.wide,
        whole=sum(n == 83 for r in s.sets for n in r.seen),
        designs=sum(len(r.seen) for r in s.sets),
        lowest=number(min(min(r.equilibrated) for r in s.sets)),
        lowest_raw=number(min(min(r.raw) for r in s.sets)),
        wide_ranks=ranks_text(s.wide),
        wide_errors=designs_text(s.wide),
        wide_standard=f"{1 / np.sqrt(s.wide.ranked - 1):.2f}",
        sets=sets_text(s.sets),
        rounding=table(("wheels", *(f"{e:g}" if e else "none" for e in ENTRY_ERRORS)), s.rounding),
        rounded=ROUNDED,
        gains=gains_text(s.suspension, 83, size),
        five_gains=gains_text(s.five_bar, s.five_bar.parameters, size),
        truths=TRUTHS,
        validation=VALIDATION,
        targets=TARGETS,
        standard=f"{1 / np.sqrt(size.ranked - 1):.2f}",
        ranks=ranks_text(s.suspension),
        five_ranks=ranks_text(s.five_bar),
        errors=designs_text(s.suspension),
        five_errors=designs_text(s.five_bar),
        conclusions=CONCLUSIONS.format(found=conclusions(s)).strip(),
        limit=number(1 / float(np.finfo(float).eps)),
        others=table(OTHER_HEAD, s.others),
        others_n=size.others_random,
    )


SETS_HEAD = (
    "set",
    "published κ, raw",
    "raw, designed",
    "best random",
    "best wide",
    "equilibrated, designed",
    "best random",
    "best wide",
    "directions seen, of 83",
    "rounding of σ_min",
)
OTHER_HEAD = (
    "model",
    "base parameters",
    "seen",
    "median random",
    "best random",
    "designed",
    "gain, best",
    "feasible",
)
CONCLUSIONS = """The default criterion is `prediction`. What the tables say of it:

{found}

So it is confirmed for what it is made for: an estimator with prior, and noise that does not grow
with the motion. `d` with the prior ranks as well or better there; the equilibrated condition
number of the suspension hardly ranks. It is contradicted where the noise is a part of the
forces: a criterion that takes the noise as given prefers motions with large forces, which then
have large noise, and designs are hardly better than random motions, or worse. The same criterion
with the noise of each motion ranks again. `mechid excite` does not offer that yet.

Plain least squares follows the condition number in the five-bar. In the suspension its errors
are beyond use for random motions. Designs for the raw condition number, `a` or `e` bring them
down by orders of magnitude, but the prior is worth more than any design.
"""
TEXT = """# What designing a motion gains

Written by `benchmarks/excitation.py`. All motions here are Fourier series of {harmonics}
harmonics with a base frequency of {frequency:g} Hz, sampled {samples} times in one period,
within the usual limits of the [command](commands.md#mechid-excite-model). Designed motions,
checked with {finer} times as many samples, {least}.

Random motions are drawn in two ways. *Random*: as `mechid excite` does, all coordinates shrunk
together until all limits are kept. *Wide*: each coordinate is first made as large as the limits
allow it alone, then all are shrunk together.

## The suspension: condition numbers

`sla_suspension`, its wheels driven by {wheels} rad, f = {frequency:g} Hz, with the base sets T1
to T4 of the model file. Published are condition numbers of W_base for optimised motions.
Geometry, samples and limits of the source are not published, so that orders of magnitude compare
at best. Beside them, {seeds} designs each for the condition number with columns of unit length
(*equilibrated*): median and range over seeds, and the condition number of the same matrix as it
is (*raw*). Each design is a small one: {set_effort}. *Best random* is the best of {n} random
motions, *best wide* that of {wide_n} wide ones.

{sets}

*Directions seen* are singular values of the equilibrated matrix above a hundred units of
rounding ([`resolution`](trajectories.md#criteria)). *Rounding of σ_min* is the relative rounding
error of the smallest one: 1 means that it is nothing but rounding, and that the condition number
says nothing of the motion. No equilibrated condition number above 1/ε = {limit} can be computed.

The matrix of this mechanism is at the limit of double precision, and what helps is stroke.
Random motions shrink as a whole with the tightest limit. There σ_min is rounding, so is its
gradient, and a design that starts there may stay there. {whole} of {designs} designs got out to
motions that show all 83 directions; the lowest equilibrated condition number is {lowest}. Wide
random motions come near that without any gradient, so that the start matters more than the
steps. Optimisation can bring the matrix within reach of double precision; it cannot make it well
conditioned.

Raw numbers are larger than the published ones: speeds of the wheels make long columns. Errors in
the entries make condition numbers smaller, since a matrix with errors has no tiny singular
values. T1, median of {rounded} random motions, one plain SVD, random errors added to W (relative
to the largest entry of each column):

{rounding}

The published sizes appear when entries are wrong in about the tenth digit and the amplitude 50
is read as degrees. That is an observation, not a proof of how they came about.

## The suspension: what the criteria gain

T1. {criterion_seeds} designs for each criterion ({effort}; no more than {evaluations}
evaluations) against {n} random feasible motions. *Gain* is the best random value over that of
the design (median and best of the seeds); for `d`, a logarithm, the mean factor of a variance. A
gain below 1: the random search was better. `a`, `d`, `e` and `prediction` count on 5 % noise and
on the CAD values.

{gains}

The five-bar, where every base parameter shows:

{five_gains}

Seeds differ much: several starts pay. The equilibrated condition number of the suspension gains
nothing here, for the reason above.

## Which criterion tells the prediction error?

For {ranked} random feasible motions each: true parameters are CAD values changed by their
deviations ({truths} draws), forces get white noise, base parameters are estimated, and forces of
{validation} other random motions are predicted. E_p = Σ_j |τ_est - τ_true|/|τ_true|, mean over
draws and motions. Two estimators: least squares weighted by the noise with the CAD prior as
further rows, and plain least squares (NumPy's `lstsq`). Two laws of noise: 5 % of the root mean
square of each force *of that motion*, and the *same* deviation for all motions (5 % of the
forces at random states, which is what the criteria of `mechid excite` take).

The tables give Spearman's rank correlation of E_p with each criterion; +1 is what one wants.
Without any relation, it would scatter by {standard}. Rows below `prediction` change what the
criterion knows: targets that are {targets} motions of the kind that is predicted later, instead
of random states; the noise as it is in that motion.

`sla_suspension`, T1:

{ranks}

The same for {wide_n} wide motions, with wide motions to be predicted (scatter without relation:
{wide_standard}):

{wide_ranks}

`five_bar`:

{five_ranks}

And E_p itself in percent, of random motions and of designs (median over {criterion_seeds}
seeds):

`sla_suspension`, T1:

{errors}

Wide motions, predicting wide motions:

{wide_errors}

`five_bar`:

{five_errors}

{conclusions}

## Other mechanisms

Designed for the equilibrated condition number ({effort}; {criterion_seeds} seeds, median and
range) against {others_n} random feasible motions, without prior.

{others}

For the arm, condition numbers published for robots of its kind would be a measure; none is at
hand in the documents that this project started from.
"""


def conclusions(s: Study) -> str:
    """Return what the tables say of the default criterion."""
    lines = []
    for law, error in (("the same for all motions", "prior fixed"), ("5 % of each", "prior own")):
        parts = []
        for r in (s.suspension, s.five_bar):
            order = sorted(MEASURES, key=lambda name, r=r: -r.correlation(name, error))
            best = f"`{order[0]}` {r.correlation(order[0], error):+.2f}"
            mine = f"`prediction` {r.correlation('prediction', error):+.2f}"
            raw = f"`condition-equilibrated` {r.correlation(CONDITIONS[1], error):+.2f}"
            informed = f"{r.correlation(OWN[LIKE], error):+.2f}"
            text = f"on `{r.spec}` {mine} (number {order.index('prediction') + 1} of six), "
            text += f"best {best}, {raw}"
            if error == "prior own":
                text += f"; `prediction` that knows noise and motions {informed}"
            parts.append(text)
        lines.append(f"- With prior, noise {law}: " + "; ".join(parts) + ".")
    return "\n".join(lines)


def main() -> None:
    """Print or write the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--quick", action="store_true", help="fewer motions, to see that it runs")
    parser.add_argument(
        "--keep", type=Path, help="keep the results in this file, or take them from it"
    )
    options = parser.parse_args()
    if options.keep and options.keep.exists():
        found: Study = pickle.loads(options.keep.read_bytes())
    else:
        found = study(QUICK if options.quick else FULL)
        if options.keep:
            options.keep.write_bytes(pickle.dumps(found))
    text = page(found)
    print(text)
    if options.docs:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
