"""A program in parts: the time of code generation grows faster than the length of a function.

Sines and cosines of the first angles come before everything else. What later parts need is kept in
memory, also of inputs whose slots are written before.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from mechid.tape.program import Program, operands

# Operations per part: more give better code and take longer.
PART = 400
# Operations that lead to an angle at the beginning of a program, at most.
_LEAD = 20
TURNED = ("sin", "cos")
# made again where they are needed
COMPARED = {"lt": "olt", "le": "ole"}


@dataclass(frozen=True)
class Plan:
    """Which part does what, and where numbers wait for later parts.

    Attributes
    ----------
    angles : dict of int to int
        Angles whose sines and cosines the first part computes, each with its number.
    parts : list of list of int
        Places of the operations of each part.
    results : list of dict of int to list of int
        Slots of the outputs of each part by place; those that are of no part come last.
    last_use : dict of int to int
        The last part that reads each number.
    inputs : dict of int to list of int
        Places of the inputs by slot.
    written : dict of int to int
        The part that writes each output slot.
    kept : dict of int to int
        Numbers that later parts read, each with its place in memory. Angles, their sines and their
        cosines stand there before all others.
    memory : int
        Numbers of memory per lane.
    sizes, rounded : set of int
        Numbers without a sign, and products that are not part of a sum.
    """

    program: Program
    angles: dict[int, int]
    parts: list[list[int]]
    results: list[dict[int, list[int]]]
    last_use: dict[int, int]
    inputs: dict[int, list[int]]
    written: dict[int, int]
    kept: dict[int, int]
    memory: int
    sizes: set[int]
    rounded: set[int]


def plan(program: Program) -> Plan:
    """Return how a program is cut into parts."""
    angles = _angles(program)
    parts = _parts(program, angles)
    last = len(parts) - 1
    part_of = {place: i for i, part in enumerate(parts) for place in part}
    results: list[dict[int, list[int]]] = [{} for _ in parts]
    for place, slot in zip(program.outputs, program.output_slots, strict=True):
        results[part_of.get(place, last)].setdefault(place, []).append(slot)
    written = {x: i for i, found in enumerate(results) for slots in found.values() for x in slots}
    last_use = _last_uses(program, parts) | dict.fromkeys(set(results[-1]) - set(parts[-1]), last)
    inputs: dict[int, list[int]] = {}
    kept: dict[int, int] = {}
    for place, op in enumerate(program.ops):
        if op.name == "input":
            inputs.setdefault(op.a, []).append(place)
        if op.name in TURNED and op.a in angles:
            kept[place] = (1 if op.name == "sin" else 2) * len(angles) + angles[op.a]
    memory = 3 * len(angles)
    for place, op in enumerate(program.ops):
        since = written.get(op.a, last) if op.name == "input" else part_of.get(place, last)
        if last_use.get(place, 0) > since and op.name not in COMPARED and place not in kept:
            kept[place] = memory
            memory += 1
    numbers = (_sizes(program), _rounded(program))
    return Plan(program, angles, parts, results, last_use, inputs, written, kept, memory, *numbers)


def _angles(program: Program) -> dict[int, int]:
    """Return the angles whose sines and cosines are computed first of all, each with its number.

    These are the ones that few operations lead to, and no other sine or cosine.
    """
    found: dict[int, int] = {}
    for op in program.ops:
        if op.name in TURNED and op.a not in found:
            lead = [op.a]
            for place in lead:  # it grows meanwhile
                lead += operands(program.ops[place])
                if len(lead) > _LEAD or program.ops[place].name in TURNED:
                    break
            else:
                found[op.a] = len(found)
    return found


def _parts(program: Program, angles: dict[int, int]) -> list[list[int]]:
    """Return what leads to the first angles, then the others in parts of about equal length."""
    lead = set(angles)
    for place in range(len(program.ops) - 1, -1, -1):
        if place in lead:
            lead.update(operands(program.ops[place]))
    first: list[int] = []
    ops: list[int] = []
    for place, op in enumerate(program.ops):
        if op.name in ("input", "constant") or (op.name in TURNED and op.a in angles):
            continue
        (first if place in lead else ops).append(place)
    n = max(1, -(-len(ops) // PART))
    bounds = [len(ops) * i // n for i in range(n + 1)]
    return [*([first] if angles else []), *(ops[bounds[i] : bounds[i + 1]] for i in range(n))]


def _last_uses(program: Program, parts: list[list[int]]) -> dict[int, int]:
    """Return the last part that reads each number.

    Comparisons are made again where they are needed: their results are not kept in memory.
    """
    last: dict[int, int] = {}
    for i, part in enumerate(parts):
        for place in part:
            for operand in operands(program.ops[place]):
                last[operand] = i
                if program.ops[operand].name in COMPARED:
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


def _rounded(program: Program) -> set[int]:
    """Return the products x y of differences x y - z w, which are rounded.

    LLVM would make x y + (-z w) of it; some processors need an instruction for the sign. Now it
    takes z w away from the product.
    """
    uses = Counter(i for op in program.ops for i in operands(op)) + Counter(program.outputs)
    return {
        op.a
        for op in program.ops
        if op.name == "sub"
        and all(program.ops[i].name == "mul" and uses[i] == 1 for i in (op.a, op.b))
    }
