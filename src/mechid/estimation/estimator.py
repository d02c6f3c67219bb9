"""The one interface of all estimators."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression


class Estimator(Protocol):
    """A frozen record of options that turns a problem into an estimate."""

    @property
    def name(self) -> str:
        """As the command line calls it."""
        ...

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate.

        Raises
        ------
        DataError
            If the data do not suffice, or prior is needed and not given.
        """
        ...


def one_of(what: str, value: object, *allowed: str) -> None:
    """Reject an option that is not allowed."""
    if value not in allowed:
        words = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
        raise DataError(f"{what} must be {words}, got {value}")


def not_negative(what: str, value: object, *words: str) -> None:
    """Reject what is neither a finite number ≥ 0 nor one of the words."""
    if isinstance(value, str) and value in words:
        return
    if isinstance(value, (int, float)) and np.isfinite(value) and value >= 0:
        return
    also = "".join(f" or {word}" for word in words)
    raise DataError(f"{what} must be a number ≥ 0{also}, got {value}")
