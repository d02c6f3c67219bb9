"""Run a study: in this process, on the cores of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mechid.errors import DataError, MechidError
from mechid.outputs import make_folder
from mechid.runs.lock import locked
from mechid.studies.folder import TOKEN, StudyFolder, default_folder
from mechid.studies.plan import open_tasks
from mechid.studies.result import StudyResult
from mechid.studies.study import Study, load_study
from mechid.studies.work import Task, compute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mechid.studies.cluster import Connect

Told = Callable[[int, int], None]
_SOME = 8  # workers that a cluster is assumed to have, where cells are divided into tasks


def run_study(
    study: str | Path | Study,
    folder: str | Path | None = None,
    *,
    quick: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    jobqueue: str | Path | None = None,
    force: bool = False,
    watch: Told | None = None,
    stop: Callable[[], bool] | None = None,
) -> StudyResult:
    """Compute the cells of a study that are not in its folder yet, and its tables.

    The result does not depend on the number of workers, nor on what was interrupted.

    Parameters
    ----------
    study : str, Path or Study
        A name of the library, a study file, or what `load_study` returned.
    folder : str or Path, optional
        Where the result goes; by default NAME.study, or NAME.quick.study.
    quick : bool
        Whether the quick size is computed.
    workers : int, optional
        Processes; by default one per core. 0: this process. A script that uses processes needs
        `if __name__ == "__main__":`.
    scheduler : str, optional
        Instead: address of a running Dask scheduler, "tcp://host:8786".
    jobqueue : str or Path, optional
        Instead: a file that says how workers are started through a batch system.
    force : bool
        Whether a result that was computed with other versions is replaced.
    watch : callable, optional
        Told how many cells are done, and of how many.
    stop : callable, optional
        Asked now and then whether the work should end; what is done is kept.

    Raises
    ------
    MechidError
        If the study is wrong, was stopped, or cells failed other than by being refused. What is
        done is kept, and the next call goes on from there.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> text = "title: T\\nexperiment: identification\\nsettings: {model: pendulum}\\n"
    >>> _ = Path("s.yaml").write_text(text + "axes: {estimator: [cad, ols], seed: {count: 2}}")
    >>> result = mechid.run_study("s.yaml", workers=0)
    >>> result.table().column_names[:4]
    ['estimator', 'seed', 'cell', 'refused']
    """
    if not isinstance(study, Study):
        study = load_study(study, quick=quick)
    path = Path(folder or default_folder(study))
    make_folder(path)
    with locked(path):
        return _run(study, path, force, _connection(workers, scheduler, jobqueue), watch, stop)


def _run(
    study: Study,
    path: Path,
    force: bool,
    connection: tuple[Connect | None, int],
    watch: Told | None,
    stop: Callable[[], bool] | None,
) -> StudyResult:
    where = StudyFolder.prepare(path, study, force=force)
    connect, n_workers = connection
    total, asked = study.n_cells, stop or (lambda: False)
    state = _State(total, watch)
    with _token(where) as token:

        def remaining() -> list[Task]:
            tasks = [t for part in study.parts for t in open_tasks(part, where, n_workers, token)]
            state.set(total - sum(len(task.keys) for task in tasks))
            return tasks

        if connect is None:
            _here(remaining(), where, state, asked)
        else:
            _there(remaining, where, state, asked, connect)
    if state.done < total and asked():
        kept = sum(row["done"] for row in StudyResult(where.path).status())
        raise MechidError(
            f"stopped at {kept} of {total} cells",
            where=str(where.path),
            remedy="what is done is kept: run the study again to go on",
        )
    where.finish()
    return StudyResult(where.path)


class _State:
    """How many cells are done."""

    def __init__(self, total: int, watch: Told | None) -> None:
        self.total, self.done, self._watch = total, 0, watch

    def set(self, done: int) -> None:
        """Tell how many there are."""
        self.done = done
        if self._watch is not None:
            self._watch(done, self.total)


def _connection(
    workers: int | None, scheduler: str | None, queue: str | Path | None
) -> tuple[Connect | None, int]:
    """Return how to reach the workers, and how many there are; None for this process."""
    given = [
        name
        for name, value in (("workers", workers), ("scheduler", scheduler), ("jobqueue", queue))
        if value is not None
    ]
    if len(given) > 1:
        raise DataError(f"{given[0]} and {given[1]} exclude each other", remedy="give one of them")
    if workers is not None and workers < 0:
        raise DataError(f"workers must be ≥ 0, got {workers}")
    if workers == 0:
        return None, 0
    from mechid.studies import cluster

    if scheduler is not None:
        return cluster.remote(scheduler), _SOME
    if queue is not None:
        return cluster.jobqueue(queue), _SOME
    n = workers or cluster.cores()
    return cluster.local(n), n


@contextmanager
def _token(folder: StudyFolder) -> Iterator[str]:
    """Put a file into the folder by which workers see whether they share it."""
    token = folder.path / f"{TOKEN}{uuid4().hex}"
    try:
        token.touch()
        yield token.name
    except OSError as error:
        raise DataError(f"cannot write: {error.strerror}", where=str(folder.path)) from None
    finally:
        token.unlink(missing_ok=True)


def _here(tasks: list[Task], folder: StudyFolder, state: _State, stop: Callable[[], bool]) -> None:
    def after() -> bool:
        state.set(state.done + 1)
        return stop()

    for task in tasks:
        if stop():
            return
        compute(task, partial(folder.keep, task.part), after)


def _there(
    remaining: Callable[[], list[Task]],
    folder: StudyFolder,
    state: _State,
    stop: Callable[[], bool],
    connect: Connect,
) -> None:
    from mechid.studies import cluster

    def done(task: Task, returned: list[Any]) -> None:
        for rows in returned:
            folder.keep(task.part, rows)
        state.set(state.done + len(task.keys))

    failed = cluster.run_tasks(remaining, connect, done, stop)
    if failed:
        task, error = failed[0]
        cells = sum(len(t.keys) for t, _ in failed)
        raise MechidError(
            f"{cells} of {state.total} cells failed; the first with {type(error).__name__}: "
            f"{str(error).splitlines()[0] if str(error) else ''}",
            where=f"{folder.path}: part {task.part}",
            remedy="the other cells are kept; --workers 0 shows where it happens",
        )
