"""What the outcomes of one mechanism in one world say, over the seeds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from worlds_cases import WORLDS

Outcome: TypeAlias = Mapping[str, Any]
Floats: TypeAlias = npt.NDArray[np.float64]

CAD, SOURCES, DEFAULT = "CAD alone", "sources' way", "auto"
SIMPLE = (CAD, SOURCES, "least squares", "weighted", "physical")
INSIDE = 1.96  # standard deviations: 95 %
MEDIAN, WORST = 1.1, 1.5  # largest ratios of the default to the best simple method
COVERED, AT_LEAST = (0.90, 0.99), 0.80  # where the error is among the candidates; elsewhere
CLASSES = {
    "mass": r"m_",
    "first moment": r"m[xyz]_",
    "inertia": r"I(xx|yy|zz|xy|xz|yz)_",
    "element": "",
}


@dataclass(frozen=True)
class Scores:
    """Outcomes of one mechanism in one world, one per seed."""

    machine: str
    world: str
    outcomes: tuple[Outcome, ...]

    def results(self, method: str) -> list[Mapping[str, Any]]:
        """Return the results of a method that gave one."""
        found = [o["methods"].get(method, {}) for o in self.outcomes]
        return [r for r in found if "total" in r]

    def errors(self, method: str, measure: str = "total") -> Floats:
        """Return the error of each seed on each of the other motions (seeds, 2)."""
        return np.array([r[measure] for r in self.results(method)]).reshape(-1, 2)

    @cached_property
    def _by_seed(self) -> list[dict[str, float]]:
        """Mean error over the motions, by method, of the seeds in which the default gave one."""
        found = [
            {m: float(np.mean(r["total"])) for m, r in o["methods"].items() if "total" in r}
            for o in self.outcomes
        ]
        return [errors for errors in found if DEFAULT in errors]

    @property
    def best_simple(self) -> str:
        """The simple method with the smallest median error."""
        known = [m for m in SIMPLE if self.results(m)]
        return min(known, key=lambda m: float(np.median(self.errors(m).mean(axis=1))))

    @property
    def ratio(self) -> float:
        """Median error of the default over that of the best simple method."""
        best = np.median(self.errors(self.best_simple).mean(axis=1))
        return float(np.median([e[DEFAULT] for e in self._by_seed]) / best)

    @property
    def worst(self) -> float:
        """Largest ratio of one seed, to the method that is best in that seed."""
        return max(e[DEFAULT] / min(e[m] for m in SIMPLE if m in e) for e in self._by_seed)

    def z(self, method: str = DEFAULT, kind: str = "") -> Floats:
        """Return errors of parameters in standard deviations, of all seeds."""
        found = [
            z
            for r in self.results(method)
            for name, z in r.get("z", {}).items()
            if not kind or kind_of(name) == kind
        ]
        return np.array(found, dtype=float)

    def coverage(self, method: str = DEFAULT, kind: str = "") -> float:
        """Return the share of parameters inside their 95 % intervals."""
        z = self.z(method, kind)
        return float(np.mean(np.abs(z) <= INSIDE)) if z.size else np.nan

    def rms_z(self, method: str = DEFAULT) -> float:
        """Return the root mean square of the errors in standard deviations."""
        z = self.z(method)
        return float(np.sqrt(np.mean(z**2))) if z.size else np.nan

    @property
    def force_coverage(self) -> float:
        """Share of exact forces of other motions inside the default's 95 % intervals."""
        return float(np.mean([r["inside_forces"] for r in self.results(DEFAULT)] or [np.nan]))

    @property
    def silent_losses(self) -> int:
        """Seeds in which the default is worse than the CAD values and warns of nothing."""
        return sum(
            np.mean(r["total"]) > np.mean(c["total"]) and not r["warnings"]
            for r, c in zip(self.results(DEFAULT), self.results(CAD), strict=False)
        )

    @property
    def taken(self) -> list[str]:
        """Return the errors of force channels that the default took, and in how many seeds."""
        counts = Counter(
            text.partition(" taken:")[0]
            for r in self.results(DEFAULT)
            for text in r["known"]
            if " taken: error" in text
        )
        return [f"{term} ({n})" for term, n in counts.most_common()]

    def said(self, what: str, most: int = 3) -> list[str]:
        """Return the most frequent statements (`known`, `warnings`), numbers left out."""
        counts = Counter(
            text
            for r in self.results(DEFAULT)
            for text in dict.fromkeys(map(without_numbers, r[what]))
        )
        return [f"{text} ({n})" for text, n in counts.most_common(most)]

    def missed(self, kind: str) -> float:
        """Return how much of the channels' gains or offsets the default did not find.

        Root mean square of what is left over that of what was drawn; NaN where there were none.
        """
        pairs = [
            (drawn, o["methods"][DEFAULT].get(kind, {}).get(channel, 0.0))
            for o in self.outcomes
            if "total" in o["methods"].get(DEFAULT, {})
            for channel, drawn in o["drawn"].get(kind, {}).items()
        ]
        drawn, found = np.array(pairs).reshape(-1, 2).T
        size = np.sum(drawn**2)
        return float(np.sqrt(np.sum((drawn - found) ** 2) / size)) if size else np.nan

    @property
    def misses(self) -> list[str]:
        """Which aims are not reached."""
        found = []
        if self.ratio > MEDIAN:
            found.append(f"median {self.ratio:.2f}")
        if self.worst > WORST:
            found.append(f"worst {self.worst:.2f}")
        low, high = COVERED if WORLDS[self.world].claimed else (AT_LEAST, 1.0)
        if not low <= self.coverage() <= high:
            found.append(f"coverage {100 * self.coverage():.0f} %")
        if self.silent_losses:
            found.append(f"{self.silent_losses} × worse than CAD without a warning")
        return found


def scores(outcomes: Sequence[Outcome]) -> list[Scores]:
    """Return outcomes by mechanism and world, in their order; those without results are left
    out."""
    keys = dict.fromkeys((o["machine"], o["world"]) for o in outcomes)
    found = [
        Scores(m, w, tuple(o for o in outcomes if (o["machine"], o["world"]) == (m, w)))
        for m, w in keys
    ]
    return [s for s in found if s.results(DEFAULT) and s.results(CAD)]


def kind_of(parameter: str) -> str:
    """Return the class of a parameter, by its name."""
    return next(kind for kind, pattern in CLASSES.items() if re.match(pattern, parameter))


def without_numbers(text: str) -> str:
    """Return the first clause of a statement such that those of several seeds are the same."""
    text = re.sub(r"\(.*?\)", "", text.partition(";")[0])
    text = re.sub(r"(?<![\w.])[-+]?\d+(\.\d+)?(e[-+]?\d+)?( ?%)?", "…", text)
    return re.sub(r"\s+", " ", text).strip()
