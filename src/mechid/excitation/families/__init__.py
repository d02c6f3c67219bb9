"""Families of motions of one coordinate, each with speed and acceleration in closed form."""

from mechid.excitation.families.bspline import BSpline
from mechid.excitation.families.elementary import Chirp, Constant, Function, Sine
from mechid.excitation.families.family import Basis, Family, Floats, Rates
from mechid.excitation.families.fourier import Fourier
from mechid.excitation.families.sums import Scaled, Sum
from mechid.excitation.families.tabulated import Tabulated

__all__ = [
    "BSpline",
    "Basis",
    "Chirp",
    "Constant",
    "Family",
    "Floats",
    "Fourier",
    "Function",
    "Rates",
    "Scaled",
    "Sine",
    "Sum",
    "Tabulated",
]
