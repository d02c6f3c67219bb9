"""Panels of curves over one time axis, drawn without a screen and saved."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.outputs import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mechid.plots.style import Plot

SUFFIXES = (".png", ".svg", ".html")
_DASHES = ("-", "--", ":")  # where the colours begin again
_WIDTH, _HEIGHT = 7.2, 1.9  # inches: of the plot, of a panel
_DECADES, _MOST_DECADES = 3, 16  # of a logarithmic axis


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share a vertical axis.

    Attributes
    ----------
    label : str
        Of the vertical axis, with the unit.
    time : array (N,)
        Seconds, or whatever `x` says.
    curves : mapping from name to array (N,)
    log : bool
        Logarithmic axis; what is smaller than its lower end is drawn there.
    title : str
    dashed : tuple of str
        Curves that are drawn dashed, because others may lie below them.
    band : pair of arrays (N,), optional
        Lower and upper end of an interval, drawn as an area.
    mark : float, optional
        Where a vertical line is drawn.
    x : str
        Label of the horizontal axis, with the unit.
    """

    label: str
    time: Floats
    curves: Mapping[str, Floats]
    log: bool = False
    title: str = ""
    dashed: tuple[str, ...] = ()
    band: tuple[Floats, Floats] | None = None
    mark: float | None = None
    x: str = "time / s"


def check_plot_path(path: str | Path) -> str:
    """Return the ending of a plot's file, or reject it before any work is done."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(
            f"unknown file type {Path(path).suffix or '(no extension)'}",
            where=str(path),
            remedy="use a .png, .svg or .html file",
        )
    return suffix


def save_plot(path: str | Path, panels: Sequence[Panel], title: str = "") -> Path:
    """Draw panels one below the other and write them as PNG, SVG or an HTML page.

    Raises
    ------
    DataError
        If the ending is none of these, or the file cannot be written.
    """
    path = Path(path)
    check_plot_path(path)
    return write_figure(path, lambda: panel_figure(panels, title), title)


def write_figure(path: Path, draw: Callable[[], Figure], title: str = "") -> Path:
    """Draw a figure in the style of all plots, and write it as PNG, SVG or an HTML page."""
    import matplotlib

    from mechid.plots.style import STYLE, svg

    suffix = check_plot_path(path)
    with matplotlib.rc_context(STYLE):
        figure = draw()
        if suffix == ".png":
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
            content = buffer.getvalue()
        else:
            drawing = svg(figure)
            content = (_page(drawing, title) if suffix == ".html" else drawing).encode()
    write_bytes(path, content)
    return path


def panel_figure(panels: Sequence[Panel], title: str = "") -> Plot:
    """Return panels one below the other, in the style of all plots."""
    import matplotlib

    from mechid.plots.style import STYLE, Plot

    with matplotlib.rc_context(STYLE):
        figure = Plot(figsize=(_WIDTH, 0.5 + _HEIGHT * len(panels)), layout="constrained")
        axes = np.ravel(figure.subplots(len(panels), sharex=True, squeeze=False))
        for ax, panel in zip(axes, panels, strict=True):
            _draw(ax, panel)
        axes[-1].set_xlabel(panels[-1].x)
        figure.align_ylabels()
        if title:
            figure.suptitle(title, fontsize=10)
    return figure


def _draw(ax: Axes, panel: Panel) -> None:
    from mechid.plots.style import COLORS, INK

    bottom = _log_axis(ax, panel) if panel.log else None
    for k, (name, values) in enumerate(panel.curves.items()):
        shown = values if bottom is None else np.maximum(values, bottom)
        dash = "--" if name in panel.dashed else _DASHES[k // len(COLORS) % len(_DASHES)]
        style: dict[str, Any] = {"color": COLORS[k % len(COLORS)], "label": name}
        if len(panel.time) == 1:
            style |= {"marker": "o", "markersize": 3.0}
        ax.plot(panel.time, shown, dash, **style)
    if panel.band is not None:
        ax.fill_between(panel.time, *panel.band, color=COLORS[0], alpha=0.2, lw=0, label="95 %")
    if panel.mark is not None:
        ax.axvline(panel.mark, color=INK, lw=1.0, ls=":")
    ax.set_ylabel(panel.label)
    if panel.title:
        ax.set_title(panel.title, fontsize=9, loc="left")
    ax.margins(x=0.0 if len(panel.time) > 1 else 0.05)
    if len(panel.curves) > 1 or panel.band is not None:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1 + len(panel.curves) // 9)


def _log_axis(ax: Axes, panel: Panel) -> float | None:
    """Make the axis logarithmic over whole decades, three at least; return its lower end.

    None, and a linear axis, if nothing is positive.
    """
    values = np.concatenate([np.ravel(curve) for curve in panel.curves.values()])
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return None
    top = np.ceil(np.log10(positive.max()) + 1e-9)
    bottom = min(np.floor(np.log10(positive.min())), top - _DECADES)
    bottom = max(bottom, top - _MOST_DECADES)
    ax.set_yscale("log")
    ax.set_ylim(10.0**bottom, 10.0**top)
    return float(10.0**bottom)


def _page(svg: str, title: str) -> str:
    import html

    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title or 'plot')}</title>\n"
        "<style>body{margin:1rem;background:#fff}svg{max-width:100%;height:auto}</style>\n"
        f"{svg}</html>\n"
    )
