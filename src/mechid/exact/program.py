"""Computations with exact numbers, written down once and done again in other fields.

Numbers are balls that remember how they were computed: constants of the geometry, values that may
be chosen freely, sums, products, quotients and square roots. The list of these operations can be
run modulo a prime with other free values. There a square root exists for every second number:
values are drawn anew until all roots do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import arb, ctx, nmod
from flint.utils.flint_exceptions import DomainError

from mechid.errors import MechidError
from mechid.exact.residues import Residues

Code: TypeAlias = Literal["constant", "free", "+", "-", "*", "/", "root"]
Operation: TypeAlias = tuple[Code, Any, int]  # places of the operands; of a constant, the number
_DRAWS = 200_000  # enough for 16 roots that depend on one free value


class Number:
    """A ball, and the place of its operation in the list."""

    __slots__ = ("place", "recorder", "value")

    def __init__(self, recorder: Recorder, place: int, value: arb) -> None:
        self.recorder = recorder
        self.place = place
        self.value = value

    def __add__(self, other: Number) -> Number:
        """Return the sum."""
        return self.recorder.note("+", self.place, other.place, self.value + other.value)

    def __sub__(self, other: Number) -> Number:
        """Return the difference."""
        return self.recorder.note("-", self.place, other.place, self.value - other.value)

    def __mul__(self, other: Number) -> Number:
        """Return the product."""
        return self.recorder.note("*", self.place, other.place, self.value * other.value)

    def __truediv__(self, other: Number) -> Number:
        """Return the quotient."""
        return self.recorder.note("/", self.place, other.place, self.value / other.value)

    @property
    def zero(self) -> bool:
        """Whether the number vanishes, to half of all digits."""
        if not self.value.contains(0):
            return False
        if not self.value.abs_upper() < arb(2) ** (-ctx.prec // 2):
            raise MechidError("a number cannot be distinguished from zero", where="exact pose")
        return True


class Recorder:
    """Writes operations down while they are done."""

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._constants: dict[Any, Number] = {}

    def note(self, code: Code, a: Any, b: int, value: arb) -> Number:
        """Write down an operation with its value."""
        self._operations.append((code, a, b))
        return Number(self, len(self._operations) - 1, value)

    def constant(self, exact: Any, value: arb) -> Number:
        """Return an exact number."""
        if exact not in self._constants:
            self._constants[exact] = self.note("constant", exact, 0, value)
        return self._constants[exact]

    def free(self, value: arb) -> Number:
        """Return a number that may be chosen freely."""
        return self.note("free", 0, 0, value)

    def root(self, square: Number, value: arb) -> Number:
        """Return the square root that has this value, of either sign."""
        return self.note("root", square.place, 0, value)

    def program(self, results: Sequence[Number]) -> Program:
        """Return what leads to the results, and nothing else.

        Operations stand in the order of the free values that they depend on; a root stands right
        after what it needs, so that one that does not exist is found out early.
        """
        wanted = [number.place for number in results]
        needed = self._needed(wanted, set())
        stage: dict[int, int] = {}
        stages = 0
        for k in needed:
            if self._operations[k][0] == "free":
                stages += 1
                stage[k] = stages
            else:
                stage[k] = max((stage[i] for i in self._operands(k)), default=0)
        order: list[int] = []
        there: set[int] = set()
        for s in range(stages + 1):
            now = [k for k in needed if stage[k] == s]
            first = [k for k in now if self._operations[k][0] == "free"]
            roots = [k for k in now if self._operations[k][0] == "root"]
            for goal in (*first, *roots, *now):
                fresh = self._needed([goal], there)
                order += fresh
                there.update(fresh)
        place = {k: i for i, k in enumerate(order)}
        moved: list[Operation] = []
        for k in order:
            code, a, b = self._operations[k]
            operands = [place[i] for i in self._operands(k)] + [0, 0]
            moved.append((code, a, b) if code == "constant" else (code, operands[0], operands[1]))
        return Program(tuple(moved), tuple(place[k] for k in wanted))

    def _operands(self, k: int) -> tuple[int, ...]:
        code, a, b = self._operations[k]
        if code in ("constant", "free"):
            return ()
        return (a,) if code == "root" else (a, b)

    def _needed(self, goals: Sequence[int], there: set[int]) -> list[int]:
        """Return what the goals need and is not there, in order."""
        found: set[int] = set()
        waiting = list(goals)
        while waiting:
            k = waiting.pop()
            if k not in found and k not in there:
                found.add(k)
                waiting += self._operands(k)
        return sorted(found)


@dataclass(frozen=True)
class Image:
    """A run in a prime field.

    Attributes
    ----------
    results : tuple of int, optional
        None if a root that depends on no free value does not exist, or too many depend on one.
    missed : frozenset of int
        Places of roots that did not exist for some values drawn, although all before them did.
    """

    results: tuple[int, ...] | None
    missed: frozenset[int]


@dataclass(frozen=True, eq=False)
class Program:
    """A list of operations, each of which appends a number to the list of numbers.

    Attributes
    ----------
    operations : tuple
        (code, a, b) with the places a and b of operands; of a constant, a is the exact number.
    results : tuple of int
        Places of the results.
    """

    operations: tuple[Operation, ...]
    results: tuple[int, ...]

    @property
    def roots(self) -> frozenset[int]:
        """Places of the square roots."""
        return frozenset(k for k, (code, _, _) in enumerate(self.operations) if code == "root")

    @property
    def constants(self) -> tuple[Any, ...]:
        """Exact numbers that are needed."""
        return tuple(a for code, a, _ in self.operations if code == "constant")

    def modulo(self, residues: Residues, rng: np.random.Generator) -> Image:
        """Run in a prime field, with random free values."""
        x: list[int] = []
        missed: set[int] = set()
        last, draws = -1, 0  # place of the free value drawn last
        while len(x) < len(self.operations):
            k = len(x)
            code, a, b = self.operations[k]
            found: int | None
            if code == "free":
                last, found = k, int(rng.integers(residues.p))
            elif code == "constant":
                found = residues(a)
            else:
                found = _done(code, x[a], x[b], residues.p)
            if found is not None:
                x.append(found)
                continue
            if code == "root" and x[a]:
                missed.add(k)
            draws += 1
            if last < 0 or draws > _DRAWS:
                return Image(None, frozenset(missed))
            del x[last:]
        return Image(tuple(x[k] for k in self.results), frozenset(missed))


def _done(code: Code, a: int, b: int, p: int) -> int | None:
    """Return the result of an operation, or None: no root, or a divisor or a square is zero."""
    match code:
        case "+":
            return (a + b) % p
        case "-":
            return (a - b) % p
        case "*":
            return a * b % p
        case "/":
            return a * pow(b, -1, p) % p if b else None
    if not a:
        return None
    try:
        return int(nmod(a, p).sqrt())
    except DomainError:
        return None
