"""A program as C text: one function of plain arithmetic, in C99 or in CUDA's C++.

A function gets arrays and fills arrays; it has local variables only, no loops, no heap, no
recursion, and needs nothing but `math.h`. Products and sums are left to the compiler to contract.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.tape.number import Op, RecordingError
from mechid.tape.program import Program, operands

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<="}
_CALLED = {
    "abs": "fabs",
    "min": "least_of",
    "max": "largest_of",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "exp": "exp",
    "tanh": "tanh",
    "pow": "pow",
    "atan2": "atan2",
}


@dataclass(frozen=True)
class Dialect:
    """How functions are written.

    Attributes
    ----------
    function : str
        What stands before the name of a function.
    helper : str
        The same of the helper functions, with their result.
    restrict : str
        The word for pointers that do not overlap.
    sincos : str
        A function (angle, &sine, &cosine), if there is one.
    """

    function: str
    helper: str
    restrict: str
    sincos: str = ""


C99 = Dialect("void", "static inline double", "restrict")


@dataclass(frozen=True)
class Array:
    """An argument of a function: element i of the array is a slot of the program.

    Attributes
    ----------
    name : str
    slots : sequence of int
    stride : str
        Expression for the distance of its elements in memory; empty: they follow each other.
    """

    name: str
    slots: Sequence[int] | np.ndarray
    stride: str = ""

    def element(self, i: int) -> str:
        """Return the expression of element i."""
        return f"{self.name}[{i} * {self.stride}]" if self.stride else f"{self.name}[{i}]"


def c_prelude(dialect: Dialect = C99) -> str:
    """Return the helper functions that must stand before all functions; nan goes through them."""
    head = dialect.helper
    return (
        f"{head} least_of(double a, double b) {{ return a < b || a != a ? a : b; }}\n"
        f"{head} largest_of(double a, double b) {{ return a > b || a != a ? a : b; }}\n"
    )


def c_function(
    program: Program,
    name: str,
    arrays: Sequence[Array],
    *,
    parameters: Sequence[str] = (),
    dialect: Dialect = C99,
) -> str:
    """Return a program as a function `name(arrays…, parameters…)`.

    Parameters
    ----------
    program : Program
    name : str
    arrays : sequence of Array
        Where each input and output stands; an array that is not written is `const`.
    parameters : sequence of str
        Declarations of further arguments, such as strides.
    dialect : Dialect

    Raises
    ------
    RecordingError
        If a slot of the program stands in no array.
    """
    where = {
        slot: array.element(i) for array in arrays for i, slot in enumerate(map(int, array.slots))
    }
    inputs = {op.a for op in program.ops if op.name == "input"}
    missing = (inputs | set(program.output_slots)) - set(where)
    if missing:
        raise RecordingError(f"slots {sorted(missing)} of the function {name} are in no array")
    written, used = set(program.output_slots), inputs | set(program.output_slots)
    arguments = [
        f"{'' if written & _slots(a) else 'const '}double *{dialect.restrict} {a.name}"
        for a in arrays
    ]
    idle = [f"    (void){a.name};" for a in arrays if not used & _slots(a)]
    text = " ".join(where[slot] for slot in used)
    further = (parameter.split()[-1].strip("*") for parameter in parameters)
    idle += [f"    (void){name};" for name in further if name not in text]
    head = f"{dialect.function} {name}({', '.join([*arguments, *parameters])})\n{{\n"
    lines = [*idle, *_statements(program, where, dialect)]
    return head + "\n".join(lines) + "\n}\n"


def _slots(array: Array) -> set[int]:
    return {int(slot) for slot in array.slots}


def literal(x: float) -> str:
    """Return a number as C text, without rounding."""
    if math.isinf(x):
        return "HUGE_VAL" if x > 0 else "-HUGE_VAL"
    if math.isnan(x):
        raise RecordingError("a program has a constant that is not a number")
    return repr(float(x))


def _statements(program: Program, where: dict[int, str], dialect: Dialect) -> list[str]:
    read = {op.a for op in program.ops if op.name == "input"}
    outputs: dict[int, list[str]] = {}
    overwriting: list[tuple[str, int]] = []  # done last, when everything has been read
    for place, slot in zip(program.outputs, program.output_slots, strict=True):
        if slot in read:
            overwriting.append((where[slot], place))
        else:
            outputs.setdefault(place, []).append(where[slot])
    turned = _turned(program) if dialect.sincos else {}
    lines: list[str] = []
    names: list[str] = []
    for place, op in enumerate(program.ops):
        if op.name == "constant":
            names.append(literal(op.constant))
        else:
            names.append(f"t{place}")
            lines += _statement(op, names, where, turned, dialect)
        lines += [f"    {target} = {names[place]};" for target in outputs.get(place, ())]
    return [*lines, *(f"    {target} = {names[place]};" for target, place in overwriting)]


def _turned(program: Program) -> dict[int, dict[str, int]]:
    """Return places of sine and cosine of angles of which both are needed."""
    found: dict[int, dict[str, int]] = {}
    for place, op in enumerate(program.ops):
        if op.name in ("sin", "cos"):
            found.setdefault(op.a, {})[op.name] = place
    return {angle: pair for angle, pair in found.items() if len(pair) == 2}


def _statement(
    op: Op,
    names: list[str],
    where: dict[int, str],
    turned: dict[int, dict[str, int]],
    dialect: Dialect,
) -> list[str]:
    """Return the lines that define the last of the names."""
    name, x = names[-1], [names[i] for i in operands(op)]
    if op.name in ("sin", "cos") and op.a in turned:
        pair = turned[op.a]
        if len(names) - 1 != min(pair.values()):
            return []
        sine, cosine = f"t{pair['sin']}", f"t{pair['cos']}"
        return [
            f"    double {sine}, {cosine};",
            f"    {dialect.sincos}({x[0]}, &{sine}, &{cosine});",
        ]
    kind = "int" if op.name in ("lt", "le") else "double"
    if op.name == "input":
        value = where[op.a]
    elif op.name in _INFIX:
        value = f"{x[0]} {_INFIX[op.name]} {x[1]}"
    elif op.name == "neg":
        value = f"-{x[0]}"
    elif op.name == "select":
        value = f"{x[0]} ? {x[1]} : {x[2]}"
    else:
        value = f"{_CALLED[op.name]}({', '.join(x)})"
    return [f"    const {kind} {name} = {value};"]
