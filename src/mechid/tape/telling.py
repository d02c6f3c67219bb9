"""A line of the log where something takes long."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

TELL_AFTER = 2.0  # s without a word


@contextmanager
def telling(words: str) -> Iterator[None]:
    """Log what is being done inside the block, if it takes longer than a moment."""
    timer = Timer(TELL_AFTER, logging.getLogger("mechid").info, [words])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
