"""Rows of results from lanes: `@write_rows`, the same for all programs of one width.

A slot holds a number of every lane, a row all numbers of one lane. Squares of the state, as many
slots as lanes, are transposed in registers and written as parts of rows. Every number of a row is
written, zeros too, so that memory can be used again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechid.tape.lanes_math import vector

NAME = "write_rows"
_LINE = 8  # numbers of a cache line, and of the longest vector


class Rows(NamedTuple):
    """A row of n numbers by their slots, as runs: how many lines of zeros, how many vectors, the
    slots of these vectors, and so on; -1 and the slots of what is left end it.
    """

    n: int
    runs: np.ndarray


class Constants:
    """Slots of the numbers that do not vary, behind all others."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.places: dict[float, int] = {0.0: first}

    @property
    def values(self) -> np.ndarray:
        """The numbers, in the order of their slots."""
        return np.array(list(self.places))

    def rows(self, slots: np.ndarray, values: np.ndarray, lanes: int) -> Rows:
        """Return the row of an array: slots, and `values` where there is none (-1)."""
        flat, fixed = slots.ravel(), values.ravel().tolist()
        for x in {x for x, slot in zip(fixed, flat, strict=True) if slot < 0} - set(self.places):
            self.places[x] = self.first + len(self.places)
        places = [
            self.places[x] if slot < 0 else int(slot) for x, slot in zip(fixed, flat, strict=True)
        ]
        return Rows(flat.size, np.array(self._runs(places, lanes), dtype=np.int64))

    def _runs(self, places: list[int], lanes: int) -> list[int]:
        runs, vectors = [0, 0], 0  # `vectors`: where their number stands, less one
        k, end = 0, len(places) - len(places) % lanes
        while k < end:
            line = places[k : k + _LINE]
            if k + _LINE <= end and line == [self.first] * _LINE:
                if runs[vectors + 1]:
                    vectors = len(runs)
                    runs += [0, 0]
                runs[vectors] += 1
                k += _LINE
            else:
                runs[vectors + 1] += 1
                runs += places[k : k + lanes]
                k += lanes
        return [*runs, -1, *places[end:]]


