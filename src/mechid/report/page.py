"""The page: sections through their templates, with style and scripts inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mechid.report.formulas import formula
from mechid.report.numbers import counted, number, percent, relative
from mechid.report.plot import plot
from mechid.report.section import Section
from mechid.view.embed import embedded_json, rounded

_ASSETS = files("mechid.report").joinpath("assets")
_SCRIPTS = ("vendor/uPlot.iife.min.js", "charts.js", "tables.js")
_STYLES = ("vendor/uPlot.min.css", "report.css")
_CHART_DIGITS = 6


def render(title: str, head: Section, sections: Sequence[Section]) -> str:
    """Return the page, complete in itself."""
    pages = _environment()
    return pages.get_template("page.html").render(
        title=title,
        styles=[Markup(_asset(name)) for name in _STYLES],
        scripts=[Markup(_asset(name)) for name in _SCRIPTS],
        license=_asset("vendor/LICENSE").strip(),
        head=head,
        sections=sections,
    )


def render_fragment(
    title: str, rows: Mapping[str, str], picture: Section, sections: Sequence[Section] = ()
) -> str:
    """Return a part of a page, for notebooks: names with values, a picture, sections.

    Only sections without charts can be shown so; there are no scripts.
    """
    return (
        _environment()
        .get_template("fragment.html")
        .render(
            title=title,
            style=Markup(_asset("fragment.css")),
            rows=rows,
            picture=picture,
            sections=sections,
        )
    )


@cache
def _environment() -> Environment:
    pages = Environment(
        loader=PackageLoader("mechid.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {
        "number": number,
        "percent": percent,
        "relative": relative,
        "formula": formula,
        "json": _json,
        "plot": plot,
    }
    pages.globals["counted"] = counted
    return pages


def _json(value: object) -> Markup:
    return Markup(embedded_json(rounded(value, _CHART_DIGITS)))


def _asset(name: str) -> str:
    return _ASSETS.joinpath(name).read_text("utf-8")
