"""A base set: parameters that can be identified, each with what it carries along.

With W N = 0 and the rows of N split into those of dependent (d) and base (b) parameters,
W_d = -W_b N_b N_d⁻¹, and therefore

    W φ = W_b (φ_b + β φ_d),    β = -N_b N_d⁻¹.

β is computed by elimination in balls, so that its zeros are zeros, and on demand in symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp
from flint import ctx

from mechid.base.constant import zero_of
from mechid.base.fractions import Fraction, FractionField, TooLargeError
from mechid.base.matroid import (
    greedy,
    independent_columns,
    independent_zeros,
    matroid,
    without_effect,
)
from mechid.base.nullspace import NullSpace
from mechid.base.spaces import size
from mechid.base.sparse import Sparse, eliminate
from mechid.base.transfers import Transfer
from mechid.errors import MechidError
from mechid.exact.numbers import PRECISION
from mechid.kinematics.tables import Floats, Ints
from mechid.shown import Tabular


@dataclass(frozen=True, eq=False, repr=False)
class BaseSet(Tabular):
    """A choice of dependent parameters and what follows from it.

    Attributes
    ----------
    null_space : NullSpace
    dependent : tuple of str
        Parameters that others carry along, in the order of the observation matrix.
    base : tuple of str
        Parameters that head the base parameters, in that order too.
    without_effect : tuple of str
        Parameters that no force depends on.
    beta : array (n_base, n_dependent)
        φ_base = φ_b + β φ_d.
    """

    null_space: NullSpace
    dependent: tuple[str, ...]
    base: tuple[str, ...]
    without_effect: tuple[str, ...]
    beta: Floats

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "parameters": len(self.null_space.names) - len(self.zeros),
            "base parameters": self.rank,
            "base": self.base,
            "dependent": self.dependent,
            "without effect": self.without_effect,
        }

    @property
    def zeros(self) -> tuple[str, ...]:
        """Parameters of massless bodies."""
        return tuple(n for n in self.null_space.names if n in self.null_space.zeros)

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.base)

    @cached_property
    def places(self) -> Ints:
        """Numbers of the columns of W that remain, (n_base,)."""
        at = {name: i for i, name in enumerate(self.null_space.names)}
        return np.array([at[name] for name in self.base], dtype=np.int64)

    @cached_property
    def matrix(self) -> Floats:
        """B (n_base, p): φ_base = B φ."""
        at = {name: i for i, name in enumerate(self.null_space.names)}
        B = np.zeros((len(self.base), len(at)))
        B[np.arange(len(self.base)), self.places] = 1.0
        if self.dependent:
            B[:, [at[name] for name in self.dependent]] = self.beta
        return B

    @property
    def n_terms(self) -> int:
        """Number of parameters that all base parameters together hold."""
        return len(self.base) + int(np.count_nonzero(self.beta))

    def observation(self, W: Floats) -> Floats:
        """Return W_b of an observation matrix (…, p): its columns of the base parameters."""
        return np.asarray(W[..., self.places])

    def values(self, phi: Floats) -> Floats:
        """Return φ_base of parameters φ (p,)."""
        return np.asarray(self.matrix @ phi)

    def row(self, name: str) -> dict[str, float]:
        """Return what one base parameter holds: parameter → factor."""
        i = self._place(name)
        held = zip(self.dependent, self.beta[i].tolist(), strict=True)
        return {name: 1.0, **{n: x for n, x in held if x != 0}}

    @cached_property
    def symbolic(self) -> dict[str, dict[str, sp.Expr]]:
        """β in the symbols of the model: base parameter → dependent parameter → factor.

        Exact, but for factors that would fill pages: those are floats.
        """
        with ctx.workprec(PRECISION):
            return _symbolic(self)

    def _place(self, name: str) -> int:
        if name not in self.base:
            raise MechidError(
                f"{name} is not a base parameter", remedy=f"choose one of: {', '.join(self.base)}"
            )
        return self.base.index(name)


def base_set(null_space: NullSpace, dependent: Iterable[str]) -> BaseSet:
    """Return the base set of a valid choice of dependent parameters.

    Parameters
    ----------
    null_space : NullSpace
    dependent : iterable of str
        As one of the rules of `choose` returns them; those without effect need not be named. What
        else is missing is completed, the first parameters first.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.tour(mechid.load("four_bar"))
    >>> seen = mechid.observation_matrix(motion)
    >>> phi = np.array([column.value for column in seen.columns])
    >>> chosen = mechid.base_set(mechid.null_space(mechid.load("four_bar")), ["m_2", "m_3"])
    >>> np.allclose(chosen.observation(seen.W) @ chosen.values(phi), seen.W @ phi)
    True
    """
    chosen = _completed(null_space, dependent)
    with ctx.workprec(PRECISION):
        exact = _numbers(null_space, chosen)
    held = {name: {n for n in column if n != name} for name, column in exact.items()}
    without = tuple(name for name in chosen if not held[name])
    names = tuple(name for name in chosen if held[name])
    taken = {*chosen, *null_space.zeros}
    base = tuple(name for name in null_space.names if name not in taken)
    at = {name: i for i, name in enumerate(base)}
    beta = np.zeros((len(base), len(names)))
    for j, name in enumerate(names):
        for n in held[name]:
            beta[at[n], j] = -exact[name][n]
    return BaseSet(null_space, names, base, without, beta)


def change(old: BaseSet, new: BaseSet) -> Floats:
    """Return B with φ_base of the new set = B φ_base of the old one.

    Old base parameters are one way to have these forces: all dependent ones zero.
    """
    return np.asarray(new.matrix[:, old.places])


def _completed(null_space: NullSpace, dependent: Iterable[str]) -> tuple[str, ...]:
    """Return a choice with the parameters without effect, or reject one that is not valid."""
    listed = tuple(dict.fromkeys(dependent))
    m = matroid(null_space)
    chosen = greedy(m, (*without_effect(m), *listed))
    if lost := [name for name in listed if name not in chosen]:
        raise MechidError(
            f"no base set has {', '.join(lost)} dependent together with the others",
            remedy="let a rule choose, or use `as_listed`, which explains the conflict",
        )
    return chosen


def _columns(null_space: NullSpace, dependent: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """Return independent transfers and the rows to eliminate: massless bodies first."""
    chosen = list(independent_columns(null_space))
    rows = [*independent_zeros(null_space), *dependent]
    if len(rows) != len(chosen):
        raise AssertionError((len(rows), len(chosen)))
    return chosen, rows


def _numbers(null_space: NullSpace, dependent: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return the columns of N N_d⁻¹ of the dependent parameters, in floats."""
    chosen, rows = _columns(null_space, dependent)
    balls = null_space.geometry.balls
    zero = zero_of(null_space.geometry)
    columns: list[Sparse] = [
        {name: balls(x) for name, x in null_space.transfers[k].entries} for k in chosen
    ]
    columns = [{n: x for n, x in c.items() if size(x) > zero} for c in columns]
    found = eliminate(
        columns,
        rows,
        lambda x: size(x) if size(x) > zero else 0.0,
        lambda x: size(x) <= zero,
    )
    return {
        name: {n: float(x.mid()) for n, x in found[name].items() if n not in null_space.zeros}
        for name in dependent
    }


