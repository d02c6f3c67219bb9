"""The page of a mechanism, written to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mechid.importing.resolve import mechanism_of
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism, Point
from mechid.outputs import write_text
from mechid.view.page import render_page
from mechid.view.scene import scene
from mechid.view.tour import tour


def write_page(
    mechanism: Mechanism | str | Path,
    path: str | Path,
    motion: Motion | None = None,
    traces: Iterable[str | Point] = (),
) -> Path:
    """Write one HTML file that shows a mechanism moving, and return its path.

    Parameters
    ----------
    mechanism : Mechanism, str or Path
        A mechanism, or what `load` takes.
    path : str or Path
    motion : Motion, optional
        A solved motion; default is a tour through all independent coordinates.
    traces : iterable of str or Point
        Points whose paths are drawn, as `body.point`.

    Examples
    --------
    >>> import mechid
    >>> mechid.write_page(mechid.load("four_bar"), "four_bar.html").name
    'four_bar.html'
    """
    mechanism = mechanism_of(mechanism)
    shown = tour(mechanism) if motion is None else motion
    path = Path(path)
    write_text(path, render_page(scene(mechanism, shown, traces)))
    return path
