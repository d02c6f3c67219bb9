"""Small things that XML writers share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

import numpy as np
import numpy.typing as npt

from mechid.exporting.chain import without_rounding
from mechid.exporting.content import Content, Quantity
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Body, Shape

__all__ = ["Element", "SubElement"]


def numbers(values: npt.ArrayLike, size: float = 1.0) -> str:
    """Return numbers for an attribute, all digits; rounding beside numbers of `size` becomes 0."""
    x = np.atleast_1d(without_rounding(np.asarray(values, dtype=float), size))
    return " ".join(repr(v).removesuffix(".0") for v in x.tolist())


def remark(parent: Element, text: str) -> None:
    """Add a comment; two hyphens, which XML forbids there, are set apart."""
    while "--" in text:
        text = text.replace("--", "- -")
    parent.append(Comment(f" {text} "))


def head(root: Element, content: Content, notes: Iterable[str], left_out: Iterable[str]) -> None:
    """Add comments about the whole file."""
    remark(root, f"{content.mechanism.name}: {content.origin}. SI units.")
    for note in (*content.notes, *notes):
        remark(root, note)
    for lost in left_out:
        remark(root, f"left out: {lost}")


def certainty(quantities: Iterable[Quantity]) -> str:
    """Return how certain the values of a body are: `mass 1.2 ± 0.01 kg; …`."""
    known = [q for q in quantities if q.value is not None]
    if all(q.sigma is None for q in known):
        return ""
    return "; ".join(
        f"{q.name} {q.value:.5g}"
        + ("" if q.sigma is None else f" ± {q.sigma:.2g}")
        + f" {q.unit}"
        + (" (CAD)" if q.source == "cad" else "")
        for q in known
    )


def document(root: Element) -> bytes:
    """Return the whole file."""
    indent(root)
    text = tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


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
