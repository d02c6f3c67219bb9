"""The page: sections through their templates, with style and scripts inside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup

from mechid.outputs import write_text
from mechid.report.numbers import counted, number, percent, relative
from mechid.report.plot import plot
from mechid.report.section import Section
from mechid.report.sections import (
    base,
    bodies,
    contribution,
    correlation,
    diagnosis,
    excitation,
    forces,
    head,
    mechanism,
    mobility,
    noise,
    parameters,
    reduction,
    repeat,
    spectra,
    validation,
)
from mechid.runs.record import Run, Validation
from mechid.tasks.inputs import run_of
from mechid.view.page import embedded_json, rounded

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


def render_report(run: Run, *, certify: bool = False) -> str:
    """Return the page of a run: one HTML text that works offline.

    Parameters
    ----------
    run : Run
        As far as it came: what is missing is said.
    certify : bool
        Prove the number of base parameters, if the run does not say whether it is proved.
    """
    return render(
        f"{run.mechanism.title or run.mechanism.name}: identification",
        head.section(run),
        (
            diagnosis.section(run),
            mechanism.section(run),
            bodies.section(run),
            parameters.section(run),
            contribution.section(run),
            correlation.section(run),
            forces.section(run),
            spectra.section(run),
            validation.section(run),
            reduction.section(run),
            noise.section(run),
            excitation.section(run),
            mobility.section(run),
            base.section(run, certify=certify),
            repeat.section(run),
        ),
    )


def write_report(
    run: Run | Validation | str | Path, path: str | Path, *, certify: bool = False
) -> Path:
    """Write the page of a run and return its path.

    Parameters
    ----------
    run : Run, Validation, str or Path
        A run, its folder, or what `validate` returns: the run with further motions.
    path : str or Path
        Page to write, .html.
    certify : bool
        Prove the number of base parameters, if the run does not say whether it is proved.

    Raises
    ------
    DataError
        If this is no run, or the file cannot be written.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> page = mechid.write_report(mechid.identify("five_bar", log), "report.html")
    """
    path = Path(path)
    write_text(path, render_report(run_of(run), certify=certify))
    return path
