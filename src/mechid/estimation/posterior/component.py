"""What may be wrong, by families: how large it usually is, and how often it is there.

    y = (1 + g) F(t - δ) + o + r(t) + ε,     F = W φ + known

Every error is a component: columns in units of its usual size, one unknown scale, and a
probability that it is absent. Scales are integrated over (`sampler.py`), so that nothing is decided
by a threshold, and what the data cannot tell stays in the uncertainty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats

# Whose an error is: of the machine (goes on to other motions, simulations, exports), of a sensor
# (goes on to other logs of it, and is no force), or of one log.
Owner = Literal["machine", "sensor", "log"]


@dataclass(frozen=True)
class Family:
    """Errors of one kind.

    Attributes
    ----------
    name : str
        In the plural, as users name it.
    owner : Owner
    usual : float
        Usual size, in units of `unit`.
    unit : str
        "of the force": a share of its root mean square; "samples": of the sampling interval.
    spread : float
        Standard deviation of the logarithm of sizes.
    most : float
        Largest size, relative to the usual one.
    absent : bool
        Whether it may be absent; CAD values always have errors.
    source : str
        Why sizes are of this order.
    remedy : str
        What to do about one that is there.
    """

    name: str
    owner: Owner
    usual: float
    unit: str
    spread: float
    most: float
    absent: bool
    source: str
    remedy: str


_FAMILIES = (
    Family("offsets", "log", 0.03, "of the force", 1.0, 30.0, True,
           "zero drift over temperature of strain-gauge sensors and amplifiers, 1 to 5 %",
           "zero the sensor, or measure standing still"),
    Family("gains", "sensor", 0.04, "of the force", 0.5, 3.0, True,
           "torque constants and uncalibrated sensors, 2 to 5 %; three times that is another unit",
           "calibrate the force with a known weight"),
    Family("drifts", "log", 0.05, "of the force", 1.0, 30.0, True,
           "random walk of a sensor while it warms up", "let the sensor warm up before a log"),
    Family("delays", "sensor", 0.2, "samples", 1.0, 30.0, True,
           "forces and positions go through different filters", "record both by the same clock"),
    Family("friction", "machine", 0.03, "of the force", 1.0, 30.0, True,
           "what good bearings and gears lose",
           "describe this friction in the model"),
    Family("places", "machine", 0.0003, "of the size of the mechanism", 1.0, 30.0, True,
           "fine tolerances of ISO 2768: 0.2 mm at 400 mm, 0.3 mm at 1 m",
           "measure where the joint is"),
    Family("coefficients", "machine", 0.1, "of the coefficient", 1.0, 30.0, True,
           "rates of springs and dampers from catalogues, 5 to 15 %",
           "measure it, or declare how uncertain it is"),
    Family("elasticity", "machine", 0.01, "of the force", 1.0, 30.0, True,
           "drives whose deflection moves as much as they do at their limit",
           "measure the positions of the links, or move more slowly"),
    Family("CAD values", "machine", 1.0, "declared standard deviations", 0.0, np.inf, False,
           "the model file", "declare how uncertain they are"),
)  # fmt: skip
FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in _FAMILIES})
NONE = "none"


def chosen_families(without: str = "", only: str = "", usual: str = "") -> Mapping[str, Family]:
    """Return the families of errors that may be there, by name.

    Parameters
    ----------
    without, only : str
        Names with commas: of those that are not there, or of all that may be; "none" is a name.
    usual : str
        Other usual sizes, as "offsets=2%, delays=0.5", in the unit of each family.

    Raises
    ------
    DataError
    """
    if without and only:
        raise DataError("without and only exclude each other", remedy="give one of them")
    usable = [f.name for f in _FAMILIES if f.absent]
    gone = _names(without, usable)
    if only:
        gone = set(usable) - (set() if only == NONE else _names(only, usable))
    found = {f.name: f for f in _FAMILIES if f.name not in gone}
    for word in filter(None, (word.strip() for word in usual.split(","))):
        name, _, size = (part.strip() for part in word.partition("="))
        _names(name or word, usable)
        if name in found:
            found[name] = replace(found[name], usual=_size(word, size), source="as declared")
    return MappingProxyType(found)


def _names(words: str, usable: Sequence[str]) -> set[str]:
    names = {word.strip() for word in words.split(",") if word.strip()}
    if strange := sorted(names.difference(usable)):
        raise DataError(
            f"there are no errors called {strange[0]}", remedy=f"choose one of: {', '.join(usable)}"
        )
    return names


def _size(word: str, text: str) -> float:
    try:
        size = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        size = np.nan
    if not 0 < size < np.inf:
        raise DataError(
            f"the usual size of errors must be > 0, got {word}", remedy="write it as offsets=2%"
        )
    return size


@dataclass(frozen=True, eq=False)
class Component:
    """One thing that may be wrong.

    Attributes
    ----------
    name : str
        As "offset of M1".
    family : Family
    kind : str
        Components of one kind share how often they are there, or how far CAD values are off.
    directions : array (b, k), optional
        Of errors of the parameters: their unit errors.
    columns : array (N, k), optional
        Of errors of a channel: unit errors of its samples.
    forces : array (N, n_d, k), optional
        Of what the machine may have: forces of unit coefficients.
    unit : float
        Coefficients of such forces that are one unit.
    channel, log : int
        The channel and the log; -1 for all.
    at : str
        The joint or drive of what the machine may have.
    seen : bool
        Whether forces can show it; else it is in standard deviations only.
    """

    name: str
    family: Family
    kind: str
    directions: Floats | None = None
    columns: Floats | None = None
    forces: Floats | None = None
    unit: float = 1.0
    channel: int = -1
    log: int = -1
    at: str = ""
    seen: bool = True

    @property
    def size(self) -> int:
        """Number of coefficients k."""
        found = next(x for x in (self.directions, self.forces, self.columns) if x is not None)
        return int(found.shape[-1])


def directions(components: Sequence[Component]) -> Floats:
    """Return the unit errors of the parameters side by side, (b, n)."""
    return np.concatenate([c.directions for c in components if c.directions is not None], axis=1)
