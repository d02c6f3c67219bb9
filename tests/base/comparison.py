"""Published base parameters beside ours, factor by factor.

The source's tie rods have their x axis from the rack to the upright (entry 15 of table 5.3:
mx_4 + Iyy_4/l4), ours the other way. A turn by 180° about z leads from one to the other: mx, my, Ixz
and Iyz of bodies 4 and 12 change sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from mechid.base.baseset import BaseSet
from mechid.kinematics.tables import Floats

TURNED = tuple(f"{name}_{body}" for body in (4, 12) for name in ("mx", "my", "Ixz", "Iyz"))


@dataclass(frozen=True)
class Difference:
    """A factor that the source prints otherwise."""

    entry: int
    head: str
    parameter: str
    printed: sp.Expr
    exact: sp.Expr


def published_factors(
    base_set: BaseSet, printed: Mapping[int, str]
) -> dict[str, tuple[int, dict[str, sp.Expr]]]:
    """Return head → (entry, parameter → factor) of printed expressions, in our frames."""
    names = {n: sp.Symbol(n) for n in base_set.null_space.names}
    lengths = {str(s): s for s in base_set.null_space.geometry.values}
    found = {}
    for entry, text in printed.items():
        expr = sp.expand(sp.sympify(text, locals={**lengths, **names}))
        factors = {n: expr.coeff(x) for n, x in names.items() if expr.has(x)}
        factors = {n: -f if n in TURNED else f for n, f in factors.items()}
        (head,) = [n for n in factors if n in base_set.base]
        found[head] = (entry, {n: sp.expand(f / factors[head]) for n, f in factors.items()})
    return found


def differences(base_set: BaseSet, printed: Mapping[int, str]) -> list[Difference]:
    """Return every factor in which the source and exact elimination differ."""
    found = []
    published = published_factors(base_set, printed)
    for head, (entry, factors) in published.items():
        ours = base_set.symbolic[head]
        for name in base_set.null_space.names:
            if name == head:
                continue
            theirs, exact = factors.get(name, sp.S(0)), ours.get(name, sp.S(0))
            if sp.simplify(theirs - exact) != 0:
                found.append(Difference(entry, head, name, theirs, exact))
    return sorted(found, key=lambda d: d.entry)


def printed_matrix(base_set: BaseSet, printed: Mapping[int, str], only: int | None = None) -> Floats:
    """Return B with printed factors (of one entry, or of all), the rest ours."""
    B = base_set.matrix.copy()
    at = {n: i for i, n in enumerate(base_set.null_space.names)}
    values = base_set.null_space.geometry.values
    for head, (entry, factors) in published_factors(base_set, printed).items():
        if only is not None and entry != only:
            continue
        row = np.zeros(len(at))
        for name, factor in factors.items():
            row[at[name]] = float(factor.subs(values))
        B[base_set.base.index(head)] = row
    return B


