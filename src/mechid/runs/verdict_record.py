"""What can be said of a run in plain words: evidence, answers, and the verdict of three answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mechid.shown import Shown

Grade: TypeAlias = Literal["good", "doubtful", "bad", "not known"]


@dataclass(frozen=True)
class Evidence:
    """One number or fact that an answer rests on.

    Attributes
    ----------
    name : str
    grade : "good", "doubtful", "bad" or "not known"
    text : str
        A sentence with the numbers.
    value : float, optional
        The number that was compared with a threshold.
    """

    name: str
    grade: Grade
    text: str
    value: float | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to one question about a run.

    Attributes
    ----------
    question : str
    answer : str
        In a word or two, as "yes", "with care", "no" or "not known".
    text : str
        In a few sentences.
    evidence : tuple of Evidence
        What it rests on.
    """

    question: str
    answer: str
    text: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """What can be said of a run: can it be trusted, which parameters matter, what to do next.

    Attributes
    ----------
    synthetic : bool
        Whether the data are known to be synthetic; measured data, and data whose origin is not
        recorded, are not.
    data : str
        What the data are, in a sentence.
    trust, parameters, next_steps : Answer
    """

    synthetic: bool
    data: str
    trust: Answer
    parameters: Answer
    next_steps: Answer

    @property
    def answers(self) -> tuple[Answer, Answer, Answer]:
        """The three answers, in order."""
        return self.trust, self.parameters, self.next_steps

    @property
    def lines(self) -> tuple[str, str]:
        """The verdict in two lines: trust with the main number and the doubts, and what to do."""
        synthetic = " (synthetic data)" if self.synthetic else ""
        evidence = self.trust.evidence
        words = evidence[0].text if evidence else self.trust.text
        doubts = [e.name for e in evidence[1:] if e.grade in ("bad", "doubtful")]
        words += f" Doubtful: {', '.join(dict.fromkeys(doubts))}." if doubts else ""
        steps = self.next_steps.evidence
        return (
            f"trust the model{synthetic}: {self.trust.answer}. {words}",
            f"next: {steps[0].text if steps else self.next_steps.text}",
        )

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {"data": self.data} | {a.question: f"{a.answer}. {a.text}" for a in self.answers}
