"""Can the model of a run be trusted?"""

from __future__ import annotations

from mechid.runs import verdict_trust as of
from mechid.runs.record import Run
from mechid.runs.verdict_record import Answer, Evidence

QUESTION = "Can I trust this model?"


def can_be_trusted(run: Run) -> Answer:
    """Answer from all evidence: "yes", "with care", "no" or "not known"."""
    if run.unfinished:
        return Answer(QUESTION, "not known", f"The run is not finished: {run.unfinished}.")
    error = of.unseen_error(run)
    evidence = (
        error,
        of.coverage(run),
        of.whiteness(run),
        of.physics(run),
        of.prior_and_data(run),
        *of.reduction(run),
        *of.between_logs(run),
        *of.samples(run),
        *of.true_values(run),
        *of.channel_patterns(run),
        *of.defects(run),
    )
    return Answer(QUESTION, *_answer(error, evidence), evidence)


def _answer(error: Evidence, evidence: tuple[Evidence, ...]) -> tuple[str, str]:
    bad = [e.text for e in evidence if e.grade == "bad"]
    doubts = [e.text for e in evidence if e.grade == "doubtful"]
    if bad:
        return "no", " ".join(dict.fromkeys([*bad, error.text]))
    if error.grade == "not known":
        return "not known", " ".join([error.text, *doubts])
    if doubts:
        return "with care", " ".join(dict.fromkeys([error.text, *doubts]))
    return "yes", f"{error.text} Nothing speaks against it."
