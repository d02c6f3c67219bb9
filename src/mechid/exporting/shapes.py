"""Drawing hints of bodies as the primitives of robot formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Body, Shape

_GREY = "#808080"
_CODE = "#" + 3 * "([0-9a-fA-F]{2})"


@dataclass(frozen=True, eq=False)
class Primitive:
    """A box, cylinder (about `axis`) or sphere in body coordinates.

    `sizes` (m) are three edges; radius and length; radius.
    """

    kind: str
    center: Floats
    axis: Floats
    sizes: tuple[float, ...]


def primitives(body: Body) -> Iterator[Primitive]:
    """Yield what is drawn of a body."""
    for shape in body.shapes:
        yield _primitive(shape)


def _primitive(shape: Shape) -> Primitive:
    points = [np.array(point) for point in shape.points]
    along = np.array([0.0, 0.0, 1.0])
    match shape.kind:
        case "wheel":  # centre and axis; radius, width
            axis = points[1] / np.linalg.norm(points[1])
            return Primitive("cylinder", points[0], axis, shape.sizes)
        case "cylinder":  # from, to; radius
            line = points[1] - points[0]
            length = float(np.linalg.norm(line))
            middle = (points[0] + points[1]) / 2
            return Primitive("cylinder", middle, line / length, (shape.sizes[0], length))
    return Primitive(shape.kind, points[0], along, shape.sizes)


def colour(body: Body) -> tuple[float, float, float, float]:
    """Return red, green, blue and opacity of a body, from 0 to 1; grey if it is no `#rrggbb`."""
    found = re.fullmatch(_CODE, body.color or "") or re.fullmatch(_CODE, _GREY)
    assert found is not None
    red, green, blue = (int(x, 16) / 255 for x in found.groups())
    return round(red, 4), round(green, 4), round(blue, 4), 1.0
