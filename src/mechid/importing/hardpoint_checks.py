"""What is implausible in a filled table: points far from where they were, wrong units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from mechid.errors import DataError
from mechid.mechanism.plausible import implausible_units
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.textfile.numbers import number

# Another car or robot of the same kind is hardly 10 times as large, a millimetre taken for a metre
# makes it 1000 times as large.
_SIZES = 10.0
_MASSES = 100.0  # of a body against the model
# Radius of gyration and centre in sizes of the model: those of the zoo are 0.01 to 0.8.
_THIN, _WIDE = 1e-3, 3.0


@dataclass(frozen=True)
class Change:
    """What a row of a table changed, in SI units."""

    name: str
    place: str
    old: tuple[float, ...] = ()
    new: tuple[float, ...] = ()
    old_mass: float | None = None
    mass: float | None = None
    gyration: float | None = None
    offset: float | None = None
    places: Mapping[str, str] = field(default_factory=dict)


def warnings_of(
    changes: Iterable[Change], before: Mechanism, after: Mechanism, largest_move: float | str
) -> tuple[str, ...]:
    """Return what is implausible, each with its cell."""
    changes = tuple(changes)
    old, new = characteristic_size(before), characteristic_size(after)
    limit = _limit(largest_move, old)
    if not 1 / _SIZES < new / old < _SIZES:
        unit = "are the numbers in mm, and the unit says m?" if new > old else "check the units"
        return (f"the model is {new:.3g} m in size, before it was {old:.3g} m: {unit}",)
    found = (*_moves(changes, limit), *_bodies(changes, new))
    return found or implausible_units(after)


def _limit(largest_move: float | str, size: float) -> float:
    text = str(largest_move).strip()
    relative = text.endswith("%")
    value = number(text[:-1] if relative else text, "largest_move")
    if value <= 0:
        raise DataError(f"must be > 0, got {largest_move}", where="largest_move")
    return value / 100 * size if relative else value


def _moves(changes: tuple[Change, ...], limit: float) -> Iterator[str]:
    points = [c for c in changes if c.new]
    if not points:
        return
    moves = np.array([np.subtract(c.new, c.old) for c in points])
    # Another origin moves all points alike; what counts is a point that moves against the others.
    common = np.median(moves, axis=0) if len(points) > 3 else np.zeros(3)
    for c, move in zip(points, moves - common, strict=True):
        if (distance := float(np.linalg.norm(move))) > limit:
            against = " against the others" if np.any(common) else ""
            yield f"{c.place}: {c.name} moved by {distance:.3g} m{against}: check signs and unit"


def _bodies(changes: tuple[Change, ...], size: float) -> Iterator[str]:
    for c in changes:
        if c.mass is not None and c.old_mass and not 1 / _MASSES < c.mass / c.old_mass < _MASSES:
            yield (
                f"{c.place}: the mass of {c.name} is {c.mass:.3g} kg, in the model "
                f"{c.old_mass:.3g} kg: check the unit"
            )
        for what, value in (("gyration", c.gyration), ("offset", c.offset)):
            if value is None:
                continue
            if value > _WIDE * size or (what == "gyration" and value < _THIN * size):
                words = "radius of gyration" if what == "gyration" else "distance of the centre"
                yield (
                    f"{c.places[what]}: the {words} of {c.name} is {value:.3g} m in a model of "
                    f"{size:.3g} m: check the units"
                )
