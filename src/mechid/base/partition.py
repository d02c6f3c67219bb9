"""Dependent parameters and their coefficients from a basis of the null space.

With W Z = 0 and the rows of Z split into those of a base set and of as many dependent parameters as
Z has columns, W_d = W_b β, β = -Z_b Z_d⁻¹: the forces depend on φ_b + β φ_d only.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.linalg import qr

from mechid.errors import MechidError
from mechid.kinematics.tables import Floats

Choice: TypeAlias = Literal["pivot", "first", "last"]

# Rows of an orthonormal basis: what a row adds to the rows before it counts above this part.
_NEW = 1e-6


def dependent_rows(Z: Floats, choice: Choice = "pivot") -> list[int]:
    """Choose as many rows of Z (p, d) as it has columns, with an invertible square of them.

    Parameters
    ----------
    Z : array (p, d)
        Basis of the null space, of full column rank.
    choice : "pivot", "first" or "last"
        The best conditioned rows; or the first, or the last, that are independent of those taken.
    """
    p, d = Z.shape
    if d == 0:
        return []
    Q = np.linalg.qr(Z.astype(np.float64))[0]
    if choice == "pivot":
        return sorted(int(i) for i in qr(Q.T, mode="r", pivoting=True)[-1][:d])
    taken: list[int] = []
    span = np.zeros((0, d))
    for i in range(p) if choice == "first" else range(p - 1, -1, -1):
        left = Q[i] - span.T @ (span @ Q[i])
        left = left - span.T @ (span @ left)
        size = float(np.linalg.norm(left))
        if size > _NEW:
            span = np.vstack([span, left / size])
            taken.append(i)
            if len(taken) == d:
                break
    if len(taken) < d:
        raise MechidError(
            f"only {len(taken)} of {d} dependent parameters can be separated in this order",
            where="numeric base parameters",
            remedy='choose them with "pivot"',
        )
    return sorted(taken)


def regrouping(Z: Any, dependent: list[int]) -> Any:
    """Return β (b, d) = -Z_b Z_d⁻¹, in the number type of Z."""
    base = np.setdiff1d(np.arange(len(Z)), dependent)
    if not dependent:
        return np.zeros((len(base), 0), dtype=Z.dtype)
    return -np.linalg.solve(Z[dependent].T, Z[base].T).T
