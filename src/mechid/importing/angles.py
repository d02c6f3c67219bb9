"""Right angles that are written with few digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

_ROUNDED = 1e-10  # rad: a right angle, written with ten decimals or more
_NEAR = 1e-3  # rad: 1.57 and 1.5708 are meant as π/2, most probably


@dataclass
class Angles:
    """Reads angles (rad); counts those that are nearly multiples of a right angle."""

    right: bool = False
    near: list[float] = field(default_factory=list)

    def read(self, value: float) -> float | str:
        """Return an angle, or the expression of a multiple of π/2 that it stands for."""
        n = round(value / (math.pi / 2))
        away = abs(value - n * math.pi / 2)
        if n and _ROUNDED <= away < _NEAR:
            self.near.append(value)
        if away < _ROUNDED or (n and away < _NEAR and self.right):
            return _multiple(n)
        return value

    def notes(self) -> list[str]:
        """Say what could be read as right angles, or was."""
        if not self.near:
            return []
        examples = ", ".join(f"{x:.10g}" for x in dict.fromkeys(self.near[:3]))
        count = f"{len(self.near)} angle{'s' if len(self.near) > 1 else ''} ({examples})"
        if self.right:
            return [f"{count} were read as multiples of 90°"]
        return [
            f"{count} are within {_NEAR} rad of multiples of 90° and are kept as written; "
            "right_angles reads them as such, which leaves fewer base parameters"
        ]


def _multiple(n: int) -> float | str:
    if n == 0:
        return 0.0
    sign, n = "-" if n < 0 else "", abs(n)
    if n % 2 == 0:
        return f"{sign}pi" if n == 2 else f"{sign}{n // 2}*pi"
    return f"{sign}pi/2" if n == 1 else f"{sign}{n}*pi/2"


def value(angle: float | str) -> float:
    """Return what `Angles.read` returned as a number."""
    if not isinstance(angle, str):
        return angle
    half = "/2" in angle
    factor = angle.removesuffix("/2").replace("pi", "").rstrip("*")
    return float(f"{factor}1" if factor in ("", "-") else factor) * math.pi / (2 if half else 1)
