"""Cells that are still to be computed, divided into tasks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import ceil
from typing import Any

from mechid.runs.record import library_versions
from mechid.studies.cells import Cell, Part
from mechid.studies.folder import StudyFolder
from mechid.studies.registry import experiment
from mechid.studies.work import Task

_MOST = 100  # cells of a task
_TASKS = 4  # for each worker at least, so that none is left alone with much at the end


def open_tasks(part: Part, folder: StudyFolder, workers: int, token: str) -> list[Task]:
    """Return the cells of a part that are not done, those together that share work."""
    have = folder.done(part.name)
    left = list({cell.key: cell for cell in part.cells if cell.key not in have}.values())
    versions = library_versions()
    where = str(folder.path.absolute())
    return [
        Task(
            part.name,
            part.module,
            tuple(cell.key for cell in cells),
            tuple(cell.settings for cell in cells),
            where,
            token,
            versions,
        )
        for cells in divide(groups(part, left), len(left), workers)
    ]


def groups(part: Part, cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells that share work together, those of the same data next to each other."""
    by = experiment(part.experiment)
    return [
        [cell for same in _alike(together, by.data) for cell in same]
        for together in _alike(cells, by.shared)
    ]


def _alike(cells: Sequence[Cell], key: Callable[[Any], Hashable]) -> list[list[Cell]]:
    """Return cells of one key together, in the order of their first ones."""
    found: dict[Hashable, list[Cell]] = {}
    for cell in cells:
        found.setdefault(key(cell.settings), []).append(cell)
    return list(found.values())


def divide(together: Sequence[Sequence[Cell]], n_cells: int, workers: int) -> list[list[Cell]]:
    """Return cells in lists of limited length: small groups whole, large ones in equal parts."""
    limit = min(_MOST, max(1, ceil(n_cells / (_TASKS * workers)))) if workers else _MOST
    tasks: list[list[Cell]] = []
    room = 0
    for group in together:
        if len(group) <= room:
            tasks[-1].extend(group)
            room -= len(group)
            continue
        size = ceil(len(group) / ceil(len(group) / limit))
        tasks.extend(list(group[k : k + size]) for k in range(0, len(group), size))
        room = limit - len(tasks[-1])
    return tasks
