"""What a study will compute, and how long that takes, from a few timed cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import MechidError
from mechid.runs.record import library_versions
from mechid.shown import Shown
from mechid.studies.cells import Cell, Part
from mechid.studies.folder import StudyFolder
from mechid.studies.registry import experiment
from mechid.studies.study import Study, load_study
from mechid.studies.work import Task, outcomes

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


_GROUPS, _MORE = 3, 4  # groups that are timed; cells of each, besides the first


@dataclass(frozen=True)
class PartPlan:
    """What a part will compute.

    Attributes
    ----------
    name, experiment : str
    axes : mapping axis → int
        Number of values.
    cells : int
    excluded : int
        Points of the grid that are left out.
    groups : int
        Groups of cells that share work.
    shared_seconds, cell_seconds : float
        Of the shared work of a group, and of a cell; nan if they were not timed.
    refused : str, optional
        Why the first of the timed cells that was refused was so.
    """

    name: str
    experiment: str
    axes: Mapping[str, int]
    cells: int
    excluded: int
    groups: int
    shared_seconds: float
    cell_seconds: float
    refused: str | None

    @property
    def seconds(self) -> float:
        """Time of one worker."""
        return self.groups * self.shared_seconds + self.cells * self.cell_seconds


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan(Shown):
    """What a study will compute.

    Attributes
    ----------
    study : Study
    parts : tuple of PartPlan
    """

    study: Study
    parts: tuple[PartPlan, ...]

    @property
    def seconds(self) -> float:
        """Time of one worker for all parts."""
        return sum(part.seconds for part in self.parts)

    def summary(self) -> Mapping[str, object]:
        """Return cells, groups and time."""
        return {
            "title": self.study.title,
            "cells": self.study.n_cells,
            "groups": sum(part.groups for part in self.parts),
            "seconds": self.seconds,
        }


def plan_study(
    study: str | Path | Study, *, quick: bool = False, seconds: float = 10.0
) -> StudyPlan:
    """Count the cells of a study and time a few of them.

    Parameters
    ----------
    study : str, Path or Study
        A name of the library, a study file, or what `load_study` returned.
    quick : bool
        Whether the quick size is looked at.
    seconds : float
        No further cell is timed after this time; 0: none at all.

    Raises
    ------
    MechidError
        If the study is wrong.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> text = "title: T\\nexperiment: identification\\nsettings: {model: pendulum}\\n"
    >>> _ = Path("s.yaml").write_text(text + "axes: {estimator: [cad, ols], seed: {count: 2}}")
    >>> mechid.plan_study("s.yaml", seconds=0).parts[0].axes
    {'estimator': 2, 'seed': 2}
    """
    if not isinstance(study, Study):
        study = load_study(study, quick=quick)
    end = time.monotonic() + seconds / max(len(study.parts), 1)
    plans = []
    for part in study.parts:
        plans.append(_plan(part, end))
        end += seconds / len(study.parts)
    return StudyPlan(study, tuple(plans))


def _plan(part: Part, end: float) -> PartPlan:
    together = groups(part, list({cell.key: cell for cell in part.cells}.values()))
    chosen = np.unique(np.linspace(0, len(together) - 1, _GROUPS).astype(int))
    alone: list[float] = []
    cells: list[float] = []
    refusals: list[str] = []
    for k in chosen if end > time.monotonic() else ():
        if cells and time.monotonic() > end:
            break
        spent, refused = _timed(part, together[k][:1])
        refusals += refused
        rest = _spread(together[k][1:])
        each, refused = _timed(part, rest) if rest else (spent, [])
        refusals += refused
        cells.append(each / max(len(rest), 1))
        alone.append(max(spent - cells[-1], 0.0))
    # The first group also pays for what is loaded and compiled once.
    cell = float(np.mean(cells)) if cells else np.nan
    shared = float(np.mean(alone[1:] or alone)) if cells else np.nan
    return PartPlan(
        part.name,
        part.experiment,
        {name: len(labels) for name, labels in part.axes.items()},
        len(part.cells),
        part.excluded,
        len(together),
        shared,
        cell,
        refusals[0] if refusals else None,
    )


def _spread(cells: Sequence[Cell]) -> list[Cell]:
    """Return a few cells, evenly spread: neighbours may be alike."""
    some = np.unique(np.linspace(0, len(cells) - 1, _MORE).astype(int)) if cells else ()
    return [cells[k] for k in some]


def _timed(part: Part, cells: Sequence[Cell]) -> tuple[float, list[str]]:
    """Return the time of some cells, and why some of them were refused."""
    kind = experiment(part.experiment)
    settings: list[Any] = [cell.settings for cell in cells]
    begin = time.perf_counter()
    found = list(outcomes(kind, settings))
    spent = time.perf_counter() - begin
    return spent, [str(outcome) for outcome in found if isinstance(outcome, MechidError)]
