"""The application: routes behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from mechid.errors import MechidError
from mechid.studio import (
    assets_route,
    file_routes,
    job_routes,
    log_routes,
    model_routes,
    run_routes,
)
from mechid.studio.answers import not_found, refused
from mechid.studio.security import Guard
from mechid.studio.state import Studio

_PARTS = (assets_route, file_routes, model_routes, log_routes, job_routes, run_routes)


def application(studio: Studio) -> Starlette:
    """Return the ASGI application of a studio."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await studio.close()

    app = Starlette(
        routes=[route for part in _PARTS for route in part.routes()],
        middleware=[Middleware(Guard, keys=studio.keys, port=studio.port)],
        exception_handlers={MechidError: refused, HTTPException: not_found},
        lifespan=lifespan,
    )
    app.state.studio = studio
    return app
