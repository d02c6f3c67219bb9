"""Condition numbers: the base sets of the suspension, other mechanisms, errors in W."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from excitation_cases import CONDITIONS, Case, Size, suspension, with_criterion

from mechid.base.baseset import BaseSet
from mechid.base.choose import by_name
from mechid.excitation.criteria import Criterion, resolution
from mechid.excitation.criteria.root import Floats

# κ(W_base) of optimised motions, table 5.7 of the source.
PUBLISHED = {"T1": 1.13e12, "T2": 1.11e14, "T3": 9.55e13, "T4": 1.42e14, "T5": 1.21e19}
SETS = tuple(name for name in PUBLISHED if name != "T5")  # T5 is no valid choice
OTHERS = ("planar_3rrr", "stewart_platform", "puma560@bare")
ROUNDED = 12  # motions for the effect of errors in W
ENTRY_ERRORS = (0.0, 1e-12, 1e-10, 1e-9)  # relative to the largest entry of a column


@dataclass(frozen=True)
class Random:
    """Condition numbers of random motions, raw and equilibrated, and directions that they show."""

    raw: list[float]
    equilibrated: list[float]
    seen: list[int]

    def with_more(self, other: Random) -> Random:
        """Return these motions and others."""
        return Random(
            self.raw + other.raw, self.equilibrated + other.equilibrated, self.seen + other.seen
        )


@dataclass(frozen=True)
class Designed:
    """The same of designs for the equilibrated one, with rounding of σ_min and least slack."""

    parameters: int
    raw: list[float]
    equilibrated: list[float]
    seen: list[int]
    error: list[float]
    least: float


def designed_set(name: str, size: Size) -> Designed:
    """Return the condition numbers of designs for one base set of the suspension."""
    case = suspension()
    return _designed(case, case.base(partial(by_name, name=name)), size)


def other_mechanism(spec: str, size: Size) -> tuple[Random, Designed]:
    """Return the condition numbers of another mechanism."""
    case = Case.of(spec, prior=False)
    base = case.base()
    drawn = [base.observation(s.W) for s in case.random_motions(size.random, 0)]
    return conditions_of(drawn), _designed(case, base, size)


def conditions_of(drawn: Sequence[Floats]) -> Random:
    """Return the condition numbers of matrices of random motions."""
    return Random(*_both(drawn), [resolution(W).seen for W in drawn])


def _designed(case: Case, base: BaseSet, size: Size) -> Designed:
    plan = with_criterion(case.plan, CONDITIONS[1])
    made = [case.designed(plan, base, size.effort, 1 + k) for k in range(size.set_seeds)]
    matrices = [base.observation(m.seen.W) for m in made]
    told = [resolution(W) for W in matrices]
    return Designed(
        base.rank,
        *_both(matrices),
        [t.seen for t in told],
        [t.error for t in told],
        min(m.least for m in made),
    )


def _both(matrices: Sequence[Floats]) -> tuple[list[float], list[float]]:
    raw, equilibrated = ([Criterion(name)(W) for W in matrices] for name in CONDITIONS)
    return raw, equilibrated


def rounding_rows() -> list[tuple[str, list[float]]]:
    """Return raw condition numbers of T1 when entries of W carry errors, for two wheel motions."""
    rows = []
    for words, amplitude in (("50 rad", "50"), ("50°", "50*pi/180")):
        case = suspension(amplitude)
        base = case.base(partial(by_name, name="T1"))
        found = []
        for seen in case.random_motions(ROUNDED, 0):
            W = base.observation(seen.W)
            noise = np.random.default_rng(3).standard_normal(W.shape)
            size = np.abs(W).max(axis=(0, 1))
            found.append([plain_condition(W + e * size * noise) for e in ENTRY_ERRORS])
        rows.append((words, [float(x) for x in np.median(found, axis=0)]))
    return rows


def plain_condition(W: Floats) -> float:
    """Return the condition number that an SVD of the matrix as it is gives."""
    s = np.linalg.svd(W.reshape(-1, W.shape[2]), compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0 else float("inf")
