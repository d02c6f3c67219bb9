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


class Rows(NamedTuple):
    """A row of n numbers by their slots, in whole vectors; -1 begins a vector of zeros."""

    n: int
    slots: np.ndarray


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
        n = flat.size
        whole = np.full(-(-n // lanes) * lanes, self.first, dtype=np.int64)
        whole[:n] = [
            self.places[x] if slot < 0 else slot for x, slot in zip(fixed, flat, strict=True)
        ]
        vectors = whole.reshape(-1, lanes)
        vectors[(vectors == self.first).all(axis=1), 0] = -1
        return Rows(n, whole)


def row_writer(lanes: int) -> str:
    """Return `@write_rows(state, slots, n, rows)`; `rows` has the address of the row of each lane.

    The rows behind these are asked for beforehand: along a path they are the next ones to be
    written, and the processor has a sample's time to bring them.
    """
    T = vector(lanes)
    gather = [
        line
        for k in range(lanes)
        for line in (
            f"  %p{k} = getelementptr i64, ptr %where, i64 {k}",
            f"  %s{k} = load i64, ptr %p{k}",
            f"  %a{k} = getelementptr {T}, ptr %state, i64 %s{k}",
            f"  %x{k} = load {T}, ptr %a{k}, align {8 * lanes}",
        )
    ]
    turned = _turned([f"%x{k}" for k in range(lanes)], lanes, gather)
    values = [
        f"  %v{k} = phi {T} [zeroinitializer, %body], [{x}, %gather]" for k, x in enumerate(turned)
    ]
    places = [
        line
        for k in range(lanes)
        for line in (
            f"  %r{k} = getelementptr ptr, ptr %rows, i64 {k}",
            f"  %row{k} = load ptr, ptr %r{k}",
            f"  %to{k} = getelementptr double, ptr %row{k}, i64 %i",
        )
    ]
    whole = [f"  store {T} %v{k}, ptr %to{k}, align 8" for k in range(lanes)]
    ahead = [
        line
        for k in range(lanes)
        for line in (
            f"  %next{k} = getelementptr double, ptr %to{k}, i64 %n",
            f"  call void @llvm.prefetch.p0(ptr %next{k}, i32 0, i32 2, i32 1)",
        )
    ]
    B, masked = vector(lanes, "i1"), f"@llvm.masked.store.v{lanes}f64.p0"
    counted = ", ".join(f"i64 {k}" for k in range(lanes))
    part = [f"  call void {masked}({T} %v{k}, ptr %to{k}, i32 8, {B} %here)" for k in range(lanes)]
    return "\n".join(
        [
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            f"declare void {masked}({T}, ptr, i32, {B})",
            f"define void @{NAME}(ptr %state, ptr %slots, i64 %n, ptr %rows) {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [0, %entry], [%more, %done]",
            "  %left = sub i64 %n, %i",
            "  %go = icmp sgt i64 %left, 0",
            "  br i1 %go, label %body, label %end",
            "body:",
            "  %where = getelementptr i64, ptr %slots, i64 %i",
            "  %begin = load i64, ptr %where",
            "  %zero = icmp slt i64 %begin, 0",
            "  br i1 %zero, label %write, label %gather",
            "gather:",
            *gather,
            "  br label %write",
            "write:",
            *values,
            *places,
            f"  %is_whole = icmp sge i64 %left, {lanes}",
            "  br i1 %is_whole, label %whole, label %part",
            "whole:",
            *whole,
            *ahead,
            "  br label %done",
            "part:",
            f"  %one = insertelement <{lanes} x i64> poison, i64 %left, i64 0",
            f"  %all = shufflevector <{lanes} x i64> %one, <{lanes} x i64> poison, "
            f"<{lanes} x i32> zeroinitializer",
            f"  %here = icmp slt <{lanes} x i64> <{counted}>, %all",
            *part,
            "  br label %done",
            "done:",
            f"  %more = add i64 %i, {lanes}",
            "  br label %loop",
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
