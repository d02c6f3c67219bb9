"""How a mechanism is identified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from mechid.errors import DataError
from mechid.options.noise import NO_NOISE, NoiseLevels
from mechid.options.reduce import ReduceOptions
from mechid.options.weighing import Weighing
from mechid.shown import changes_repr

Standstill: TypeAlias = Literal["keep", "auto"] | float


def standstill(given: Any, name: str) -> Any:
    """Return "keep", "auto", or a speed (m/s or rad/s) that may be text.

    Raises
    ------
    DataError
    """
    if given in ("keep", "auto"):
        return given
    try:
        speed = float(given)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be auto, keep or a speed, got {given!r}") from None
    if not 0 < speed < float("inf"):
        raise DataError(f"{name}: the speed must be > 0, got {speed:g}")
    return speed


@dataclass(frozen=True)
class IdentifyOptions:
    """How to identify.

    Attributes
    ----------
    estimator : str
        One of `mechid.estimation.registry.ESTIMATORS`.
    settings : mapping
        Of the estimator, such as `without`, `prior`, `penalty`.
    cad_error : float, optional
        Relative error of the CAD values; by default the standard deviations that the model
        declares, and 20 % where it declares none.
    noise : NoiseLevels
        What is known of the noise of the forces.
    hardpoints : NoiseLevels, optional
        Standard deviation of the place of each joint in every axis, m, or a share of the size of
        the mechanism. By default places may be off by fine tolerances; 0 says that they are exact.
        Joints that are probably elsewhere are moved in the model.
    reduce : ReduceOptions, optional
        Whether and how the model is reduced.
    weigh : tuple of Weighing
        Measured masses.
    symmetric : "x", "y" or "z", optional
        Axis of the ground normal to the plane, through the origin, in which pairs of bodies mirror
        each other exactly.
    base : str
        Base set: a name of the model file, a .yaml file, or "balanced", "first", "last", "terms",
        "condition".
    converge_on : tuple of str
        Instead: bodies on which inertia is gathered.
    period, cutoff, decimation : numbers, optional
        How measurements are prepared, as in `Preparation` (s, Hz, samples).
    seed : int
        Of everything random.
    friction : tuple of str
        Shapes of friction, and rotors, that joints get besides those of the model: "keep" (none),
        "auto" (those that are more likely there than not, by the estimator `auto`), or names:
        "coulomb", "viscous", "asymmetric", "stribeck", "quadratic", "hysteresis", "load", "rotor".
        By default "auto" with the estimator `auto`, and "keep" with others. Fixed coefficients of
        the model that do not fit are replaced.
    standstill : str or float
        Forces near standstill: "keep", "auto" (ignored where residuals are much larger there), or
        a speed (m/s or rad/s) below which they are ignored.
    """

    estimator: str = "auto"
    settings: Mapping[str, float | int | bool | str] = field(default_factory=dict)
    cad_error: float | None = None
    noise: NoiseLevels = NO_NOISE
    hardpoints: NoiseLevels | None = None
    reduce: ReduceOptions | None = None
    weigh: tuple[Weighing, ...] = ()
    symmetric: str | None = None
    base: str = "balanced"
    converge_on: tuple[str, ...] = ()
    period: float | None = None
    cutoff: float | None = None
    decimation: int | None = None
    seed: int = 0
    friction: tuple[str, ...] = ()
    standstill: Standstill = "keep"

    __repr__ = changes_repr


DEFAULT_OPTIONS = IdentifyOptions()
