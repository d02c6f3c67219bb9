"""Which criterion tells the later prediction error, and what designs for each of them gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from excitation_cases import (
    CONDITIONS,
    MEASURES,
    NOISE,
    PARTS,
    Case,
    Size,
    suspension,
    with_criterion,
)
from excitation_sets import SETS, Random, conditions_of
from scipy.stats import spearmanr

from mechid.base.baseset import BaseSet
from mechid.base.cad import cad_values
from mechid.base.choose import by_name
from mechid.dynamics.regressor import Observation
from mechid.estimation.linear import prior_factor
from mechid.excitation.criteria import Criterion, Objective, prediction_factor, rms_forces
from mechid.excitation.criteria.root import Floats

LIKE = "prediction, motions like these"
OWN = ("d, noise of the motion", "prediction, noise of the motion")
DESIGNED = (*MEASURES, *OWN)
VALIDATION = 8  # motions
TARGETS = 20  # motions that stand for those the model is for
TRUTHS = 24  # draws of the true parameters and of the noise
ERRORS = {
    "prior own": "with prior, noise 5 % of the forces of the motion",
    "prior fixed": "with prior, the same noise for all motions",
    "plain own": "plain, noise 5 % of the forces of the motion",
    "plain fixed": "plain, the same noise for all motions",
}


@dataclass(frozen=True, eq=False)
class Bench:
    """True parameters, validation motions and criteria of one mechanism."""

    case: Case
    base: BaseSet
    cad: Floats
    prior: Floats
    truths: Floats
    validation: list[tuple[Floats, Floats]]
    criteria: dict[str, Objective]
    sigma: Floats

    @staticmethod
    @cache
    def of(spec: str) -> Bench:
        """Draw truths and validation motions; the suspension with its base set T1."""
        sla = spec == "sla_suspension"
        case = suspension() if sla else Case.of(spec)
        base = case.base(partial(by_name, name="T1")) if sla else case.base()
        cad = cad_values(base)
        F = prior_factor(cad.covariance)
        rng = np.random.default_rng(1)
        truths = cad.values[:, None] + F @ rng.standard_normal((F.shape[1], TRUTHS))
        others = [
            (base.observation(seen.W), seen.known)
            for seen in case.random_motions(VALIDATION + TARGETS, 12345)
        ]
        criteria: dict[str, Objective] = {
            name: case.criterion(with_criterion(case.plan, name), base) for name in DESIGNED
        }
        usual = criteria["prediction"]
        assert isinstance(usual, Criterion)
        targets = others[VALIDATION:]
        forces = np.concatenate([W @ cad.values + known for W, known in targets])
        H = prediction_factor([W for W, _ in targets], rms_forces(forces))
        criteria[LIKE] = Criterion("prediction", replace(usual.options, targets=H))
        sigma = np.asarray(usual.options.sigma)
        return Bench(case, base, cad.values, F, truths, others[:VALIDATION], criteria, sigma)

    def values(self, seen: Observation) -> dict[str, float]:
        """Return all criteria of a motion."""
        W = self.base.observation(seen.W)
        return {name: c.look(W, seen.known).value for name, c in self.criteria.items()}

    def errors(self, seen: Observation) -> dict[str, float]:
        """Return the mean prediction errors of estimators and noise laws."""
        W = self.base.observation(seen.W)
        own = NOISE * rms_forces(W @ self.cad + seen.known)
        found = {"CAD": self._error(np.repeat(self.cad[:, None], TRUTHS, axis=1))}
        for law, sigma in (("own", own), ("fixed", self.sigma)):
            found[f"prior {law}"] = self._error(self._with_prior(W, sigma))
            found[f"plain {law}"] = self._error(self._plain(W, sigma))
        return found

    def _noisy(self, W: Floats, sigma: Floats) -> Floats:
        """Return measured forces less what is known, (N, n_i, truths)."""
        noise = np.random.default_rng(2).standard_normal((*W.shape[:2], TRUTHS))
        return W @ self.truths + sigma[:, None] * noise

    def _with_prior(self, W: Floats, sigma: Floats) -> Floats:
        """Least squares with the rows of the CAD prior: θ = θ_CAD + F z, |z| in deviations."""
        y = (self._noisy(W, sigma) - (W @ self.cad)[..., None]) / sigma[:, None]
        A = (W / sigma[:, None]).reshape(-1, W.shape[2]) @ self.prior
        r = A.shape[1]
        stacked = np.vstack([A, np.eye(r)])
        right = np.vstack([y.reshape(-1, TRUTHS), np.zeros((r, TRUTHS))])
        return self.cad[:, None] + self.prior @ np.linalg.lstsq(stacked, right)[0]

    def _plain(self, W: Floats, sigma: Floats) -> Floats:
        y = self._noisy(W, sigma).reshape(-1, TRUTHS)
        return np.asarray(np.linalg.lstsq(W.reshape(-1, W.shape[2]), y)[0])

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


@dataclass(frozen=True, eq=False)
class Drawn:
    """Criteria of random motions, and errors of the first of them."""

    parameters: int
    values: dict[str, Floats]
    errors: dict[str, Floats]

    def correlation(self, criterion: str, error: str) -> float:
        """Return Spearman's rank correlation over the motions whose errors are known."""
        b = self.errors[error]
        return float(spearmanr(self.values[criterion][: len(b)], b).statistic)

    def with_more(self, other: Drawn) -> Drawn:
        """Return these motions and others; motions whose errors are known come first."""
        n, m = len(self.errors["CAD"]), len(other.errors["CAD"])
        values = {
            k: np.concatenate([v[:n], other.values[k][:m], v[n:], other.values[k][m:]])
            for k, v in self.values.items()
        }
        errors = {k: np.concatenate([v, other.errors[k]]) for k, v in self.errors.items()}
        return Drawn(self.parameters, values, errors)

    @property
    def scatter(self) -> float:
        """What a correlation would scatter by without any relation."""
        return float(1 / np.sqrt(len(self.errors["CAD"]) - 1))


