"""Serving a folder on this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from mechid.errors import DataError, MechidError
from mechid.outputs import is_unicode, real_path

HOST = "127.0.0.1"


def serve_studio(
    path: str | Path = ".",
    *,
    port: int = 0,
    scheduler: str | None = None,
    started: Callable[[str], None] = print,
) -> None:
    """Serve the studio for a folder, until it is interrupted (Ctrl-C).

    Parameters
    ----------
    path : str or Path
        A folder, or a model file or run in one, which is then shown first.
    port : int
        0: one that is free.
    scheduler : str, optional
        Address of a Dask scheduler for studies, as tcp://host:8786.
    started : callable
        Is given the address with its token, when the server is ready.

    Raises
    ------
    DataError
        If there is no such folder, or the port is in use.
    MechidError
        If Starlette and uvicorn are not installed.

    Examples
    --------
    >>> import mechid
    >>> mechid.serve_studio("no such folder")
    Traceback (most recent call last):
    mechid.errors.DataError: no such folder: there is no such file or folder
    """
    place, opened = _folder_of(Path(path))
    if not (find_spec("starlette") and find_spec("uvicorn")):
        raise MechidError(
            "the studio needs Starlette and uvicorn", remedy='pip install "mechid[studio]"'
        )
    import uvicorn

    from mechid.studio.app import application
    from mechid.studio.folder import Folder
    from mechid.studio.jobs import Jobs
    from mechid.studio.security import Keys
    from mechid.studio.state import Studio
    from mechid.studio.worker import PROOF, Worker

    folder = Folder(place)
    with _bound(port) as listener:
        studio = Studio(
            folder=folder,
            jobs=Jobs(folder),
            quick=Worker(place),
            slow=Worker(place),
            proofs=Worker(place, PROOF),
            keys=Keys(),
            port=listener.getsockname()[1],
            scheduler=scheduler,
            opened=opened,
        )
        app = application(studio)
        address = f"http://{HOST}:{studio.port}/?token={studio.keys.token}"
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=64 * 1024,
        )
        # The socket takes requests from here on; they wait until the server runs.
        started(address)

        class Server(uvicorn.Server):
            """A server that lets nobody wait when it ends."""

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                await studio.close()
                await super().shutdown(sockets)

        Server(config).run(sockets=[listener])


def _folder_of(path: Path) -> tuple[Path, str | None]:
    """Return the folder to serve, and what in it is shown first."""
    if not path.exists():
        raise DataError("there is no such file or folder", where=str(path))
    place = real_path(path)
    if not is_unicode(str(place)):  # no page can show it
        raise DataError("the name is not UTF-8", where=str(place), remedy="rename the folder")
    run = place.is_dir() and (place / "run.json").is_file()
    if place.is_dir() and not run:
        return place, None
    return place.parent, place.name


def _bound(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        words = getattr(error, "strerror", None) or str(error)
        raise DataError(
            f"cannot use port {port}: {words}", remedy="choose another one, --port 0 for any"
        ) from None
    listener.listen(128)
    return listener
