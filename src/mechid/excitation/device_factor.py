"""Triangular factors of many matrices on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.excitation.criteria.batch import Arrays
from mechid.tape.cuda import cuda, loaded
from mechid.tape.factor_source import FACTOR_SOURCE, KERNEL, shared_numbers

_WARP = 32  # threads that run together
_USUAL_SHARED = 48 * 1024  # bytes of shared memory that every kernel may have


def on_device(device: str) -> Arrays:
    """Return CuPy, with factors by `device_factor`."""
    cp = cuda(device)

    def factor(A: Any) -> Any:
        columns = cp.ascontiguousarray(cp.swapaxes(A, 1, 2))[:, None]
        return device_factor(columns, cp.ones((len(A), 1)), device)

    return Arrays(cp, factor)


def device_factor(A: Any, weights: Any, device: str) -> Any:
    """Return R (n, b, b), upper triangular, with Rᵀ R = Aᵀ A of weighted rows.

    Parameters
    ----------
    A : CuPy array (n, groups, b, rows)
        May be part of a larger array along its second and third axis.
    weights : CuPy array (n, groups)
        Of the rows of each group.
    """
    cp = cuda(device)
    n, groups, b, rows = A.shape
    R = cp.zeros((n, b, b))
    if not R.size:
        return R
    kernel = loaded(FACTOR_SOURCE, device).get_function(KERNEL)
    shared = 8 * shared_numbers(b)
    if shared > _USUAL_SHARED:
        kernel.max_dynamic_shared_size_bytes = shared
    threads = -(-b // _WARP) * _WARP
    pitch = np.int64(A.strides[0] // A.itemsize)
    sizes = (np.int32(groups), np.int32(b), np.int32(rows), pitch)
    kernel((n,), (threads,), (*sizes, A, cp.ascontiguousarray(weights), R), shared_mem=shared)
    return R
