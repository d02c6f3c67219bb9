"""Lanes: parts of a path that are followed side by side by generated code."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mechid.kinematics.kernels.closure import LAST_STEP
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.tape.call import address_of, call, call_writer, copy_numbers, number_at
from mechid.tape.rows import Rows

# More corrections than these mean that the prediction was far off: a matter for the kernels.
MOST_CORRECTIONS = 5


class Slots(NamedTuple):
    """Where the numbers of a lane begin in its state (see `stages.Layout`)."""

    y: int
    yd: int
    ydd: int
    y_before: int
    half: int
    q: int
    n_known: int
    step: int
    fine: int
    determinants: int
    at_start: int
    n_determinants: int
    constants: int  # behind all others, never changed


class Chosen(NamedTuple):
    """Entries of rows of inputs that are read: which array, their places in a row, their slots."""

    array: np.ndarray
    places: np.ndarray
    slots: np.ndarray


def chosen(inputs: Sequence[np.ndarray]) -> Chosen:
    """Return the entries of rows of some arrays by their slots (-1: not read)."""
    flat = [slots.ravel() for slots in inputs]
    places = [np.flatnonzero(slots >= 0) for slots in flat]
    arrays = [np.full(x.size, i) for i, x in enumerate(places)]
    slots = [slots[x] for slots, x in zip(flat, places, strict=True)]
    return Chosen(np.concatenate(arrays), np.concatenate(places), np.concatenate(slots))


class Wanted(NamedTuple):
    """Rows of results of several arrays (see `tape.rows.Rows`), one after the other."""

    n: np.ndarray
    starts: np.ndarray  # of their runs, and the end of all
    runs: np.ndarray
    widest: int


def wanted(rows: Sequence[Rows]) -> Wanted:
    """Return rows of results for `run_blocks`."""
    return Wanted(
        np.array([x.n for x in rows]),
        np.cumsum([0, *(x.runs.size for x in rows)]),
        np.concatenate([x.runs for x in rows]),
        max(x.n for x in rows),
    )


class Code(NamedTuple):
    """Addresses of the functions; `correct` is 0 where there is nothing to close."""

    predict: int
    correct: int
    finish: int
    write: int
    lanes: int


class BatchAddresses(NamedTuple):
    """Addresses of the functions of unrelated samples."""

    run: int
    write: int
    lanes: int


@kernel
def copy_slots(state, source, target, n, lanes):
    """Copy n slots of all lanes."""
    copy_numbers(state, source * lanes, target * lanes, n * lanes)


@kernel
def set_slots(state, first, n, lane, lanes, values):
    """Fill slots of one lane."""
    for i in range(n):
        state[(first + i) * lanes + lane] = values[i]


@kernel
def write_results(writer, state, rows, lanes, where, spare, addresses, out):
    """Write what lanes have found to their rows of results; -1: not this lane.

    `addresses` (lanes,) is filled with where the rows begin; others go to the row `spare`.
    """
    write_at(writer, state, rows, lanes, where.runs, where.n, spare, addresses, address_of(out))


@kernel
def write_at(writer, state, rows, lanes, runs, n, spare, addresses, begin):
    """Do what `write_results` does, with rows of n numbers that begin at an address."""
    for lane in range(lanes):
        addresses[lane] = address_of(spare)
        if rows[lane] >= 0:
            addresses[lane] = begin + 8 * n * rows[lane]
    call_writer(writer, state, runs, n, addresses)


@kernel
def set_chosen(state, rows, lanes, where, begins, widths):
    """Fill slots of all lanes with entries of their rows of arrays, given by where they begin."""
    for i in range(where.slots.size):
        first, k = where.slots[i] * lanes, where.array[i]
        for lane in range(lanes):
            place = rows[lane] * widths[k] + where.places[i]
            state[first + lane] = number_at(begins[k] + 8 * place)


@kernel
def begin(code, s, first_chunk, y_starts, q_starts, state, memory):
    """Put every lane at a closed pose, at rest; nothing is known of its motion.

    Lanes beyond the last chunk stand where it begins.
    """
    lanes, n_i = code.lanes, y_starts.shape[1]
    for i in range(s.constants * lanes):
        state[i] = 0.0
    for lane in range(lanes):
        chunk = min(first_chunk + lane, y_starts.shape[0] - 1)
        set_slots(state, s.y, n_i, lane, lanes, y_starts[chunk])
        set_slots(state, s.q, q_starts.shape[1], lane, lanes, q_starts[chunk])
        state[s.n_known * lanes + lane] = -1.0
    call(code.finish, state, memory)
    copy_slots(state, s.determinants, s.at_start, s.n_determinants, lanes)


@kernel
def correct_lanes(code, s, active, state, memory):
    """Newton's method, until all active lanes are closed or have had their chance."""
    for _ in range(MOST_CORRECTIONS):
        call(code.correct, state, memory)
        worst = 0.0
        for lane in range(code.lanes):
            if active[lane]:
                worst = max(worst, state[s.step * code.lanes + lane])
        if worst < LAST_STEP:
            return


@kernel
def move(code, s, active, state, memory):
    """Bring all lanes to the y of their states, and see which of the active ones are fine."""
    call(code.predict, state, memory)
    if code.correct != 0:
        correct_lanes(code, s, active, state, memory)
    call(code.finish, state, memory)
    for lane in range(code.lanes):
        if active[lane]:
            active[lane] = state[s.fine * code.lanes + lane] == 1.0


