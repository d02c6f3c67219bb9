"""All experiments by the names that study files use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from mechid.errors import DataError
from mechid.studies.experiment import Experiment
from mechid.textfile.words import hint

# Modules with a constant EXPERIMENT; they are imported when they are asked for.
EXPERIMENTS: Mapping[str, str] = MappingProxyType(
    {
        "conditions": "mechid.studies.experiments.conditions",
        "contribution": "mechid.studies.experiments.contribution",
        "forces": "mechid.studies.experiments.forces",
        "identification": "mechid.studies.experiments.identification",
        "information": "mechid.studies.experiments.information",
        "motions": "mechid.studies.experiments.motions",
        "parameters": "mechid.studies.experiments.parameters",
        "prediction": "mechid.studies.experiments.prediction",
        "rank": "mechid.studies.experiments.rank",
        "simulation": "mechid.studies.experiments.simulation",
        "sizes": "mechid.studies.experiments.sizes",
        "time-history": "mechid.studies.experiments.time_history",
    }
)


def experiment(name: str) -> Experiment[Any]:
    """Return an experiment.

    Raises
    ------
    DataError
        If there is none of that name.
    """
    if name not in EXPERIMENTS:
        raise DataError(f"there is no experiment {name}", remedy=hint(name, list(EXPERIMENTS)))
    found: Experiment[Any] = import_module(EXPERIMENTS[name]).EXPERIMENT
    return found
