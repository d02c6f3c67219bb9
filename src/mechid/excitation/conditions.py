"""Start and end conditions: linear equations between coefficients, projected out exactly.

The conditions on a coordinate read A c = r. All coefficients that meet them are c = c0 + Z x with
orthonormal Z, A Z = 0, so that an optimiser moves x freely and never leaves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Basis, Family, Floats, Rates

# Equations of unit rows are the same if they differ by this; speeds and accelerations at both ends
# of a period come from sines of arguments that are rounded differently.
_SAME = 1e-9


@dataclass(frozen=True)
class At:
    """Position, speed and acceleration at a time; None leaves one of them free."""

    time: float
    position: float | None = None
    speed: float | None = None
    acceleration: float | None = None


@dataclass(frozen=True)
class Closed:
    """Position, speed and acceleration are the same at two times: the motion repeats smoothly."""

    first: float
    last: float


Condition = At | Closed


def rest(time: float) -> At:
    """Return the condition of rest: no speed and no acceleration."""
    return At(time, speed=0.0, acceleration=0.0)


def rest_at_ends(duration: float) -> tuple[At, At]:
    """Return rest at time 0 and at the end."""
    return rest(0.0), rest(duration)


@dataclass(frozen=True, eq=False)
class Reduction:
    """All coefficients that meet some conditions: c = c0 + Z x.

    Attributes
    ----------
    c0 : array (n,)
        The shortest of them.
    Z : array (n, n_x)
        Orthonormal columns.
    """

    c0: Floats
    Z: Floats

    def coefficients(self, x: Floats) -> Floats:
        """Return c of x."""
        return np.asarray(self.c0 + self.Z @ x)

    def nearest(self, c: Floats) -> Floats:
        """Return x of the coefficients that are nearest to c; of c itself if it complies."""
        return np.asarray(self.Z.T @ (c - self.c0))


def reduction(family: Family, conditions: Sequence[Condition], name: str = "") -> Reduction:
    """Return the coefficients of a family that meet conditions.

    Raises
    ------
    DataError
        If none do; `name` is the coordinate in the message.
    """
    A, r, scale = equations(family, conditions)
    n = family.coefficients.size
    size = np.linalg.norm(A, axis=1)
    # A row without coefficients is no equation, but what is given must comply with it by itself.
    empty = size <= _SAME * np.max(size, initial=0.0)
    unfit = bool(np.any(np.abs(r[empty]) > _SAME * scale[empty]))
    A, r, scale = (A[~empty] / size[~empty, None], r[~empty] / size[~empty],
                   scale[~empty] / size[~empty])  # fmt: skip
    U, s, Vh = np.linalg.svd(A, full_matrices=True)
    rank = int(np.count_nonzero(s > _SAME * np.max(s, initial=0.0)))
    c0 = Vh[:rank].T @ ((U.T @ r)[:rank] / s[:rank])
    tolerance = _SAME * (scale + float(np.linalg.norm(c0)))
    if unfit or np.any(np.abs(A @ c0 - r) > tolerance):
        raise DataError(
            "no coefficients meet the start and end conditions"
            if n
            else "a given signal does not meet the start and end conditions",
            where=name,
            remedy="use fewer conditions, or another family or duration",
        )
    return Reduction(c0, np.ascontiguousarray(Vh[rank:].T))


def equations(family: Family, conditions: Sequence[Condition]) -> tuple[Floats, Floats, Floats]:
    """Return A (m, n), r (m,) of A c = r, and the size of what r is made of (m,)."""
    usual = _usual_size(family, conditions)
    rows: list[Floats] = [np.zeros((0, family.coefficients.size))]
    right: list[float] = []
    scale: list[float] = []
    for condition in conditions:
        match condition:
            case At():
                basis, given = _values(family, np.array([condition.time]))
                wanted = (condition.position, condition.speed, condition.acceleration)
                for B, g, value, size in zip(basis, given, wanted, usual, strict=True):
                    if value is not None:
                        rows.append(B)
                        right.append(value - float(g[0]))
                        scale.append(abs(value) + size)
            case Closed():
                basis, given = _values(family, np.array([condition.first, condition.last]))
                for B, g, size in zip(basis, given, usual, strict=True):
                    # What two rounded sines differ by is no equation.
                    row = B[1:] - B[:1]
                    large = np.abs(row) > _SAME * np.abs(B).max(initial=0.0)
                    rows.append(np.where(large, row, 0.0))
                    right.append(float(g[0] - g[1]))
                    scale.append(size)
    return np.vstack(rows), np.array(right), np.array(scale)


def _usual_size(family: Family, conditions: Sequence[Condition]) -> list[float]:
    """Return how large position, speed and acceleration of the given part become."""
    ends = [c.time if isinstance(c, At) else c.last for c in conditions]
    first, last = family.span
    t = np.linspace(
        max(first, 0.0), min(last, max(ends, default=0.0) + (family.period or 0.0)), 101
    )
    return [float(np.abs(g).max()) for g in family.given(t)]


def _values(family: Family, t: Floats) -> tuple[Basis, Rates]:
    return family.basis(t), family.given(t)
