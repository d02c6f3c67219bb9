"""Short batches on one thread: where cores are shared, threads wait longer for each other."""

from __future__ import annotations

import numba
import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    numba.set_num_threads(1)
