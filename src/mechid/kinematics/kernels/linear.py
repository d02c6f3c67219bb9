"""Small dense linear algebra with row pivoting, for systems that may have redundant rows.

The matrices of all pieces stand one after the other in a flat array; `at` is where one begins,
stored by rows. Their pivots stand likewise, from `first` on.
"""

from mechid.kinematics.kernels.jit import inlined_kernel


@inlined_kernel
def factor(a, at, m, n, pivots, first):
    """Factor a matrix (m, n), m >= n, in place as LU with row pivoting; pivots are inverted.

    Returns the ratio of the smallest to the largest pivot (0 for a singular matrix) and the sign
    of the determinant (0 where m > n: there is none). Of the m rows, the n that pivoting brings to
    the top carry the solution: redundant rows sink to the bottom, sample by sample.
    """
    smallest, largest = 1e300, 0.0
    sign = 1 if m == n else 0
    for c in range(n):
        best, where = -1.0, c
        for r in range(c, m):
            size = abs(a[at + r * n + c].real)
            if size > best:
                best, where = size, r
        top, other = at + c * n, at + where * n
        pivots[first + c] = where
        if where != c:
            sign = -sign
            for j in range(n):
                a[top + j], a[other + j] = a[other + j], a[top + j]
        smallest = min(smallest, best)
        largest = max(largest, best)
        if not best > 0.0:
            return 0.0, 0
        if a[top + c].real < 0.0:
            sign = -sign
        inverse = 1.0 / a[top + c]
        a[top + c] = inverse  # a product takes a quarter of the time of a division
        for r in range(c + 1, m):
            low = at + r * n
            f = a[low + c] * inverse
            a[low + c] = f
            if f != 0.0:
                for j in range(c + 1, n):
                    a[low + j] -= f * a[top + j]
    return smallest / largest, sign


@inlined_kernel
def substitute(a, at, n, pivots, first, b):
    """Solve with the factors of `factor`; b is overwritten, its first n entries hold x."""
    for c in range(n):
        where = pivots[first + c]
        if where != c:
            b[c], b[where] = b[where], b[c]
    for r in range(1, n):
        x = b[r]
        for c in range(r):
            x -= a[at + r * n + c] * b[c]
        b[r] = x
    for r in range(n - 1, -1, -1):
        x = b[r]
        for c in range(r + 1, n):
            x -= a[at + r * n + c] * b[c]
        b[r] = x * a[at + r * n + r]
