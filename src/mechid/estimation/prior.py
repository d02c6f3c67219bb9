"""The prior: CAD values, their uncertainty, and the bounds of physics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats


@dataclass(frozen=True, eq=False)
class Prior:
    """CAD values of all parameters, and how base parameters come from them.

    Attributes
    ----------
    parameters : tuple of str
        Names of the p parameters φ of the model.
    base : tuple of str
        Names of the b parameters that are estimated.
    matrix : array (b, p)
        B of φ_base = B φ.
    values : array (p,)
        CAD values.
    covariance : array (p, p)
        Of the CAD values, as declared; zero where nothing is declared.
    bodies : tuple of (str, int)
        Bodies with inertia, and the column of their mass; nine more columns follow it.
    positive : tuple of int
        Columns that cannot be negative: stiffness, damping, friction, rotor inertia.
    words : tuple of str
        The prior information as text.
    estimated : bool
        Whether the covariance is that of an estimate: errors are as large as it says.
    """

    parameters: tuple[str, ...]
    base: tuple[str, ...]
    matrix: Floats
    values: Floats
    covariance: Floats
    bodies: tuple[tuple[str, int], ...] = ()
    positive: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    estimated: bool = False

    @cached_property
    def mean(self) -> Floats:
        """CAD values of the base parameters, (b,)."""
        return np.asarray(self.matrix @ self.values)

    @cached_property
    def base_covariance(self) -> Floats:
        """Covariance of the CAD values of the base parameters, (b, b)."""
        return np.asarray(self.matrix @ self.covariance @ self.matrix.T)

    def select(self, base: Sequence[str]) -> Prior:
        """Return the prior of some of the base parameters."""
        at = {name: i for i, name in enumerate(self.base)}
        if strange := [name for name in base if name not in at]:
            raise DataError(f"the prior has no parameter {strange[0]}")
        return replace(self, base=tuple(base), matrix=self.matrix[[at[name] for name in base]])
