"""A program as LLVM assembly: every operation on a vector of lanes, one sample in each lane.

A function gets two pointers, `void name(double *state, double *memory)`, both aligned to a whole
vector. Inputs and outputs stand in numbered slots of the state, which several functions share: slot
i of lane l is number i · lanes + l. Long programs are cut into parts that pass numbers on through
`memory` (`parts.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from mechid.tape.lanes_math import constant, sine_and_cosine, vector
from mechid.tape.number import Op
from mechid.tape.parts import COMPARED, TURNED, Plan, plan
from mechid.tape.program import Program, operands

_INFIX = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
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

    A slot may be both an input and an output: it is read before it is written.
    """
    found = plan(program)
    texts = [_Part(found, i, lanes).text(f"{name}_{i}") for i in range(len(found.parts))]
    calls = "".join(
        f"  call void @{name}_{i}(ptr %state, ptr %memory)\n" for i in range(len(found.parts))
    )
    head = f"define void @{name}(ptr noalias %state, ptr noalias %memory) {{\n"
    return Emitted("".join(texts) + head + calls + "  ret void\n}\n", found.memory)


class _Part:
    """Writes one part of a program."""

    def __init__(self, plan: Plan, index: int, lanes: int) -> None:
        self.plan, self.index, self.lanes = plan, index, lanes
        self.program, self.own = plan.program, set(plan.parts[index])
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.T = vector(lanes)
        self.suffix = f"v{lanes}f64" if lanes > 1 else "f64"

    def text(self, name: str) -> str:
        plan, results = self.plan, self.plan.results[self.index]
        for place in plan.parts[self.index]:
            value = self.value(place)
            if place in plan.kept:
                self.store(value, "%memory", plan.kept[place])
            for slot in results.get(place, ()):
                self.output(value, slot)
        if self.index == 0 and plan.angles:
            for place, number in plan.angles.items():
                self.store(self.value(place), "%memory", number)
            self.lines.append(f"  call void @sincos(ptr %memory, i64 {len(plan.angles)})")
        # all are read before one is written
        others = [(self.value(x), slots) for x, slots in results.items() if x not in self.own]
        for value, slots in others:
            for slot in slots:
                self.output(value, slot)
        room = [f"  %angle{i} = alloca [3 x {self.T}]\n" for i in range(self.n_angles)]
        head = (
            f"define internal void @{name}(ptr noalias %state, ptr noalias %memory) noinline {{\n"
        )
        return head + "".join(room) + "\n".join(self.lines) + "\n  ret void\n}\n"

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

    def output(self, value: str, slot: int) -> None:
        """Write an output; what is still to be read of its slot is read first."""
        for place in self.plan.inputs.get(slot, ()):
            if self.plan.last_use.get(place, -1) >= self.index:
                before = self.value(place)
                if place in self.plan.kept:
                    self.store(before, "%memory", self.plan.kept[place])
        self.store(value, "%state", slot)

    def load(self, base: str, number: int) -> str:
        return self.new(f"load {self.T}, ptr {self.address(base, number)}, align {8 * self.lanes}")

    def value(self, place: int) -> str:
        """Return the name of a number in this part, written or loaded on first use."""
        if place not in self.names:
            op = self.program.ops[place]
            if op.name == "constant":
                return constant(op.constant, self.lanes)
            if op.name == "input" and self.plan.written.get(op.a, self.index) >= self.index:
                self.names[place] = self.load("%state", op.a)
            elif op.name not in COMPARED and place not in self.own:
                self.names[place] = self.load("%memory", self.plan.kept[place])
            else:
                self.names[place] = self.operation(op, place in self.plan.rounded)
        return self.names[place]

    def operation(self, op: Op, rounded: bool) -> str:
        T = self.T
        x = [self.value(i) for i in operands(op)]
        if op.name in _INFIX:
            name = "fmul" if rounded else _INFIX[op.name]
            return self.new(f"{name} {T} {x[0]}, {x[1]}")
        if op.name == "neg":
            return self.new(f"fneg {T} {x[0]}")
        if op.name in COMPARED:
            return self.new(f"fcmp {COMPARED[op.name]} {T} {x[0]}, {x[1]}")
        if op.name == "select":
            B = vector(self.lanes, "i1")
            return self.new(f"select {B} {x[0]}, {T} {x[1]}, {T} {x[2]}")
        if op.name == "max" and self.plan.sizes.issuperset(operands(op)):
            return self.larger_size(x)
        if op.name in _INTRINSIC:
            given = ", ".join(f"{T} {i}" for i in x)
            return self.new(f"call {T} @llvm.{_INTRINSIC[op.name]}.{self.suffix}({given})")
        if op.name in TURNED:
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
            self.store(angle, f"%angle{i}", 0)
            self.lines.append(f"  call void @sincos(ptr %angle{i}, i64 1)")
            self.names[key] = f"%angle{i}"
        return self.load(self.names[key], 1 if op.name == "sin" else 2)

    def by_lanes(self, function: str, x: list[str]) -> str:
        if self.lanes == 1:
            return self.new(f"call double @{function}({', '.join(f'double {i}' for i in x)})")
        out = "poison"
        for lane in range(self.lanes):
            given = [self.new(f"extractelement {self.T} {i}, i64 {lane}") for i in x]
            one = self.new(f"call double @{function}({', '.join(f'double {i}' for i in given)})")
            out = self.new(f"insertelement {self.T} {out}, double {one}, i64 {lane}")
        return out
