"""Jobs: start, list, watch, stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from mechid.studio.answers import body_of, word
from mechid.studio.commands import prepared
from mechid.studio.jobs import Jobs
from mechid.studio.refused import WRONG_INPUT, RefusedError
from mechid.studio.state import studio_of

EVERY = 0.25  # s between two looks at the files of a job
_ALIVE = 15.0  # s without news after which a comment shows that the connection is alive
_PART = 64 * 1024  # bytes of a log in one event
_HISTORY = 2000  # lines of progress that are told to a page that comes later


async def events(
    jobs: Jobs, name: str, seen: int = 0, closing: asyncio.Event | None = None
) -> AsyncIterator[str]:
    """Yield the events of a job, as text, until it ends or the server does.

    - `state`: the job, as `Jobs.get` returns it;
    - `progress`: `{entries: [{what, done, step, best, seconds}, …]}`, what is new;
    - `log`: `{text}`, whole lines; the id of the event is the place in the log, so that a browser
      that connects again goes on where it was.

    Parameters
    ----------
    jobs : Jobs
    name : str
    seen : int
        Bytes of the log that the browser has already.
    closing : asyncio.Event, optional
        Whether the server ends.
    """
    job = jobs.at(name)
    told, quiet, read = None, 0.0, 0
    while True:
        state = await asyncio.to_thread(jobs.get, name)
        ended = state["state"] != "running"
        entries, read = _progress(job / "progress.jsonl", read)
        if entries:
            yield _event("progress", {"entries": entries[-_HISTORY:]})
        text, seen = _lines(job / "output.log", seen, ended)
        while text:
            yield _event("log", {"text": text}, seen)
            text, seen = _lines(job / "output.log", seen, ended)
        if state != told:
            yield _event("state", state)
            told, quiet = state, 0.0
        if ended or (closing is not None and closing.is_set()):
            return
        quiet += EVERY
        if quiet >= _ALIVE:
            yield ": alive\n\n"
            quiet = 0.0
        await asyncio.sleep(EVERY)


def _event(kind: str, value: Any, place: int | None = None) -> str:
    mark = "" if place is None else f"id: {place}\n"
    return f"{mark}event: {kind}\ndata: {json.dumps(value)}\n\n"


def _lines(log: Path, start: int, ended: bool) -> tuple[str, int]:
    """Return whole lines of a log from a byte on, and where they end; the rest when it ended."""
    data = _from(log, start, _PART)
    if not ended or len(data) == _PART:
        cut = data.rfind(b"\n") + 1
        data = data[:cut] if cut or len(data) < _PART else data
    return data.decode(errors="replace"), start + len(data)


def _progress(path: Path, start: int) -> tuple[list[dict[str, Any]], int]:
    data = _from(path, start, 16 * _PART)
    data = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in data.splitlines()], start + len(data)


def _from(path: Path, start: int, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(most)
    except OSError:
        return b""


def routes() -> list[BaseRoute]:
    """Return what answers for jobs."""
    return [
        Route("/api/jobs", _all, methods=["GET"]),
        Route("/api/jobs", _start, methods=["POST"]),
        Route("/api/jobs/{name}", _one),
        Route("/api/jobs/{name}/events", _events),
        Route("/api/jobs/{name}/stop", _stop, methods=["POST"]),
    ]


async def _all(request: Request) -> Response:
    return JSONResponse(await asyncio.to_thread(studio_of(request).jobs.all))


async def _start(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    arguments = body.get("arguments", {})
    if not isinstance(arguments, dict):
        raise RefusedError(WRONG_INPUT, "arguments must be given by name")
    command = word(body, "command")
    ready = prepared(command, arguments, studio.folder, studio.scheduler)
    for path in ready.reads:
        await studio.quick.call("models.check_files", path=path)
    title = body.get("title")
    title = title[:200] if isinstance(title, str) and title else ready.title
    name = studio.jobs.start(command, ready.argv, title, ready.outputs)
    return JSONResponse({"id": name, **studio.jobs.get(name)}, status_code=201)


async def _one(request: Request) -> Response:
    return JSONResponse(studio_of(request).jobs.get(request.path_params["name"]))


async def _stop(request: Request) -> Response:
    jobs, name = studio_of(request).jobs, request.path_params["name"]
    jobs.stop(name)
    return JSONResponse(jobs.get(name))


async def _events(request: Request) -> Response:
    studio, name = studio_of(request), request.path_params["name"]
    studio.jobs.at(name)
    seen = request.headers.get("last-event-id", "0")
    return StreamingResponse(
        events(studio.jobs, name, int(seen) if seen.isdigit() else 0, studio.closing),
        media_type="text/event-stream",
    )
