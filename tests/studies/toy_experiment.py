"""A cheap experiment whose answer is known: means of random numbers of one seed per cell."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mechid.errors import DataError
from mechid.studies.experiment import Experiment, Outcome


@dataclass(frozen=True)
class Settings:
    """What one cell draws.

    Attributes
    ----------
    n : int
        Numbers of
        a mean.
    law, model : str
        Whatever is asked for.
    """

    n: int = 3
    scale: float = 1.0
    seed: int = 0
    law: str = "normal"
    forces: tuple[str, ...] = ("a", "b")
    model: str = ""
    seconds: float = 0.0  # that a cell takes
    log: str = ""  # folder: a file of each cell that was computed, and how often
    die: str = ""  # file: whoever finds it dies, once


def _shared(settings: Settings) -> tuple[int, str]:
    return settings.n, settings.law


def values(settings: Settings) -> list[float]:
    rng = np.random.default_rng([settings.seed, settings.n])
    return (settings.scale * rng.normal(size=(len(settings.forces), settings.n))).mean(1).tolist()


def _run(cells: Sequence[Settings]) -> Iterator[Outcome]:
    if cells[0].law == "missing":
        raise DataError("there is no law missing")
    for cell in cells:
        time.sleep(cell.seconds)
        if cell.die and Path(cell.die).exists():
            Path(cell.die).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        if cell.log:
            with (Path(cell.log) / f"{cell.seed}-{cell.n}").open("a") as file:
                file.write("x")
        if cell.law == "bug":
            raise KeyError("a mistake in the program")
        if cell.seed == 13:
            yield DataError("13 is refused", where="seed")
        else:
            yield [
                {"force": name, "value": value, "n_values": cell.n}
                for name, value in zip(cell.forces, values(cell), strict=True)
            ]


EXPERIMENT = Experiment(Settings, _shared, _run)
