"""One number per parameter, and curves over the number of parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.kinematics.tables import Floats, Ints
from mechid.plots.panels import Panel, panel_figure
from mechid.plots.style import COLORS, INK, Plot, styled
from mechid.reduction.curves import Curves
from mechid.reduction.reduce import Reduction

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


def reduction_errors(curves: Curves) -> dict[str, Floats]:
    """Return E_p of each size, the mean over the forces: name → array (s,)."""
    n = curves.identification.shape[1]
    errors: dict[str, Floats] = {"identification": curves.identification_total / n}
    errors |= {f"validation-{k + 1}": v / n for k, v in enumerate(curves.validation_total.T)}
    return errors | ({"cross-validation": curves.cross / n} if curves.blocks.shape[1] else {})


def reduction_figure(reduction: Reduction) -> Plot:
    """Return prediction errors and condition numbers, with the chosen size marked."""
    c, size = reduction.curves, float(reduction.size.size)
    x, sizes = "number of parameters", c.sizes.astype(float)
    percent = {name: 100.0 * values for name, values in reduction_errors(c).items()}
    conditions = {"columns of unit length": c.condition, "SI units": c.raw_condition}
    return panel_figure(
        [
            Panel("E_p, mean over forces / %", sizes, percent, log=True, mark=size, x=x),
            Panel("condition number", sizes, conditions, log=True, mark=size, x=x),
        ]
    )