def row_writer(lanes: int) -> str:
    """Return `@write_rows(state, runs, n, rows)`; `rows` has the address of the row of each lane.

    The rows behind these are asked for beforehand: along a path they are the next ones to be
    written, and the processor has a sample's time to bring them.
    """
    T = vector(lanes)
    each = range(lanes)

    def ask(at: str) -> list[str]:
        return [
            line
            for k in each
            for line in (
                f"  %{at}_ask{k} = getelementptr double, ptr %next{k}, i64 %{at}",
                f"  call void @llvm.prefetch.p0(ptr %{at}_ask{k}, i32 0, i32 2, i32 1)",
            )
        ]

    def to(at: str) -> list[str]:
        return [f"  %{at}_to{k} = getelementptr double, ptr %row{k}, i64 %{at}" for k in each]

    rows = [
        line
        for k in each
        for line in (
            f"  %r{k} = getelementptr ptr, ptr %rows, i64 {k}",
            f"  %row{k} = load ptr, ptr %r{k}",
            f"  %next{k} = getelementptr double, ptr %row{k}, i64 %n",
        )
    ]
    zeros = [
        line
        for k in each
        for i in range(0, _LINE, lanes)
        for line in (
            f"  %z{k}_{i} = getelementptr double, ptr %zero_to{k}, i64 {i}",
            f"  store {T} zeroinitializer, ptr %z{k}_{i}, align 8",
        )
    ]
    gather = [
        line
        for k in each
        for line in (
            f"  %p{k} = getelementptr i64, ptr %where, i64 {k}",
            f"  %s{k} = load i64, ptr %p{k}",
            f"  %a{k} = getelementptr {T}, ptr %state, i64 %s{k}",
            f"  %x{k} = load {T}, ptr %a{k}, align {8 * lanes}",
        )
    ]
    turned = _turned([f"%x{k}" for k in each], lanes, gather)
    whole = [f"  store {T} {x}, ptr %at_to{k}, align 8" for k, x in enumerate(turned)]
    left = [
        line
        for k in each
        for line in (
            f"  %l{k} = getelementptr double, ptr %left_from, i64 {k}",
            f"  %v{k} = load double, ptr %l{k}",
            f"  store double %v{k}, ptr %left_to{k}",
        )
    ]
    return "\n".join(
        [
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            f"define void @{NAME}(ptr %state, ptr %runs, i64 %n, ptr %rows) {{",
            "entry:",
            *rows,
            "  br label %run",
            "run:",
            "  %begin = phi i64 [0, %entry], [%at, %vectors]",
            "  %here = phi ptr [%runs, %entry], [%where, %vectors]",
            "  %n_lines = load i64, ptr %here",
            "  %more_runs = icmp sge i64 %n_lines, 0",
            f"  %length = mul i64 %n_lines, {_LINE}",
            "  %end_of_lines = add i64 %begin, %length",
            "  %first = getelementptr i64, ptr %here, i64 2",
            "  br i1 %more_runs, label %lines, label %rest",
            "lines:",
            "  %zero = phi i64 [%begin, %run], [%next_line, %line]",
            "  %more_lines = icmp slt i64 %zero, %end_of_lines",
            "  br i1 %more_lines, label %line, label %counted",
            "line:",
            *to("zero"),
            *zeros,
            *ask("zero"),
            f"  %next_line = add i64 %zero, {_LINE}",
            "  br label %lines",
            "counted:",
            "  %number = getelementptr i64, ptr %here, i64 1",
            "  %n_vectors = load i64, ptr %number",
            f"  %width = mul i64 %n_vectors, {lanes}",
            "  %end_of_vectors = add i64 %zero, %width",
            "  br label %vectors",
            "vectors:",
            "  %at = phi i64 [%zero, %counted], [%next_vector, %vector]",
            "  %where = phi ptr [%first, %counted], [%next_slots, %vector]",
            "  %more_vectors = icmp slt i64 %at, %end_of_vectors",
            "  br i1 %more_vectors, label %vector, label %run",
            "vector:",
            *gather,
            *to("at"),
            *whole,
            *ask("at"),
            f"  %next_vector = add i64 %at, {lanes}",
            f"  %next_slots = getelementptr i64, ptr %where, i64 {lanes}",
            "  br label %vectors",
            "rest:",
            "  %left = phi i64 [%begin, %run], [%next_left, %one]",
            "  %before = phi ptr [%here, %run], [%left_slot, %one]",
            "  %more_left = icmp slt i64 %left, %n",
            "  br i1 %more_left, label %one, label %end",
            "one:",
            "  %left_slot = getelementptr i64, ptr %before, i64 1",
            "  %slot = load i64, ptr %left_slot",
            f"  %left_from = getelementptr {T}, ptr %state, i64 %slot",
            *to("left"),
            *left,
            "  %next_left = add i64 %left, 1",
            "  br label %rest",
            "end:",
            "  ret void",
            "}\n",
        ]
    )


def _turned(x: list[str], lanes: int, lines: list[str]) -> list[str]:
    """Return vectors of rows, from vectors of slots: each step swaps one bit of the two numbers."""
    T = vector(lanes)
    bit = 1
    while bit < lanes:
        new = list(x)
        for k in range(lanes):
            if k & bit:
                continue
            for place, low, high in ((k, 0, lanes), (k | bit, bit, lanes + bit)):
                chosen = ", ".join(
                    f"i32 {(i & ~bit) + (high if i & bit else low)}" for i in range(lanes)
                )
                name = f"%y{bit}_{place}"
                lines.append(
                    f"  {name} = shufflevector {T} {x[k]}, {T} {x[k | bit]}, "
                    f"<{lanes} x i32> <{chosen}>"
                )
                new[place] = name
        x, bit = new, 2 * bit
    return x
