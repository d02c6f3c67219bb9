"""Tasks on workers: scheduling, retries and spilling are Dask's."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

from mechid.errors import DataError, MechidError
from mechid.studies.work import Task, work
from mechid.textfile.words import hint

PATIENCE = 60.0  # seconds to wait for a scheduler or a worker that does not answer
_ANSWER = 5.0  # seconds in which a scheduler answers
_POLL = 0.02
_LOOK = 1.0  # seconds between two looks at the workers
_LOG = logging.getLogger("mechid")
Client: TypeAlias = Any  # of Dask, which has few types
Connect: TypeAlias = Callable[[], Any]
# Dask opens a port even without a dashboard, and warns if another study has it: any that is free.
_NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_QUEUES = ("htcondor", "local", "lsf", "moab", "oar", "pbs", "sge", "slurm")


class _LostError(Exception):
    """The scheduler forgot the tasks: it was started again, or cannot be reached."""


def run_tasks(
    remaining: Callable[[], Sequence[Task]],
    connect: Connect,
    done: Callable[[Task, Any], None],
    stop: Callable[[], bool],
) -> list[tuple[Task, BaseException]]:
    """Run tasks on workers until all are done, and return those that failed.

    Parameters
    ----------
    remaining : callable
        Returns what is still to be done; asked again when a scheduler was lost and is back.
    connect : callable
        Context manager of a client.
    done : callable
        Told of each task that is done, with what it returned.
    stop : callable
        Whether the work should end; what is running is given up then.

    Raises
    ------
    MechidError
        If the scheduler is lost for good; or what a task raised on purpose: a full disk, say.
    """
    failed: dict[tuple[str, ...], tuple[Task, BaseException]] = {}

    def finished(task: Task, result: Any) -> None:
        if isinstance(result, BaseException):
            failed[task.keys] = (task, result)
        else:
            done(task, result)

    lost = before = None
    while not stop():
        left = [task for task in remaining() if task.keys not in failed]
        if not left:
            break
        if before is None or len(left) < before:
            lost, before = None, len(left)
        try:
            with _quiet(), connect() as client:
                _round(client, left, finished, stop)
                break
        except _lost_errors() as error:
            words = str(error) or type(error).__name__
            why = f"the scheduler or a worker cannot be reached ({words})"
            lost = lost or time.monotonic()
            seconds = lost + PATIENCE - time.monotonic()
            if seconds < 0:
                raise MechidError(
                    why,
                    remedy="check the address; what is done is kept: run the study again",
                ) from None
            _LOG.warning("%s; trying again for %.0f s", why, seconds)
            time.sleep(min(1.0, PATIENCE / 10))
    return list(failed.values())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs off the terminal: what matters becomes an error or a warning of ours."""
    _dask()
    from distributed.utils import silence_logging_cmgr

    with silence_logging_cmgr(logging.CRITICAL):
        yield


def _lost_errors() -> tuple[type[BaseException], ...]:
    from distributed.comm.core import CommClosedError

    return (_LostError, CommClosedError, TimeoutError, OSError)


class _Workers:
    """Whether there are workers: tasks without any would wait for ever."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seen = self._looked = time.monotonic()

    def look(self) -> None:
        """Raise if there has been none for a while."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        if self._client.nthreads(callback_timeout=PATIENCE):
            self._seen = now
        elif now - self._seen > PATIENCE:
            address = self._client.scheduler.address
            raise MechidError(
                f"there has been no worker for {PATIENCE:g} s",
                where=address,
                remedy=f"what is done is kept: start workers (dask worker {address} --nthreads 1) "
                "and run the study again",
            )


def _round(
    client: Client,
    tasks: Sequence[Task],
    finished: Callable[[Task, Any], None],
    stop: Callable[[], bool],
) -> None:
    """Submit tasks and take their results until all are done, or the scheduler is lost."""
    from concurrent.futures import CancelledError

    futures = {client.submit(work, task, pure=False): task for task in tasks}
    waiting = _dask().as_completed(list(futures), loop=client.loop)
    workers = _Workers(client)
    try:
        while not waiting.is_empty():
            if not waiting.has_ready():
                if stop() or client.status not in ("running", "connecting"):
                    break
                workers.look()
                time.sleep(_POLL)
                continue
            for future in waiting.next_batch(block=False):
                task = futures.pop(future)
                if future.status in ("cancelled", "lost"):
                    raise _LostError("it has lost the tasks")
                error = future.exception(timeout=PATIENCE)  # the worker that has it may be gone
                if isinstance(error, CancelledError):
                    raise _LostError("it has lost the tasks")
                if isinstance(error, MechidError):
                    raise error
                finished(task, future.result(timeout=PATIENCE) if error is None else error)
        if futures and not stop():
            raise _LostError("it has lost the tasks")
    finally:
        if futures and client.status == "running":
            client.cancel(list(futures), force=True)


