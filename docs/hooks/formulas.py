"""Formulas, $…$ and $$…$$, as MathML: browsers draw it without a script or a network."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

# What pymdownx.arithmatex leaves with `generic: true`.
_MATH = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page."""
    return _MATH.sub(_formula, content)


def _formula(found: re.Match[str]) -> str:
    display = "block" if found["tag"] == "div" else "inline"
    mathml = convert(html.unescape(found["latex"]).strip(), display=display)
    return f'<div class="formula">{mathml}</div>' if display == "block" else mathml
