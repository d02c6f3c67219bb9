r"""All parameters as LaTeX tables, to be included in a document with `\input`."""

from __future__ import annotations

import math
import re

from mechid.base.expressions import latex_name
from mechid.exporting.content import Content, Exported, Quantity
from mechid.exporting.tables import grouped, missing

_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DIGITS = 4  # of a value without standard deviation
_SOURCES = {"data": "data", "cad": "CAD", "eliminated": "eliminated", "model": "model"}
_HEADS = {
    "base parameters": ("", "base parameter", "value", "unit", "source"),
    "bodies": ("body", "", "value", "unit", "source"),
    "force elements": ("element", "coefficient", "value", "unit", "source"),
}


def latex(content: Content, allow_loss: bool = False) -> Exported:
    """Return a LaTeX file with a longtable for each table."""
    parts = [
        "% needs \\usepackage{amsmath,booktabs,longtable}",
        f"% {content.mechanism.name}: {content.origin}",
        *(f"% {note}" for note in (*content.notes, *missing(content))),
    ]
    for table, quantities in grouped(content):
        head = " & ".join(_HEADS[table])
        parts += [
            r"\begin{longtable}{llrll}",
            rf"\caption{{{_caption(content, table)}}}\\",
            rf"\toprule {head} \\ \midrule \endfirsthead",
            rf"\toprule {head} \\ \midrule \endhead",
            r"\bottomrule \endfoot",
        ]
        before = ""
        for number, quantity in enumerate(quantities, start=1):
            first, second = _names(quantity, number)
            shown = "" if first == before else first
            before = first
            row = (shown, second, f"${with_sigma(quantity.value, quantity.sigma)}$")
            parts.append(
                " & ".join((*row, unit(quantity.unit), _SOURCES[quantity.source])) + r" \\"
            )
        parts.append("\\end{longtable}")
    return Exported("latex", ("\n".join(parts) + "\n").encode(), missing(content))


def _caption(content: Content, table: str) -> str:
    return f"{table.capitalize()} of {escaped(content.mechanism.name)}, with standard deviations"


def _names(quantity: Quantity, number: int) -> tuple[str, str]:
    if quantity.table == "base parameters":
        return str(number), f"${quantity.latex or latex_name(quantity.name)}$"
    if quantity.table == "bodies":
        return escaped(quantity.owner), f"${quantity.latex}$"
    return escaped(quantity.owner), escaped(quantity.name)


def escaped(text: str) -> str:
    """Return text for LaTeX."""
    return "".join(_SPECIAL.get(c, c) for c in text)


def unit(text: str) -> str:
    """Return a unit for LaTeX: `kg\\,m$^{2}$`."""
    raised = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"$^{{{m[0].translate(_RAISED)}}}$", text)
    return raised.replace(" ", r"\,")


def with_sigma(value: float | None, sigma: float | None) -> str:
    r"""Return a value with its standard deviation: `1.234 \pm 0.056`; two digits of the latter."""
    if value is None or not math.isfinite(value):
        return r"\text{--}"
    size = max(abs(value), sigma or 0.0)
    if size == 0:
        return "0"
    power = math.floor(math.log10(size))
    power = 0 if -3 <= power < 5 else power
    least = _floor(sigma) - 1 if sigma else _floor(value or size) - _DIGITS + 1
    decimals = max(power - least, 0)
    shown = f"{value / 10**power:.{decimals}f}"
    if sigma is not None:
        shown += rf" \pm {sigma / 10**power:.{decimals}f}"
    if not power:
        return shown
    return (
        rf"({shown}) \cdot 10^{{{power}}}"
        if sigma is not None
        else rf"{shown} \cdot 10^{{{power}}}"
    )


def _floor(x: float) -> int:
    return math.floor(math.log10(abs(x)))
