"""Criteria that rank motions by what they tell about the base parameters, with exact gradients."""

from mechid.excitation.criteria.criterion import (
    CRITERIA,
    Criterion,
    CriterionOptions,
    Look,
    Objective,
)
from mechid.excitation.criteria.goals import Goals
from mechid.excitation.criteria.prediction import prediction_factor, rms_forces
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.excitation.criteria.root import Resolution, resolution

__all__ = [
    "CRITERIA",
    "Criterion",
    "CriterionOptions",
    "Goals",
    "Look",
    "Objective",
    "RelativeNoise",
    "Resolution",
    "prediction_factor",
    "resolution",
    "rms_forces",
]
