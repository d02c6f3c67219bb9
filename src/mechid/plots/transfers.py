"""A picture of the transfers: which joints let inertia pass, and what has no effect at all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import GROUND, Joint, Mechanism
from mechid.plots.panels import write_figure
from mechid.view.scene import up_direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from mechid.base.transfers import Transfer

_WIDTH = 8.0  # inches


def save_transfers(path: Path, mechanism: Mechanism, found: Sequence[Transfer]) -> None:
    """Draw a mechanism in its reference pose with an arrow for every joint that inertia crosses.

    A label at a joint says how many transfers cross it; one at a body says how many of its ten
    parameters, or combinations of them, have no effect at all.

    Parameters
    ----------
    path : Path
        .png, .svg or .html.
    mechanism : Mechanism
    found : sequence of Transfer
        Independent ones, or they are counted twice.
    """
    write_figure(path, lambda: _figure(mechanism, found), mechanism.title or mechanism.name)


def _figure(mechanism: Mechanism, found: Sequence[Transfer]) -> Figure:
    from matplotlib.figure import Figure

    from mechid.plots.picture import paper

    joints = np.array([_place(mechanism, joint) for joint in mechanism.joints])
    view = paper(joints, np.array(up_direction(mechanism)))
    places = {joint.name: view @ _place(mechanism, joint) for joint in mechanism.joints}
    wide, high = np.ptp(list(places.values()), axis=0)
    shape = float(np.clip(high / max(wide, 1e-9), 0.3, 1.2))
    figure = Figure(figsize=(_WIDTH, 0.8 + _WIDTH * shape), layout="constrained")
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.axis("off")
    centers = _bodies(axes, mechanism, places)
    _arrows(axes, mechanism, places, centers, found)
    lost = Counter(t.source for t in found if t.target == GROUND and not t.joint)
    taken: list[Floats] = []
    for name, center in centers.items():
        # A label goes below the body where another one stands above.
        near = any(np.max(np.abs((center - t) / (0.2 * wide, 0.1 * wide))) < 1 for t in taken)
        taken.append(center)
        text = f"{name}\n{lost[name]} without effect" if lost[name] else name
        axes.annotate(
            text,
            (float(center[0]), float(center[1])),
            xytext=(0, -7 if near else 6),
            textcoords="offset points",
            fontsize=7,
            ha="center",
            va="top" if near else "bottom",
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8},
            zorder=4,
        )
    axes.margins(0.08)
    axes.set_title(f"{mechanism.title or mechanism.name}: transfers of inertia", fontsize=10)
    return figure


def _place(mechanism: Mechanism, joint: Joint) -> Floats:
    """Return the origin of a joint in the ground frame, in the reference pose."""
    frame = mechanism.body(joint.body_a).frame
    local = np.array(joint.frame_a.origin)
    return np.asarray(np.array(frame.origin) + np.array(frame.rotation) @ local)


def _bodies(axes: Any, mechanism: Mechanism, places: dict[str, Floats]) -> dict[str, Floats]:
    """Draw every body as lines from its middle to its joints; return the middles."""
    from mechid.plots.style import COLORS

    centers = {}
    for i, body in enumerate(mechanism.bodies):
        ends = [
            places[joint.name]
            for joint in mechanism.joints
            if body.name in (joint.body_a, joint.body_b)
        ]
        middle = np.mean(ends, axis=0)
        centers[body.name] = middle
        color = body.color or COLORS[i % len(COLORS)]
        for end in ends:
            axes.plot(*zip(middle, end, strict=True), color=color, lw=4, solid_capstyle="round")
    return centers


def _arrows(
    axes: Any,
    mechanism: Mechanism,
    places: dict[str, Floats],
    centers: dict[str, Floats],
    found: Sequence[Transfer],
) -> None:
    crossing = Counter(t.joint for t in found if t.joint)
    for joint in mechanism.joints:
        place = places[joint.name]
        to_ground = GROUND in (joint.body_a, joint.body_b)
        marker = "^" if to_ground else "o"
        axes.plot(*place, marker, color="black", ms=7 if to_ground else 5, zorder=3)
        number = crossing.get(joint.name, 0)
        if not number or to_ground:
            continue
        start, end = centers[joint.body_a], centers[joint.body_b]
        for a, b in ((start, place), (place, end)):
            axes.annotate(
                "",
                xy=b,
                xytext=a,
                arrowprops={"arrowstyle": "->", "color": "black", "lw": 1.0, "shrinkB": 4},
                zorder=2,
            )
        axes.annotate(
            str(number),
            place,
            xytext=(5, 5),
            textcoords="offset points",
            fontsize=9,
            fontweight="bold",
            zorder=5,
        )
