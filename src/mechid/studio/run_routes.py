"""Runs: list, report, comparison."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from mechid.errors import DataError
from mechid.runs.files import read_json
from mechid.studio.answers import body_of
from mechid.studio.commands import run
from mechid.studio.folder import Folder, listing
from mechid.studio.refused import WRONG_INPUT, RefusedError
from mechid.studio.security import ALONE_POLICY
from mechid.studio.state import studio_of

_THEMES = {"dark": "(min-width: 0)", "light": "(max-width: 0)"}  # always, never
MOST_RUNS = 8  # side by side


def routes() -> list[BaseRoute]:
    """Return what answers for runs."""
    return [
        Route("/api/runs", _runs),
        Route("/api/run/report", _report),
        Route("/api/run/verdict", _verdict),
        Route("/api/run/compare", _compare, methods=["POST"]),
    ]


async def _runs(request: Request) -> Response:
    return JSONResponse(await asyncio.to_thread(_found, studio_of(request).folder))


def _found(folder: Folder) -> list[dict[str, Any]]:
    """Return the runs of a folder, as their heads describe them, the latest first."""
    found = []
    for entry in listing(folder):
        if entry["kind"] != "run":
            continue
        place = folder.root / entry["path"]
        with suppress(DataError, KeyError, TypeError):
            head = read_json(place / "run.json")
            found.append(
                {
                    "path": entry["path"],
                    "model": head["model"]["name"],
                    "mechanism": head["model"]["mechanism"],
                    "command": head["command"],
                    "stages": head["stages"],
                    "summary": head["summary"],
                    "warnings": head["warnings"],
                    "modified": (place / "run.json").stat().st_mtime,
                }
            )
    return sorted(found, key=lambda entry: -entry["modified"])


async def _report(request: Request) -> Response:
    """Show the report of a run, or of several: a page complete in itself, in an origin of its own.

    `theme` says which of its two looks it has, whatever the system prefers.
    """
    studio = studio_of(request)
    paths = _checked(studio.folder, request.query_params.getlist("path"))
    if len(paths) > 1:
        text = await studio.slow.call("runs.comparison", paths=paths)
    else:
        page = await studio.slow.call("runs.report", path=paths[0])
        text = await asyncio.to_thread(studio.folder.existing(page).read_text, "utf-8")
    if theme := _THEMES.get(request.query_params.get("theme", "")):
        text = text.replace("(prefers-color-scheme: dark)", theme)
    return HTMLResponse(text, headers={"content-security-policy": ALONE_POLICY})


async def _verdict(request: Request) -> Response:
    studio = studio_of(request)
    path = run(studio.folder, "path", request.query_params.get("path", ""))
    return JSONResponse(await studio.slow.call("runs.verdict", path=path))


async def _compare(request: Request) -> Response:
    studio, body = studio_of(request), await body_of(request)
    paths = _checked(studio.folder, body.get("paths"))
    return JSONResponse(await studio.slow.call("runs.compare", paths=paths))


def _checked(folder: Folder, paths: Any) -> list[str]:
    if not isinstance(paths, list) or not 1 <= len(paths) <= MOST_RUNS:
        raise RefusedError(WRONG_INPUT, f"give 1 to {MOST_RUNS} runs")
    return [run(folder, "path", path) for path in paths]
