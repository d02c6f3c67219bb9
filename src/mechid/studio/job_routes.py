"""Jobs: start, list, watch, stop."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from mechid.studio.answers import body_of, word
from mechid.studio.commands import prepared
from mechid.studio.events import events
from mechid.studio.refused import WRONG_INPUT, RefusedError
from mechid.studio.state import studio_of


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
        await studio.quick.call("included.check_files", path=path)
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
