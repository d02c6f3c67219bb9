"""Linear and quadratic equations solved one after the other, as far as square roots go.

Unknowns have the values that they have in a real pose, and keep them: the numbers decide which
coefficients vanish and which of two roots is meant. Nothing is divided by what vanishes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flint import arb

from mechid.errors import MechidError
from mechid.exact.program import Number, Recorder
from mechid.exact.quadrics import Poly, Polys, add, times


@dataclass(frozen=True, eq=False)
class Solved:
    """How far the equations are solved.

    Attributes
    ----------
    x : list of Poly
        Every unknown as a linear polynomial in those that are open.
    left : list of Poly
        Equations in the open unknowns.
    open : frozenset of int
    """

    x: Polys
    left: Polys
    open: frozenset[int]


@dataclass(frozen=True, eq=False)
class Solver:
    """Solves equations.

    Attributes
    ----------
    recorder : Recorder
    values : sequence of arb
        The unknowns in the real pose.
    rank : sequence of int
        Of the unknowns of a linear equation, that of the lowest rank is solved for.
    """

    recorder: Recorder
    values: Sequence[arb]
    rank: Sequence[int]

    def solve(self, s: Solved) -> Solved:
        """Solve all that follows without a choice."""
        while s.left:
            linear = [p for p in s.left if _degree(p) < 2]
            single = [p for p in s.left if len(unknowns(p)) == 1]
            if linear:
                s = self._linear(s, min(linear, key=len), {min(unknowns(p)) for p in single})
            elif single:
                s = self._quadratic(s, single[0])
            else:
                left = self._reduced(s.left)
                s = replace(s, left=left)
                if all(_degree(p) == 2 and len(unknowns(p)) > 1 for p in left):
                    break
        return s

    def choose(self, s: Solved, n: int, *, by_size: bool) -> Solved | None:
        """Declare n unknowns free, one by one, and solve for the others.

        Parameters
        ----------
        s : Solved
        n : int
        by_size : bool
            Whether the unknown with the shortest equation is taken, or that of the highest rank.

        Returns
        -------
        Solved or None
            None if unknowns are left, or if fewer are enough.
        """
        s = self.solve(s)
        for _ in range(n):
            if not s.open:
                return None
            i = self._next(s, by_size)
            s = self._put(s, i, {(): self.recorder.free(self.values[i])})
            s = self.solve(s)
        return None if s.open else s

    def _next(self, s: Solved, by_size: bool) -> int:
        shortest: dict[int, int] = {}
        for poly in s.left:
            there = unknowns(poly)
            for i in there:
                shortest[i] = min(shortest.get(i, len(there)), len(there))

        def first(i: int) -> tuple[int, int, int]:
            size, rank = shortest.get(i, 0), -self.rank[i]
            return (size, rank, i) if by_size else (rank, size, i)

        return min(s.open, key=first)

    def _number(self, n: int) -> Number:
        return self.recorder.constant(n, arb(n))

    def _linear(self, s: Solved, poly: Poly, single: set[int]) -> Solved:
        """Solve for one unknown; not for one that has an equation of its own."""
        if not unknowns(poly):
            raise MechidError("the joints contradict each other", where="exact pose")

        def last(key: tuple[int, ...]) -> tuple[bool, int, float, int]:
            size = abs(float(poly[key].value))
            return (key[0] not in single, -self.rank[key[0]], size, key[0])

        pivot = max((key for key in poly if key), key=last)
        factor = self._number(-1) / poly[pivot]
        return self._put(s, pivot[0], {k: c * factor for k, c in poly.items() if k != pivot})

    def _quadratic(self, s: Solved, poly: Poly) -> Solved:
        """Solve a u² + b u + c = 0."""
        i = min(unknowns(poly))
        a, zero = poly[i, i], self._number(0)
        b, c = poly.get((i,), zero), poly.get((), zero)
        square = b * b - self._number(4) * a * c
        above = zero - b
        if not square.zero:
            above = above + self.recorder.root(square, 2 * a.value * self.values[i] + b.value)
        return self._put(s, i, add({}, {(): above / (a + a)}))

    def _put(self, s: Solved, i: int, form: Poly) -> Solved:
        """Put a linear polynomial in the place of an unknown."""

        def put(poly: Poly) -> Poly:
            if not any(i in key for key in poly):
                return poly
            out = {key: c for key, c in poly.items() if i not in key}
            for key, c in poly.items():
                if key == (i, i):
                    out = add(out, times(form, form), c)
                elif key == (i,):
                    out = add(out, form, c)
                elif i in key:
                    other = key[0] if key[1] == i else key[1]
                    out = add(out, times(form, {(other,): c}))
            return out

        left = [p for p in map(put, s.left) if p]
        return Solved([put(p) for p in s.x], left, s.open - {i})

    def _reduced(self, polys: Polys) -> Polys:
        """Eliminate squares and products, so that equations without any come to light."""
        heads: dict[tuple[int, ...], Poly] = {}
        linear: Polys = []
        for poly in sorted(polys, key=len):
            while poly and _degree(poly) == 2:
                head = max(key for key in poly if len(key) == 2)
                if head not in heads:
                    heads[head] = poly
                    break
                factor = self._number(-1) * poly[head] / heads[head][head]
                poly = add(poly, heads[head], factor)
                poly.pop(head, None)
            else:
                if poly:
                    linear.append(poly)
        return [*linear, *heads.values()]


def unknowns(poly: Poly) -> set[int]:
    """Return the unknowns of a polynomial."""
    return {i for key in poly for i in key}


def _degree(poly: Poly) -> int:
    return max(len(key) for key in poly)
