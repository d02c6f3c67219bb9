"""An experiment that computes nothing: what is left is what a study costs by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mechid.studies.experiment import Experiment, Outcome


@dataclass(frozen=True)
class Settings:
    seed: int = 0
    name: str = "x"


def _run(cells: Sequence[Settings]) -> Iterator[Outcome]:
    for cell in cells:
        yield [{"force": k, "value": cell.seed + 0.5 * k, "other": 1.0} for k in range(5)]


EXPERIMENT = Experiment(Settings, lambda settings: settings.name, _run)
