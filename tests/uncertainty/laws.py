"""Laws of error, most of which the estimator does not contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from mechid.estimation.perturb import perturbed
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.spatial.inertia import inconsistency

CAD_ERROR = 0.2
CadLaw: TypeAlias = Callable[[Mechanism, np.random.Generator], Mechanism]


def as_declared(true: Mechanism, rng: np.random.Generator) -> Mechanism:
    """Return CAD values with the errors that the prior assumes."""
    return perturbed(true, CAD_ERROR, rng)


def uniform(true: Mechanism, rng: np.random.Generator) -> Mechanism:
    """Every number of a body is off by itself, uniformly; sd 20 %. Bodies stay possible."""

    def off(cad: CadInertia) -> CadInertia:
        while True:
            u = 1 + np.sqrt(3) * CAD_ERROR * rng.uniform(-1, 1, 10)
            mass, center = cad.mass * u[0], tuple(np.array(cad.center) * u[1:4])
            inertia = tuple(np.array(cad.inertia_center) * u[4:])
            if inconsistency(mass, np.array(inertia)) is None:
                return replace(cad, mass=mass, center=center, inertia_center=inertia)

    return _each(perturbed(true, CAD_ERROR, rng), true, lambda _, cad: off(cad))


def heavy_tails(true: Mechanism, rng: np.random.Generator) -> Mechanism:
    """The error of each body is 20 % times √(3/χ²) of three degrees of freedom: Student's t."""
    wide = [
        perturbed(true, CAD_ERROR * float(np.sqrt(3 / rng.chisquare(3))), rng) for _ in true.bodies
    ]
    return _each(wide[0], true, lambda i, _: _inertia(wide[i], i))


def one_gross(true: Mechanism, rng: np.random.Generator) -> Mechanism:
    """One body has twice its mass and inertia, or half of it, besides the usual errors."""
    cad = perturbed(true, CAD_ERROR, rng)
    at = int(rng.choice([i for i, b in enumerate(cad.bodies) if b.inertia is not None]))
    factor = float(rng.choice([0.5, 2.0]))
    return _each(cad, cad, lambda i, own: _denser(own, factor) if i == at else own)


def density(true: Mechanism, rng: np.random.Generator) -> Mechanism:
    """All bodies are too heavy by the same factor, sd 20 %."""
    factor = float(np.exp(CAD_ERROR * rng.standard_normal()))
    return _each(true, true, lambda _, own: _denser(own, factor))


def _each(
    elements: Mechanism, bodies: Mechanism, change: Callable[[int, CadInertia], CadInertia]
) -> Mechanism:
    """Return the elements of one mechanism with changed bodies of another."""
    changed = tuple(
        body if body.inertia is None else replace(body, inertia=change(i, body.inertia))
        for i, body in enumerate(bodies.bodies)
    )
    return replace(elements, bodies=changed)


def _inertia(mechanism: Mechanism, i: int) -> CadInertia:
    found = mechanism.bodies[i].inertia
    assert found is not None
    return found


def _denser(cad: CadInertia, factor: float) -> CadInertia:
    xx, xy, xz, yy, yz, zz = (factor * x for x in cad.inertia_center)
    return replace(cad, mass=factor * cad.mass, inertia_center=(xx, xy, xz, yy, yz, zz))


@dataclass(frozen=True)
class Law:
    """A law of error.

    Attributes
    ----------
    data : mapping
        Errors of the data, as options of `synthesise`.
    cad : callable
        Errors of the CAD values.
    declared : mapping
        What the estimator is told.
    named : tuple of str
        Words by which the result names an error that the data cannot show.
    without : tuple of str
        Mechanisms on which the law makes no sense.
    own_axes : bool
        Whether the true parameters of a body are those about the axes of the machine: its frame is
        where its joints are on average, and not where the drawing has it.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    cad: CadLaw = as_declared
    declared: Mapping[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    own_axes: bool = False


NOISE = MappingProxyType({"noise": "2 %"})
# Said where residuals are no noise.
_LACKING = "can be off by as much as the residuals"
LAWS: Mapping[str, Law] = MappingProxyType(
    {
        "white noise": Law(),
        "white noise, sensors and places declared right": Law(
            declared={"offsets": 0.0, "gains": 0.0, "hardpoints": 0.0}
        ),
        "coloured noise, memory 50 ms": Law({"noise_kind": "coloured", "time_constant": 0.05}),
        "noise proportional to the force": Law({"noise_kind": "proportional"}),
        "5 % outliers, half the force": Law({"outliers": "5 %", "outlier_size": 0.5}),
        "forces in steps of 5 %": Law({"noise": "0.5 %", "quantisation": "5 %"}),
        "hum of 3 %, 60 Hz": Law({"hum": "3 %", "hum_frequency": 60.0}),
        "random walk of 3 %": Law({"random_walk": "3 %"}, named=(_LACKING,)),
        "offsets of 3 %": Law(
            {"offset": "3 %"}, named=("an offset of", "offsets of the forces of")
        ),
        "offsets of 3 %, declared": Law({"offset": "3 %"}, declared={"offsets": 0.03}),
        "gains off by 3 %": Law({"gain": "3 %"}, named=("gain errors of the forces",)),
        "gains off by 3 %, declared": Law({"gain": "3 %"}, declared={"gains": 0.03}),
        "forces 4 ms late": Law({"delay": 0.004}),
        "position noise of 0.02 %": Law({"position_noise": "0.02 %"}),
        "hardpoints off by 0.5 mm": Law({"hardpoints": 0.0005}),
        "hardpoints off by 0.5 mm, about own axes": Law({"hardpoints": 0.0005}, own_axes=True),
        # In a random direction: a standard deviation of 0.5/√3 mm in every axis.
        "hardpoints off by 0.5 mm, declared": Law(
            {"hardpoints": 0.0005}, declared={"hardpoints": 0.0005 / np.sqrt(3)}
        ),
        # The model of the arm has friction.
        "missing friction, 1 % in each joint": Law(
            {"friction": "1 %"}, named=(_LACKING,), without=("puma560",)
        ),
        "hysteresis of the drives, 2 %": Law({"hysteresis": "2 %"}, named=(_LACKING,)),
        "elastic drives, 0.1 % of the motion": Law({"elasticity": "0.1 %"}),
        "CAD errors uniform, number by number": Law(cad=uniform),
        "CAD errors with heavy tails": Law(cad=heavy_tails),
        "one body twice or half as heavy": Law(cad=one_gross),
        "density of all bodies": Law(cad=density),
    }
)
