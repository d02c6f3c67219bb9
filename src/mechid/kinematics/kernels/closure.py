"""One sample: close the loops piece by piece, then speeds and accelerations."""

from typing import NamedTuple

import numpy as np

from mechid.kinematics.kernels.jit import allocating_kernel, inlined_kernel, kernel
from mechid.kinematics.kernels.linear import factor, substitute
from mechid.kinematics.kernels.links import (
    move_links,
    place_directions,
    place_links,
    place_markers,
    turn_ball,
)
from mechid.kinematics.kernels.rows import row_accelerations, row_entries, row_errors
from mechid.kinematics.tables import BALL

OK, NOT_CLOSED, SINGULAR, CROSSED = 0, 1, 2, 3

# A Newton step below this (dimensionless) leaves an error of its square: rounding.
LAST_STEP = 1e-9
# A step below this changes nothing that counts: it is taken, but rates solved with the matrix
# before it are as good as with the one after it. Rounding of the rows makes steps of this size.
ROUNDING = 1e-15
# A step with the factors of a near pose must leave nothing: poses are closed to the last digit.
EPS = 2.220446049250313e-16
# Steps are shortened to this many radians, or parts of the mechanism's size.
LONGEST_STEP = 0.5
MOST_STEPS = 25
# Below this ratio of pivots speeds would lose half their digits.
SINGULAR_RATIO = 1e-8
# Redundant rows take no part in the steps; they must be closed this well (dimensionless).
CLOSED = 1e-9
# The part of an error that is left by factors of a near pose is taken to be larger than the
# distance of the poses by this factor.
CAUTION = 4.0
# After a Newton step below this, the next one is about its square: the factors serve for it, too.
SHORT_STEP = 1e-5

# rows of Work.vectors: origin, velocity, angular velocity, acceleration, angular acceleration
ORIGIN, VELOCITY, OMEGA, ACCELERATION, ALPHA = 0, 1, 2, 3, 4


class Work(NamedTuple):
    """Scratch arrays of one thread, in ground axes."""

    rotation: np.ndarray  # (n_links, 3, 3)
    vectors: np.ndarray  # (5, n_links, 3)
    axes: np.ndarray  # (n_v, 3) axis of each column
    markers: np.ndarray
    directions: np.ndarray
    factors: np.ndarray  # LU factors of all pieces, one after the other
    entries: np.ndarray  # rate of each row by each column of its path
    rhs: np.ndarray
    pivots: np.ndarray
    sign: np.ndarray  # of the determinant of each square piece
    last_sign: np.ndarray  # at the last pose that was accepted
    matrices: np.ndarray  # of pieces with redundant rows, before they were factored
    last_matrices: np.ndarray
    product: np.ndarray  # of two such matrices, and its pivots
    spare: np.ndarray
    trial: np.ndarray  # coordinates of a pose that may be given up
    moved: np.ndarray  # (n_v,) what the last closure has added to the coordinates


@allocating_kernel
def make_work(t, order, like):
    """Return scratch arrays with the number type of `like`."""
    work = Work(
        np.zeros((t.links.size, 3, 3), dtype=like.dtype),
        np.zeros((5, t.links.size, 3), dtype=like.dtype),
        np.zeros((t.columns.size, 3), dtype=like.dtype),
        np.zeros((t.marker_link.size, 3), dtype=like.dtype),
        np.zeros((t.direction_link.size, 3), dtype=like.dtype),
        np.zeros(order.n_factors, dtype=like.dtype),
        np.zeros(t.path.size, dtype=like.dtype),
        np.zeros(t.rows.size + t.columns.size + 1, dtype=like.dtype),
        np.zeros(t.columns.size, dtype=np.int64),
        np.zeros(order.pieces.size, dtype=np.int64),
        np.zeros(order.pieces.size, dtype=np.int64),
        np.zeros(order.n_factors, dtype=like.dtype),
        np.zeros(order.n_factors, dtype=like.dtype),
        np.zeros(t.columns.size * t.columns.size, dtype=like.dtype),
        np.zeros(t.columns.size, dtype=np.int64),
        np.zeros(like.size, dtype=like.dtype),
        np.zeros(t.columns.size, dtype=like.dtype),
    )
    for i in range(3):
        work.rotation[0, i, i] = 1.0
    return work


@inlined_kernel
def place_piece(t, order, piece, q, work):
    """Put everything that the piece moves and that some row reads."""
    origin = work.vectors[ORIGIN]
    items = order.items
    place_links(t, items, piece.link_start, piece.link_end, q, work.rotation, origin, work.axes)
    place_markers(
        t, items, piece.marker_start, piece.marker_end, work.rotation, origin, work.markers
    )
    place_directions(
        t, items, piece.direction_start, piece.direction_end, work.rotation, work.directions
    )


