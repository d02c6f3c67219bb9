"""The page, its files, and those of the viewer and of the report."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from mechid.studio.security import hashed_policy
from mechid.view.page import hosted_page


def routes() -> list[BaseRoute]:
    """Return what serves files of the package."""
    return [
        Route("/", _page),
        Route("/viewer", _viewer),
        *(
            Mount(f"/assets/{name}", StaticFiles(directory=_assets(name)))
            for name in ("studio", "view", "report")
        ),
    ]


def _assets(package: str) -> Path:
    return Path(str(files(f"mechid.{package}"))) / "assets"


async def _page(request: Request) -> Response:
    return _with_policy((_assets("studio") / "index.html").read_text("utf-8"))


async def _viewer(request: Request) -> Response:
    return _with_policy(_hosted())


@cache
def _hosted() -> str:
    return hosted_page("/assets/view")


def _with_policy(page: str) -> Response:
    return HTMLResponse(page, headers={"content-security-policy": hashed_policy(page)})
