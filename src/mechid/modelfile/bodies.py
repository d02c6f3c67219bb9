"""Bodies: frame, inertia with its uncertainty, and shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND, Body, CadInertia, Frame, Shape, Vec3
from mechid.modelfile.frames import turned_by
from mechid.modelfile.geometry import FLIP, Geometry
from mechid.modelfile.points import PointBook
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_bodies import (
    BodySpec,
    GroundVector,
    InertiaSpec,
    ShapeSpec,
    SixSpreads,
    UncertaintySpec,
)
from mechid.modelfile.vectors import Array, cleaned, mat3, vec3
from mechid.spatial import inertia
from mechid.textfile.yamlio import Key

_SIX = ("xx", "xy", "xz", "yy", "yz", "zz")
_MIRROR_SIX = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
_CHECK = (
    "check units, signs and the pole (about: center or origin), or keep published numbers with "
    "inertia: {allow_nonphysical: true}"
)
Six = tuple[float, float, float, float, float, float]


def body(entry: Entry, geometry: Geometry, book: PointBook) -> Body:
    """Return the record of a body."""
    spec: BodySpec = entry.spec
    pose = geometry.pose(entry.name)
    rotation_expr = None
    if spec.frame is not None:
        if isinstance(spec.frame.origin, str):
            origin: Key = (*entry.path, "frame", "origin")
            book.named(spec.frame.origin, entry.name, entry.scope, origin)
        if spec.frame.in_ in (None, GROUND) and not entry.scope.planes:
            here: Key = (*entry.path, "frame")
            rotation_expr = turned_by(geometry.numbers, spec.frame, entry.scope, here)[1]
    for i, name in enumerate(spec.points):
        book.named(name, entry.name, entry.scope, (*entry.path, "points", i))
    return Body(
        entry.name,
        Frame(pose.origin.value, mat3(pose.R), pose.origin.expr, rotation_expr),
        _cad(entry, geometry),
        spec.massless,
        spec.color,
        tuple(_shape(s, i, entry, geometry) for i, s in enumerate(spec.shapes)),
        spec.source,
    )


def _cad(entry: Entry, geometry: Geometry) -> CadInertia | None:
    spec: BodySpec = entry.spec
    path = entry.path
    given = [
        k
        for k in ("mass", "center", "inertia", "point_masses", "uncertainty")
        if getattr(spec, k) not in (None, [])
    ]
    if spec.massless:
        if given:
            raise ModelError(
                f"the body is massless, but has {given[0]}",
                path=(*path, given[0]),
                remedy="remove it, or remove massless",
            )
        return None
    if spec.mass is None and spec.inertia is None and not spec.point_masses:
        if given:
            raise ModelError(f"{given[0]} needs a mass", path=path, remedy="give mass and inertia")
        return None
    mass, center, six = 0.0, np.zeros(3), np.zeros(6)
    if spec.mass is not None or spec.inertia is not None or spec.center is not None:
        mass, center, six = _extended(entry, geometry)
    if spec.point_masses:
        phi = inertia.parameters(mass, center, six) + _concentrated(entry, geometry)
        mass, center, six = inertia.central(phi)
        six = cleaned(six, phi[4:])
    if problem := inertia.inconsistency(mass, six):
        key = "mass" if mass < 0 else "inertia"
        if mass < 0 or spec.inertia is None or not spec.inertia.allow_nonphysical:
            raise ModelError(
                f"this inertia is not physically consistent: {problem}",
                path=(*path, key),
                remedy=_CHECK,
            )
    spread = spec.uncertainty or UncertaintySpec()
    sigma = _sigmas(spread, mass, center, six, entry, geometry)
    if entry.scope.reflection is not None:
        center, six = FLIP @ center, _MIRROR_SIX * six
    cad = CadInertia(mass, vec3(center), _six(six), *sigma)
    return replace(cad, exact=tuple(k for k in cad.undeclared if k in spread.model_fields_set))


def _extended(entry: Entry, geometry: Geometry) -> tuple[float, Array, Array]:
    """Return mass, centre and central inertia as the body gives them."""
    spec: BodySpec = entry.spec
    if spec.mass is None or spec.inertia is None:
        missing = "mass" if spec.mass is None else "inertia"
        raise ModelError(
            f"{missing} is missing",
            path=entry.path,
            remedy="give mass and inertia, or massless: true, or neither if unknown",
        )
    mass = geometry.numbers.value(spec.mass, entry.scope, (*entry.path, "mass"))
    if mass == 0:
        raise ModelError(
            "the mass is zero",
            path=(*entry.path, "mass"),
            remedy="write massless: true instead of mass and inertia, or give the mass",
        )
    center = _center(entry, geometry)
    return mass, center, _central(spec.inertia, mass, center, entry, geometry)


def _concentrated(entry: Entry, geometry: Geometry) -> Array:
    """Return φ (10,) of the point masses of a body."""
    phi = np.zeros(10)
    for i, point in enumerate(entry.spec.point_masses):
        here: Key = (*entry.path, "point_masses", i)
        mass = geometry.numbers.value(point.mass, entry.scope, (*here, "mass"))
        if mass <= 0:
            raise ModelError(
                f"a point mass must be > 0, got {mass:g}",
                path=(*here, "mass"),
                remedy="give a positive mass",
            )
        r = _body_point(point.at, entry, geometry, (*here, "at"))
        phi += inertia.parameters(mass, r, np.zeros(6))
    return phi


def _body_point(spec: Any, entry: Entry, geometry: Geometry, path: Key) -> Array:
    """Return a point from its name, or from coordinates in the body frame."""
    if isinstance(spec, str):
        place = geometry.point(spec, entry.scope, path)
        return geometry.point_in(place, entry.name, entry.scope).array
    return geometry.numbers.vector(spec, entry.scope, path).array


def _center(entry: Entry, geometry: Geometry) -> Array:
    spec: BodySpec = entry.spec
    path: Key = (*entry.path, "center")
    if spec.center is None:
        return np.zeros(3)
    if isinstance(spec.center, GroundVector):
        place = geometry.point(spec.center.ground, entry.scope, (*path, "ground"))
        return geometry.point_in(place, entry.name, entry.scope).array
    return geometry.numbers.vector(spec.center, entry.scope, path).array


def _central(
    spec: InertiaSpec, mass: float, center: Array, entry: Entry, geometry: Geometry
) -> Array:
    path: Key = (*entry.path, "inertia")
    values = [geometry.numbers.value(getattr(spec, k), entry.scope, (*path, k)) for k in _SIX]
    six = np.array(values)
    if spec.axes is not None:
        if isinstance(spec.axes, str):
            other = entry.scope.find("bodies", spec.axes, (*path, "axes"))
            body = geometry.designed_pose(entry.name, entry.scope).R
            R = body.T @ geometry.designed_pose(other, entry.scope).R
        else:
            R = np.array(turned_by(geometry.numbers, spec.axes, entry.scope, (*path, "axes"))[0])
        six = cleaned(inertia.six(R @ inertia.tensor(six) @ R.T), six)
    if spec.about != "center":
        pole = np.zeros(3)
        if spec.about != "origin":
            pole = _body_point(spec.about, entry, geometry, (*path, "about"))
        moved = inertia.steiner(mass, center - pole)
        six = cleaned(inertia.six(inertia.tensor(six) - moved), six)
    return six


def _sigmas(
    spec: UncertaintySpec, mass: float, center: Array, six: Array, entry: Entry, geometry: Geometry
) -> tuple[float, Vec3, Six]:
    path: Key = (*entry.path, "uncertainty")

    def sigma(spread: Any, reference: float, key: Key) -> float:
        return absolute(spread, reference, geometry, entry.scope, (*path, *key))

    s_mass = sigma(spec.mass, mass, ("mass",))
    distance = float(np.linalg.norm(center))
    if isinstance(spec.center, tuple):
        s_center = [sigma(s, distance, ("center", i)) for i, s in enumerate(spec.center)]
    else:
        s_center = [sigma(spec.center, distance, ("center",))] * 3
    mean = float(six[0] + six[3] + six[5]) / 3
    references = (six[0], mean, mean, six[3], mean, six[5])
    spreads: list[tuple[Any, Key]]
    if isinstance(spec.inertia, SixSpreads):
        spreads = [(getattr(spec.inertia, k), ("inertia", k)) for k in _SIX]
    else:
        spreads = [(spec.inertia, ("inertia",))] * 6
    s_six = [
        sigma(spread, float(reference), key)
        for (spread, key), reference in zip(spreads, references, strict=True)
    ]
    return s_mass, vec3(s_center), _six(np.array(s_six))


def absolute(spread: Any, reference: float, geometry: Geometry, scope: Scope, path: Key) -> float:
    """Return a standard deviation in absolute terms."""
    relative = isinstance(spread, str) and spread.endswith("%")
    scalar = spread[:-1] if relative else spread
    value = geometry.numbers.value(scalar, scope, path)
    if value < 0:
        raise ModelError(
            f"the uncertainty must be ≥ 0, got {value:g}", path=path, remedy="remove the sign"
        )
    return value / 100 * abs(reference) if relative else value


def _six(values: Array) -> Six:
    a, b, c, d, e, f = (float(v) + 0.0 for v in values)
    return (a, b, c, d, e, f)


def _shape(spec: ShapeSpec, index: int, entry: Entry, geometry: Geometry) -> Shape:
    path: Key = (*entry.path, "shapes", index)
    kind: Literal["wheel", "box", "cylinder", "sphere"]
    vectors: list[Array]

    def point(value: Any, *key: str) -> Array:
        return _body_point(value, entry, geometry, (*path, *key))

    def sizes(*values: tuple[Any, Key]) -> tuple[float, ...]:
        numbers = [geometry.numbers.value(v, entry.scope, (*path, *key)) for v, key in values]
        for number, (_, key) in zip(numbers, values, strict=True):
            if number <= 0:
                raise ModelError(
                    f"a size must be > 0, got {number:g}",
                    path=(*path, *key),
                    remedy="give a length in metres",
                )
        return tuple(numbers)

    if (wheel := spec.wheel) is not None:
        kind = "wheel"
        axis = _body_axis(wheel.axis, entry, geometry, (*path, "wheel", "axis"))
        vectors = [point(wheel.center, "wheel", "center"), axis]
        measures = sizes((wheel.radius, ("wheel", "radius")), (wheel.width, ("wheel", "width")))
    elif (box := spec.box) is not None:
        kind = "box"
        vectors = [point(box.center, "box", "center")]
        measures = sizes(*((s, ("box", "size", i)) for i, s in enumerate(box.size)))
    elif (cylinder := spec.cylinder) is not None:
        kind = "cylinder"
        vectors = [point(cylinder.from_, "cylinder", "from"), point(cylinder.to, "cylinder", "to")]
        measures = sizes((cylinder.radius, ("cylinder", "radius")))
    else:
        assert spec.sphere is not None
        kind = "sphere"
        vectors = [point(spec.sphere.center, "sphere", "center")]
        measures = sizes((spec.sphere.radius, ("sphere", "radius")))
    mirror = geometry.mirror_matrix(entry.name, entry.scope)
    return Shape(kind, tuple(vec3(mirror @ v) for v in vectors), measures)


def _body_axis(spec: Any, entry: Entry, geometry: Geometry, path: Key) -> Array:
    """Return an axis of a shape: x, y, z and lists of numbers are in the body frame here."""
    if isinstance(spec, str) and spec.lstrip("-") in ("x", "y", "z"):
        sign = -1.0 if spec.startswith("-") else 1.0
        return np.asarray(sign * np.eye(3)["xyz".index(spec.lstrip("-"))] + 0.0, dtype=float)
    heading = geometry.direction(spec, entry.scope, path)
    if isinstance(spec, tuple):
        return heading.given[GROUND]
    return geometry.direction_in(heading, entry.name, entry.scope)
