"""A studio for tests: a folder with a model, a server for it, and clients that talk to it."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from mechid.modelfile.zoo import zoo_path
from mechid.studio.app import application
from mechid.studio.folder import Folder
from mechid.studio.jobs import Jobs
from mechid.studio.security import Keys
from mechid.studio.state import Studio
from mechid.studio.worker import Worker

MOST_UPLOAD = 100_000
_SECONDS = 60.0  # for a first computation on a busy machine


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio that is served, with a small limit for uploads; one for all tests."""
    place = tmp_path_factory.mktemp("studio").resolve() / "project"
    place.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Studio(
            folder=Folder(place),
            jobs=Jobs(Folder(place)),
            quick=Worker(place),
            slow=Worker(place),
            proofs=Worker(place),
            keys=Keys(),
            port=listener.getsockname()[1],
            most_upload=MOST_UPLOAD,
        )
        config = uvicorn.Config(application(found), log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield found
        server.should_exit = True
        thread.join()


@pytest.fixture
def folder(studio: Studio) -> Path:
    """Its folder: a model and nothing else, beside a file that nobody may read."""
    place = studio.folder.root
    for entry in place.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.copy(zoo_path("four_bar"), place / "linkage.yaml")
    (place.parent / "secret.txt").write_text("the secret", encoding="utf-8")
    return place


@pytest.fixture
def stranger(studio: Studio) -> Iterator[httpx.Client]:
    """A client that was not given the token."""
    with httpx.Client(base_url=f"http://127.0.0.1:{studio.port}", timeout=_SECONDS) as client:
        yield client


@pytest.fixture
def client(stranger: httpx.Client, studio: Studio, folder: Path) -> httpx.Client:
    """The page in the browser that opened the address."""
    answer = stranger.get(f"/?token={studio.keys.token}")
    assert answer.status_code == 303
    stranger.headers["x-mechid"] = "1"
    return stranger