@inlined_kernel
def factor_piece(t, order, p, work):
    """Fill the dimensionless matrix of piece p and factor it; return the pivot ratio."""
    piece = order.pieces[p]
    row_entries(
        t,
        order.items,
        piece.row_start,
        piece.row_end,
        work.vectors[ORIGIN],
        work.axes,
        work.markers,
        work.directions,
        work.entries,
    )
    m, n = piece.row_end - piece.row_start, piece.column_end - piece.column_start
    for i in range(m * n):
        work.factors[piece.factors + i] = 0.0
    for i in range(piece.inside_start, piece.inside_end):
        x = order.inside[i]
        work.factors[x.at] += work.entries[x.entry] * x.scale
    if m > n:
        for i in range(piece.factors, piece.factors + m * n):
            work.matrices[i] = work.factors[i]
    ratio, work.sign[p] = factor(work.factors, piece.factors, m, n, work.pivots, piece.pivots)
    return ratio


@inlined_kernel
def solve_piece(piece, work):
    """Solve a piece for the right-hand side in work.rhs; the scaled solution stays there."""
    n = piece.column_end - piece.column_start
    substitute(work.factors, piece.factors, n, work.pivots, piece.pivots, work.rhs)


@inlined_kernel
def step_size(piece, work):
    """Return the dimensionless size of the Newton step in work.rhs; it may be inf or nan."""
    size = 0.0
    for i in range(piece.column_end - piece.column_start):
        x = abs(work.rhs[i].real)
        if not x <= size:
            size = x
    return size


@inlined_kernel
def move_piece(t, order, piece, size, q, work):
    """Add the Newton step in work.rhs, of a finite size, to the coordinates."""
    n = piece.column_end - piece.column_start
    part = 1.0 if size <= LONGEST_STEP else LONGEST_STEP / size
    for i in range(n):
        c = order.items[piece.column_start + i]
        work.moved[c] += part * work.rhs[i] * t.columns[c].scale
    i = 0
    while i < n:
        c = order.items[piece.column_start + i]
        link = t.links[t.columns[c].link]
        if link.kind == BALL:
            # the three columns of a ball always stand together, in order
            turn_ball(q, link.q, part * work.rhs[i], part * work.rhs[i + 1], part * work.rhs[i + 2])
            i += 3
        else:
            q[link.q] += part * work.rhs[i] * t.columns[c].scale
            i += 1


@inlined_kernel
def read_errors(t, order, piece, y, q, work):
    """Fill work.rhs with what the rows of a piece lack; return how many of them are open."""
    row_errors(
        t,
        order.items,
        piece.row_start,
        piece.row_end,
        y,
        q,
        work.markers,
        work.directions,
        work.rhs,
    )
    open_rows = 0
    for i in range(piece.row_end - piece.row_start):
        if not abs(work.rhs[i].real) <= CLOSED:
            open_rows += 1
        work.rhs[i] = -work.rhs[i]
    return open_rows


@inlined_kernel
def close_piece(t, order, p, y, q, near, work):
    """Newton's method on one piece; return (status, size of its steps, pivot ratio).

    The step that is small enough to be the last is still taken, and the matrix factored once more
    at the final pose: speeds and accelerations are solved with it. Where a step after the first is
    below rounding, that has been done already. (After the first it has not: a complex step moves
    the imaginary part only, and poses must follow.)

    If the factors in work belong to a pose that is `near` (dimensionless; negative: they do not),
    a step with them leaves about that part of the error. Where this is rounding no other factors
    are needed for it: as the first step, and after a short one of Newton's method.
    """
    piece = order.pieces[p]
    moved = 0.0
    done = False
    first = 0  # the Newton step after which poses have not followed yet
    for k in range(MOST_STEPS):
        place_piece(t, order, piece, q, work)
        if near >= 0.0:
            read_errors(t, order, piece, y, q, work)
            solve_piece(piece, work)
            size = step_size(piece, work)
            if size * near * CAUTION <= EPS:
                move_piece(t, order, piece, size, q, work)
                moved += size
                place_piece(t, order, piece, q, work)
                if k == 0:
                    first = -1
                else:
                    done = True
        ratio = factor_piece(t, order, p, work)
        open_rows = read_errors(t, order, piece, y, q, work)
        if done:
            return (OK if open_rows == 0 else NOT_CLOSED), moved, ratio
        if ratio < 1e-15:
            return (SINGULAR if open_rows == 0 else NOT_CLOSED), moved, ratio
        solve_piece(piece, work)
        size = step_size(piece, work)
        if not np.isfinite(size):
            return NOT_CLOSED, moved, 0.0
        move_piece(t, order, piece, size, q, work)
        moved += size
        if k > first and size < ROUNDING and open_rows == 0:
            return OK, moved, ratio
        done = size < LAST_STEP
        near = size if not done and size < SHORT_STEP else -1.0
    return NOT_CLOSED, moved, 0.0


