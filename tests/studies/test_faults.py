"""Faults on a scheduler and two workers that run as processes of their own.

Whatever happens, no finished cell is lost or twice in the result, none is half written, and the
tables are those of an undisturbed run, bit for bit.
"""

from __future__ import annotations

import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mechid.errors import DataError, MechidError
from mechid.studies import cluster
from mechid.studies.result import load_study_result
from mechid.studies.run import run_study
from mechid.studies.work import Task

from .dask_processes import DaskProcesses, wait_until

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from mechid.studies.study import Study

    from .conftest import Read

TEXT = """\
title: To be disturbed
experiment: toy
settings: {{seconds: 0.03, log: {log}, die: {die}}}
axes:
  n: [3, 5]
  seed: {{count: 40}}
"""


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    import os

    here = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *filter(None, sys.path)])
    processes = DaskProcesses(tmp_path_factory.mktemp("dask"))
    processes.start()
    yield processes
    processes.kill()


@pytest.fixture
def disturbed(study: Read, tmp_path: Path) -> Study:
    (tmp_path / "log").mkdir()
    return study(TEXT.format(log=tmp_path / "log", die=tmp_path / "die"))


def check(disturbed: Study) -> None:
    """Compare with an undisturbed run in this process."""
    assert len(list(Path("log").iterdir())) == 80
    run_study(disturbed, "undisturbed", workers=0)
    for name in ("results.parquet", "provenance.json", "study.yaml"):
        assert Path("out", name).read_bytes() == Path("undisturbed", name).read_bytes()
    assert not list(Path("out").rglob(".*"))


def count(seed: int, n: int) -> int:
    """How often a cell was computed."""
    return len(Path(f"log/{seed}-{n}").read_text())


def client_code(where: str) -> str:
    """Return what another process does to run the study."""
    return (
        "from mechid.studies import cells, registry\n"
        "registry.EXPERIMENTS = cells.EXPERIMENTS = {'toy': 'toy_experiment'}\n"
        "from mechid.studies.run import run_study\n"
        f"run_study('made.yaml', 'out', {where})\n"
    )


def once(fault: Callable[[], None]) -> Callable[[int, int], None]:
    """Return a watch that causes a fault when some cells are done."""
    left = [fault]

    def watch(done: int, total: int) -> None:
        if 0 < done < total and left:
            left.pop()()

    return watch


def kept() -> set[tuple[int, int]]:
    """Seed and n of the cells that are in the folder; each file can be read."""
    table = load_study_result("out").table()
    return set(zip(table["seed"].to_pylist(), table["n"].to_pylist(), strict=True))


# In this order: the last ones leave fewer workers.


def test_a_bug_in_a_cell_leaves_the_others(dask: DaskProcesses, study: Read) -> None:
    text = "experiment: toy\naxes: {law: [normal, bug, other]}"
    with pytest.raises(MechidError, match="1 of 3 cells failed; the first with KeyError"):
        run_study(study(text), "out", scheduler=dask.address)
    assert load_study_result("out").status()[0]["done"] == 2


def test_the_client_is_killed_and_comes_back(dask: DaskProcesses, disturbed: Study) -> None:
    client = subprocess.Popen([sys.executable, "-c", client_code(f"scheduler='{dask.address}'")])
    wait_until(lambda: Path("log").exists() and len(list(Path("log").iterdir())) > 10)
    client.send_signal(signal.SIGKILL)
    client.wait()
    had = kept()
    assert 0 < len(had) < 80
    before = {cell: count(*cell) for cell in had}
    run_study(disturbed, "out", scheduler=dask.address)
    # What was finished then was not computed again.
    assert {cell: count(*cell) for cell in had} == before
    check(disturbed)


def test_the_disk_is_full(dask: DaskProcesses, disturbed: Study) -> None:
    """No worker can write a file of more than some bytes: as a full disk, without one."""

    def allow(size: int) -> None:
        for worker in dask.workers:
            hard = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (size, hard))

    with pytest.raises(DataError, match=r"cells/results/\w+\.parquet: cannot write the file: "):
        run_study(disturbed, "out", scheduler=dask.address, watch=once(lambda: allow(1000)))
    allow(resource.RLIM_INFINITY)
    assert 0 < len(kept()) < 80
    wait_until(lambda: not list(Path("out").rglob(".*")))  # what a worker was just writing
    run_study(disturbed, "out", scheduler=dask.address)
    check(disturbed)


def test_a_worker_is_killed(dask: DaskProcesses, disturbed: Study) -> None:
    run_study(disturbed, "out", scheduler=dask.address, watch=once(Path("die").touch))
    assert not Path("die").exists()
    wait_until(lambda: any(worker.poll() is not None for worker in dask.workers))
    check(disturbed)


