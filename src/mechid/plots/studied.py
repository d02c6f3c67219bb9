"""Results of a study: curves over a setting, or points over labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.tables import Floats
from mechid.plots.style import COLORS, Plot, styled

_WIDTH, _HEIGHT = 6.4, 3.4  # inches
_MARKS = "os^Dv<>"
_MOST_MARKED = 30  # points; longer curves have no marks, and every other one is dashed
_TICKED = 12  # numbers of a logarithmic axis that get a tick each
_APART = 0.6  # of the distance between labels: room for the points of one


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over the labels of a horizontal axis.

    Attributes
    ----------
    values : array (n,)
        nan where there is none.
    band : pair of arrays (n,), optional
        Ends of an interval about them.
    """

    values: Floats
    band: tuple[Floats, Floats] | None = None


@dataclass(frozen=True, eq=False)
class StudyFigure:
    """What is drawn.

    Attributes
    ----------
    labels : sequence of str
        Of the horizontal axis.
    x : array (n,), optional
        Numbers that the labels are; without them the labels are set side by side.
    curves : mapping name → Curve
    x_label, y_label : str
    log : str
        Logarithmic axes: "", "x", "y" or "xy".
    """

    labels: Sequence[str]
    x: Floats | None
    curves: Mapping[str, Curve]
    x_label: str
    y_label: str
    log: str = ""


@styled
def study_figure(drawn: StudyFigure) -> Plot:
    """Return lines with bands over numbers, or points with bars over labels."""
    figure = Plot(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    count = len(drawn.curves)
    for k, (name, curve) in enumerate(drawn.curves.items()):
        color, mark = COLORS[k % len(COLORS)], _MARKS[k // len(COLORS) % len(_MARKS)]
        if drawn.x is not None:
            order = np.argsort(drawn.x, kind="stable")
            x = drawn.x[order]
            long = len(x) > _MOST_MARKED
            dash = "--" if long and k % 2 else "-"
            axes.plot(
                x,
                curve.values[order],
                dash,
                color=color,
                marker="" if long else mark,
                ms=4,
                label=name,
            )
            if curve.band is not None:
                low, high = (end[order] for end in curve.band)
                axes.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
            continue
        beside = np.arange(len(drawn.labels)) + _APART * ((k + 0.5) / count - 0.5)
        axes.plot(beside, curve.values, mark, color=color, ms=5, label=name)
        if curve.band is not None:
            axes.vlines(beside, *curve.band, color=color, lw=1.2, alpha=0.7)
    if drawn.x is None:
        turned = max(map(len, drawn.labels), default=0) * len(drawn.labels) > 70
        axes.set_xticks(
            range(len(drawn.labels)),
            list(drawn.labels),
            rotation=30 if turned else 0,
            ha="right" if turned else "center",
        )
        axes.grid(visible=False, axis="x")
    if "x" in drawn.log and drawn.x is not None and (drawn.x > 0).any():
        axes.set_xscale("log")
        if len(drawn.x) <= _TICKED:  # 1, 2, 5 and not powers of ten
            axes.set_xticks(drawn.x, list(drawn.labels))
            axes.set_xticks([], minor=True)
    if "y" in drawn.log and any((curve.values > 0).any() for curve in drawn.curves.values()):
        axes.set_yscale("log")
    axes.set_xlabel(drawn.x_label)
    axes.set_ylabel(drawn.y_label)
    if count > 1 or "" not in drawn.curves:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1 + count // 14)
    return figure
