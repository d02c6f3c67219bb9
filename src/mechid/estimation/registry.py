"""All estimators by the names that the command line uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimator import Estimator
from mechid.estimation.huber import Huber
from mechid.estimation.instrumental import InstrumentalVariables
from mechid.estimation.least_squares import (
    OrdinaryLeastSquares,
    Ridge,
    Truncated,
    WeightedLeastSquares,
)
from mechid.estimation.log_cholesky import LogCholesky
from mechid.estimation.physical import PhysicallyConsistent
from mechid.estimation.posterior.estimator import JointPosterior

ESTIMATORS: Mapping[str, Callable[..., Estimator]] = MappingProxyType(
    {
        "ols": OrdinaryLeastSquares,
        "weighted": WeightedLeastSquares,
        "ridge": Ridge,
        "truncated": Truncated,
        "huber": Huber,
        "iv": InstrumentalVariables,
        "map": MaximumAPosteriori,
        "auto": JointPosterior,
        "physical": PhysicallyConsistent,
        "log-cholesky": LogCholesky,
    }
)