@kernel
def approach(code, s, steps, first_chunk, starts, y, active, y_heads, q_heads, state, memory):
    """Go to the first samples of chunks in equal steps; the lanes have just begun elsewhere.

    `y_heads` and `q_heads` (lanes, …) are filled with where they are then. Lanes that do not come
    there are not active any more.
    """
    lanes, n_i = code.lanes, y.shape[1]
    for lane in range(lanes):
        for i in range(n_i):
            y_heads[lane, i] = state[(s.y + i) * lanes + lane]
    for step in range(1, steps + 1):
        copy_slots(state, s.y, s.y_before, n_i, lanes)
        for lane in range(lanes):
            if active[lane]:
                target = y[starts[first_chunk + lane]]
                for i in range(n_i):
                    part = step / steps * (target[i] - y_heads[lane, i])
                    at = target[i] if step == steps else y_heads[lane, i] + part
                    state[(s.y + i) * lanes + lane] = at
        move(code, s, active, state, memory)
    for lane in range(lanes):
        for i in range(n_i):
            y_heads[lane, i] = state[(s.y + i) * lanes + lane]
        for i in range(q_heads.shape[1]):
            q_heads[lane, i] = state[(s.q + i) * lanes + lane]


@allocating_kernel
def follow_lanes(
    code,
    s,
    q_row,
    first_row,
    second_row,
    first_bundle,
    last_bundle,
    starts,
    y,
    yd,
    ydd,
    dt,
    steps,
    y_starts,
    q_starts,
    q,
    first,
    second,
    ends,
    done,
    state,
    memory,
):
    """Follow chunks of samples, starts[i] … starts[i + 1] - 1 from a closed pose each, in bundles
    first_bundle … last_bundle - 1 of as many chunks as there are lanes. If `steps` is not zero, the
    first sample of each is reached in so many equal steps, and the chunk is begun there.

    Fills q and the rows of two arrays of results; `done` (chunks,) counts the samples of each chunk
    up to the first that is not fine. If `ends` has a row for each chunk, the lane of a chunk goes
    on to the first sample of the next one, and its pose there is written to `ends`.
    """
    lanes, n_i, n = code.lanes, y.shape[1], starts.size - 1
    active = np.zeros(lanes, dtype=np.bool_)
    rows = np.zeros(lanes, dtype=np.int64)
    addresses = np.zeros(lanes, dtype=np.int64)
    spare = np.zeros(max(q_row.n, first_row.n, second_row.n))
    furthest = starts[n] - 1 if ends.shape[0] > 0 else -1
    y_heads, q_heads = np.zeros((lanes, n_i)), np.zeros((lanes, q_starts.shape[1]))
    for bundle in range(first_bundle, last_bundle):
        chunk = bundle * lanes
        begin(code, s, chunk, y_starts, q_starts, state, memory)
        own = min(lanes, n - chunk)  # the last bundle may be short
        for lane in range(lanes):
            active[lane] = lane < own
        if steps > 0:
            approach(code, s, steps, chunk, starts, y, active, y_heads, q_heads, state, memory)
            begin(code, s, 0, y_heads, q_heads, state, memory)
        k = 0
        while True:
            copy_slots(state, s.y, s.y_before, n_i, lanes)
            any_active = False
            for lane in range(own):
                i = starts[chunk + lane] + k
                end = starts[chunk + lane + 1]
                active[lane] = active[lane] and (i < end or (i == end and i <= furthest))
                if active[lane]:
                    any_active = True
                    set_slots(state, s.y, n_i, lane, lanes, y[i])
                    set_slots(state, s.yd, n_i, lane, lanes, yd[i])
                    set_slots(state, s.ydd, n_i, lane, lanes, ydd[i])
                    step = dt[i - 1] if k > 0 else 0.0
                    state[s.half * lanes + lane] = 0.5 * step * step
            if not any_active:
                break
            move(code, s, active, state, memory)
            for lane in range(lanes):
                rows[lane] = -1
                if active[lane]:
                    i = starts[chunk + lane] + k
                    if i < starts[chunk + lane + 1]:
                        rows[lane] = i
                        done[chunk + lane] += 1
                    else:
                        for j in range(ends.shape[1]):
                            ends[chunk + lane, j] = state[(s.q + j) * lanes + lane]
            write_results(code.write, state, rows, lanes, q_row, spare, addresses, q)
            write_results(code.write, state, rows, lanes, first_row, spare, addresses, first)
            write_results(code.write, state, rows, lanes, second_row, spare, addresses, second)
            k += 1


@allocating_kernel
def run_blocks(code, first, last, n, given, begins_in, widths, wanted, begins_out, state, memory):
    """Run a program on blocks first … last - 1 of `lanes` samples each, of n samples in all.

    Arrays are given by where they begin, so that one compilation serves any number of them;
    `wanted` has the runs of their rows.
    """
    lanes = code.lanes
    rows = np.zeros(lanes, dtype=np.int64)
    addresses = np.zeros(lanes, dtype=np.int64)
    spare = np.zeros(wanted.widest)
    for block in range(first, last):
        for lane in range(lanes):
            rows[lane] = min(block * lanes + lane, n - 1)
        set_chosen(state, rows, lanes, given, begins_in, widths)
        call(code.run, state, memory)
        for lane in range(lanes):
            if block * lanes + lane >= n:
                rows[lane] = -1
        for i in range(wanted.n.size):
            runs = wanted.runs[wanted.starts[i] : wanted.starts[i + 1]]
            write_at(
                code.write, state, rows, lanes, runs, wanted.n[i], spare, addresses, begins_out[i]
            )
