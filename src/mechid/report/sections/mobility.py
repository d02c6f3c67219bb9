"""Mobility: bodies, joints, degrees of freedom, redundant constraints."""

from __future__ import annotations

from mechid.errors import MechidError
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.report.section import Section
from mechid.runs.record import Run

_KEY, _TITLE = "mobility", "Mobility"


def section(run: Run) -> Section:
    """Return the section."""
    try:
        m = mobility(run.mechanism)
        cut = [joint.name for joint in kinematic_model(run.mechanism).tree.cut]
    except MechidError as error:
        return Section(_KEY, _TITLE, missing=f"The mobility cannot be counted: {error}")
    joints = sum(m.joints.values())
    kinds = ", ".join(f"{count} {letter}" for letter, count in m.joints.items())
    # Bodies hang from the ground in a tree; every joint more than that closes a loop.
    facts = [
        ("Moving bodies", str(m.bodies)),
        ("Joints", f"{joints} ({kinds})"),
        ("Loops", f"{joints - m.bodies}, cut at {', '.join(cut)}" if cut else "none"),
        ("Grübler’s count", str(m.grubler).replace("-", "−")),
        ("Degrees of freedom", str(m.dof)),
        ("of these passive", f"{m.passive_dof}: {'; '.join(m.passive)}" if m.passive else "0"),
        ("Redundant constraints", str(m.redundant_constraints)),
        ("Independent coordinates", ", ".join(c.name for c in run.mechanism.coordinates)),
    ]
    return Section(_KEY, _TITLE, {"facts": facts, "redundant": m.redundant})
