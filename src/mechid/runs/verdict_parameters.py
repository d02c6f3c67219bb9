"""Which parameters matter: those that make the forces, and those that the data determine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.runs.parameter_meanings import with_owners
from mechid.runs.record import Run
from mechid.runs.verdict_record import Answer, Evidence

QUESTION = "Which parameters matter?"
LARGE = 1.0  # percent of the forces: a parameter of less hardly matters
_SHARP = 10.0  # percent: a value is known
_LISTED = 5


def kinds_of(run: Run) -> dict[str, tuple[str, ...]]:
    """Return the base parameters by where their values come from.

    "data", "cad" (mainly the prior) and "out" (eliminated by the reduction).
    """
    kept = set(run.parameters.names if run.reduction is None else run.reduction.chosen)
    resting = set(run.final.resting)
    found: dict[str, list[str]] = {"data": [], "cad": [], "out": []}
    for name in run.parameters.names:
        found["out" if name not in kept else "cad" if name in resting else "data"].append(name)
    return {kind: tuple(names) for kind, names in found.items()}


def shares_of(run: Run) -> dict[str, float] | None:
    """Return the contribution of each base parameter to the forces in percent, in order of size."""
    if run.contribution is None:
        return None
    index = run.contribution.index
    order = np.argsort(-index, kind="stable")
    return {run.contribution.parameters[i]: float(index[i]) for i in order}


def which_parameters(run: Run) -> Answer:
    """Answer by contributions to the forces; without CAD values by how well values are known."""
    if run.estimate is None:
        return Answer(QUESTION, "not known", "The run was stopped before anything was estimated.")
    final, b = run.final, len(run.parameters.names)
    kinds, shares = kinds_of(run), shares_of(run)
    relative = dict(zip(final.parameters, final.relative.tolist(), strict=True))
    sharp = [name for name in kinds["data"] if relative.get(name, np.inf) < _SHARP]
    evidence = [
        Evidence(
            "determined by data",
            "good" if kinds["data"] else "bad",
            f"{len(kinds['data'])} of {b} base parameters are determined by the data, "
            f"{len(sharp)} of them to better than {_SHARP:g} %.",
            float(len(kinds["data"])),
        )
    ]
    for kind, words in (("cad", "stay with CAD"), ("out", "were eliminated by the reduction")):
        if names := kinds[kind]:
            text = f"{len(names)} {words}: {listed(run, names)}."
            evidence.append(Evidence(words, "good", text, float(len(names))))
    if shares is None:
        best = sorted(final.parameters, key=lambda name: relative[name])
        return Answer(
            QUESTION,
            f"{len(kinds['data'])} of {b}",
            "What each contributes to the forces is not known without CAD values. The best known "
            f"are {listed(run, best, 3)}.",
            tuple(evidence),
        )
    large = [name for name, x in shares.items() if x >= LARGE]
    owned = with_owners(run.mechanism, large[:3])
    most = [f"{words} ({_two(shares[n])} %)" for words, n in zip(owned, large, strict=False)]
    text = f"{len(large)} of {b} base parameters make {LARGE:g} % of the forces or more"
    text += f", most of all {', '.join(most)}" if most else ""
    text += f". {evidence[0].text}"
    vague = [name for name in large if name in kinds["cad"] or relative.get(name, 0.0) > 50.0]
    if vague:
        words = f"Of those that matter, the data hardly determine {listed(run, vague)}."
        evidence.append(Evidence("weakly determined", "doubtful", words, float(len(vague))))
        text = f"{text} {words}"
    return Answer(QUESTION, f"{len(large)} of {b}", text, tuple(evidence))


def listed(run: Run, names: Sequence[str], most: int = _LISTED) -> str:
    """Return some parameters in words, with what they belong to."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(with_owners(run.mechanism, names[:most])) + more


def _two(value: float) -> str:
    """Return two digits, and whole numbers from 100 on."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"