@dataclass(frozen=True)
class Design:
    """A motion designed for one criterion: value of that criterion, and prediction errors."""

    value: float
    errors: dict[str, float]
    evaluations: int
    least: float


def drawn(spec: str, part: int, size: Size) -> tuple[Drawn, dict[str, Random]]:
    """Judge a part of the random motions; for the suspension, by all its base sets."""
    bench = Bench.of(spec)
    motions = list(bench.case.random_motions(size.random // PARTS, part))
    values = [bench.values(seen) for seen in motions]
    errors = [bench.errors(seen) for seen in motions[: size.ranked // PARTS]]
    sets = {}
    for name in SETS if spec == "sla_suspension" else ():
        base = bench.case.base(partial(by_name, name=name))
        sets[name] = conditions_of([base.observation(seen.W) for seen in motions])
    return Drawn(bench.base.rank, _columns(values), _columns(errors)), sets


def _columns(rows: list[dict[str, float]]) -> dict[str, Floats]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def designs(spec: str, criterion: str, size: Size) -> list[Design]:
    """Design motions for one criterion, and judge them."""
    bench = Bench.of(spec)
    plan = with_criterion(bench.case.plan, criterion)
    found = []
    for k in range(size.seeds):
        made = bench.case.designed(plan, bench.base, size.effort, 1 + k)
        value = bench.values(made.seen)[criterion]
        found.append(Design(value, bench.errors(made.seen), made.evaluations, made.least))
    return found


@dataclass(frozen=True, eq=False)
class Ranking:
    """Random motions of one mechanism, and designs for each criterion."""

    spec: str
    drawn: Drawn
    designs: dict[str, list[Design]]

    def gain(self, name: str, pick: Callable[[list[float]], float]) -> float:
        """Return by what factor a design is better than the best random motion.

        For d, a logarithm, of a variance (geometric mean).
        """
        best = float(self.drawn.values[name].min())
        found = pick([d.value for d in self.designs[name]])
        if name.startswith("d"):
            return float(np.exp((best - found) / self.drawn.parameters))
        return best / found

    def of_criteria(self, error: str) -> str:
        """Return how well some criteria rank, in words."""
        of = {name: self.drawn.correlation(name, error) for name in MEASURES}
        order = sorted(of, key=lambda name: -of[name])
        places = [
            f"`{name}` {of[name]:+.2f} (number {order.index(name) + 1} of six)"
            for name in ("d", "prediction", CONDITIONS[1])
        ]
        text = f"on `{self.spec}` {', '.join(places)}"
        own = [f"`{name}` {self.drawn.correlation(name, error):+.2f}" for name in OWN]
        return text + (f"; {', '.join(own)}" if error.endswith("own") else "")
