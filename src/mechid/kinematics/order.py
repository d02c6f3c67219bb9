"""Order of solution: the equations as a sequence of small blocks.

The pattern of the square system (independent rows against unknown columns) is permuted to block
triangular form: a maximum matching pairs rows with columns, and the strongly connected components
of what then depends on what are the blocks. A suspension falls into a handful of systems of size
one to six instead of one of twenty.
"""

from __future__ import annotations

from graphlib import TopologicalSorter

import numpy as np

from mechid.kinematics.tables import (
    ALONE,
    BEFORE,
    DIRECTLY,
    INSIDE,
    PIECE,
    PLACE,
    Floats,
    Ints,
    Order,
    Records,
    Tables,
)

_EQUAL = 1e-9  # relative difference of squared lengths that counts as rounding


def independent_rows(jacobian: Floats, n: int) -> list[int]:
    """Return n rows that determine the unknowns, by row-pivoted orthogonalisation.

    Each is the one of which the rows before it leave most; the first of several that are equal but
    for rounding.
    """
    if len(jacobian) == n:
        return list(range(n))
    rest = jacobian.copy()
    rows: list[int] = []
    for _ in range(n):
        left = np.sum(rest * rest, axis=1)
        r = int(np.argmax(left >= (1 - _EQUAL) * left.max()))
        rows.append(r)
        # Where nothing is left, any row does: this pose is singular, and is refused elsewhere.
        direction = rest[r] / np.sqrt(left[r] or 1.0)
        rest -= np.outer(rest @ direction, direction)
        rest[r] = 0.0
    return sorted(rows)


def row_of_columns(pattern: np.ndarray) -> Ints:
    """Return a row for every column of a square pattern, each row once: a maximum matching."""
    column_of = np.full(len(pattern), -1)
    rows = [np.flatnonzero(column).tolist() for column in pattern.T]
    for c in range(len(rows)):
        for column, row in _exchanges(c, rows, column_of):
            column_of[row] = column
    return np.argsort(column_of)


def _exchanges(c: int, rows: list[list[int]], column_of: Ints) -> list[tuple[int, int]]:
    """Return columns and the rows they take, so that column c gets one; none if it cannot."""
    tried: set[int] = set()
    path: list[tuple[int, int]] = []
    waiting = [(c, iter(rows[c]))]
    while waiting:  # (not by recursion, whose depth is limited)
        column, candidates = waiting[-1]
        row = next((r for r in candidates if r not in tried), None)
        if row is None:
            waiting.pop()
            del path[len(waiting) - 1 if waiting else 0 :]
            continue
        tried.add(row)
        path.append((column, row))
        owner = int(column_of[row])
        if owner < 0:
            return path
        waiting.append((owner, iter(rows[owner])))
    return []


def strong_components(needs: np.ndarray) -> Ints:
    """Return for every node of a directed graph the first of those that need each other."""
    reach = needs | np.eye(len(needs), dtype=bool)
    while True:
        # (Products of booleans do not use the linear algebra library.)
        farther = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if np.array_equal(farther, reach):
            return np.array([np.flatnonzero(x)[0] for x in reach & reach.T], dtype=np.int64)
        reach = farther


