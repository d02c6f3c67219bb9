"""Figures of a tidy table: a statistic over one column, a curve per label of others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.plots.studied import Curve, StudyFigure, study_figure
from mechid.plots.style import Plot
from mechid.studies.pivot import pivot

if TYPE_CHECKING:
    import pyarrow as pa


_POWER = re.compile(r"e([+-])0*(\d+)")


def in_format(value: Any, form: str = ".3g") -> str:
    """Return a number in a Python format, without the ornaments of it: 3e-5, 12.5 %, -.

    Parameters
    ----------
    value : number, text or None
        Text is returned as it is.
    form : str
        As in `format`; "d" rounds, "%" multiplies by 100.
    """
    if value is None or value != value:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = format(round(value) if form.endswith("d") else float(value), form)
    text = _POWER.sub(lambda m: f"e{m[1] if m[1] == '-' else ''}{m[2]}", text)
    return text.replace("%", " %")


def markdown(heads: list[str], rows: list[list[str]], left: int = 1) -> str:
    """Return a table in Markdown; the first columns are set left, the others right."""
    sides = [":--"] * left + ["--:"] * (len(heads) - left)
    lines = [heads, sides, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in lines)


def draw_table(
    table: pa.Table,
    *,
    x: str,
    y: str,
    by: Sequence[str] = (),
    statistic: str = "median",
    band: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    log: str = "",
    x_label: str = "",
    y_label: str = "",
    scale: float = 1.0,
) -> Plot:
    """Return a figure of a statistic.

    Parameters
    ----------
    table : table of Arrow
    x, y : str
        Columns of the axes; labels such as "5%" are numbers, too.
    by : sequence of str
        Columns with a curve per combination of their values.
    statistic : str
    band : pair of str, optional
        Statistics of the ends of a band, such as p10 and p90.
    where : mapping
        Only rows with these values.
    log : str
        Logarithmic axes: "x", "y" or "xy".
    x_label, y_label : str
        By default the names of the columns.
    scale : float
        Factor of the values: 100 for percent.
    """
    if len(band) not in (0, 2):
        raise DataError(f"a band has two ends, got {', '.join(band)}", remedy="e.g. p10, p90")
    words: dict[str, Any] = {"rows": [x], "columns": by, "value": y, "where": where}
    found = pivot(table, statistic=statistic, **words)
    ends = [scale * pivot(table, statistic=name, **words).values for name in band]
    labels = [in_format(label[0], ".6g") for label in found.rows]
    curves = {
        ", ".join(in_format(part, ".4g") for part in label): Curve(
            scale * found.values[:, k], (ends[0][:, k], ends[1][:, k]) if ends else None
        )
        for k, label in enumerate(found.columns)
    }
    shown = StudyFigure(
        labels, numbers(labels), curves, x_label or x, y_label or f"{statistic} of {y}", log
    )
    return study_figure(shown)


def numbers(labels: Sequence[str]) -> Floats | None:
    """Return the numbers that labels are, also as percentages; None if one is something else."""
    try:
        return np.array([float(label.strip().removesuffix("%")) for label in labels])
    except ValueError:
        return None
