"""Curves over the number of parameters."""

from __future__ import annotations

from mechid.kinematics.tables import Floats
from mechid.plots.panels import Panel, panel_figure
from mechid.plots.style import Plot
from mechid.reduction.curves import Curves
from mechid.reduction.reduce import Reduction


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
