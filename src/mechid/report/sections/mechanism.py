"""The mechanism, moving along the motion that was measured; still where nothing can move."""

from __future__ import annotations

from markupsafe import Markup

from mechid.errors import MechidError
from mechid.mechanism.records import Point
from mechid.plots.picture import picture
from mechid.plots.style import svg
from mechid.report.section import Section
from mechid.report.sections.excitation import solved_motion
from mechid.runs.record import Run
from mechid.view.page import render_page
from mechid.view.scene import scene

_KEY, _TITLE = "mechanism", "Measured motion"


def section(run: Run) -> Section:
    """Return the section with the viewer, a picture for paper, and the hardpoints."""
    m = run.motions[0]
    try:
        motion = solved_motion(run, m)
    except MechidError as error:
        return Section(_KEY, _TITLE, missing=f"The measured motion cannot be shown: {error}")
    shown = scene(run.mechanism, motion) | {"title": f"Motion “{m.name}”"}
    # Names of parameters count the bodies.
    numbered = [shown["bodies"][0]] + [
        body | {"name": f"{k}. {body['name']}"} for k, body in enumerate(shown["bodies"][1:], 1)
    ]
    values = {
        "page": render_page(shown | {"bodies": numbered}),
        "motion": m,
        "title": run.mechanism.title,
        "loops": bool(motion.model.tree.cut),
        "picture": Markup(svg(picture(run.mechanism, motion))),
        "points": [
            {"name": p.name, "body": p.body, "local": p.local, "formula": _formula(p)}
            for p in run.mechanism.points
        ],
    }
    return Section(_KEY, _TITLE, values)


def _formula(point: Point) -> str:
    """Return the expressions of a point, if there is a name in one of them."""
    expressions = point.expr or ()
    named = any(letter.isalpha() for text in expressions for letter in text)
    return ", ".join(expressions) if named else ""
