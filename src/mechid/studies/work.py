"""What a worker does: compute some cells, and write them down where it can."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechid.blas_threads import one_blas_thread
from mechid.errors import DataError, MechidError
from mechid.runs.record import library_versions
from mechid.studies.experiment import Experiment, Outcome
from mechid.studies.folder import StudyFolder
from mechid.studies.rows import chunk_table

if TYPE_CHECKING:
    import pyarrow as pa

EVERY = 2.0  # seconds after which what is done is written down
_ONE_AT_A_TIME = threading.Lock()  # what experiments keep in a process is not for several threads


@dataclass(frozen=True)
class Task:
    """Some cells of a part.

    Attributes
    ----------
    part : str
    module : str
        Of the experiment.
    keys : tuple of str
        Hashes of the cells.
    settings : tuple
        Of the cells.
    folder : str
        Where the result goes.
    token : str
        Name of a file in it: whoever sees that sees the folder.
    versions : mapping
        That the worker must have.
    """

    part: str
    module: str
    keys: tuple[str, ...]
    settings: tuple[Any, ...]
    folder: str
    token: str
    versions: dict[str, str]


@one_blas_thread()
def work(task: Task) -> list[pa.Table]:
    """Compute the cells of a task; return their rows where the folder is not to be seen.

    Raises
    ------
    DataError
        If they cannot be written, or the worker has other versions than the client.
    """
    _check_versions(task)
    folder = StudyFolder(Path(task.folder))
    returned: list[pa.Table] = []
    if (folder.path / task.token).is_file():
        keep: Callable[[pa.Table], None] = partial(folder.keep, task.part)
    else:
        keep = returned.append
    with _ONE_AT_A_TIME:
        compute(task, keep)
    return returned


def compute(
    task: Task, keep: Callable[[pa.Table], None], after: Callable[[], bool] = lambda: False
) -> None:
    """Compute cells and keep their rows every few seconds.

    `after` is called after each cell, and ends the work if it returns true.
    """
    experiment: Experiment[Any] = import_module(task.module).EXPERIMENT
    waiting: list[tuple[str, Outcome]] = []
    last = time.monotonic()
    try:
        for key, outcome in zip(task.keys, outcomes(experiment, task.settings), strict=True):
            waiting.append((key, outcome))
            if time.monotonic() - last > EVERY:
                keep(chunk_table(waiting))
                waiting, last = [], time.monotonic()
            if after():
                break
    finally:
        # Also what was done before an error, or before Ctrl-C.
        if waiting:
            keep(chunk_table(waiting))


def outcomes(experiment: Experiment[Any], settings: Sequence[Any]) -> Iterator[Outcome]:
    """Yield the outcome of each cell: those that share work go together."""
    for _, together in groupby(settings, experiment.shared):
        cells = list(together)
        done = 0
        try:
            for outcome in experiment.run(cells):
                yield outcome
                done += 1
        except MechidError as error:
            if len(cells) == 1 and not done:
                yield error
                continue
            # One of them spoils the others: each alone.
            for cell in cells[done:]:
                yield from outcomes(experiment, [cell])
            continue
        if done != len(cells):
            raise RuntimeError(f"the experiment gave {done} outcomes for {len(cells)} cells")


def _check_versions(task: Task) -> None:
    mine = library_versions()
    for name, wanted in task.versions.items():
        if mine.get(name) != wanted:
            raise DataError(
                f"a worker has {name} {mine.get(name)}, this process has {wanted}",
                remedy="start the workers in the same environment",
            )
