"""The same mechanism described otherwise, with inertias and elements, and what must not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.base.bounds import bounds
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.kinematics.compile import STILL
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.element_kinds import ELEMENT_KINDS, Key
from mechid.mechanism.records import (
    GROUND,
    CadInertia,
    Coefficient,
    ForceElement,
    Mechanism,
    Part,
    Point,
)

from ..contract.changes import (
    Change,
    apply,
    carried,
    cut_elsewhere,
    permuted,
    reframed,
    scaled,
    vector_of,
)
from .cases import SAMPLES, Case

Array = npt.NDArray[np.float64]
Describe = Callable[[Mechanism, np.random.Generator], "Description | None"]
MM, TONNE = 1e3, 1e-3  # how many of the new units one metre and one kilogram are
BITS = 256


@dataclass(frozen=True, eq=False)
class Description:
    """A changed mechanism, and how many new units of force one old unit is, per coordinate."""

    change: Change
    force: Array


def _same_units(change: Change) -> Description:
    return Description(change, np.ones(len(change.sign)))


def other_frames(mechanism: Mechanism, rng: np.random.Generator) -> Description:
    return _same_units(_with_elements(mechanism, reframed(mechanism, rng, 1.0)))


def elsewhere(mechanism: Mechanism, rng: np.random.Generator) -> Description:
    return _same_units(_with_elements(mechanism, carried(mechanism, rng, 3.0)))


def other_order(mechanism: Mechanism, rng: np.random.Generator) -> Description:
    order = rng.permutation(len(mechanism.elements))
    elements = tuple(mechanism.elements[i] for i in order)
    return _same_units(permuted(replace(mechanism, elements=elements), rng))


def other_cuts(mechanism: Mechanism, rng: np.random.Generator) -> Description | None:
    """Cut other joints than by default, where there is a choice that a few draws find."""
    default = {joint.name for joint in kinematic_model(mechanism).tree.cut}
    for _ in range(8):
        change = cut_elsewhere(mechanism, rng)
        if set(change.mechanism.cut or ()) != default:
            return _same_units(change)
    return None


def _with_elements(mechanism: Mechanism, change: Change) -> Change:
    """Return the change with the elements described in the new frames."""

    def inside(body: str) -> Any:
        return change.whole if body == GROUND else change.frames.get(body, STILL)

    def moved(e: ForceElement) -> ForceElement:
        points = tuple(
            replace(p, local=vector_of(apply(inside(p.body), p.local))) for p in e.points
        )
        if e.direction is None:
            return replace(e, points=points)
        direction = vector_of(inside(e.axes_of).rotation @ np.array(e.direction))
        return replace(e, points=points, direction=direction)

    elements = tuple(map(moved, mechanism.elements))
    return replace(change, mechanism=replace(change.mechanism, elements=elements))


def millimetres_and_tonnes(mechanism: Mechanism, rng: np.random.Generator) -> Description:
    """In mm, t and s: a newton stays a newton, a newton metre is 1000 N mm."""
    change = scaled(mechanism, MM)
    bodies = tuple(
        replace(new, inertia=old.inertia and _inertia(old.inertia))
        for old, new in zip(mechanism.bodies, change.mechanism.bodies, strict=True)
    )
    changed = replace(
        change.mechanism,
        gravity=vector_of(MM * np.array(mechanism.gravity)),
        bodies=bodies,
        elements=tuple(_element(mechanism, e) for e in mechanism.elements),
    )
    push = MM * TONNE
    force = np.where(change.sign == 1, push * MM, push)  # coordinates in rad keep their values
    return Description(replace(change, mechanism=changed), force)


def _inertia(c: CadInertia) -> CadInertia:
    six = tuple(TONNE * MM**2 * x for x in c.inertia_center)
    return replace(
        c, mass=TONNE * c.mass, center=vector_of(MM * np.array(c.center)), inertia_center=six
    )


def _element(mechanism: Mechanism, e: ForceElement) -> ForceElement:
    units = [mechanism.joint(j).kind.units[i : i + 1] for j, i in e.coordinates]
    lengths = [u == ("m",) for u in units]
    kind = ELEMENT_KINDS[e.kind]
    angular = e.kind in ("moment", "transmission") or (
        not e.points and e.kind != "force" and not all(lengths)
    )

    def part(p: Part) -> Part:
        values = tuple((k.name, _value(k, p[k.name], angular, e.kind)) for k in kind.keys)
        ratios = tuple(
            r / MM if length else r for r, length in zip(p.ratios, lengths, strict=True)
        ) if p.ratios else p.ratios  # fmt: skip
        return replace(p, values=values, ratios=ratios)

    def point(p: Point) -> Point:
        return replace(p, local=vector_of(MM * np.array(p.local)))

    return replace(e, parts=tuple(map(part, e.parts)), points=tuple(map(point, e.points)))


def _value(key: Key, value: Any, angular: bool, kind: str) -> Any:
    """Convert a value, or a list of them: F n-th power of x, by the pattern of its unit."""
    if isinstance(value, tuple):
        sided = kind == "bushing"  # three displacements, three turns
        return tuple(
            _scaled(x, _factor(key.unit, i > 2 if sided else angular, 1 if sided else i + 1))
            for i, x in enumerate(value)
        )
    return _scaled(value, _factor(key.unit, angular, 1))


def _factor(unit: str, angular: bool, n: int) -> float:
    """Return how many new units one of a pattern is, such as "F sn/xn"."""
    if unit == "kg m²":
        return TONNE * MM**2
    force = TONNE * MM * (MM if angular else 1.0)
    x = 1.0 if angular else MM
    power = n if "xn" in unit else 1
    top, _, bottom = unit.partition("/")
    factor = force if "F" in top else x if "x" in top else 1.0
    return factor / x**power if "x" in bottom else factor


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, Coefficient):
        return replace(value, value=None if value.value is None else factor * value.value)
    return None if value is None else factor * value


DESCRIPTIONS: dict[str, Describe] = {
    "units: mm, t, s": millimetres_and_tonnes,
    "order of bodies, joints and elements": other_order,
    "choice of cut joints": other_cuts,
    "body frames": other_frames,
    "place in space, gravity with it": elsewhere,
}


def force_difference(case: Case, described: Description) -> float:
    """Largest difference of the forces of a coordinate, by its largest force along the path."""
    m, change = case.motion, described.change
    model = dynamic_model(change.mechanism)
    y = change.sign * m.y + change.offset
    motion = solve_motion(model.kinematics, y, change.sign * m.yd, change.sign * m.ydd, time=m.time)
    o = observation_matrix(motion, model)
    new = (o.W @ cad_parameters(model) + o.known) / described.force
    o = observation_matrix(m, case.model)
    old = o.W @ cad_parameters(case.model) + o.known
    return float((np.abs(new - old)[SAMPLES].max(axis=0) / np.abs(old).max(axis=0)).max())


def rank_bounds(mechanism: Mechanism) -> tuple[int, int]:
    """Proved bounds of the number of base parameters: lower, upper."""
    found = bounds(mechanism, precision=BITS)
    return found.lower, found.upper
