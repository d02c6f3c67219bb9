"""QR decomposition with column pivoting, for matrices of known rank.

Sums run along rows, which stand in one piece in memory: all columns at once, not one by one.
"""

import numpy as np

from mechid.kinematics.kernels.jit import kernel


@kernel
def pivoted_qr(A, rank, order, Q, normal, sums):
    """Factor A (m, n) of the given rank in place: A[:, order] = Qᵀ R, by Householder reflections.

    The upper triangle of the first `rank` rows of A becomes R, Q (m, m) is orthogonal: its first
    `rank` rows span the columns of A, the others are normal to them. `normal` (m,) and `sums`
    (the larger of m and n,) are scratch.
    """
    m, n = A.shape
    for i in range(m):
        for j in range(m):
            Q[i, j] = 1.0 if i == j else 0.0
    for j in range(n):
        order[j] = j
    for k in range(rank):
        for j in range(k, n):
            sums[j] = 0.0
        for i in range(k, m):
            for j in range(k, n):
                sums[j] += A[i, j] * A[i, j]
        best = k
        for j in range(k + 1, n):
            if sums[j] > sums[best]:
                best = j
        norm = np.sqrt(sums[best])
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(m):
                A[i, k], A[i, best] = A[i, best], A[i, k]
        pivot = -norm if A[k, k] > 0.0 else norm
        for i in range(k, m):
            normal[i] = A[i, k]
        normal[k] -= pivot
        half = -normal[k] * pivot  # half of the square of the normal
        _reflect(A, k, k + 1, normal, half, sums)
        _reflect(Q, k, 0, normal, half, sums)
        A[k, k] = pivot


@kernel
def _reflect(A, top, first, normal, half, sums):
    """Mirror the columns of A from `first` on, in their rows from `top` on."""
    m, n = A.shape
    for j in range(first, n):
        sums[j] = 0.0
    for i in range(top, m):
        x = normal[i] / half
        for j in range(first, n):
            sums[j] += x * A[i, j]
    for i in range(top, m):
        x = normal[i]
        for j in range(first, n):
            A[i, j] -= x * sums[j]


@kernel
def solve_transposed(R, rank, order, Q, b, x):
    """Fill x (m,), the shortest solution of Aᵀ x = b, with the factors of `pivoted_qr`.

    b (n,) is overwritten.
    """
    for i in range(x.size):
        x[i] = 0.0
    for i in range(rank):
        y = b[order[i]]
        for j in range(i):
            y -= R[j, i] * b[order[j]]
        y /= R[i, i]
        b[order[i]] = y
        for j in range(x.size):
            x[j] += y * Q[i, j]
