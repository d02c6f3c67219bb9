"""One number per parameter, the largest first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.kinematics.tables import Floats, Ints
from mechid.plots.style import COLORS, INK, Plot, styled

_MOST = 40  # bars; more cannot be read
_WIDTH, _HEIGHT = 6.4, 0.17  # inches: of the plot, of a bar


@styled
def bars(names: Sequence[str], values: Floats, label: str) -> Plot:
    """Return horizontal bars; of more than forty values the largest."""
    order, figure = _begin(values)
    axes = figure.add_subplot()
    axes.barh(range(len(order)), values[order], color=COLORS[0], height=0.7)
    return _end(figure, names, order, label, len(values))


@styled
def dots(names: Sequence[str], values: Floats, label: str, mark: float) -> Plot:
    """Return dots on a logarithmic axis, with a line at `mark`; of many values the largest."""
    order, figure = _begin(values)
    axes = figure.add_subplot()
    shown = values[order]
    axes.plot(np.where(shown > 0, shown, np.nan), range(len(order)), "o", color=COLORS[0], ms=4)
    axes.set_xscale("log")
    axes.axvline(mark, color=INK, lw=1.0, ls=":")
    return _end(figure, names, order, label, len(values))


def _begin(values: Floats) -> tuple[Ints, Plot]:
    finite = np.where(np.isfinite(values), values, -np.inf)
    order = np.argsort(-finite, kind="stable")[:_MOST]
    return order, Plot(figsize=(_WIDTH, 0.7 + _HEIGHT * len(order)), layout="constrained")


def _end(figure: Plot, names: Sequence[str], order: Ints, label: str, n: int) -> Plot:
    axes = figure.axes[0]
    axes.set_yticks(range(len(order)), [names[i] for i in order], fontsize=7)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label if n <= _MOST else f"{label} (the {_MOST} largest of {n})")
    return figure
