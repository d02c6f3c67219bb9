"""Quantities that can be limited along a motion, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from mechid.errors import DataError
from mechid.mechanism.records import Mechanism, Point

Quantity: TypeAlias = Literal[
    "position", "speed", "acceleration", "joint", "distance", "force", "margin"
]


@dataclass(frozen=True)
class MotionLimit:
    """Bounds of one quantity; None: no bound on that side.

    `name` is a coordinate (position, speed, acceleration), a joint or `joint.coordinate`
    (joint), two points `body.point-body.point` (distance), a force (force), or empty (margin).

    Attributes
    ----------
    quantity : str
        "position", "speed", "acceleration", "joint", "distance", "force" or "margin".
    name : str
    lower, upper : float, optional
        m, rad, N or N m, and their rates; a margin has no unit.
    """

    quantity: Quantity
    name: str
    lower: float | None = None
    upper: float | None = None

    @property
    def words(self) -> str:
        """The limit as text."""
        low = "" if self.lower is None else f"{self.lower:g} ≤ "
        high = "" if self.upper is None else f" ≤ {self.upper:g}"
        return f"{low}{self.quantity}{f' of {self.name}' if self.name else ''}{high}"


def check_limits(limits: Sequence[MotionLimit], mechanism: Mechanism) -> None:
    """Reject limits of unknown quantities, and empty ranges.

    Raises
    ------
    DataError
    """
    for limit in limits:
        bounds = [b for b in (limit.lower, limit.upper) if b is not None]
        if not bounds:
            raise DataError(f"{limit.words}: a limit needs a bound", remedy="give lower or upper")
        if not np.all(np.isfinite(bounds)):
            raise DataError(f"{limit.words}: bounds must be finite", remedy="omit that bound")
        if len(bounds) == 2 and bounds[0] >= bounds[1]:
            raise DataError(
                f"{limit.words}: the lower bound must be below the upper bound",
                remedy="swap the bounds",
            )
        _check_name(limit, mechanism)


def _check_name(limit: MotionLimit, mechanism: Mechanism) -> None:
    match limit.quantity:
        case "position" | "speed" | "acceleration":
            known = [c.name for c in mechanism.coordinates]
            _check_known(limit, "independent coordinate", limit.name, known)
        case "force":
            known = [c.force for c in mechanism.coordinates]
            _check_known(limit, "force", limit.name, known)
        case "joint":
            name, _, _ = limit.name.partition(".")
            _check_known(limit, "joint", name, [j.name for j in mechanism.joints])
            limited_joint(limit, mechanism)
        case "distance":
            limited_points(limit, mechanism)
        case "margin":
            return
        case _:
            raise DataError(
                f"there is no quantity {limit.quantity}",
                remedy=f"choose one of: {', '.join(get_args(Quantity))}",
            )


def _check_known(limit: MotionLimit, what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise DataError(
            f"{limit.words}: there is no {what} {name}", remedy=f"choose one of: {', '.join(known)}"
        )


def limited_joint(limit: MotionLimit, mechanism: Mechanism) -> tuple[str, int]:
    """Return the joint of a limit and the place of the coordinate among those of the joint."""
    name, _, label = limit.name.partition(".")
    joint = mechanism.joint(name)
    # Coordinates of an orientation are a quaternion: not limited one by one.
    names = joint.kind.coordinates[: joint.kind.n_scalars]
    if not label and len(names) == 1:
        return name, 0
    if label not in names:
        raise DataError(
            f"{limit.words}: joint {name} has no single coordinate {label or '(none named)'}",
            remedy=f"choose one of: {', '.join(f'{name}.{n}' for n in names)}"
            if names
            else "limit another joint, or a distance",
        )
    return name, names.index(label)


def limited_points(limit: MotionLimit, mechanism: Mechanism) -> tuple[Point, Point]:
    """Return the two points of a distance; a name may have a dash itself."""
    known = {f"{p.body}.{p.name}": p for p in mechanism.points}
    parts = limit.name.split("-")
    splits = [
        ["-".join(part).strip() for part in (parts[:k], parts[k:])] for k in range(1, len(parts))
    ]
    if not splits:
        raise DataError(
            f"{limit.words}: a distance needs two points", remedy="write body.point-body.point"
        )
    for names in splits:
        if all(name in known for name in names):
            return known[names[0]], known[names[1]]
    missing = min(([n for n in names if n not in known] for names in splits), key=len)
    raise DataError(
        f"{limit.words}: there is no point {' and no point '.join(missing)}",
        remedy=f"choose one of: {', '.join(known)}",
    )
