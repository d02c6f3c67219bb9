"""The mechanism, moving along the motion that was measured."""

from __future__ import annotations

from mechid.errors import MechidError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.report.section import Section
from mechid.runs.record import Run
from mechid.view.page import render_page
from mechid.view.scene import scene

_KEY, _TITLE = "mechanism", "Measured motion"


def section(run: Run) -> Section:
    """Return the section with the viewer."""
    m = run.motions[0]
    try:
        motion = solve_motion(kinematic_model(run.mechanism), m.y, m.yd, m.ydd, time=m.time)
    except MechidError as error:
        return Section(_KEY, _TITLE, missing=f"The measured motion cannot be shown: {error}")
    shown = scene(run.mechanism, motion) | {"title": f"Motion “{m.name}”"}
    page = render_page(shown)
    return Section(_KEY, _TITLE, {"page": page, "motion": m, "title": run.mechanism.title})
