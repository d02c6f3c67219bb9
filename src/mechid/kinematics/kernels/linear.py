"""Small dense linear algebra with row pivoting, for blocks that may have redundant rows."""

from mechid.kinematics.kernels.jit import kernel


@kernel
def factor(a, pivots):
    """Factor a (m, n), m >= n, in place as LU with row pivoting.

    Returns the pivot ratio and the sign of the determinant (0 where m > n: there is none).

    Of the m rows, the n that pivoting brings to the top carry the solution: redundant rows sink
    to the bottom, sample by sample. `pivots` records the exchanges. The ratio of the smallest to
    the largest pivot is 0 for a singular block.
    """
    m, n = a.shape
    smallest, largest = 1e300, 0.0
    sign = 1 if m == n else 0
    for c in range(n):
        best, where = -1.0, c
        for r in range(c, m):
            size = abs(a[r, c].real)
            if size > best:
                best, where = size, r
        pivots[c] = where
        if where != c:
            sign = -sign
            for j in range(n):
                a[c, j], a[where, j] = a[where, j], a[c, j]
        smallest = min(smallest, best)
        largest = max(largest, best)
        if best == 0.0:
            return 0.0, 0
        if a[c, c].real < 0.0:
            sign = -sign
        inverse = 1.0 / a[c, c]
        for r in range(c + 1, m):
            f = a[r, c] * inverse
            a[r, c] = f
            if f != 0.0:
                for j in range(c + 1, n):
                    a[r, j] -= f * a[c, j]
    return (smallest / largest if largest > 0.0 else 1.0), sign


@kernel
def substitute(a, pivots, b):
    """Solve with the factors of `factor`; b (m,) is overwritten, its first n entries hold x."""
    m, n = a.shape
    for c in range(n):
        where = pivots[c]
        if where != c:
            b[c], b[where] = b[where], b[c]
    for c in range(n):
        x = b[c]
        if x != 0.0:
            for r in range(c + 1, n):
                b[r] -= a[r, c] * x
    for c in range(n - 1, -1, -1):
        x = b[c]
        for j in range(c + 1, n):
            x -= a[c, j] * b[j]
        b[c] = x / a[c, c]
