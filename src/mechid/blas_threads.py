"""One thread of linear algebra: results that do not depend on the number of cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy and SciPy use one thread of BLAS inside the block, or in a decorated function.

    Sums of long vectors depend on the number of threads in their last bits. Matrices here are
    small, so that several threads wait for each other: with two of them an identification takes
    three times as long.
    """
    import scipy.linalg  # noqa: F401 - it has a BLAS of its own, which must be loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