def cores() -> int:
    """Return the number of cores that this process may use."""
    _dask()
    from dask.system import CPU_COUNT

    return int(CPU_COUNT)


def local(workers: int) -> Connect:
    """Return a connection to workers of this machine, one process each."""

    @contextmanager
    def connect() -> Iterator[Client]:
        distributed = _dask()
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                scheduler_kwargs=_NO_DASHBOARD,
                silence_logs=logging.CRITICAL,
                preload=["mechid.studies.worker_setup"],
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client

    return connect


def remote(address: str) -> Connect:
    """Return a connection to a scheduler that is running."""

    @contextmanager
    def connect() -> Iterator[Client]:
        distributed = _dask()
        _greet(address)
        with distributed.Client(address, timeout=_ANSWER, set_as_default=False) as client:
            yield client

    return connect


def _greet(address: str) -> None:
    """Connect once and leave: a client that finds no scheduler cannot be closed any more."""
    distributed = _dask()

    async def greet() -> None:
        words = distributed.Security().get_connection_args("client")
        there = await distributed.comm.connect(address, timeout=_ANSWER, **words)
        await there.close()

    try:
        distributed.utils.LoopRunner(loop=None, asynchronous=False).run_sync(greet)
    except ValueError as error:
        raise DataError(
            f"not the address of a scheduler: {error}",
            where=address,
            remedy="give it as tcp://HOST:8786",
        ) from None
    except Exception as error:  # whatever a server that is no scheduler sends
        raise _LostError(f"{address}: {type(error).__name__}") from None


def jobqueue(path: str | Path) -> Connect:
    """Return a connection to workers that a batch system starts, as a file says.

    Raises
    ------
    DataError
        If the file does not say which, or what it says is not known to dask-jobqueue.
    """
    from mechid.textfile.yamlio import FileKind, read_file

    keys = "slurm, pbs, lsf"
    data, _ = read_file(Path(path), str(path), FileKind("jobqueue file", "slurm: {…}", keys))
    name, words = next(iter(data.items()), ("", None))
    if name not in _QUEUES or len(data) != 1:
        raise DataError(
            f"a jobqueue file has one key, got {', '.join(data)}",
            where=str(path),
            remedy=hint(name, _QUEUES),
        )
    settings: Mapping[str, Any] = words if isinstance(words, dict) else {}
    jobs = settings.get("jobs")
    if not isinstance(jobs, int) or jobs < 1:
        raise DataError(f"jobs must be ≥ 1, got {jobs}", where=f"{path}: {name}")
    return _queued(name, jobs, {k: v for k, v in settings.items() if k != "jobs"}, str(path))


def _queued(name: str, jobs: int, settings: dict[str, Any], where: str) -> Connect:
    @contextmanager
    def connect() -> Iterator[Client]:
        distributed = _dask()
        try:
            import dask_jobqueue
            from dask_jobqueue.local import LocalCluster
        except ImportError:
            raise _missing("dask-jobqueue") from None
        names = {kind.lower(): getattr(dask_jobqueue, kind) for kind in dir(dask_jobqueue)}
        kind = LocalCluster if name == "local" else names[f"{name}cluster"]
        _check_words(kind, settings, f"{where}: {name}")
        cluster = kind(**{"scheduler_options": _NO_DASHBOARD} | settings)
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            cluster.scale(jobs=jobs)
            yield client

    return connect


def _check_words(kind: Any, settings: Mapping[str, Any], where: str) -> None:
    """Reject what dask-jobqueue does not know; it would leave half a cluster behind."""
    from dask_jobqueue.core import Job, JobQueueCluster

    known = [
        name
        for made in (kind.job_cls, Job, JobQueueCluster)
        for name in signature(made.__init__).parameters
        if name not in ("self", "scheduler", "name", "kwargs", "job_kwargs")
    ]
    for name in settings:
        if name not in known:
            raise DataError(f"unknown key {name}", where=where, remedy=hint(name, known))
    if missing := [name for name in ("cores", "memory") if name not in settings]:
        raise DataError(f"{missing[0]} is missing", where=where, remedy="add it")


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise _missing("dask.distributed") from None
    return distributed


def _missing(what: str) -> MechidError:
    return MechidError(
        f"this needs {what}, which is not installed",
        remedy='pip install "mechid[study]", or --workers 0',
    )
