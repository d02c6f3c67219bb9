"""What belongs to one running studio."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from mechid.studio.folder import Folder
from mechid.studio.jobs import Jobs
from mechid.studio.security import Keys
from mechid.studio.worker import Worker


@dataclass(frozen=True, eq=False)
class Studio:
    """A folder, its jobs, and the processes that compute.

    Attributes
    ----------
    folder : Folder
    jobs : Jobs
    quick, slow, proofs : Worker
        For what follows the hand, for what takes seconds, and for the number of base parameters.
    keys : Keys
    port : int
    scheduler : str or None
        Address of a Dask scheduler for studies.
    opened : str or None
        Model or run, inside the folder, that the page shows first.
    most_upload : int
        Bytes of a file that is uploaded.
    closing : asyncio.Event
        Whether the server ends.
    """

    folder: Folder
    jobs: Jobs
    quick: Worker
    slow: Worker
    proofs: Worker
    keys: Keys
    port: int
    scheduler: str | None = None
    opened: str | None = None
    most_upload: int = 512 * 2**20
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        """End what pages wait for: computations and streams of events; jobs go on."""
        self.closing.set()
        await self.quick.close()
        await self.slow.close()
        await self.proofs.close()


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is for."""
    found: Studio = request.app.state.studio
    return found
