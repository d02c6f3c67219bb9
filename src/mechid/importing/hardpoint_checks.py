"""What is implausible in a filled table: points far from where they were, wrong units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.mechanism.plausible import implausible_units
from mechid.mechanism.records import Mechanism, Vec3
from mechid.mechanism.size import characteristic_size
from mechid.textfile.numbers import number

# Another car or robot of the same kind is hardly 10 times as large, a millimetre taken for a metre
# makes it 1000 times as large.
_SIZES = 10.0
_MASSES = 100.0  # of a body against the model
# Radius of gyration and centre in sizes of the model: those of the zoo are 0.01 to 0.8.
_THIN, _WIDE = 1e-3, 3.0
GYRATION, OFFSET = "radius of gyration", "distance of the centre"


@dataclass(frozen=True)
class PointChange:
    """Where a point was and is (m), and the cells of its coordinates."""

    name: str
    places: tuple[str, ...]
    old: Vec3
    new: Vec3


@dataclass(frozen=True)
class BodyChange:
    """Mass before (kg), and by title with its cell: mass, radius of gyration, centre (kg, m)."""

    name: str
    old_mass: float | None
    new: Mapping[str, tuple[float, str]]


def warnings_of(
    points: Sequence[PointChange],
    bodies: Iterable[BodyChange],
    before: Mechanism,
    after: Mechanism,
    largest_move: float | str,
) -> tuple[str, ...]:
    """Return what is implausible, each with its cell."""
    old, new = characteristic_size(before), characteristic_size(after)
    limit = _limit(largest_move, old)
    if not 1 / _SIZES < new / old < _SIZES:
        unit = "are the numbers in mm, and the unit says m?" if new > old else "check the units"
        return (f"the model is {new:.3g} m in size, before it was {old:.3g} m: {unit}",)
    found = (*_moves(points, limit), *(w for body in bodies for w in _body(body, new)))
    return found or implausible_units(after)


def _limit(largest_move: float | str, size: float) -> float:
    text = str(largest_move).strip()
    relative = text.endswith("%")
    value = number(text[:-1] if relative else text, "largest_move")
    if value <= 0:
        raise DataError(f"must be > 0, got {largest_move}", where="largest_move")
    return value / 100 * size if relative else value


def _moves(points: Sequence[PointChange], limit: float) -> Iterator[str]:
    if not points:
        return
    moves = np.array([np.subtract(p.new, p.old) for p in points])
    # Another origin moves all points alike; what counts is a point that moves against the others.
    common = np.median(moves, axis=0) if len(points) > 3 else np.zeros(3)
    against = " against the others" if np.any(common) else ""
    for point, move in zip(points, moves - common, strict=True):
        if (distance := float(np.linalg.norm(move))) > limit:
            place = point.places[int(np.argmax(np.abs(move)))]
            yield (
                f"{place}: point {point.name} moved by {distance:.3g} m{against}: check "
                "signs and unit"
            )


def _body(body: BodyChange, size: float) -> Iterator[str]:
    for what, (value, place) in body.new.items():
        words = f"{place}: the {what} of {body.name} is {value:.3g}"
        if what == "mass":
            if body.old_mass and not 1 / _MASSES < value / body.old_mass < _MASSES:
                yield f"{words} kg, in the model {body.old_mass:.3g} kg: check the unit"
        elif value > _WIDE * size or (what == GYRATION and value < _THIN * size):
            yield f"{words} m in a model of {size:.3g} m: check the units"
