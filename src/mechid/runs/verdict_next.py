"""What to do next: from what is doubtful or not known, and from what the data do not determine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechid.estimation.clipping import CLIPPED
from mechid.runs.record import Run
from mechid.runs.verdict_parameters import LARGE, kinds_of, listed, shares_of
from mechid.runs.verdict_record import Answer, Evidence
from mechid.runs.verdict_trust import GROSS, findings, gross, larger_model, unseen_rows
from mechid.validation.diagnosis_record import Diagnosis
from mechid.validation.diagnosis_samples import EMPTY

QUESTION = "What should I do next?"
_VAGUE = 50.0  # percent: a standard deviation that leaves a value open
_LISTED = 3
_MANY = 0.1  # of the samples of a force that are clipped


def next_steps(run: Run, trust: Answer) -> Answer:
    """Return steps, the most urgent first."""
    if run.unfinished:
        step = Evidence("repeat", "bad", f"Repeat the run: {run.unfinished}.")
        return Answer(QUESTION, "1 step", step.text, (step,))
    steps = tuple(map(_repair, _repairs(run)))
    if not gross(run):
        steps = (
            *_channels(trust),
            *steps,
            *_validate(run),
            *_model(run, trust),
            *map(_repair, filter(_minor, findings(run))),
            *_measure(run),
        )
    steps = tuple(dict.fromkeys(steps))  # several motions may say the same
    if not steps:
        text = "Nothing has to be done: use the model (mechid predict, mechid export)."
        return Answer(QUESTION, "nothing", text)
    count = f"{len(steps)} steps" if len(steps) > 1 else "1 step"
    return Answer(QUESTION, count, " ".join(step.text for step in steps), steps)


def _repairs(run: Run) -> list[Diagnosis]:
    """Return what is wrong with channels and model, without what is settled or minor.

    Samples that were left out bias nothing: they come after what is in the parameters. What looks
    like other friction may be what dry friction does at standstill, which comes first.
    """
    meant = (d for d in findings(run) if not d.settled and not _minor(d))
    found = [d for d in meant if d.kind in GROSS or not gross(run)]
    still = any(d.kind == "standstill" and not d.motion for d in found)
    return sorted(found, key=lambda d: (_left_out(d), still and d.kind == "friction"))


def _left_out(found: Diagnosis) -> bool:
    """Return whether a finding is about samples that do not count."""
    return found.kind == "clipped" and EMPTY not in found.remedy


def _minor(found: Diagnosis) -> bool:
    """Return whether a finding is about a few samples that do not count."""
    return _left_out(found) and found.significance * CLIPPED < _MANY


def _repair(found: Diagnosis) -> Evidence:
    """Return what to do about a finding."""
    remedy = f"{found.remedy[:1].upper()}{found.remedy[1:]}"
    about = f" ({found.channel}: {found.kind})" if found.channel not in found.remedy else ""
    return Evidence(found.kind, "doubtful", f"{remedy}{about}.")


def _channels(trust: Answer) -> Iterator[Evidence]:
    """Yield which channels to check, from what motions that were not used show."""
    for e in trust.evidence:
        kind, _, force = e.name.partition(" ")
        if kind in ("offset", "gain") and "in one of the logs" in e.text:
            words = f"Check zero and scale of {force} in all logs."
            yield Evidence(kind, "doubtful", words)


def _validate(run: Run) -> Iterator[Evidence]:
    rows = unseen_rows(run)
    if not rows:
        yield Evidence(
            "another motion",
            "not known",
            "Measure another motion and validate the model on it (mechid validate, or --validate).",
        )
    elif any(cad is not None and cad.error < row.error for row, cad in rows) and not any(
        d.kind == "cad" for d in run.diagnosis
    ):
        yield Evidence(
            "CAD values",
            "bad",
            "Use the CAD values for such motions until it is clear what is wrong in data or model.",
        )


def _model(run: Run, trust: Answer) -> Iterator[Evidence]:
    """Yield what helps against residuals that are no noise."""
    grades = {e.name: e.grade for e in trust.evidence}
    better = larger_model(run)
    if better:
        yield Evidence("parameters", "doubtful", better)
    elif grades.get("residuals") == "doubtful" or grades.get("logs") == "doubtful":
        options = run.about.options
        looked = "auto" in options.friction or (
            options.estimator == "auto" and not options.friction
        )
        friction = "friction of other kinds" if looked else "friction: --friction auto"
        yield Evidence(
            "model",
            "doubtful",
            f"Look for what the model lacks ({friction}; elasticity, geometry): more samples do "
            "not help against that.",
        )
    elif "doubtful" in (grades["error on motions not used"], grades["intervals of 95 %"]):
        used = run.about.options.estimator == "auto"
        prior = "" if used else ", or use CAD values as prior (--estimator auto)"
        yield Evidence(
            "motion",
            "doubtful",
            f"Measure longer, or a motion that determines more (mechid excite){prior}: what the "
            "parameters leave open shows on other motions.",
        )
    if _disagree(trust) and not any(d.kind == "cad" for d in run.diagnosis):
        yield Evidence(
            "CAD values",
            "doubtful",
            "Check the CAD values, or declare larger errors of them (--cad-error).",
        )
    if grades.get("physical consistency") in ("doubtful", "bad"):
        words = "Use --estimator physical, which keeps to bodies that can exist."
        yield Evidence("physics", "doubtful", words)


def _disagree(trust: Answer) -> bool:
    """Return whether data and CAD values disagree, be it that the data are confirmed."""
    return any(e.name == "CAD values and data" and "disagree" in e.text for e in trust.evidence)


def _measure(run: Run) -> Iterator[Evidence]:
    """Yield which sensor, motion or samples would determine more."""
    measured = set(run.motions[0].forces)
    blind = [c.force for c in run.mechanism.coordinates if c.force not in measured and not c.held]
    if blind:
        words = f"Measure {', '.join(blind)}, too: these forces were not measured."
        yield Evidence("sensor", "not known", words)
    kinds, shares = kinds_of(run), shares_of(run) or {}
    relative = dict(zip(run.final.parameters, run.final.relative.tolist(), strict=True))
    resting = [n for n in kinds["cad"] if shares.get(n, np.inf) >= LARGE]
    small = [n for n in kinds["cad"] if n not in resting]
    if resting:
        yield Evidence(
            "motion",
            "doubtful",
            f"Measure a motion that shows {listed(run, resting, _LISTED)} "
            "(mechid excite designs it): they matter and stay with CAD.",
        )
    vague = [
        n for n in kinds["data"] if relative.get(n, 0.0) > _VAGUE and shares.get(n, 0.0) >= LARGE
    ]
    if vague:
        yield Evidence(
            "samples",
            "doubtful",
            f"Measure longer or a better motion for {listed(run, vague, _LISTED)}: "
            "four times the samples halve a standard deviation.",
        )
    if small:
        yield Evidence(
            "CAD",
            "good",
            f"Leave {listed(run, small, _LISTED)} with CAD: "
            f"each makes less than {LARGE:g} % of the forces.",
        )
