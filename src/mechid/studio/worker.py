"""Computations in a process of their own: a hang or a crash there does not take the server along.

Requests and replies are JSON with their length in front, on stdin and stdout of the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from mechid.errors import MechidError
from mechid.studio.refused import WRONG_INPUT, RefusedError

SECONDS, PROOF = 60.0, 600.0  # that a computation, and a proof, may take
MOST_REQUESTS = 16  # that one process has taken, the one it works at and those that wait
_LENGTH = struct.Struct(">Q")
_MEMORY = 8 * 2**30  # bytes of data that the process may have


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module, without modules of the current folder.

    The folder of a studio holds files of others: a `numpy.py` there must not be imported.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


class Worker:
    """One process that computes, one request after the other; replaced when it hangs or dies."""

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._taken = 0
        self._closed = False

    async def call(self, function: str, **words: Any) -> Any:
        """Return what a function of `mechid.studio` returns for these keywords.

        Parameters
        ----------
        function : str
            `module.function`.
        **words
            JSON.

        Raises
        ------
        MechidError
            What the function raised; with status 503 if too many wait already, 504 if it took too
            long, 500 if it crashed.
        """
        if self._taken >= MOST_REQUESTS:
            raise RefusedError(
                503, f"the studio is busy with {self._taken} requests", remedy="try again"
            )
        self._taken += 1
        try:
            async with self._turn:
                reply = await self._reply_to({"function": function, "words": words})
        finally:
            self._taken -= 1
        if "error" in reply:
            error = reply["error"]
            raise RefusedError(
                error["status"], error["what"], where=error["where"], remedy=error["remedy"]
            )
        return reply["value"]

    async def _reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a request, whose turn it is."""
        self._refuse_if_closed()
        try:
            return await asyncio.wait_for(self._exchange(request), self._seconds)
        except TimeoutError:
            await self.stop()
            raise RefusedError(
                504,
                f"this took more than {self._seconds:g} s and was stopped",
                remedy="run the command instead",
            ) from None
        except (asyncio.IncompleteReadError, OSError):
            await self.stop()
            raise RefusedError(500, "the computation ended unexpectedly") from None
        except BaseException:
            await self.stop()  # its reply would answer the next request
            raise

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RefusedError(503, "the studio is being closed")

    async def close(self) -> None:
        """End the process for good; whoever waits for it is told so."""
        self._closed = True
        await self.stop()

    async def stop(self) -> None:
        """End the process; the next call starts another one."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *python("mechid.studio.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                cwd=self._folder,
                env={**os.environ, "PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            self._refuse_if_closed()  # while it was being started, when there was nothing to end
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_packed(request))
        await process.stdin.drain()
        (size,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
        reply: dict[str, Any] = json.loads(await process.stdout.readexactly(size))
        return reply


def _packed(value: Any) -> bytes:
    data = json.dumps(value, allow_nan=False).encode()
    return _LENGTH.pack(len(data)) + data


def _reply(request: dict[str, Any]) -> dict[str, Any]:
    from mechid.runs.files import plain

    module, _, name = request["function"].rpartition(".")
    try:
        function: Callable[..., Any] = getattr(import_module(f"mechid.studio.{module}"), name)
        return {"value": plain(function(**request["words"]))}
    except MechidError as error:
        status = getattr(error, "status", WRONG_INPUT)
        words = {"what": error.what, "where": error.where, "remedy": error.remedy}
    except MemoryError:
        status, words = WRONG_INPUT, {"what": "not enough memory", "where": "", "remedy": ""}
    except Exception as error:
        # A mistake of ours; the terminal has the rest of it.
        sys.excepthook(type(error), error, error.__traceback__)
        what = f"unexpected {type(error).__name__} (the terminal says more)"
        status, words = 500, {"what": what, "where": "", "remedy": "report it"}
    return {"error": {"status": status, **words}}


def _serve(requests: BinaryIO, replies: BinaryIO) -> None:
    while head := requests.read(_LENGTH.size):
        (size,) = _LENGTH.unpack(head)
        replies.write(_packed(_reply(json.loads(requests.read(size)))))
        replies.flush()


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it, and the server says so
    _limit_memory()
    kept = os.dup(1)
    os.dup2(2, 1)  # what libraries print does not get between the replies
    _serve(sys.stdin.buffer, os.fdopen(kept, "wb"))
