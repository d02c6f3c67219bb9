"""The order of operations: each as late as the first output that needs it.

Numbers then wait less for their use, and fewer are alive at a time. Compilers keep to the order of
the text, by and large; a processor with many threads has few registers for each of them.
"""

from __future__ import annotations

from mechid.tape.number import Op
from mechid.tape.program import Program, operands


def by_demand(program: Program) -> Program:
    """Return the same program, output after output, in the order in which they were recorded."""
    ops = program.ops
    new: dict[int, int] = {}
    order: list[Op] = []
    for output in sorted(set(program.outputs)):
        waiting = [output]
        while waiting:
            place = waiting[-1]
            missing = [i for i in operands(ops[place]) if i not in new]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            if place not in new:
                op = ops[place]
                if op.name not in ("input", "constant"):
                    op = Op(op.name, *(new[i] for i in operands(op)))
                new[place] = len(order)
                order.append(op)
    return Program(tuple(order), tuple(new[i] for i in program.outputs), program.output_slots)
