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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".html")
# Paul Tol's bright scheme, which colour-blind readers can tell apart; then dashed once more.
_COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#444444")
_DASHES = ("-", "--", ":")
_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.labelcolor": "#222222",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.0,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "mechid",  # the same plot gives the same file
    "xtick.color": "#444444",
    "ytick.color": "#444444",
}
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
        Seconds.
    curves : mapping from name to array (N,)
    log : bool
        Logarithmic axis; what is smaller than its lower end is drawn there.
    title : str
    dashed : tuple of str
        Curves that are drawn dashed, because others may lie below them.
    """

    label: str
    time: Floats
    curves: Mapping[str, Floats]
    log: bool = False
    title: str = ""
    dashed: tuple[str, ...] = ()


def check_plot_path(path: str | Path) -> str:
    """Return the ending of a plot's file, or refuse it before any work is done."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(
            f"the ending {Path(path).suffix or '(none)'} does not say what to draw",
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
    return write_figure(path, lambda: _figure(panels, title), title)


def write_figure(path: Path, draw: Callable[[], Figure], title: str = "") -> Path:
    """Draw a figure in the style of all plots, and write it as PNG, SVG or an HTML page."""
    import matplotlib

    suffix = check_plot_path(path)
    buffer = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure = draw()
        kind = "png" if suffix == ".png" else "svg"
        metadata: dict[str, Any] = {"Software": None} if kind == "png" else {"Date": None}
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    content = buffer.getvalue()
    if suffix == ".html":
        content = _page(content.decode(), title).encode()
    try:
        path.write_bytes(content)
    except OSError as error:
        raise DataError(f"cannot write the file: {error.strerror}", where=str(path)) from None
    return path


def _figure(panels: Sequence[Panel], title: str) -> Figure:
    # Figures that pyplot does not know need no screen and are freed like any object.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, 0.5 + _HEIGHT * len(panels)), layout="constrained")
    axes = np.ravel(figure.subplots(len(panels), sharex=True, squeeze=False))
    for ax, panel in zip(axes, panels, strict=True):
        _draw(ax, panel)
    axes[-1].set_xlabel("time / s")
    figure.align_ylabels()
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _draw(ax: Axes, panel: Panel) -> None:
    bottom = _log_axis(ax, panel) if panel.log else None
    for k, (name, values) in enumerate(panel.curves.items()):
        shown = values if bottom is None else np.maximum(values, bottom)
        dash = "--" if name in panel.dashed else _DASHES[k // len(_COLORS) % len(_DASHES)]
        style: dict[str, Any] = {"color": _COLORS[k % len(_COLORS)], "label": name}
        if len(panel.time) == 1:
            style |= {"marker": "o", "markersize": 3.0}
        ax.plot(panel.time, shown, dash, **style)
    ax.set_ylabel(panel.label)
    if panel.title:
        ax.set_title(panel.title, fontsize=9, loc="left")
    ax.margins(x=0.0 if len(panel.time) > 1 else 0.05)
    if len(panel.curves) > 1:
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

    drawing = svg[svg.index("<svg") :]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title or 'plot')}</title>\n"
        "<style>body{margin:1rem;background:#fff}svg{max-width:100%;height:auto}</style>\n"
        f"{drawing}</html>\n"
    )
