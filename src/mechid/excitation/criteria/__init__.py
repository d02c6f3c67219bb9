"""Criteria that rank motions by what they tell about the base parameters, with exact gradients."""

from mechid.excitation.criteria.criterion import CRITERIA, Criterion, Options
from mechid.excitation.criteria.prediction import prediction_factor

__all__ = ["CRITERIA", "Criterion", "Options", "prediction_factor"]
