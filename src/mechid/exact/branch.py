"""Poses on the branch of the reference pose: paths of boxes, each with one pose per coordinate.

A loop closes in several ways (a parallelogram folds over), and Newton's method ends on any of them.
Two poses are on one branch if a path joins them. Along a straight way of the independent
coordinates, Newton's method with intervals shows for one piece after the other that a box of poses
holds exactly one pose for every value of the coordinates: these poses move continuously. Pieces are
halved until it succeeds, and longer afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from flint import arb, ctx

from mechid.errors import KinematicsError
from mechid.exact.poses import Enclosure, ExactSystem, Nearby
from mechid.kinematics.tables import Floats

_BITS = 64  # boxes are wide: they need no more digits
_BOXES = 200  # on the way to one pose
_LONGER = 1.3  # the next piece, after one that was covered
_ROUNDING = 1e-9  # by which poses given as floats may be off (Euler parameters, parts of the size)


@dataclass(frozen=True, eq=False)
class _Box:
    """Around the pose x, within `radius`, one pose for each y within `reach` of `y`."""

    x: Floats
    radius: Floats
    scale: Floats
    y: Floats
    reach: Floats

    def holds(self, x: Floats, y: Floats) -> bool:
        away = np.abs(_turned_like(x, self.x) - self.x)
        near = away + _ROUNDING * self.scale <= self.radius
        return bool(near.all() and np.all(np.abs(y - self.y) <= self.reach))


@dataclass(eq=False)
class Branch:
    """What is known of the branch of a reference pose.

    Attributes
    ----------
    system : ExactSystem
    x, y : arrays
        The reference pose (float, closed to rounding), and its independent coordinates.
    """

    system: ExactSystem
    x: Floats
    y: Floats
    _boxes: list[_Box] = field(default_factory=list)

    def around(self, reach: Floats) -> bool:
        """Show that one box holds all poses with coordinates within `reach` of the reference."""
        with ctx.workprec(_BITS):
            nearby = self._nearby(self.x, self.y)
            return nearby is not None and self._box(nearby, self.x, self.y, reach) is not None

    def reach(self, pose: Enclosure, y: Floats) -> None:
        """Show that a pose lies on the branch.

        Raises
        ------
        KinematicsError
            If no path to it is found.
        """
        x = np.array([float(t.mid()) for t in pose.x])
        if not self.reaches(x, y):
            raise KinematicsError("the pose is not shown to be on the branch of the reference pose")

    def reaches(self, x: Floats, y: Floats) -> bool:
        """Tell whether a closed pose, given to rounding, is shown to lie on the branch."""
        with ctx.workprec(_BITS):
            if any(box.holds(x, y) for box in self._boxes):
                return True
            known = [(self.x, self.y), *((box.x, box.y) for box in self._boxes)]
            near = min(known, key=lambda k: float(np.max(np.abs(k[1] - y))))
            starts = [near, known[0]] if near is not known[0] else [near]
            return any(self._path(*start, x, y) for start in starts)

    def _path(self, x: Floats, y: Floats, end: Floats, y_end: Floats) -> bool:
        """Follow the straight way of the coordinates; does it end at the pose `end`?"""
        done, step = 0.0, 1.0
        nearby = self._nearby(x, y)
        for _ in range(_BOXES):
            if nearby is None or step * _BOXES < 1.0 - done:
                break  # more boxes than are tried
            step = min(step, 1.0 - done)
            parts = (y + (done + part * step) * (y_end - y) for part in (0.0, 0.5, 1.0))
            piece = self._piece(nearby, x, *parts)
            if piece is None:
                step /= 2
                continue
            x, nearby = piece
            done, step = done + step, _LONGER * step
            if done >= 1.0:
                return self._boxes[-1].holds(end, y_end)
        return False

    def _piece(
        self, before: Nearby, x: Floats, y: Floats, middle: Floats, y_end: Floats
    ) -> tuple[Floats, Nearby] | None:
        """Return the pose at the other end of a piece that one box covers."""
        center = _closed(before, x, middle)
        nearby = None if center is None else self._nearby(center, middle)
        if center is None or nearby is None:
            return None
        box = self._box(nearby, center, middle, np.abs(y_end - y) / 2 * (1 + _ROUNDING))
        if box is None or not box.holds(x, y):
            return None
        after = _closed(nearby, center, y_end)
        return (after, nearby) if after is not None and box.holds(after, y_end) else None

    def _nearby(self, x: Floats, y: Floats) -> Nearby | None:
        try:
            return Nearby.of(self.system, x, y.tolist())
        except KinematicsError:
            return None

    def _box(self, nearby: Nearby, x: Floats, y: Floats, reach: Floats) -> _Box | None:
        """Find a box around a pose; it counts as known."""
        ball = [arb(float(m), float(r)) for m, r in zip(y, reach, strict=True)]
        try:
            found = nearby.enclosed([arb(float(t)) for t in x], ball)
        except KinematicsError:  # an angle is not defined all over the box
            return None
        if found is None:
            return None
        self._boxes.append(_Box(x, found.radii, nearby.scale, y, reach))
        return self._boxes[-1]


def _turned_like(x: Floats, other: Floats) -> Floats:
    """Return a pose with the sign of all Euler parameters that is nearest to another pose."""
    e, f = x.reshape(-1, 7)[:, 3:], other.reshape(-1, 7)[:, 3:]
    sign = np.where(np.sum(e * f, axis=1) < 0, -1.0, 1.0)[:, None]
    return np.concatenate([x.reshape(-1, 7)[:, :3], sign * e], axis=1).ravel()


def _closed(nearby: Nearby, x: Floats, y: Floats) -> Floats | None:
    try:
        found = nearby.closed([arb(float(t)) for t in x], [arb(float(t)) for t in y])
    except KinematicsError:
        return None
    return None if found is None else np.array([float(t) for t in found])
