"""Files of the folder: list, read, write, upload, download."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from mechid.studio.commands import ZOO, studies
from mechid.studio.folder import MOST_TEXT, kind_of, listing, read_text, write_text
from mechid.studio.refused import WRONG_INPUT, RefusedError
from mechid.studio.state import Studio, studio_of

_PART = 2**20  # bytes that are written at a time


def routes() -> list[BaseRoute]:
    """Return what answers for files."""
    return [
        Route("/api/state", _state),
        Route("/api/files", _files),
        Route("/api/file", _read, methods=["GET"]),
        Route("/api/file", _write, methods=["PUT"]),
        Route("/api/upload", _upload, methods=["POST"]),
        Route("/api/download", _download),
        Route("/api/schema", _schema),
        Route("/api/template", _template),
        Route("/api/template/sheet", _sheet),
    ]


async def _state(request: Request) -> Response:
    studio = studio_of(request)
    return JSONResponse(
        {
            "folder": str(studio.folder.root),
            "scheduler": studio.scheduler,
            "opened": studio.opened,
            **await asyncio.to_thread(_shipped),
        }
    )


@cache
def _shipped() -> dict[str, Any]:
    """Return what the package brings along."""
    from importlib.metadata import version

    from mechid.importing.template import templates
    from mechid.modelfile.zoo import zoo
    from mechid.textfile.yamlio import read_file

    return {
        "version": version("mechid"),
        "zoo": [
            {
                "name": entry.name,
                "title": entry.title,
                "variants": [{"name": name, "title": title} for name, title in entry.variants],
            }
            for entry in zoo()
        ],
        "studies": [
            {"name": name, "title": str(read_file(path, path.name)[0].get("title", ""))}
            for name, path in studies().items()
        ],
        "templates": [{"name": t.name, "title": t.title, "sides": t.sides} for t in templates()],
    }


async def _files(request: Request) -> Response:
    folder = studio_of(request).folder
    return JSONResponse(await asyncio.to_thread(listing, folder))


async def _read(request: Request) -> Response:
    path = _path(request)
    if path.startswith(ZOO):
        text = await studio_of(request).quick.call(
            "new_model.zoo_text", name=path.removeprefix(ZOO)
        )
        return JSONResponse({"path": path, "text": text, "etag": None})
    text, tag = await asyncio.to_thread(read_text, studio_of(request).folder, path)
    return JSONResponse({"path": path, "text": text, "etag": tag}, headers={"etag": f'"{tag}"'})


async def _write(request: Request) -> Response:
    path, studio = _path(request), studio_of(request)
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MOST_TEXT:
            raise RefusedError(413, "the text is too large for a file of the editor", where=path)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise RefusedError(WRONG_INPUT, "the text is not UTF-8", where=path) from None
    known = request.headers.get("if-match")
    known = None if known is None else known.strip().strip('"')
    # Not in a thread: nobody else writes between the look at the tag and the writing.
    tag = write_text(studio.folder, path, text, known)
    return JSONResponse({"path": path, "etag": tag}, headers={"etag": f'"{tag}"'})


async def _upload(request: Request) -> Response:
    path, studio = _path(request), studio_of(request)
    place = studio.folder.new(path)
    replace = request.query_params.get("replace") == "1"
    if place.is_dir() or (place.exists() and not replace):
        raise RefusedError(409, "the file exists", where=path, remedy="choose another name")
    stated = request.headers.get("content-length", "0")
    if stated.isdigit() and int(stated) > studio.most_upload:
        raise _too_large(studio, path)
    await _store(request, studio, path, place)
    return JSONResponse({"path": path, "kind": kind_of(place)}, status_code=201)


async def _store(request: Request, studio: Studio, path: str, place: Path) -> None:
    """Write the body of a request beside its place, then move it there."""
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".upload-", delete=False) as file:
        beside = Path(file.name)
        try:
            size = 0
            async for part in request.stream():
                size += len(part)
                if size > studio.most_upload:
                    raise _too_large(studio, path)
                await asyncio.to_thread(file.write, part)
            file.close()
            beside.chmod(0o644)
            beside.replace(place)
        except OSError as error:
            raise RefusedError(
                507, f"cannot write the file: {error.strerror}", where=path
            ) from None
        finally:
            beside.unlink(missing_ok=True)


def _too_large(studio: Studio, path: str) -> RefusedError:
    most = studio.most_upload / 2**20
    return RefusedError(
        413, f"the file is larger than {most:g} MiB", where=path, remedy="copy it into the folder"
    )


async def _download(request: Request) -> Response:
    path = _path(request)
    place = studio_of(request).folder.existing(path)
    if not place.is_file():
        raise RefusedError(WRONG_INPUT, "this is not a file", where=path)
    return FileResponse(place, filename=place.name, media_type="application/octet-stream")


async def _schema(request: Request) -> Response:
    from mechid.modelfile import json_schema

    return JSONResponse(json_schema())


async def _template(request: Request) -> Response:
    found = await _hardpoints(request)
    return JSONResponse({"name": found["name"], "table": found["table"]})


async def _sheet(request: Request) -> Response:
    found = await _hardpoints(request)
    if found["book"] is None:
        raise RefusedError(
            WRONG_INPUT,
            "a workbook needs openpyxl",
            remedy='pip install "mechid[xlsx]", or use the CSV table',
        )
    return Response(
        base64.b64decode(found["book"]),
        media_type="application/octet-stream",
        headers={"content-disposition": f'attachment; filename="{found["name"]}.xlsx"'},
    )


async def _hardpoints(request: Request) -> dict[str, Any]:
    given = request.query_params
    options: dict[str, Any] = {k: given[k] for k in ("length", "mass") if k in given}
    if given.get("mirror") == "1":
        options["mirror"] = True
    found: dict[str, Any] = await studio_of(request).slow.call(
        "new_model.sheet", name=given.get("name", ""), options=options
    )
    return found


def _path(request: Request) -> str:
    path = request.query_params.get("path", "")
    if not path:
        raise RefusedError(WRONG_INPUT, "path is missing")
    return path
