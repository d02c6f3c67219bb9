"""Small things that XML writers share."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

import numpy as np
import numpy.typing as npt

from mechid.exporting.chain import without_rounding
from mechid.exporting.content import Content, Quantity

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
