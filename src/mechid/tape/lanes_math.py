"""Sine and cosine of vectors, as LLVM assembly.

The argument is reduced by multiples of π/2 in three parts (Cody and Waite), whose products with
numbers below 2^20 have no rounding; what is left lies within ±π/4, where sine and cosine are the
polynomials of FreeBSD's msun (k_sin.c and k_cos.c). Errors stay below 1.5 units in the last place.
Arguments must lie within ±LARGEST_ANGLE.
"""

from __future__ import annotations

import struct

LARGEST_ANGLE = 1e6  # rad; below 2^20 · π/2

TWO_OVER_PI = 6.36619772367581382433e-01
_MAGIC = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to the nearest integer
PARTS = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def constant(x: float, lanes: int) -> str:
    """Return a number as a constant vector, without rounding."""
    bits = struct.unpack("<Q", struct.pack("<d", x))[0]
    return f"splat (double 0x{bits:016X})" if lanes > 1 else f"0x{bits:016X}"


def vector(lanes: int, kind: str = "double") -> str:
    """Return the type of a vector."""
    return f"<{lanes} x {kind}>" if lanes > 1 else kind


def sine_and_cosine(lanes: int) -> str:
    """Return `@sincos(angles, n)`: n angles, behind which it stores their sines and cosines.

    Several are done in one call, so that the numbers that all of them need stay in registers, two
    side by side: each step of one waits for the step before. The last one may be done twice.
    """
    T, N, B = vector(lanes), vector(lanes, "i64"), vector(lanes, "i1")
    lines: list[str] = []

    def new(text: str) -> str:
        name = f"%t{len(lines)}"
        lines.append(f"  {name} = {text}")
        return name

    def number(x: float) -> str:
        return constant(x, lanes)

    def whole(x: int) -> str:
        return f"splat (i64 {x})" if lanes > 1 else str(x)

    def plus(a: str, b: str) -> str:
        return new(f"fadd contract {T} {a}, {b}")

    def times(a: str, b: str) -> str:
        return new(f"fmul contract {T} {a}, {b}")

    def minus(a: str, b: str) -> str:
        return new(f"fsub contract {T} {a}, {b}")

    def polynomial(coefficients: tuple[float, ...], z: str) -> str:
        out = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            out = plus(times(out, z), number(c))
        return out

    angle = new(f"getelementptr {T}, ptr %angles, i64 %i")
    x = new(f"load {T}, ptr {angle}, align {8 * lanes}")
    # the rounding by adding and subtracting must not be contracted
    shifted = new(f"fadd {T} {new(f'fmul {T} {x}, {number(TWO_OVER_PI)}')}, {number(_MAGIC)}")
    quadrant = new(f"bitcast {T} {shifted} to {N}")
    k = new(f"fsub {T} {shifted}, {number(_MAGIC)}")
    r = x
    for part in PARTS:
        r = minus(r, times(k, number(part)))
    z = times(r, r)
    sine = plus(r, times(times(r, z), polynomial(SINE, z)))
    half = times(z, number(0.5))
    # 1 - z/2 without loss: what rounding takes away is added to the next term
    w = new(f"fsub {T} {number(1.0)}, {half}")
    lost = new(f"fsub {T} {new(f'fsub {T} {number(1.0)}, {w}')}, {half}")
    cosine = plus(w, plus(lost, times(times(z, z), polynomial(COSINE, z))))
    odd = new(f"icmp ne {N} {new(f'and {N} {quadrant}, {whole(1)}')}, {whole(0)}")
    s = new(f"select {B} {odd}, {T} {cosine}, {T} {sine}")
    c = new(f"select {B} {odd}, {T} {sine}, {T} {cosine}")
    # signs: the sine is negative in quadrants 2 and 3, the cosine in 1 and 2
    behind = angle
    for value, add in ((s, 0), (c, 1)):
        turned = new(f"add {N} {quadrant}, {whole(add)}")
        bit = new(f"shl {N} {new(f'and {N} {turned}, {whole(2)}')}, {whole(62)}")
        bits = new(f"xor {N} {new(f'bitcast {T} {value} to {N}')}, {bit}")
        behind = new(f"getelementptr {T}, ptr {behind}, i64 %n")
        found = new(f"bitcast {N} {bits} to {T}")
        lines.append(f"  store {T} {found}, ptr {behind}, align {8 * lanes}")
    both = [x for a in lines for x in (a, a.replace("%t", "%u").replace("%i", "%j"))]
    return "\n".join(
        [
            "define internal void @sincos(ptr %angles, i64 %n) {",
            "entry:",
            "  %last = sub i64 %n, 1",
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [0, %entry], [%next, %loop]",
            "  %other = add i64 %i, 1",
            "  %is_last = icmp sgt i64 %other, %last",
            "  %j = select i1 %is_last, i64 %last, i64 %other",
            *both,
            "  %next = add i64 %i, 2",
            "  %more = icmp slt i64 %next, %n",
            "  br i1 %more, label %loop, label %end",
            "end:",
            "  ret void",
            "}\n",
        ]
    )
