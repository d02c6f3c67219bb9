"""One self-contained HTML page that shows a mechanism and its motion in a browser."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from mechid.importing.resolve import mechanism_of
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism, Point
from mechid.outputs import write_text
from mechid.view.scene import scene
from mechid.view.tour import tour

DIGITS = 9  # of each number in a page: a micrometre in a kilometre


def embedded_json(value: object) -> str:
    """Return JSON that no HTML parser can take for the end of its script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """Return the same with floats shortened, which halves the page of a long motion."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(entry, digits) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry, digits) for entry in value]
    return value


_ASSETS = files("mechid.view").joinpath("assets")


def render_page(scene: dict[str, Any]) -> str:
    """Return the page that shows `scene`, complete with its program and without any reference.

    Parameters
    ----------
    scene : dict
        What to draw, ready for JSON: SI units, ground frame, quaternions scalar first.

        - ``title``, ``subtitle``: str; ``up``: unit vector against gravity; ``size``: a length
          that the mechanism has, by which rods and joints are drawn.
        - ``bodies``: list of ``{name, points, labels, color, shape}``, the ground first.
          ``shape`` is None, one shape or a list of them: ``{kind: "wheel", center, axis, radius,
          width}``, ``{kind: "box", center, size}``, ``{kind: "cylinder", from, to, radius}`` or
          ``{kind: "sphere", center, radius}``.
        - ``joints``: list of ``{name, kind, bodies, body, point, axis, axis2, body2}``.
        - ``elements``: list of ``{name, kind, body_a, point_a, body_b, point_b}``. The arrow of
          a force runs from the first point to the second; with ``vector``, in the axes of body
          ``axes``, it ends at the point and has that direction. Moments and torsion springs turn
          about their vector.
        - ``motion``: ``{time, poses, coordinates}`` with ``poses[sample][body]`` =
          ``[px, py, pz, qw, qx, qy, qz]`` and coordinates ``{name, unit, values}``. With one
          sample the page is a still picture without playback.
        - ``traces``: list of ``{name, body, point}``, points whose paths are drawn.

    Returns
    -------
    str
        HTML that works from a file, without a network.

    Raises
    ------
    ValueError
        If the size is not positive, the motion does not fit the bodies, or a number is not finite.
    """
    _check(scene)
    # Modules given as data: URLs can be imported from a file:// page, where browsers refuse to
    # import neighbouring files.
    imports = {name: _data_url(_asset(path)) for name, path in _modules().items()}
    return _page(scene["title"], scene["subtitle"], embedded_json(rounded(scene)), imports, "data:")


def hosted_page(base: str) -> str:
    """Return the page for a server that has the files of `assets` below the address `base`.

    It has no scene of its own: it is shown in a frame of another page of the same server, and draws
    the property ``scene`` of its frame element (see `render_page`).
    """
    imports = {name: f"{base}/{path}" for name, path in _modules().items()}
    return _page("Mechanism", "", "null", imports, "'self'")


def _page(title: str, subtitle: str, scene: str, imports: dict[str, str], origin: str) -> str:
    return _fill(
        _asset("page.html"),
        {
            "title": html.escape(title),
            "subtitle": html.escape(subtitle),
            "origin": origin,
            "style": _asset("page.css").strip(),
            "scene": scene,
            "imports": embedded_json({"imports": imports}),
            "license": _asset("vendor/LICENSE").strip(),
        },
    )


def _check(scene: dict[str, Any]) -> None:
    """Reject what would otherwise end as an empty picture in the reader's browser."""
    if not scene["size"] > 0:
        raise ValueError(f"the size of the mechanism is {scene['size']}, not a positive length")
    motion = scene["motion"]
    samples = len(motion["time"])
    if samples == 0:
        raise ValueError("the motion has no samples")
    if any(late <= early for early, late in zip(motion["time"], motion["time"][1:], strict=False)):
        raise ValueError("the times of the motion do not increase")
    if len(motion["poses"]) != samples:
        raise ValueError(f"the motion has {samples} times but {len(motion['poses'])} poses")
    bodies = len(scene["bodies"])
    for sample, poses in enumerate(motion["poses"]):
        if len(poses) != bodies:
            raise ValueError(f"sample {sample} has {len(poses)} poses for {bodies} bodies")
    for coordinate in motion["coordinates"]:
        if len(coordinate["values"]) != samples:
            raise ValueError(
                f"coordinate {coordinate['name']!r} has {len(coordinate['values'])} values "
                f"for {samples} samples"
            )


def _asset(name: str) -> str:
    return _ASSETS.joinpath(name).read_text("utf-8")


def _modules() -> dict[str, str]:
    """Return the file of each module, by the name under which it is imported."""
    names = sorted(entry.name for entry in _ASSETS.iterdir() if entry.name.endswith(".js"))
    own = {f"mechid/{name.removesuffix('.js')}": name for name in names}
    return {"three": "vendor/three.min.js", **own}


def _data_url(source: str) -> str:
    encoded = base64.b64encode(source.encode()).decode("ascii")
    return f"data:text/javascript;charset=utf-8;base64,{encoded}"


def _fill(template: str, parts: dict[str, str]) -> str:
    """Fill the template in one pass, so that braces inside a part stay what they are."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


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
