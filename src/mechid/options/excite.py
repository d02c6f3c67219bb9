"""What motion is designed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from mechid.shown import changes_repr

FamilyName: TypeAlias = Literal["fourier", "bspline"]
NoiseOf: TypeAlias = Literal["usual", "motion"]
CRITERIA = ("d", "prediction", "a", "e", "condition", "condition-equilibrated", "mixture")
# What leads to the smallest prediction error (docs/studies/designed-motions.md); it is about
# forces, so that a choice of parameters needs another.
DEFAULT_CRITERION, OF_PARAMETERS = "prediction", "d"


@dataclass(frozen=True)
class ExciteOptions:
    """What motion is designed.

    Attributes
    ----------
    family : "fourier" or "bspline"
    harmonics : int
        Of a Fourier series; a spline has twice as many values, and one.
    frequency : float
        Base frequency (Hz); the motion lasts one period.
    samples : int or None
        Per period; None: twelve per period of the highest frequency, or the rate of a trajectory
        that has one.
    criterion : str, optional
        One of `CRITERIA`; "goals" for the worst of several, relative to `goals`. By default
        "prediction", or "d" where `parameters` are chosen.
    noise : float
        Standard deviation of the force noise relative to the root mean square of each force.
    noise_of : "motion" or "usual"
        Of which forces: those of the motion itself, but at least those that are usual for
        the mechanism, so that no force is free of noise; or the usual ones, so that all motions
        have the same noise.
    prior : bool
        Whether the CAD values count as known, with their standard deviations.
    rest : bool
        Whether the motion starts and ends at rest.
    fixed : mapping coordinate → Family or str
        Coordinates whose motion is given, also as an expression of t such as "0.2*sin(2*pi*t)".
    goals : mapping criterion → float
        Values to be reached together.
    parameters : tuple of str
        Base parameters that are wanted, by the names that head them; the others are estimated
        along with them. Empty: all.
    cad_error : float, optional
        Relative error of the CAD values; by default the standard deviations that the model
        declares, and 20 % where it declares none.
    base : str
        Base set, as in `IdentifyOptions`.
    converge_on : tuple of str
        Instead: bodies on which inertia is gathered.
    random, starts, iterations : int
        Random motions that are tried first; of the best of them, how many are improved; and steps
        for each of these.
    max_seconds : float, optional
        For all of it.
    seed : int
        Of the random motions; criteria do not depend on it.
    device : str, optional
        Where random motions are judged: "cpu", "cuda" or "cuda:1"; by default that of the
        environment variable MECHID_DEVICE, or the processor. Results agree to rounding.
    """

    family: FamilyName = "fourier"
    harmonics: int = 5
    frequency: float = 1.0
    samples: int | None = None
    criterion: str | None = None
    noise: float = 0.05
    noise_of: NoiseOf = "motion"
    prior: bool = True
    rest: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    goals: Mapping[str, float] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    cad_error: float | None = None
    base: str = "balanced"
    converge_on: tuple[str, ...] = ()
    random: int = 200
    starts: int = 2
    iterations: int = 60
    max_seconds: float | None = None
    seed: int = 0
    device: str | None = None

    __repr__ = changes_repr