def _symbolic(base_set: BaseSet) -> dict[str, dict[str, sp.Expr]]:
    """Eliminate in symbols, part by part; a part whose expressions grow too large, in floats."""
    null_space = base_set.null_space
    dependent = _completed(null_space, base_set.dependent)
    chosen, rows = _columns(null_space, dependent)
    used = [null_space.transfers[k] for k in chosen]
    table: dict[str, dict[str, sp.Expr]] = {name: {} for name in base_set.base}
    for part in _parts(used):
        inside = {name for t in part for name, _ in t.entries}
        field = FractionField((x for t in part for _, x in t.entries), null_space.geometry)
        columns: list[Sparse] = [{name: field(x) for name, x in t.entries} for t in part]
        heads = [name for name in base_set.dependent if name in inside]
        try:
            found = eliminate(columns, [n for n in rows if n in inside], _size, _vanishes)
        except TooLargeError:
            for name in heads:
                j = base_set.dependent.index(name)
                for i in np.flatnonzero(base_set.beta[:, j]):
                    table[base_set.base[i]][name] = sp.Float(base_set.beta[i, j])
            continue
        for name in heads:
            for n, x in found[name].items():
                if n in table:
                    table[n][name] = field.expression(-x)
    return table


def _parts(used: Sequence[Transfer]) -> list[list[Transfer]]:
    """Return groups of transfers that have no parameter in common."""
    parts: list[tuple[set[str], list[Transfer]]] = []
    for transfer in used:
        names, group = {name for name, _ in transfer.entries}, [transfer]
        apart = []
        for other in parts:
            if names & other[0]:
                names |= other[0]
                group = [*other[1], *group]
            else:
                apart.append(other)
        parts = [*apart, (names, group)]
    return [group for _, group in parts]


def _size(x: Fraction) -> float:
    return x.size


def _vanishes(x: Fraction) -> bool:
    return x.vanishes
