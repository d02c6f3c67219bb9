"""Logs: what is in them, which channel is what, what is wrong."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from mechid.studio.answers import body_of, word
from mechid.studio.commands import file, log, model
from mechid.studio.refused import WRONG_INPUT, RefusedError
from mechid.studio.state import studio_of


def routes() -> list[BaseRoute]:
    """Return what answers for logs."""
    return [
        Route("/api/log/inspect", _inspect, methods=["POST"]),
        Route("/api/log/mapping", _mapping, methods=["POST"]),
        Route("/api/log/check", _check, methods=["POST"]),
    ]


async def _inspect(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    path = log(studio.folder, "path", word(body, "path"))
    return JSONResponse(await studio.slow.call("logs.inspect", path=path))


async def _mapping(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    if body.get("file") is not None:
        known = file(studio.folder, "file", body["file"])
        return JSONResponse(await studio.slow.call("logs.mapping_of", path=known))
    path = log(studio.folder, "path", word(body, "path"))
    model(studio.folder, "model", word(body, "model"))
    return JSONResponse(await studio.slow.call("logs.guess", path=path, model=body["model"]))


async def _check(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    path = log(studio.folder, "path", word(body, "path"))
    model(studio.folder, "model", word(body, "model"))
    mapping = body.get("mapping")
    if isinstance(mapping, str):
        mapping = file(studio.folder, "mapping", mapping)
    elif not isinstance(mapping, dict | None):
        raise RefusedError(WRONG_INPUT, "mapping must be a file or its content")
    return JSONResponse(
        await studio.slow.call("logs.check", path=path, model=body["model"], mapping=mapping)
    )
