"""The process that computes: replaced when it hangs or dies, never confused about its replies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import subprocess
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from mechid.studio.refused import RefusedError
from mechid.studio.worker import MOST_REQUESTS, Worker, python

T = TypeVar("T")


def with_worker(folder: Path, seconds: float, work: Callable[[Worker], Awaitable[T]]) -> T:
    async def run() -> T:
        worker = Worker(folder, seconds)
        try:
            return await work(worker)
        finally:
            await worker.stop()

    # In a thread: tests with a browser leave the loop of theirs running in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(run())).result()


def test_errors_come_back_whole(tmp_path: Path) -> None:
    async def work(worker: Worker) -> RefusedError:
        with pytest.raises(RefusedError) as caught:
            await worker.call("answers.word", values={}, name="path")
        assert await worker.call("answers.word", values={"path": "a"}, name="path") == "a"
        return caught.value

    error = with_worker(tmp_path, 60, work)
    assert (error.status, error.what) == (422, "path is missing")


@pytest.mark.slow
def test_a_process_that_hangs_or_dies_is_replaced(tmp_path: Path) -> None:
    async def answer(worker: Worker) -> int:
        try:
            await worker.call("answers.word", values={"a": "b"}, name="a")
        except RefusedError as error:
            return error.status
        return 200

    async def work(worker: Worker) -> list[int]:
        found = [await answer(worker)]
        for number, seconds in ((signal.SIGSTOP, 0.5), (signal.SIGKILL, 60.0)):
            assert worker._process is not None
            os.kill(worker._process.pid, number)
            worker._seconds = seconds
            found.append(await answer(worker))
            worker._seconds = 60.0
            found.append(await answer(worker))
        return found

    assert with_worker(tmp_path, 60, work) == [200, 504, 200, 500, 200]


def test_every_request_gets_its_own_reply(tmp_path: Path) -> None:
    async def work(worker: Worker) -> list[str]:
        words = [{"values": {"a": str(k)}, "name": "a"} for k in range(MOST_REQUESTS)]
        calls = [asyncio.ensure_future(worker.call("answers.word", **word)) for word in words]
        await calls[10]
        calls[11].cancel()  # as when the browser goes away
        found = await asyncio.gather(*calls, return_exceptions=True)
        return [x for x in found if isinstance(x, str)]

    expected = [str(k) for k in range(MOST_REQUESTS) if k != 11]
    assert with_worker(tmp_path, 60, work) == expected


def test_more_requests_than_it_can_work_at_are_told_so(tmp_path: Path) -> None:
    async def work(worker: Worker) -> list[str | RefusedError]:
        words = [{"values": {"a": str(k)}, "name": "a"} for k in range(3 * MOST_REQUESTS)]
        calls = [worker.call("answers.word", **word) for word in words]
        found = await asyncio.gather(*calls, return_exceptions=True)
        found += [await worker.call("answers.word", **words[-1])]  # there is room again
        assert all(isinstance(x, str | RefusedError) for x in found)
        return [x for x in found if isinstance(x, str | RefusedError)]

    *found, later = with_worker(tmp_path, 60, work)
    assert found[:MOST_REQUESTS] == [str(k) for k in range(MOST_REQUESTS)]
    refused = [error for error in found if isinstance(error, RefusedError)]
    assert len(refused) == 2 * MOST_REQUESTS
    assert {error.status for error in refused} == {503}
    assert str(refused[0]) == f"the studio is busy with {MOST_REQUESTS} requests; try again"
    assert later == str(3 * MOST_REQUESTS - 1)


@pytest.mark.parametrize("started", [True, False])
def test_nobody_waits_for_a_studio_that_is_closed(tmp_path: Path, started: bool) -> None:
    async def work(worker: Worker) -> list[int]:
        words = {"values": {"a": "b"}, "name": "a"}
        calls = [asyncio.ensure_future(worker.call("answers.word", **words)) for _ in range(3)]
        await asyncio.sleep(0)  # the first one is starting a process
        while started and worker._process is None:
            await asyncio.sleep(0.01)
        await worker.close()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert worker._process is None
        return [error.status for error in found if isinstance(error, RefusedError)]

    assert with_worker(tmp_path, 60, work) == [500 if started else 503, 503, 503]


def test_it_ends_with_the_server(tmp_path: Path) -> None:
    process = subprocess.Popen(
        python("mechid.studio.worker"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    request = json.dumps(
        {"function": "answers.word", "words": {"values": {"a": "b"}, "name": "a"}}
    ).encode()
    process.stdin.write(struct.pack(">Q", len(request)) + request)
    process.stdin.flush()
    (size,) = struct.unpack(">Q", process.stdout.read(8))
    assert json.loads(process.stdout.read(size)) == {"value": "b"}
    process.stdin.close()  # as when the server is killed
    assert process.wait(timeout=20) == 0
    process.stdout.close()
