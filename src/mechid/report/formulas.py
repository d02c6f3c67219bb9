"""Formulas of base parameters, typeset: LaTeX to MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup

# Letters without a space between them are one name, not a product.
_NAME = re.compile(r"(?<![\\A-Za-z])(?<!\\operatorname\{)[A-Za-z]{2,}")
# A space between two factors is a product.
_FACTORS = re.compile(r"(?<=[A-Za-z0-9})]) (?=[A-Za-z\\(])")
_SIGN = re.compile(r"^(<math[^>]*><mrow>)<mo>(?=&#x0(?:002B|2212);)")
_UPRIGHT = re.compile(r"\\mathrm\{([^{}]*)\}")


def formula(latex: str) -> Markup:
    """Return a sum as MathML, a piece per term, so that a long one can be broken between terms."""
    return Markup(" ").join(_term(term) for term in terms(latex))


def terms(latex: str) -> list[str]:
    """Return the terms of a sum with their signs; signs inside brackets do not count."""
    found, depth, begin = [], 0, 0
    for i, letter in enumerate(latex):
        if letter in "{(":
            depth += 1
        elif letter in "})":
            depth -= 1
        elif letter in "+-" and depth == 0 and latex[begin:i].strip():
            found.append(latex[begin:i].strip())
            begin = i
    return [*found, latex[begin:].strip()]


@cache
def _term(latex: str) -> Markup:
    upright = _UPRIGHT.split(latex)
    # Every second part was inside \mathrm.
    named = "".join(
        rf"\text{{{part.replace(chr(92) + '_', '_')}}}" if k % 2 else _names(part)
        for k, part in enumerate(upright)
    )
    found = convert(named).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    # A sign in front of a piece stands between terms of the sum.
    found = _SIGN.sub(r'\1<mo form="infix">', found)
    # Names of several letters are identifiers to MathML, which sets them upright.
    return Markup(found.replace("<mtext>", "<mi>").replace("</mtext>", "</mi>"))


def _names(latex: str) -> str:
    return _NAME.sub(r"\\text{\g<0>}", _FACTORS.sub(r" \\, ", latex))
