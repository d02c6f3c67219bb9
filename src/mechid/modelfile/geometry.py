"""Points, directions and body frames, resolved when first asked for.

In a mirrored copy everything is first worked out as written ("as designed") and then reflected:
`Place` and `Heading` hold designed coordinates of the scope that asked, and `actual_point` and
`mirror_matrix` take what is fixed in a body over to the mechanism as it really is. Copies inside
copies are taken out one scope at a time: bodies of the copy go with it, all others stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND
from mechid.modelfile import algebra
from mechid.modelfile.expand import Expanded
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.places import Heading, Place, blend, rounded_local, shifted
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_geometry import (
    DirectionAlong,
    DirectionFromTo,
    PointAt,
    PointBetween,
    PointIn,
    PointOn,
)
from mechid.modelfile.vectors import (
    EXACT_ZERO,
    GROUND_POSE,
    Array,
    Exact,
    Pose,
    cleaned,
    unit,
)
from mechid.spatial.rotations import snap
from mechid.textfile.yamlio import Key

FLIP = np.diag([1.0, -1.0, 1.0])
_T = TypeVar("_T")
_AXES = {"x": 0, "y": 1, "z": 2}


class Geometry:
    """Resolves geometry of an expanded document; a circular definition is an error."""

    def __init__(
        self, model: Expanded, numbers: Numbers, frame_of: Callable[[Geometry, Entry], Pose]
    ) -> None:
        self.model = model
        self.numbers = numbers
        self._frame_of = frame_of
        self._poses: dict[str, Pose] = {}
        self._places: dict[str, Place] = {}
        self._headings: dict[str, Heading] = {}
        self._busy: list[str] = []

    # ------------------------------------------------------------------ bodies

    def designed_pose(self, body: str, scope: Scope) -> Pose:
        """Return the frame of a body as a scope sees it: its own bodies before reflection."""
        if body == GROUND:
            return GROUND_POSE
        entry = self.model.entries["bodies"][body]
        while not self._inside(body, scope):
            assert scope.outer is not None
            scope = scope.outer
        pose = self._own_pose(entry)
        for step in entry.scope.chain:
            if step is scope:
                break
            if step.plane is not None:
                R = np.asarray(snap(step.plane.matrix @ pose.R @ FLIP), dtype=float)
                pose = Pose(step.plane.of_exact(pose.origin), R, pose.key)
        return pose

    def pose(self, body: str) -> Pose:
        """Return the frame of a body in the reference pose of the mechanism."""
        return self.designed_pose(body, self.model.file)

    def _inside(self, body: str, scope: Scope) -> bool:
        """Return whether a body belongs to a scope or to a copy in it."""
        if body == GROUND:
            return False
        return any(s is scope for s in self.model.entries["bodies"][body].scope.chain)

    def _own_pose(self, entry: Entry) -> Pose:
        return self._once(
            self._poses, f"body {entry.name}", entry, lambda: self._frame_of(self, entry)
        )

    # ------------------------------------------------------------------ points

    def point(self, spec: Any, scope: Scope, path: Key) -> Place:
        """Return a point from its name or definition."""
        if isinstance(spec, str):
            entry = self.model.entries["points"][scope.find("points", spec, path)]
            place = self._once(
                self._places,
                f"point {entry.name}",
                entry,
                lambda: self.point(entry.spec, entry.scope, entry.path),
            )
            for step in self._steps_out(entry.scope, scope):
                given = {
                    body: self._carried(local, body, step) for body, local in place.given.items()
                }
                position = place.position
                if step.plane is not None:
                    position = step.plane.of_point(position)
                place = Place(position, given)
            # A mirrored copy that uses a point from outside has the mirror image of it.
            mirrored = any(step.plane for step in self._steps_out(scope, entry.scope))
            name = scope.final(spec) if mirrored else entry.name
            return Place(place.position, place.given, name, getattr(entry.spec, "source", ""))
        match spec:
            case PointIn():
                body = scope.find("bodies", spec.in_, (*path, "in"))
                local = self.numbers.vector(spec.at, scope, (*path, "at"))
                return Place(self._in_ground(local, body, scope), {body: local})
            case PointBetween():
                return self._between(spec, scope, path)
            case PointOn():
                return self._on(spec, scope, path)
            case PointAt():
                spec, path = spec.at, (*path, "at")
        exact = self.numbers.vector(spec, scope, path)
        return Place(exact.array, {GROUND: exact})

    def _in_ground(self, local: Exact, body: str, scope: Scope) -> Array:
        pose = self.designed_pose(body, scope)
        r = pose.R @ local.array
        return cleaned(pose.origin.array + r, pose.origin.array, r)

    def _on(self, spec: PointOn, scope: Scope, path: Key) -> Place:
        given = {}
        for name, at in spec.on.items():
            body = scope.find("bodies", name, (*path, "on", name))
            given[body] = self.numbers.vector(at, scope, (*path, "on", name))
        if not given:
            raise ModelError("a point needs a body", path=(*path, "on"), remedy="name one")
        first = next(iter(given))
        return Place(self._in_ground(given[first], first, scope), given)

    def _between(self, spec: PointBetween, scope: Scope, path: Key) -> Place:
        a, b = (self.point(p, scope, (*path, "between", i)) for i, p in enumerate(spec.between))
        f = self.numbers.number(spec.fraction, scope, (*path, "fraction"))
        given = {}
        for body in a.given:
            if body in b.given:
                p, q = a.given[body], b.given[body]
                expr = blend(p, q, f.text)
                mean = Exact.of(p.array + f.value * (q.array - p.array))
                given[body] = mean if expr is None else self.exact(expr)
        position = a.position + f.value * (b.position - a.position)
        if not given:
            given[GROUND] = Exact.of(position)
        return Place(position, given)

    def exact(self, expr: list[str]) -> Exact:
        """Return the vector of three expressions in normal form."""
        return Exact.of([self.numbers.of_text(t) for t in expr], (expr[0], expr[1], expr[2]))

    def point_in(self, place: Place, body: str, scope: Scope) -> Exact:
        """Return designed coordinates of a point in the frame of a body."""
        if body in place.given:
            return place.given[body]
        pose = self.designed_pose(body, scope)
        if place.name is not None and place.name == pose.key:
            return EXACT_ZERO
        hard = place.given.get(GROUND)
        expr = self._across(place, body, scope) if hard is None else shifted(hard, pose)
        return rounded_local(place.position, pose) if expr is None else self.exact(expr)

    def _across(self, place: Place, body: str, scope: Scope) -> list[str] | None:
        """Return the expressions of a point given in a body to which this one is related."""
        for other, local in place.given.items():
            for child, parent in ((other, body), (body, other)):
                if GROUND in (child, parent) or local.expr is None:
                    continue
                pose = self.designed_pose(child, scope)
                if pose.relative is not None and pose.relative[0] == parent:
                    transform = pose.relative[1]
                    there = transform if child == other else transform.inverse()
                    return there.of_point(local.expr)
        return None

    def fixed_in(self, place: Place, body: str, scope: Scope) -> Exact:
        """Return coordinates of a point in a body of the mechanism as it really is."""
        while body != GROUND and body not in place.given and not self._inside(body, scope):
            # The body stands outside a mirrored copy: see the image of the point from there.
            given = {}
            if scope.plane is not None:
                if GROUND in place.given:
                    given = {GROUND: scope.plane.of_exact(place.given[GROUND])}
                place = Place(scope.plane.of_point(place.position), given, place.name)
            assert scope.outer is not None
            scope = scope.outer
        return self.actual_point(self.point_in(place, body, scope), body, scope)

    # -------------------------------------------------------------- directions

    def direction(self, spec: Any, scope: Scope, path: Key) -> Heading:
        """Return a direction from its name or definition."""
        if isinstance(spec, str):
            return self._word(spec, scope, path)
        match spec:
            case DirectionFromTo():
                return self._from_to(spec, scope, path)
            case DirectionAlong():
                body = scope.find("bodies", spec.in_, (*path, "in"))
                components, path = spec.along, (*path, "along")
            case _:
                body, components = GROUND, spec
        local = unit(self.numbers.vector(components, scope, path).array)
        if local is None:
            raise ModelError(
                "this direction must not be zero", path=path, remedy="give a nonzero vector"
            )
        return self._heading(local, body, scope)

    def _heading(self, local: Array, body: str, scope: Scope) -> Heading:
        R = self.designed_pose(body, scope).R
        return Heading(np.asarray(snap(R @ local), dtype=float), {body: local})

    def _word(self, word: str, scope: Scope, path: Key) -> Heading:
        sign, name = (-1.0, word[1:]) if word.startswith("-") else (1.0, word)
        body, _, axis = name.rpartition(".")
        if axis in _AXES and (body or axis == name):
            final = scope.find("bodies", body, path) if body else GROUND
            return self._heading(sign * np.eye(3)[_AXES[axis]] + 0.0, final, scope)
        entry = self.model.entries["directions"][scope.find("directions", name, path)]
        heading = self._once(
            self._headings,
            f"direction {entry.name}",
            entry,
            lambda: self.direction(entry.spec, entry.scope, entry.path),
        )
        for step in self._steps_out(entry.scope, scope):
            if step.plane is not None:
                given = {
                    b: np.asarray(self._step_matrix(b, step) @ v + 0.0, dtype=float)
                    for b, v in heading.given.items()
                }
                vector = np.asarray(step.plane.matrix @ heading.vector + 0.0, dtype=float)
                heading = Heading(vector, given)
        return Heading(
            sign * heading.vector + 0.0, {b: sign * v + 0.0 for b, v in heading.given.items()}
        )

    def _from_to(self, spec: DirectionFromTo, scope: Scope, path: Key) -> Heading:
        a = self.point(spec.from_, scope, (*path, "from"))
        b = self.point(spec.to, scope, (*path, "to"))
        given = {}
        for body in a.given:
            if body in b.given:
                local = unit(b.given[body].array - a.given[body].array)
                if local is not None:
                    given[body] = local
        difference = cleaned(b.position - a.position, a.position, b.position)
        vector = unit(difference)
        if vector is None:
            raise ModelError(
                "the two points of this direction coincide", path=path, remedy="give two places"
            )
        return Heading(vector, given or {GROUND: vector})

    def direction_in(self, heading: Heading, body: str, scope: Scope) -> Array:
        """Return designed components of a direction in the frame of a body, a unit vector."""
        if body in heading.given:
            return heading.given[body]
        R = self.designed_pose(body, scope).R
        return np.asarray(snap(R.T @ heading.vector), dtype=float)

    # -------------------------------------------------------------- reflection

    @staticmethod
    def _steps_out(inner: Scope, scope: Scope) -> list[Scope]:
        """Return the scopes to leave, one after the other, until `scope` lies inside."""
        return [s for s in inner.chain if not any(s is around for around in scope.chain)]

    def _step_matrix(self, body: str, scope: Scope) -> Array:
        """Return what one reflection does to components in the frame of a body."""
        if scope.plane is None:
            return np.eye(3)
        if body == GROUND:
            return scope.plane.matrix
        if self._inside(body, scope):
            return FLIP
        assert scope.outer is not None
        R = self.designed_pose(body, scope.outer).R
        return np.asarray(snap(R.T @ scope.plane.matrix @ R), dtype=float)

    def mirror_matrix(self, body: str, scope: Scope) -> Array:
        """Return what the reflections of a scope do to components in the frame of a body."""
        matrix = np.eye(3)
        for step in scope.chain:
            matrix = self._step_matrix(body, step) @ matrix
        return matrix

    def _carried(self, local: Exact, body: str, scope: Scope) -> Exact:
        """Return coordinates in a body after one reflection."""
        plane = scope.plane
        if plane is None:
            return local
        if body == GROUND:
            return plane.of_exact(local)
        if self._inside(body, scope):
            expr = local.expr and (local.expr[0], algebra.negate(local.expr[1]), local.expr[2])
            return Exact.of(FLIP @ local.array, expr)
        assert scope.outer is not None
        p = plane.of_point(self._in_ground(local, body, scope))
        return rounded_local(p, self.designed_pose(body, scope.outer))

    def actual_point(self, local: Exact, body: str, scope: Scope) -> Exact:
        """Return coordinates in a body after the reflections of the scope that gave them."""
        for step in scope.chain:
            local = self._carried(local, body, step)
        return local

    # --------------------------------------------------------------------- lazy

    def _once(self, cache: dict[str, _T], what: str, entry: Entry, make: Callable[[], _T]) -> _T:
        if entry.name not in cache:
            if what in self._busy:
                chain = [*self._busy[self._busy.index(what) :], what]
                raise ModelError(
                    f"{what} depends on itself: {' -> '.join(chain)}",
                    path=entry.path,
                    remedy="give one of them in the ground frame",
                )
            self._busy.append(what)
            cache[entry.name] = make()
            self._busy.pop()
        return cache[entry.name]
