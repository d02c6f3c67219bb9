"""The page, its files, and those of the viewer and of the report."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from mechid.studio.security import hashed_policy
from mechid.studio.state import studio_of

_VIEW = "/assets/view"


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
    # Not asked of the package itself, which would load all of it.
    return Path(__file__).parent.parent / package / "assets"


async def _page(request: Request) -> Response:
    return _with_policy((_assets("studio") / "index.html").read_text("utf-8"))


async def _viewer(request: Request) -> Response:
    return _with_policy(await studio_of(request).quick.call("models.viewer", base=_VIEW))


def _with_policy(page: str) -> Response:
    return HTMLResponse(page, headers={"content-security-policy": hashed_policy(page)})
