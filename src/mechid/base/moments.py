"""Distributions of mass as symmetric products of homogeneous vectors.

A point s of a body is ρ = (s, 1), a direction u is ρ = (u, 0), and a body moves them as A ρ. The
inertia of a body is the symmetric 4×4 matrix Σ = ∫ ρ ρᵀ dm, and with it

    kinetic energy    T = ½ tr(Ȧ Σ Ȧᵀ),        weight    V = -g · A Σ (0, 0, 0, 1)ᵀ.

A mass at a point (monopole) is ρ ρᵀ, a first moment along u at P (dipole) is P uᵀ + u Pᵀ, the
inertia of a line along u (quadrupole) is u uᵀ. Two bodies that share ρ and σ, A_i ρ_i = A_j ρ_j,
cannot tell in which of them the product ρ σᵀ + σ ρᵀ sits: that is all there is to a transfer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

# Three components and 1 (a point) or 0 (a direction); SymPy expressions, balls or floats.
Homogeneous: TypeAlias = Sequence[Any]
Ten: TypeAlias = tuple[Any, ...]


def symmetric_product(rho: Homogeneous, sigma: Homogeneous) -> Ten:
    """Return (m, mx, …, Izz) of ½ (ρ σᵀ + σ ρᵀ), doubled unless ρ is σ."""
    same = all(a is b or a == b for a, b in zip(rho, sigma, strict=True))

    def second(i: int, j: int) -> Any:
        if same:
            return rho[i] * rho[j]
        return rho[i] * sigma[j] + sigma[i] * rho[j]

    x, y, z = second(0, 0), second(1, 1), second(2, 2)
    return (
        second(3, 3),
        second(0, 3),
        second(1, 3),
        second(2, 3),
        y + z,
        -second(0, 1),
        -second(0, 2),
        x + z,
        -second(1, 2),
        x + y,
    )


def tensor_unit(number: int, rotation: Sequence[Sequence[Any]]) -> Ten:
    """Return ten parameters with component `number` of the inertia tensor equal to one.

    `rotation` turns the components into those of another frame: I' = Q I Qᵀ.
    """
    i, j = _UPPER[number]
    q = rotation
    components = []
    for a, b in _UPPER:
        entry = q[a][i] * q[b][j]
        components.append(entry if i == j else entry + q[a][j] * q[b][i])
    return (0, 0, 0, 0, *components)


_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
