"""Constraints besides joints: couplings of joint coordinates, distances of points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import (
    GROUND_BODY,
    Body,
    Constraint,
    Coupling,
    DistanceConstraint,
    Joint,
    Point,
)
from mechid.modelfile.algebra import negate
from mechid.modelfile.coordinates import pick_single
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.points import PointBook
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_constraints import CouplingSpec, DistanceSpec
from mechid.textfile.expressions import Number
from mechid.textfile.yamlio import Key

_ROUNDING = 1e-14  # of the coordinates: points meant to be one are so only to rounding


def constraint(
    entry: Entry,
    joints: Mapping[str, Joint],
    bodies: tuple[Body, ...],
    geometry: Geometry,
    book: PointBook,
) -> Constraint:
    """Return the record of a constraint."""
    if entry.name in joints:
        raise ModelError(
            f"there is a joint {entry.name}", path=entry.path, remedy="rename one of them"
        )
    if isinstance(entry.spec, DistanceSpec):
        return _distance(entry, bodies, geometry, book)
    return _coupling(entry, joints, geometry)


def _coupling(entry: Entry, joints: Mapping[str, Joint], geometry: Geometry) -> Coupling:
    spec: CouplingSpec = entry.spec
    numbers, scope = geometry.numbers, entry.scope
    terms: dict[tuple[str, int], Number] = {}
    for word, factor, path in _factors(entry, geometry):
        joint, index = pick_single(word, scope, joints, path)
        if factor.value == 0:
            raise ModelError(
                f"the factor of {word} must not be 0", path=path, remedy="leave the coordinate out"
            )
        if (joint.name, index) in terms:
            raise ModelError(
                f"{word} is coupled with itself", path=path, remedy="name another coordinate"
            )
        own = joint.name in scope.own["joints"].values()
        if scope.reflection is not None and own and index in joint.kind.reversed:
            factor = Number(-factor.value, negate(factor.text))
        terms[joint.name, index] = factor
    constant = None
    if spec.constant is not None:
        constant = numbers.value(spec.constant, scope, (*entry.path, "constant"))
    exprs = tuple(factor.text for factor in terms.values())
    return Coupling(
        entry.name,
        tuple((*place, factor.value) for place, factor in terms.items()),
        constant,
        None if all(map(_plain, exprs)) else exprs,
    )


def _factors(entry: Entry, geometry: Geometry) -> list[tuple[str, Number, Key]]:
    """Return coordinates with their factors, and where they are written."""
    spec: CouplingSpec = entry.spec
    path, scope = entry.path, entry.scope
    if spec.coordinates is not None:
        if spec.between is not None or spec.ratio is not None:
            raise ModelError(
                "coordinates and between are given",
                path=path,
                remedy="give coordinates with factors, or between with ratio",
            )
        if len(spec.coordinates) < 2:
            raise ModelError(
                "a coupling needs at least two coordinates",
                path=(*path, "coordinates"),
                remedy="name another one; a fixed joint holds a single coordinate",
            )
        places: dict[str, Key] = {w: (*path, "coordinates", w) for w in spec.coordinates}
        return [
            (word, geometry.numbers.number(factor, scope, places[word]), places[word])
            for word, factor in spec.coordinates.items()
        ]
    if spec.between is None or spec.ratio is None:
        missing = "between" if spec.between is None else "ratio"
        raise ModelError(
            f"{missing} is missing",
            path=path,
            remedy="give between: [first, second] with ratio, or coordinates with factors",
        )
    ratio = geometry.numbers.number(spec.ratio, scope, (*path, "ratio"))
    if ratio.value == 0:
        raise ModelError(
            "the ratio must not be 0",
            path=(*path, "ratio"),
            remedy="a fixed joint holds a single coordinate",
        )
    first, second = spec.between
    return [
        (first, Number(1.0, "1"), (*path, "between", 0)),
        (second, Number(-ratio.value, negate(ratio.text)), (*path, "between", 1)),
    ]


def _distance(
    entry: Entry, bodies: tuple[Body, ...], geometry: Geometry, book: PointBook
) -> DistanceConstraint:
    spec: DistanceSpec = entry.spec
    path, scope = entry.path, entry.scope
    a, b = (
        book.body_point(p, scope, f"{entry.name}_{'ab'[i]}", (*path, "between", i))
        for i, p in enumerate(spec.between)
    )
    if a.body == b.body:
        raise ModelError(
            f"both points belong to {a.body}, their distance is constant anyway",
            path=(*path, "between"),
            remedy="name points of two bodies",
        )
    frames = {body.name: body.frame for body in (*bodies, GROUND_BODY)}

    def placed(point: Point) -> np.ndarray:
        frame = frames[point.body]
        place: np.ndarray = np.array(frame.rotation) @ np.array(point.local)
        return np.asarray(place + np.array(frame.origin))

    ends = placed(a), placed(b)
    apart = float(np.linalg.norm(ends[1] - ends[0]))
    if apart <= _ROUNDING * float(np.abs(ends).max()):
        apart = 0.0
    text = None
    if spec.length is not None:
        number = geometry.numbers.number(spec.length, scope, (*path, "length"))
        apart, text = number.value, None if _plain(number.text) else number.text
    if not apart > 0:
        raise ModelError(
            f"the length must be > 0, got {apart:g}",
            path=path if spec.length is None else (*path, "length"),
            remedy="hold two points together with a spherical joint",
        )
    return DistanceConstraint(entry.name, a, b, apart, text)


def _plain(text: str) -> bool:
    """Tell whether an expression is just a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
