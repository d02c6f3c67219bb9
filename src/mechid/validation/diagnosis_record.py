"""One finding of a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass

SETTLED = "nothing to do"  # how the remedy of such findings begins
CAD = "the CAD values"  # what a prior is called in sentences, unless it is another one


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a channel, a joint or the model.

    Attributes
    ----------
    kind : str
        "unit", "swapped", "sign", "unexplained", "clipped", "quantised", "offset", "drift",
        "delay", "gain", "friction", "place", "coefficient", "elasticity", "outliers",
        "hum", "standstill", "motion" or "cad".
    channel : str
        The force, joint or coordinate it is about; empty for all of them.
    size : float
    unit : str
        Of the size; empty for a plain number.
    significance : float
        Size in standard deviations, or how many times it exceeds its threshold.
    text : str
        What was found, with its figure.
    remedy : str
        What to do about it.
    motion : str
        The motion it is about, if that was not used for the identification; else empty.
    """

    kind: str
    channel: str
    size: float
    unit: str
    significance: float
    text: str
    remedy: str
    motion: str = ""

    @property
    def settled(self) -> bool:
        """Whether the estimate takes it into account, so that nothing has to be done."""
        return self.remedy.startswith(SETTLED)

    def __str__(self) -> str:
        """Return finding and remedy as a sentence."""
        return f"{self.text}; {self.remedy}"
