"""How well the measured motion excites the parameters, and how near it comes to limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.errors import MechidError
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.report.numbers import number
from mechid.report.section import Section, units_of
from mechid.runs.record import Run
from mechid.signals.record import PreparedMeasurement

_KEY, _TITLE = "excitation", "Quality and limits of the motions"


def section(run: Run) -> Section:
    """Return the section: ranges, speeds, distances to limits, and what the motion determines."""
    motions: list[dict[str, Any]] = []
    for motion in run.motions:
        try:
            solved = solved_motion(run, motion)
        except MechidError as error:
            motions.append({"name": motion.name, "used": motion in run.logs, "missing": str(error)})
            continue
        motions.append(
            {
                "name": motion.name,
                "used": motion in run.logs,
                "missing": "",
                "coordinates": _coordinates(run, motion),
                "joints": joint_ranges(solved),
                "margin": _margin(solved),
            }
        )
    return Section(_KEY, _TITLE, {"motions": motions, "quality": _quality(run)})


def solved_motion(run: Run, motion: PreparedMeasurement) -> Motion:
    """Return a motion of a run with all its joints.

    Raises
    ------
    KinematicsError
        If the mechanism cannot perform it.
    """
    model = kinematic_model(run.mechanism)
    return solve_motion(model, motion.y, motion.yd, motion.ydd, time=motion.time)


def joint_ranges(motion: Motion) -> list[dict[str, Any]]:
    """Return the range of every joint coordinate that the model limits, and the distance left."""
    rows = []
    for joint in motion.model.mechanism.joints:
        if not any((limit.lower, limit.upper) != (None, None) for limit in joint.limits):
            continue
        values = joint_motion(motion, joint.name).coordinates
        for k, limit in enumerate(joint.limits):
            low, high = float(values[:, k].min()), float(values[:, k].max())
            rooms = [low - limit.lower] if limit.lower is not None else []
            rooms += [limit.upper - high] if limit.upper is not None else []
            if rooms:
                rows.append(
                    {
                        "name": joint.name,
                        "unit": joint.kind.units[k],
                        "range": (low, high),
                        "limit": (limit.lower, limit.upper),
                        "room": min(rooms),
                    }
                )
    return rows


def _coordinates(run: Run, motion: PreparedMeasurement) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "unit": c.unit,
            "range": (float(motion.y[:, i].min()), float(motion.y[:, i].max())),
            "speed": float(np.abs(motion.yd[:, i]).max()),
            "acceleration": float(np.abs(motion.ydd[:, i]).max()),
        }
        for i, c in enumerate(run.mechanism.coordinates)
    ]


def _margin(motion: Motion) -> dict[str, float] | None:
    """Return the least distance to a singular pose, and when; None if there are no loops."""
    margin = singularity_margin(motion.model, motion.q)
    k = int(np.argmin(margin))
    if not np.isfinite(margin[k]):
        return None
    home = singularity_margin(motion.model, motion.model.home_q[None])[0]
    return {
        "least": float(margin[k]),
        "time": float(motion.time[k]) if motion.time is not None else float(k),
        "home": float(home),
    }


def _quality(run: Run) -> list[tuple[str, str]]:
    """Return what the logs determine, in a few numbers."""
    if run.estimate is None:
        return []
    final = run.final
    rows = [("Condition number (columns of unit length)", number(final.condition, 3))]
    free = [name for name in final.parameters if name not in final.resting]
    rows.append(("Determined by data", f"{len(free)} of {len(run.parameters.names)} parameters"))
    units = units_of(run)
    for history in run.forces:
        with np.errstate(invalid="ignore"):
            sigma = np.sqrt(np.mean(history.sigma**2, axis=0))
        words = [
            f"{name} {number(float(sigma[j]), 2)} {units[name]}"
            for j, name in enumerate(history.forces)
        ]
        rows.append((f"σ of predicted forces without noise, {history.name}", ", ".join(words)))
    return rows
