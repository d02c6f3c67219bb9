"""Motions and their limits, as the page shows them; runs in the worker."""

from __future__ import annotations

from typing import Any

from mechid.kinematics.motion import solve_motion
from mechid.studio.models import model_of
from mechid.tables.quality import limit_notes
from mechid.tasks.usual_motions import usual_forces, usual_limits, usual_motions
from mechid.textfile.yamlio import write
from mechid.trajectoryfile.motion import read_motion_file
from mechid.view.page import rounded
from mechid.view.scene import scene as scene_of

_DIGITS = 4  # of limits that a person reads and changes


def limits(text: str | None = None, path: str | None = None) -> dict[str, Any]:
    """Return the limits within which motions are designed if no file gives others.

    Returns
    -------
    dict
        `limits` as in a file of limits: quantity → name → [lower, upper], and `margin`; `text` of
        that file.
    """
    model = model_of(text, path)
    usual = usual_forces(usual_motions(model.mechanism, None, {}), model.mechanism)
    found: dict[str, Any] = {}
    for limit in (*usual_limits(model), *usual):
        if limit.quantity == "margin":
            found["margin"] = limit.lower
        else:
            found.setdefault(limit.quantity, {})[limit.name] = [limit.lower, limit.upper]
    found = rounded(found, _DIGITS)
    return {"limits": found, "text": write(found)}


def scene(motion: str, text: str | None = None, path: str | None = None) -> dict[str, Any]:
    """Return what the viewer draws: the mechanism moving as a trajectory or a table says."""
    model = model_of(text, path)
    table = read_motion_file(motion, model.mechanism)
    moved = solve_motion(model, table.y, table.yd, table.ydd, time=table.time)
    notes = [*table.notes, *limit_notes(moved)]
    return {**rounded(scene_of(model.mechanism, moved)), "notes": notes}