@kernel
def close_sample(t, order, y, q, near, work):
    """Close the loops for the independent coordinates y, from the guess in q.

    `near` tells how far the pose is away whose factors are in work (see `close_piece`). Returns
    (status, size of all Newton steps together, smallest pivot ratio). On success q, and the poses
    and factors in work, are those of the closed pose.
    """
    for i in range(t.direct.size):
        q[t.direct[i].q] = y[t.direct[i].driver]
    for c in range(work.moved.size):
        work.moved[c] = 0.0
    moved = 0.0
    worst = 1.0
    for p in range(order.pieces.size):
        if order.pieces[p].column_end == order.pieces[p].column_start:
            place_piece(t, order, order.pieces[p], q, work)
            continue
        status, size, ratio = close_piece(t, order, p, y, q, near, work)
        moved += size
        worst = min(worst, ratio)
        if status != OK:
            return status, moved, worst
    return (OK if worst > SINGULAR_RATIO else SINGULAR), moved, worst


@kernel
def factor_sample(t, order, q, work):
    """Put everything and factor all pieces at a closed pose; return the smallest pivot ratio."""
    worst = 1.0
    for p in range(order.pieces.size):
        place_piece(t, order, order.pieces[p], q, work)
        if order.pieces[p].column_end > order.pieces[p].column_start:
            worst = min(worst, factor_piece(t, order, p, work))
    return worst


@kernel
def remember(order, work):
    """Keep what `crossed` compares with: the pose in work has been accepted."""
    for p in range(order.pieces.size):
        piece = order.pieces[p]
        work.last_sign[p] = work.sign[p]
        m, n = piece.row_end - piece.row_start, piece.column_end - piece.column_start
        if m > n:
            for i in range(piece.factors, piece.factors + m * n):
                work.last_matrices[i] = work.matrices[i]


@kernel
def crossed(order, work):
    """Tell whether a singular pose lies between the last accepted pose and the one in work.

    A determinant that has changed its sign went through zero. With redundant rows there is no
    determinant of J; that of J_lastᵀ J is one for small steps.
    """
    for p in range(order.pieces.size):
        piece = order.pieces[p]
        m, n = piece.row_end - piece.row_start, piece.column_end - piece.column_start
        if m == n:
            if work.sign[p] * work.last_sign[p] < 0:
                return True
        elif n > 0:
            for i in range(n):
                for j in range(n):
                    work.product[i * n + j] = 0.0
                    for k in range(piece.factors, piece.factors + m * n, n):
                        x = work.last_matrices[k + i] * work.matrices[k + j]
                        work.product[i * n + j] += x
            _, sign = factor(work.product, 0, n, n, work.spare, 0)
            if sign <= 0:
                return True
    return False


@kernel
def solve_bias(t, order, bias, out, work):
    """Solve J · out = -bias, with the accelerations `bias` (n_rows,) of the rows at v̇ = 0."""
    for i in range(t.direct.size):
        out[t.direct[i].column] = 0.0
    for p in range(order.pieces.size):
        piece = order.pieces[p]
        if piece.column_end == piece.column_start:
            continue
        for i in range(piece.row_end - piece.row_start):
            r = order.items[piece.row_start + i]
            work.rhs[i] = -(bias[r] + known_rate(order, r, out, work)) * t.rows[r].scale
        solve_piece(piece, work)
        for i in range(piece.column_end - piece.column_start):
            c = order.items[piece.column_start + i]
            out[c] = work.rhs[i] * t.columns[c].scale


@inlined_kernel
def known_rate(order, r, out, work):
    """Rate of row r by the columns that earlier pieces have solved."""
    x = 0.0 * out[0]
    for i in range(order.before_start[r], order.before_start[r + 1]):
        step = order.before[i]
        x += out[step.column] * work.entries[step.entry]
    return x


@kernel
def admissible(t, order, R, work):
    """Fill R (n_i, n_v): the tree speeds per unit speed of each independent coordinate."""
    R[:, :] = 0.0
    for i in range(t.direct.size):
        R[t.direct[i].driver, t.direct[i].column] = 1.0
    for p in range(order.pieces.size):
        piece = order.pieces[p]
        for d in range(piece.driver_start, piece.driver_end):
            y = order.items[d]
            for i in range(piece.row_end - piece.row_start):
                r = order.items[piece.row_start + i]
                x = -known_rate(order, r, R[y], work)
                if t.rows[r].driver == y:
                    x += 1.0
                work.rhs[i] = x * t.rows[r].scale
            solve_piece(piece, work)
            for i in range(piece.column_end - piece.column_start):
                c = order.items[piece.column_start + i]
                R[y, c] = work.rhs[i] * t.columns[c].scale


@kernel
def convective(t, v, zero, bias, work):
    """Fill bias (n_rows,) with the accelerations of the rows at speeds v and v̇ = zero."""
    move_links(t, v, zero, work.vectors, work.axes)
    row_accelerations(t, work.vectors, work.markers, work.directions, bias)
