"""A program as LLVM assembly: every operation on a vector of lanes, one sample in each lane.

A function gets two pointers, `void name(double *state, double *memory)`, both aligned to a whole
vector. Inputs and outputs stand in numbered slots of the state, which several functions share: slot
i of lane l is number i · lanes + l. Long programs are cut into parts that pass numbers on through
`memory`, because the time of code generation grows faster than the length of a function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechid.tape.lanes_math import constant, sine_and_cosine, vector
from mechid.tape.number import Op
from mechid.tape.program import Program, operands

# Operations per part: more give better code and take longer.
PART = 400
_INFIX = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
_COMPARED = {"lt": "olt", "le": "ole"}
# nan goes through `minimum` and `maximum`, as guards need it to
_INTRINSIC = {"abs": "fabs", "min": "minimum", "max": "maximum", "sqrt": "sqrt"}
# done lane by lane, by the mathematical library of the system
LIBRARY = {"exp": "exp", "tanh": "tanh", "pow": "pow", "atan2": "atan2"}


@dataclass(frozen=True)
class Emitted:
    """Assembly of a function, and how many numbers of memory per lane it needs."""

    text: str
    memory: int


def prelude(lanes: int) -> str:
    """Return what all functions of a module share."""
    T = vector(lanes)
    suffix = f"v{lanes}f64" if lanes > 1 else "f64"
    lines = [sine_and_cosine(lanes)]
    for name, count in (("fabs", 1), ("sqrt", 1), ("minimum", 2), ("maximum", 2)):
        lines.append(f"declare {T} @llvm.{name}.{suffix}({', '.join([T] * count)})")
    N, whole = vector(lanes, "i64"), f"v{lanes}i64" if lanes > 1 else "i64"
    lines.append(f"declare {N} @llvm.umax.{whole}({N}, {N})")
    for name, count in (("exp", 1), ("tanh", 1), ("pow", 2), ("atan2", 2)):
        lines.append(f"declare double @{name}({', '.join(['double'] * count)})")
    return "\n".join(lines) + "\n"


def function(program: Program, name: str, lanes: int) -> Emitted:
    """Return the assembly of a program as a function; `prelude` must stand before it.

    No slot may be both an input and an output.
    """
    parts = _parts(program)
    last_use = _last_uses(program, parts)
    # numbers that later parts read, each with its place in memory
    kept: dict[int, int] = {}
    for i, part in enumerate(parts):
        for place in part:
            if last_use.get(place, i) > i and program.ops[place].name not in _COMPARED:
                kept[place] = len(kept)
    sizes = _sizes(program)
    texts = [
        _Part(program, lanes, kept, sizes, set(part)).text(f"{name}_{i}", part)
        for i, part in enumerate(parts)
    ]
    calls = "".join(
        f"  call void @{name}_{i}(ptr %state, ptr %memory)\n" for i in range(len(parts))
    )
    head = f"define void @{name}(ptr noalias %state, ptr noalias %memory) {{\n"
    return Emitted("".join(texts) + head + calls + "  ret void\n}\n", len(kept))


def _parts(program: Program) -> list[list[int]]:
    """Return the operations in parts of about equal length."""
    ops = [i for i, op in enumerate(program.ops) if op.name not in ("input", "constant")]
    n = max(1, -(-len(ops) // PART))
    bounds = [len(ops) * i // n for i in range(n + 1)]
    return [ops[bounds[i] : bounds[i + 1]] for i in range(n)]


def _last_uses(program: Program, parts: list[list[int]]) -> dict[int, int]:
    """Return the last part that reads each number.

    Comparisons are made again where they are needed: their results are not kept in memory.
    """
    last: dict[int, int] = {}
    for i, part in enumerate(parts):
        for place in part:
            for operand in operands(program.ops[place]):
                last[operand] = i
                if program.ops[operand].name in _COMPARED:
                    last.update(dict.fromkeys(operands(program.ops[operand]), i))
    return last


def _sizes(program: Program) -> set[int]:
    """Return the numbers that have no sign: absolute values, and the largest of some."""
    found: set[int] = set()
    for place, op in enumerate(program.ops):
        plain = op.name == "constant" and math.copysign(1.0, op.constant) > 0 and op.constant >= 0
        largest = op.name == "max" and found.issuperset(operands(op))
        if plain or largest or op.name == "abs":
            found.add(place)
    return found


class _Part:
    """Writes one part of a program."""

    def __init__(
        self,
        program: Program,
        lanes: int,
        kept: dict[int, int],
        sizes: set[int],
        own: set[int],
    ) -> None:
        self.program, self.lanes, self.kept, self.own = program, lanes, kept, own
        self.sizes = sizes
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.T = vector(lanes)
        self.suffix = f"v{lanes}f64" if lanes > 1 else "f64"

    def text(self, name: str, part: list[int]) -> str:
        outputs: dict[int, list[int]] = {}
        for place, slot in zip(self.program.outputs, self.program.output_slots, strict=True):
            outputs.setdefault(place, []).append(slot)
        for place in part:
            value = self.value(place)
            if place in self.kept:
                self.store(value, "%memory", self.kept[place])
            for slot in outputs.get(place, ()):
                self.store(value, "%state", slot)
        if name.endswith("_0"):  # outputs that are inputs or constants
            for place, slots in outputs.items():
                if self.program.ops[place].name in ("input", "constant"):
                    for slot in slots:
                        self.store(self.value(place), "%state", slot)
        angles = [
            f"  %{x}{i} = alloca {self.T}\n" for i in range(self.n_angles) for x in ("s", "c")
        ]
        head = (
            f"define internal void @{name}(ptr noalias %state, ptr noalias %memory) noinline {{\n"
        )
        return head + "".join(angles) + "\n".join(self.lines) + "\n  ret void\n}\n"

    n_angles = 0

    def new(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def address(self, base: str, number: int) -> str:
        return self.new(f"getelementptr {self.T}, ptr {base}, i64 {number}")

    def store(self, value: str, base: str, number: int) -> None:
        where = self.address(base, number)
        self.lines.append(f"  store {self.T} {value}, ptr {where}, align {8 * self.lanes}")

    def load(self, base: str, number: int) -> str:
        return self.new(f"load {self.T}, ptr {self.address(base, number)}, align {8 * self.lanes}")

    def value(self, place: int) -> str:
        """Return the name of a number in this part, written or loaded on first use."""
        if place not in self.names:
            op = self.program.ops[place]
            if op.name == "constant":
                return constant(op.constant, self.lanes)
            if op.name == "input":
                self.names[place] = self.load("%state", op.a)
            elif op.name not in _COMPARED and place not in self.own:
                self.names[place] = self.load("%memory", self.kept[place])
            else:
                self.names[place] = self.operation(op)
        return self.names[place]

    def operation(self, op: Op) -> str:
        T = self.T
        x = [self.value(i) for i in operands(op)]
        if op.name in _INFIX:
            return self.new(f"{_INFIX[op.name]} {T} {x[0]}, {x[1]}")
        if op.name == "neg":
            return self.new(f"fneg {T} {x[0]}")
        if op.name in _COMPARED:
            return self.new(f"fcmp {_COMPARED[op.name]} {T} {x[0]}, {x[1]}")
        if op.name == "select":
            B = vector(self.lanes, "i1")
            return self.new(f"select {B} {x[0]}, {T} {x[1]}, {T} {x[2]}")
        if op.name == "max" and self.sizes.issuperset(operands(op)):
            return self.larger_size(x)
        if op.name in _INTRINSIC:
            given = ", ".join(f"{T} {i}" for i in x)
            return self.new(f"call {T} @llvm.{_INTRINSIC[op.name]}.{self.suffix}({given})")
        if op.name in ("sin", "cos"):
            return self.turned(op, x[0])
        return self.by_lanes(LIBRARY[op.name], x)

    def larger_size(self, x: list[str]) -> str:
        """The larger of two numbers without sign has the larger bits, nan too: one instruction."""
        N, kind = vector(self.lanes, "i64"), f"v{self.lanes}i64" if self.lanes > 1 else "i64"
        bits = [self.new(f"bitcast {self.T} {i} to {N}") for i in x]
        larger = self.new(f"call {N} @llvm.umax.{kind}({N} {bits[0]}, {N} {bits[1]})")
        return self.new(f"bitcast {N} {larger} to {self.T}")

    def turned(self, op: Op, angle: str) -> str:
        """Sine or cosine: both are computed at once, and kept for the other one."""
        key = -1 - op.a
        if key not in self.names:
            i = self.n_angles
            self.n_angles = i + 1
            self.lines.append(f"  call void @sincos({self.T} {angle}, ptr %s{i}, ptr %c{i})")
            self.names[key] = str(i)
        slot = ("%s" if op.name == "sin" else "%c") + self.names[key]
        return self.new(f"load {self.T}, ptr {slot}")

    def by_lanes(self, function: str, x: list[str]) -> str:
        if self.lanes == 1:
            return self.new(f"call double @{function}({', '.join(f'double {i}' for i in x)})")
        out = "poison"
        for lane in range(self.lanes):
            given = [self.new(f"extractelement {self.T} {i}, i64 {lane}") for i in x]
            one = self.new(f"call double @{function}({', '.join(f'double {i}' for i in given)})")
            out = self.new(f"insertelement {self.T} {out}, double {one}, i64 {lane}")
        return out