def test_the_scheduler_is_restarted(dask: DaskProcesses, disturbed: Study) -> None:
    had = set()

    def restart() -> None:
        dask.kill()
        had.update(kept())
        dask.start()

    run_study(disturbed, "out", scheduler=dask.address, watch=once(restart))
    assert had
    # What was finished before was not computed again.
    assert {count(*cell) for cell in had} == {1}
    check(disturbed)


def test_time_before_the_scheduler_is_lost_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for, however long it had worked; in vain only for a while."""
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    rounds = iter([True, False])

    def round_of_tasks(*_: object) -> None:
        if next(rounds):
            time.sleep(2 * cluster.PATIENCE)
            raise TimeoutError

    monkeypatch.setattr(cluster, "_round", round_of_tasks)
    task = Task("p", "toy_experiment", ("a",), (), ".", "", {})
    given = (lambda: [task]), nullcontext, (lambda *_: None), (lambda: False)
    assert cluster.run_tasks(*given) == []
    rounds = iter([True] * 9)
    with pytest.raises(MechidError, match=r"a worker cannot be reached \(TimeoutError\)"):
        cluster.run_tasks(*given)


def test_all_workers_are_killed(
    dask: DaskProcesses, disturbed: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one the run ends and says so; with a new one it goes on where it was.

    They are killed when they have results that nobody has fetched yet.
    """

    def kill() -> None:
        wait_until(lambda: len(list(Path("log").iterdir())) > 20)
        dask.kill_workers()

    said = r"no worker for 5 s; what is done is kept: start workers \(dask worker tcp://"
    with monkeypatch.context() as patched:
        patched.setattr("mechid.studies.cluster.PATIENCE", 5.0)
        with pytest.raises(MechidError, match=said):
            run_study(disturbed, "out", scheduler=dask.address, watch=once(kill))
    had = kept()
    assert 0 < len(had) < 80
    dask.start_worker()
    run_study(disturbed, "out", scheduler=dask.address)
    assert {count(*cell) for cell in had} == {1}
    check(disturbed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slurrm: {jobs: 1}", "a jobqueue file has one key, got slurrm; did you mean slurm?"),
        ("slurm: {cores: 1}", "jobs must be ≥ 1, got None"),
        (
            "slurm: {jobs: 1, cores: 1, memory: 1GB, quueue: x}",
            "unknown key quueue; did you mean queue?",
        ),
        ("slurm: {jobs: 1, cores: 1}", "memory is missing"),
        ("", "the file is empty"),
    ],
)
def test_jobqueue_files_with_mistakes(study: Read, text: str, message: str) -> None:
    Path("queue.yaml").write_text(text)
    with pytest.raises(MechidError) as caught:
        run_study(study("experiment: toy"), "out", jobqueue="queue.yaml")
    assert str(caught.value).startswith("queue.yaml")
    assert message in str(caught.value)


def test_workers_through_a_queue(study: Read) -> None:
    """The queue of dask-jobqueue that starts jobs on this machine; in a process of its own."""
    Path("queue.yaml").write_text("local: {jobs: 1, cores: 1, processes: 1, memory: 1GB}")
    study("experiment: toy\naxes: {seed: [1, 2]}")
    subprocess.run([sys.executable, "-c", client_code("jobqueue='queue.yaml'")], check=True)
    assert load_study_result("out").status()[0]["done"] == 2


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:9", r"the scheduler or a worker cannot be reached \(tcp://127.0.0.1:9: "),
        ("nonsense", "^nonsense: not the address of a scheduler: .*; give it as tcp://"),
        ("nonsense://x", "^nonsense://x: not the address of a scheduler: "),
    ],
)
def test_a_scheduler_that_is_not_there(study: Read, address: str, message: str) -> None:
    """In a process of its own: what it says at its very end counts, too."""
    study("experiment: toy")
    code = "from mechid.studies import cluster\ncluster.PATIENCE = 0.5\n"
    line = [sys.executable, "-c", code + client_code(f"scheduler={address!r}")]
    ended = subprocess.run(line, capture_output=True, text=True)
    *_, last = ended.stderr.splitlines()
    kind, _, words = last.partition(": ")
    assert ended.returncode == 1
    assert kind.startswith("mechid.errors.")
    assert re.search(message, words)


def test_a_server_that_is_no_scheduler(disturbed: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechid.studies.cluster.PATIENCE", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            there, _ = server.accept()
            with there:
                there.sendall(b"HTTP/1.0 400 Bad Request\r\n" + b"x" * 1000)

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        with pytest.raises(MechidError, match="the scheduler or a worker cannot be reached"):
            run_study(disturbed, "out", scheduler=f"tcp://127.0.0.1:{port}")
