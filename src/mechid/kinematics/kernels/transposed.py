"""The transposed solution Jᵀ λ = x: what each row weighs in a function of the tree speeds.

Backwards through the pieces, with the factors that the closure has left in work.
"""

from mechid.kinematics.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def substitute_transposed(a, at, m, n, pivots, first, b):
    """Solve with the transposed factors of `factor`; b takes n entries and returns m of them.

    Rows that pivoting has left at the bottom, the redundant ones, get zeros.
    """
    for r in range(n):
        x = b[r] * a[at + r * n + r]
        b[r] = x
        for c in range(r + 1, n):
            b[c] -= a[at + r * n + c] * x
    for r in range(n - 1, 0, -1):
        x = b[r]
        for c in range(r):
            b[c] -= a[at + r * n + c] * x
    for r in range(n, m):
        b[r] = 0.0
    for c in range(n - 1, -1, -1):
        where = pivots[first + c]
        if where != c:
            b[c], b[where] = b[where], b[c]


@inlined_kernel
def weigh_piece(t, order, piece, x, i, weights, work):
    """Fill weights[row, i] for the rows of a piece, and take from x[i] what they explain."""
    m, n = piece.row_end - piece.row_start, piece.column_end - piece.column_start
    for j in range(n):
        c = order.items[piece.column_start + j]
        work.rhs[j] = x[i, c] * t.columns[c].scale
    substitute_transposed(work.factors, piece.factors, m, n, work.pivots, piece.pivots, work.rhs)
    for j in range(m):
        r = order.items[piece.row_start + j]
        f = work.rhs[j] * t.rows[r].scale
        weights[r, i] = f
        for k in range(order.before_start[r], order.before_start[r + 1]):
            step = order.before[k]
            x[i, step.column] -= work.entries[step.entry] * f


@kernel
def weigh_rows(t, order, x, i, weights, work):
    """Fill weights[:, i] (n_rows, …) with λ of Jᵀ λ = x[i] (…, n_v), which is overwritten.

    Entries of x that belong to independent coordinates are no equations.
    """
    for r in range(t.rows.size):
        weights[r, i] = 0.0
    for p in range(order.pieces.size - 1, -1, -1):
        piece = order.pieces[p]
        if piece.column_end > piece.column_start:
            weigh_piece(t, order, piece, x, i, weights, work)


@kernel
def weigh_driven_rows(t, order, n, x, weights, work):
    """Do the same for x[:n], one for each independent coordinate.

    Rows of pieces that a coordinate does not drive keep zeros: nothing moves there.
    """
    for r in range(t.rows.size):
        for i in range(n):
            weights[r, i] = 0.0
    for p in range(order.pieces.size - 1, -1, -1):
        piece = order.pieces[p]
        if piece.column_end > piece.column_start:
            for d in range(piece.driver_start, piece.driver_end):
                weigh_piece(t, order, piece, x, order.items[d], weights, work)
