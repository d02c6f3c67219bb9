"""Requests to the studio, answered in this process: by its routes, and by what its worker runs."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from mechid.errors import DataError
from mechid.modelfile.zoo import zoo_path
from mechid.studio import worker
from mechid.studio.app import application
from mechid.studio.folder import Folder
from mechid.studio.jobs import Jobs
from mechid.studio.security import HEADER, Keys
from mechid.studio.state import Studio

from . import fixtures, forms
from .forms import Seed

_MODEL, _LOG, _PORT = "five_bar.yaml", "five_bar.csv", 8000
# What the page sends, and where to.
_BODIES: dict[str, dict[str, Any]] = {
    "model/check": {"text": zoo_path("pendulum").read_text("utf-8"), "path": "new.yaml"},
    "model/scene": {"path": _MODEL},
    "model/sweep": {"path": "zoo:pendulum"},
    "model/limits": {"path": "zoo:pendulum", "text": None},
    "model/pose": {"path": _MODEL, "coordinates": {"q1": 0.1, "q2": -0.2}, "from": [0.0] * 4},
    "log/inspect": {"path": _LOG},
    "log/mapping": {"path": _LOG, "model": _MODEL},
    "log/check": {"path": _LOG, "model": _MODEL, "mapping": {"time": "time",
                  "positions": {"q1": "q1", "q2": {"channel": "q2", "unit": "rad"}},
                  "forces": {"M1": "M1", "M2": "M2"}}},
    "run/compare": {"paths": ["run", "other"]},
}  # fmt: skip


class _Here(worker.Worker):
    """A worker without a process of its own."""

    async def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        packed = worker._packed(worker._reply(json.loads(worker._packed(request)[8:])))
        reply: dict[str, Any] = json.loads(packed[8:])
        return reply


def seeds(_: Path) -> list[Seed]:
    """Return bodies of requests; their names say where they are sent."""
    return [
        Seed(f"{name.replace('/', '-')}.json", json.dumps(body).encode(), "json")
        for name, body in _BODIES.items()
    ]


def send(path: Path) -> None:
    """Send a request; one that is refused with a sentence is an error of mechid."""
    name = path.stem.replace("-", "/")
    answer = asyncio.run(_sent(f"/api/{name}", path.read_bytes()))
    content = answer.json()
    if answer.status_code >= 500:
        raise RuntimeError(f"{name}: {answer.status_code} {content['error']['what']}")
    if answer.status_code >= 400:
        error = content["error"]
        raise DataError(error["what"], where=error["where"], remedy=error["remedy"])


async def _sent(address: str, body: bytes) -> httpx.Response:
    studio = _studio()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(application(studio)),
        base_url=f"http://127.0.0.1:{_PORT}",
        cookies={f"mechid-studio-{_PORT}": studio.keys.session},
        headers={HEADER: "1", "content-type": "application/json"},
    ) as client:
        return await client.post(address, content=body)


@cache
def _studio() -> Studio:
    """Return a studio of the current folder, in which there are a model and a log."""
    place = Path.cwd()
    (place / _MODEL).write_text(zoo_path("five_bar").read_text("utf-8"), "utf-8")
    (place / _LOG).write_bytes(forms.csv_text(fixtures.log_columns()))
    here, folder = _Here(place), Folder(place.resolve())
    return Studio(
        folder=folder, jobs=Jobs(folder), quick=here, slow=here, proofs=here, keys=Keys(),
        port=_PORT,
    )  # fmt: skip
