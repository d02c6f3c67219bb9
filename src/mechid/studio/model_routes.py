"""Models: new ones, and what is asked about the one in the editor."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from mechid.studio.answers import body_of, word
from mechid.studio.commands import ZOO, file, model
from mechid.studio.refused import WRONG_INPUT, RefusedError
from mechid.studio.state import Studio, studio_of


def routes() -> list[BaseRoute]:
    """Return what answers for models."""
    return [
        Route("/api/model/new", _new, methods=["POST"]),
        Route("/api/model/check", _check, methods=["POST"]),
        Route("/api/model/scene", _scene, methods=["POST"]),
        Route("/api/model/pose", _pose, methods=["POST"]),
        Route("/api/model/sweep", _sweep, methods=["POST"]),
        Route("/api/model/base", _base, methods=["POST"]),
        Route("/api/model/limits", _limits, methods=["POST"]),
    ]


def model_words(studio: Studio, body: dict[str, Any]) -> dict[str, str]:
    """Return text and path of the model that a request is about, the path checked."""
    found = {name: body[name] for name in ("text", "path") if body.get(name) is not None}
    if not found or not all(isinstance(value, str) for value in found.values()):
        raise RefusedError(WRONG_INPUT, "text or path of a model is missing")
    if "path" in found and not found["path"].startswith(ZOO):
        path = found["path"]
        if "text" in found:
            studio.folder.inside(path)  # a new file is not there yet
        else:
            model(studio.folder, "path", path)
    return found


async def _new(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    source, path = word(body, "from"), word(body, "path")
    kind, _, name = source.partition(":")
    if kind == "import":
        studio.folder.existing(name)
    table = body.get("hardpoints")
    if table is not None:
        studio.folder.existing(word(body, "hardpoints"))
    options = {"mirror": body.get("mirror") is True}
    studio.folder.new(path)
    made = await studio.slow.call(
        "new_model.new", source=source, path=path, table=table, options=options
    )
    return JSONResponse(made, status_code=201)


async def _check(request: Request) -> Response:
    studio = studio_of(request)
    words = model_words(studio, await body_of(request))
    return JSONResponse(await studio.quick.call("models.check", **words))


async def _scene(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    words = model_words(studio, body)
    if body.get("motion") is not None:
        motion = file(studio.folder, "motion", body["motion"])
        await studio.quick.call("models.check_files", path=motion)
        return JSONResponse(await studio.slow.call("motions.scene", motion=motion, **words))
    return JSONResponse(await studio.quick.call("models.scene", **words))


async def _limits(request: Request) -> Response:
    studio = studio_of(request)
    words = model_words(studio, await body_of(request))
    return JSONResponse(await studio.slow.call("motions.limits", **words))


async def _sweep(request: Request) -> Response:
    studio = studio_of(request)
    words = model_words(studio, await body_of(request))
    return JSONResponse(await studio.quick.call("models.sweep", **words))


async def _pose(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    words: dict[str, Any] = dict(model_words(studio, body))
    coordinates, start = body.get("coordinates", {}), body.get("from")
    if not isinstance(coordinates, dict) or not all(map(_number, coordinates.values())):
        raise RefusedError(WRONG_INPUT, "coordinates must be numbers by name")
    if start is not None and not (isinstance(start, list) and all(map(_number, start))):
        raise RefusedError(WRONG_INPUT, "from must be q of another pose")
    return JSONResponse(
        await studio.quick.call("models.pose", coordinates=coordinates, start=start, **words)
    )


async def _base(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    words = model_words(studio, body)
    certify = body.get("certify") is True
    worker = studio.proofs if certify else studio.slow
    return JSONResponse(await worker.call("base.base", certify=certify, **words))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
