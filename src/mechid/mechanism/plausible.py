"""What is hardly meant: sizes and masses that point to wrong units, inertia that no body has."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.spatial.inertia import inconsistency, tensor

# Metres. Between them lie watches and large excavators; a model in mm read as m is 20 m and more.
_SMALL, _LARGE = 1e-3, 50.0
# kg/m³ of the whole, mass over the cube of its size: a thousandth of air, and solid tungsten.
_LIGHT, _DENSE = 1e-3, 2e4
# m/s². Between them lie the Moon and three times the Earth; no weight at all is meant so.
_WEAK, _STRONG = 0.5, 30.0
# Radius of gyration of a body in sizes of the mechanism; those of the zoo reach 0.8.
_WIDE = 10.0


def impossible_bodies(mechanism: Mechanism) -> tuple[str, ...]:
    """Return a warning for each body whose CAD inertia is not physically consistent."""
    words = []
    for body in mechanism.bodies:
        if body.inertia is not None:
            cad = body.inertia
            if problem := inconsistency(cad.mass, np.array(cad.inertia_center)):
                words.append(
                    f"the inertia of {body.name} is not physically consistent (allow_nonphysical): "
                    f"{problem}"
                )
    return tuple(words)


def tell_implausible_units(mechanism: Mechanism, where: str) -> None:
    """Log a warning for each number of a model that suggests wrong units."""
    for words in implausible_units(mechanism):
        logging.getLogger("mechid").warning("%s: %s", where, words)


def implausible_units(mechanism: Mechanism) -> tuple[str, ...]:
    """Return warnings of lengths, masses, inertia and gravity that suggest wrong units."""
    return tuple(_implausible(mechanism))


def _implausible(mechanism: Mechanism) -> Iterator[str]:
    weight = float(np.linalg.norm(mechanism.gravity))
    if weight and not _WEAK < weight < _STRONG:
        yield (
            f"gravity is {weight:.3g} m/s², on Earth 9.81: check its unit, which is that of the "
            "lengths per s²"
        )
    size = characteristic_size(mechanism)
    if size > _LARGE:
        yield (
            f"the mechanism is {size:.3g} m in size: are the lengths in mm? "
            "Then declare units: {length: mm}"
        )
    if size < _SMALL:
        yield f"the mechanism is {size:.3g} m in size: check the unit of the lengths"
    mass, extent = 0.0, size
    for body in mechanism.bodies:
        if (cad := body.inertia) is None:
            continue
        second = max(float(np.trace(tensor(np.array(cad.inertia_center)))) / 2, 0.0)
        radius = float(np.sqrt(second / cad.mass))
        mass, extent = mass + cad.mass, max(extent, 2 * radius)
        if radius > _WIDE * size:
            yield (
                f"the radius of gyration of {body.name} is {radius:.3g} m in a mechanism of "
                f"{size:.3g} m: check the units of mass and inertia"
            )
    if mass > 0 and not _LIGHT < (density := mass / extent / extent / extent) < _DENSE:
        yield (
            f"{mass:.3g} kg in a mechanism of {extent:.3g} m are {density:.2g} kg/m³: check the "
            "units of mass and length (units: {mass: g} or {mass: t} declare others than kg)"
        )
