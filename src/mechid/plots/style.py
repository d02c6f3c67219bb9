"""The look of all plots, and figures that notebooks show by themselves."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.figure import Figure

# Paul Tol's bright scheme, which colour-blind readers can tell apart.
COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#444444")
INK = "#333333"
STYLE: Any = {
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
P = ParamSpec("P")
T = TypeVar("T")


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Draw in the style of all plots."""

    @wraps(draw)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return wrapped


class Plot(Figure):
    """A figure without a screen, freed like any object; notebooks show it without pyplot."""

    def _repr_svg_(self) -> str:
        return svg(self)


@styled
def svg(figure: Figure) -> str:
    """Return a figure as SVG text that starts with its element; the same for the same figure."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
