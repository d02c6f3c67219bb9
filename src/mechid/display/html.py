"""Records as HTML for notebooks: their summary, their plot, the sections of the report."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

from mechid.base.analyse import BaseParameters
from mechid.base.baseset import BaseSet
from mechid.errors import MechidError
from mechid.plots.draw import draw
from mechid.plots.style import svg
from mechid.report.page import render_fragment
from mechid.report.section import Section
from mechid.report.sections import base, parameters, validation
from mechid.runs.record import Run, Validation
from mechid.shown import Plotted, Shown, in_words


@singledispatch
def to_html(record: Shown) -> str:
    """Return the summary of a record, with its plot if it has one."""
    return fragment(record)


@to_html.register
def _(record: BaseParameters) -> str:
    return fragment(record, [base.base_section(record.chosen, record.bounds)])


@to_html.register
def _(record: BaseSet) -> str:
    return fragment(record, [base.base_section(record)])


@to_html.register
def _(record: Run) -> str:
    return fragment(record, [parameters.section(record), validation.section(record)])


@to_html.register
def _(record: Validation) -> str:
    alone = replace(record.run, validation=record.rows, left_out=(), spread=None)
    return fragment(record, [validation.section(alone)])


def fragment(record: Shown, sections: Sequence[Section] = ()) -> str:
    """Return a part of a page that is complete in itself and needs no network."""
    rows = {name: text for name, value in record.summary().items() if (text := in_words(value))}
    return render_fragment(type(record).__name__, rows, _picture(record), sections)


def _picture(record: Shown) -> Section:
    """Return the plot as an image; a mechanism that cannot be assembled has none, and says why."""
    if not isinstance(record, Plotted):
        return Section("picture", "", {"source": ""})
    try:
        drawing = svg(draw(record))
    except MechidError as error:
        return Section("picture", "", missing=f"No picture: {error}")
    # As an image, the drawing shares no names with other drawings of the page.
    source = "data:image/svg+xml;base64," + base64.b64encode(drawing.encode()).decode("ascii")
    return Section("picture", "", {"source": source})
