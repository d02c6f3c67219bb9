"""CUDA kernels for many small matrices, compiled as plain C++, against NumPy."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from mechid.tape.factor_source import FACTOR_SOURCE, ROWS
from mechid.tape.factor_source import KERNEL as FACTOR
from mechid.tape.smallest_source import KERNEL as SMALLEST
from mechid.tape.smallest_source import smallest_source

from .compiled_c import as_plain_cpp, pointer

FACTORED = (
    "int groups, int columns, int rows, long long pitch, const double *A, const double *w, "
    "double *R"
)
MEASURED = (
    "long long n, long long block, long long pitch, int entries, const int *row, "
    "const int *column, const double *values, double *out"
)


def test_triangular_factors(tmp_path: Path) -> None:
    """Weighted groups of rows, in several passes, with a column of zeros and a short matrix."""
    given = "groups, columns, rows, pitch, A, w, R"
    source = "#define SHIM_THREADS\n"
    library = as_plain_cpp(FACTOR_SOURCE, FACTOR, FACTORED, given, tmp_path, source)
    rng = np.random.default_rng(2)
    for n, groups, b, rows in ((3, 2, 5, ROWS + 9), (2, 1, 4, 2), (1, 3, 1, 7)):
        A, w = rng.standard_normal((n, groups, b, rows)), rng.uniform(0.5, 2.0, (n, groups))
        A[0, :, b // 2] = 0.0
        R = np.full((n, b, b), np.nan)
        sizes = (*map(ctypes.c_int, (groups, b, rows)), ctypes.c_longlong(groups * b * rows))
        library.launch(n, b + 1, *sizes, pointer(A), pointer(w), pointer(R))
        stacked = (A * w[:, :, None, None]).swapaxes(2, 3).reshape(n, groups * rows, b)
        assert np.all(np.tril(R, -1) == 0.0)
        expected = stacked.swapaxes(1, 2) @ stacked
        np.testing.assert_allclose(R.swapaxes(1, 2) @ R, expected, atol=1e-13 * groups * rows)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 2), (7, 5), (24, 20)])
def test_smallest_singular_values(m: int, n: int, tmp_path: Path) -> None:
    given = "n, block, pitch, entries, row, column, values, out"
    library = as_plain_cpp(smallest_source(n), SMALLEST, MEASURED, given, tmp_path)
    rng = np.random.default_rng(3)
    motions, block = 3, 4
    J = rng.standard_normal((motions, block, m, n)) * (rng.uniform(size=(m, n)) < 0.7)
    J[..., np.arange(n), np.arange(n)] += 1.0
    J[1] *= np.geomspace(1, 1e-3, n)
    J[2, 0] = np.eye(m, n)  # all singular values are equal
    J[2, 1] = 0.0  # singular
    filled = np.any(J != 0, axis=(0, 1))
    row, column = (np.ascontiguousarray(x, dtype=np.int32) for x in np.nonzero(filled))
    values = np.ascontiguousarray(J[:, :, filled].swapaxes(1, 2))
    out = np.full((motions, block), np.nan)
    count = motions * block
    sizes = [ctypes.c_longlong(x) for x in (count, block, row.size * block)]
    tables = (pointer(row), pointer(column), pointer(values), pointer(out))
    library.launch(count, 1, *sizes, ctypes.c_int(row.size), *tables)
    expected = np.linalg.svd(J, compute_uv=False)[..., -1]
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-12)
