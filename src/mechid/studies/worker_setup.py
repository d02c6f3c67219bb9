"""Loaded by Dask in every worker process of this machine, before it starts to work."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Leave Ctrl-C to the process that was started by the user: it ends the workers in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
