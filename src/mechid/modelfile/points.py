"""The book of points: every named point, once for each body that uses it."""

from __future__ import annotations

from typing import Any

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND, Point
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.places import Place
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_geometry import PointIn, PointOn
from mechid.textfile.words import kind
from mechid.textfile.yamlio import Key


class PointBook:
    """Collects points while bodies, joints, elements and coordinates are built."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self._points: dict[tuple[str, str], Point] = {}

    def add(self, place: Place, body: str, scope: Scope, name: str, path: Key) -> Point:
        """Return a point as fixed in a body, and keep it under this name."""
        local = self._geometry.fixed_in(place, body, scope)
        point = Point(name, body, local.value, local.expr, place.source)
        other = self._points.setdefault((name, body), point)
        if other.local != point.local:
            raise ModelError(
                f"two different points would be called {name} on {body}",
                path=path,
                remedy="give one of them another name",
            )
        return other

    def named(self, spec: Any, body: str, scope: Scope, path: Key) -> Place:
        """Return a point from its name or definition; a named one is kept for the body."""
        place = self._geometry.point(spec, scope, path)
        if place.name is not None:
            self.add(place, body, scope, place.name, path)
        return place

    def body_point(self, spec: str | PointIn, scope: Scope, default: str, path: Key) -> Point:
        """Return the point of `body.point`; `default` is the name of one defined inline."""
        if isinstance(spec, PointIn):
            body = scope.find("bodies", spec.in_, (*path, "in"))
            place = self._geometry.point(spec, scope, path)
            return self.add(place, body, scope, default, path)
        body_name, dot, point_name = spec.partition(".")
        if not dot:
            bodies = {GROUND, *(name for one in scope.chain for name in one.own["bodies"])}
            is_body = spec in bodies
            raise ModelError(
                f"{kind(spec)} {'is a body, not a point' if is_body else 'needs a body'}",
                path=path,
                remedy=f"write body.point, such as {spec}.P" if is_body
                else f"write body.point, such as ground.{spec}",
            )  # fmt: skip
        body = scope.find("bodies", body_name, path)
        place = self._geometry.point(point_name, scope, path)
        assert place.name is not None
        return self.add(place, body, scope, place.name, path)

    def add_given(self, entry: Entry) -> None:
        """Keep a point for the bodies in whose frames it is given."""
        place = self._geometry.point(_local_name(entry), entry.scope, entry.path)
        for body in place.given:
            if body != GROUND or _is_on_ground(entry.spec):
                self.add(place, body, entry.scope, entry.name, entry.path)

    def records(self) -> tuple[Point, ...]:
        """Return all points: as the file orders points, then bodies with the ground first."""
        model = self._geometry.model
        points = {name: i for i, name in enumerate(model.entries["points"])}
        bodies = {name: i for i, name in enumerate((GROUND, *model.entries["bodies"]))}
        last = len(points)
        # Points that no entry names (loads defined inline) come last, in the order of their use.
        found = {name: i for i, (name, _) in enumerate(self._points)}
        return tuple(
            sorted(
                self._points.values(),
                key=lambda p: (points.get(p.name, last + found[p.name]), bodies[p.body]),
            )
        )


def _local_name(entry: Entry) -> str:
    return next(k for k, v in entry.scope.own["points"].items() if v == entry.name)


def _is_on_ground(spec: Any) -> bool:
    """Return whether a point is given as one of the ground, and not only as a hardpoint."""
    return isinstance(spec, PointOn) or (isinstance(spec, PointIn) and spec.in_ == GROUND)
