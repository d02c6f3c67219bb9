"""The one interface of all estimators."""

from __future__ import annotations

from typing import Protocol

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
