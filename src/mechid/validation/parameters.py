"""Parameters side by side: true, CAD, identified, with deviations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats


@dataclass(frozen=True, eq=False)
class ParameterComparison:
    """Parameters of an estimate; not a number where something is not known.

    Attributes
    ----------
    parameters : tuple of str
    true, cad, identified, sigma : arrays (b,)
    relative : array (b,)
        Relative standard deviations in percent.
    z : array (b,)
        (identified - true)/σ; its square is about one for honest deviations.
    """

    parameters: tuple[str, ...]
    true: Floats
    cad: Floats
    identified: Floats
    sigma: Floats
    relative: Floats
    z: Floats

    def covered(self, level: float = 0.95) -> float:
        """Return which part of the true values lies in the interval of a level."""
        known = np.isfinite(self.z)
        if not known.any():
            raise DataError("no true value is known", remedy="give the true values")
        return float(np.mean(np.abs(self.z[known]) <= norm.ppf(0.5 + level / 2)))


def parameter_table(
    estimate: Estimate,
    prior: Prior | None = None,
    true: Mapping[str, float] | None = None,
) -> ParameterComparison:
    """Put the parameters of an estimate beside what is known of them.

    Parameters
    ----------
    estimate : Estimate
    prior : Prior, optional
        For the CAD values.
    true : mapping parameter → value, optional
        Of synthetic data.
    """
    names = estimate.parameters
    truth = np.array([(true or {}).get(name, np.nan) for name in names])
    cad = np.full(len(names), np.nan) if prior is None else prior.select(names).mean
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (estimate.values - truth) / estimate.sigma
    return ParameterComparison(
        names, truth, cad, estimate.values, estimate.sigma, estimate.relative, z
    )