def block_order(pattern: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Return the diagonal blocks (rows, columns) of a square pattern, in order of solution."""
    matched = row_of_columns(pattern)
    # matched[c] is the row that determines column c; column c needs the other columns of that row.
    needs = pattern[matched]
    label = strong_components(needs)
    before: dict[int, set[int]] = {int(b): set() for b in label}
    for c, d in zip(*np.nonzero(needs), strict=True):
        if label[c] != label[d]:
            before[int(label[c])].add(int(label[d]))
    # Ties are broken by the first column of each block, so the order is deterministic.
    sorter = TopologicalSorter(before)
    sorter.prepare()
    order: list[int] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    blocks = []
    for b in order:
        columns = [int(c) for c in np.flatnonzero(label == b)]
        blocks.append((sorted(int(matched[c]) for c in columns), columns))
    return blocks


def make_order(t: Tables, parts: list[tuple[list[int], list[int]]], pattern: np.ndarray) -> Order:
    """Return the order tables for given (rows, columns) parts, in order of solution.

    Rows in no part are redundant: each joins the last part that it touches, so that pivoting can
    use it where the chosen rows are weak. Rows that are zero throughout (out of the plane of a
    planar linkage) join none. `pattern` (n_rows, n_v) tells what is not identically zero.
    """
    columns = [[], *(sorted(c) for _, c in parts), []]  # the three columns of a ball in order
    rows = [[], *(list(r) for r, _ in parts), []]
    where = np.full(t.columns.size, ALONE)
    where[t.path.column] = DIRECTLY
    index = np.zeros(t.columns.size, dtype=np.int64)
    for p, part in enumerate(columns):
        where[part] = p
        index[part] = np.arange(len(part))
    used = {r for part in rows for r in part}
    for r in range(t.rows.size):
        last = int(where[pattern[r]].max(initial=-1))
        if r not in used and last > 0:
            rows[last].append(r)
    stage = _link_stages(t, where)
    markers, directions, links = _needed(t)
    last = len(columns) - 1
    lists = {
        "link": _by_stage(sorted(links), np.arange(t.links.size), stage, last),
        "marker": _by_stage(sorted(markers), t.marker_link, stage, last),
        "direction": _by_stage(sorted(directions), t.direction_link, stage, last),
        "row": rows,
        "column": columns,
        "driver": _drivers(t, rows, where),
    }
    lists["link"][last] = [k for k in range(1, t.links.size) if k not in links]
    return _pack(t, lists, where, index)


def _pack(t: Tables, lists: dict[str, list[list[int]]], where: np.ndarray, index: Ints) -> Order:
    n = len(lists["row"])
    pieces = np.zeros(n, dtype=PIECE).view(np.recarray)
    items: list[int] = []
    for name, parts in lists.items():
        for p, part in enumerate(parts):
            pieces[f"{name}_start"][p] = len(items)
            items += part
            pieces[f"{name}_end"][p] = len(items)
    sizes = [len(r) * len(c) for r, c in zip(lists["row"], lists["column"], strict=True)]
    pieces["factors"] = np.cumsum([0, *sizes])[:-1]
    pieces["pivots"] = np.cumsum([0, *map(len, lists["column"])])[:-1]
    places = np.zeros(index.size, dtype=PLACE).view(np.recarray)
    places["piece"], places["index"] = where, index
    places["weight"] = np.where(where == ALONE, 0.0, 1.0 / t.columns.scale)
    inside = _inside(t, lists["row"], pieces, where, index)
    before, before_start = _before(t, lists["row"], where)
    return Order(
        pieces,
        np.array(items, dtype=np.int64),
        places,
        inside,
        before,
        before_start,
        sum(sizes),
    )


def _inside(
    t: Tables, rows: list[list[int]], pieces: Records, where: np.ndarray, index: Ints
) -> Records:
    """Entries of the matrices of all pieces; the pieces are told where theirs stand."""
    found: list[tuple[int, int, float]] = []
    spans, scales = _spans(t), (t.rows.scale.tolist(), t.columns.scale.tolist())
    for p, part in enumerate(rows):
        piece = pieces[p]
        width, first = int(piece.column_end - piece.column_start), int(piece.factors)
        pieces["inside_start"][p] = len(found)
        for i, r in enumerate(part):
            for n, c in spans[r]:
                if where[c] == p:
                    at = first + i * width + int(index[c])
                    found.append((n, at, scales[0][r] * scales[1][c]))
        pieces["inside_end"][p] = len(found)
    return np.array(found, dtype=INSIDE).view(np.recarray)


def _spans(t: Tables) -> list[list[tuple[int, int]]]:
    """Places on the path of each row, with their columns (records are slow to read one by one)."""
    columns = list(enumerate(t.path.column.tolist()))
    ends = zip(t.rows.start.tolist(), t.rows.end.tolist(), strict=True)
    return [columns[first:last] for first, last in ends]


def _before(t: Tables, rows: list[list[int]], where: np.ndarray) -> tuple[Records, Ints]:
    """Entries of each row by columns that are known when its piece is solved."""
    piece_of = {r: p for p, part in enumerate(rows) for r in part}
    found: list[tuple[int, int]] = []
    start = [0]
    for r, span in enumerate(_spans(t)):
        found += [(n, c) for n, c in span if where[c] < piece_of.get(r, 0)]
        start.append(len(found))
    return np.array(found, dtype=BEFORE).view(np.recarray), np.array(start, dtype=np.int64)


def _by_stage(items: list[int], link: Ints, stage: Ints, last: int) -> list[list[int]]:
    return [[i for i in items if stage[link[i]] == p] for p in range(last + 1)]


def _link_stages(t: Tables, where: np.ndarray) -> Ints:
    """Piece after which each link has its final place; 0 if none moves it."""
    stage = np.zeros(t.links.size, dtype=np.int64)
    np.maximum.at(stage, t.columns.link, where)
    for k in range(1, t.links.size):
        stage[k] = max(stage[t.links.parent[k]], stage[k])
    return stage


def _needed(t: Tables) -> tuple[set[int], set[int], set[int]]:
    """Markers, directions and links that the rows read (the first marker and direction always)."""
    markers, directions = {0}, {0}
    for row in t.rows:
        directions.update(
            int(d) for d in (row.direction_a, row.direction_b, row.x_a, row.y_a, row.x_b)
        )
        markers.update((int(row.marker_a), int(row.marker_b)))
    links: set[int] = set()
    tips = [t.marker_link[m] for m in markers] + [t.direction_link[d] for d in directions]
    for tip in tips:
        k = int(tip)
        while k:
            links.add(k)
            k = int(t.links.parent[k])
    return markers, directions, links


def _drivers(t: Tables, rows: list[list[int]], where: np.ndarray) -> list[list[int]]:
    """Independent coordinates that move each piece, directly or through earlier pieces."""
    of_column = {int(d.column): {int(d.driver)} for d in t.direct}
    drivers: list[list[int]] = []
    for p, part in enumerate(rows):
        found: set[int] = set()
        for r in part:
            row = t.rows[r]
            if row.driver >= 0:
                found.add(int(row.driver))
            for c in t.path.column[row.start : row.end]:
                if where[c] < p:
                    found |= of_column[int(c)]
        for c in np.flatnonzero(where == p):
            of_column[int(c)] = found
        drivers.append(sorted(found))
    return drivers


def link_drivers(t: Tables, order: Order) -> list[list[int]]:
    """Return, for every link, the independent coordinates that move it."""
    of_column = {int(d.column): {int(d.driver)} for d in t.direct}
    for piece in order.pieces:
        drivers = {int(y) for y in order.items[piece.driver_start : piece.driver_end]}
        for c in order.items[piece.column_start : piece.column_end]:
            of_column[int(c)] = drivers
    reach: list[set[int]] = [set() for _ in range(t.links.size)]
    for c, column in enumerate(t.columns):
        reach[int(column.link)] |= of_column[c]
    for k in range(1, t.links.size):
        reach[k] |= reach[int(t.links.parent[k])]
    return [sorted(part) for part in reach]
