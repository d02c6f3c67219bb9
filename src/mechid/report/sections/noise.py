"""Noise and errors of the force channels; whether CAD values and data agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mechid.estimation.estimate import Agreement, Estimate
from mechid.report.numbers import number
from mechid.report.section import Section, not_there, units_of
from mechid.runs.record import Run

_KEY, _TITLE = "noise", "Noise and errors of the channels"
_DOUBT = 0.01  # p value of χ² below which prior and data disagree


def section(run: Run) -> Section:
    """Return the section."""
    if run.estimate is None:
        return Section(_KEY, _TITLE, missing=not_there(run, "estimate"))
    final = run.final
    units, tau = units_of(run), np.concatenate([motion.tau for motion in run.logs])
    rows: list[dict[str, Any]] = []
    for j, name in enumerate(final.channels):
        rms = float(np.sqrt(np.nanmean(tau[:, run.motions[0].forces.index(name)] ** 2)))
        row: dict[str, Any] = {
            "name": name,
            "unit": units[name],
            "noise": float(final.noise[j]),
            "rms": rms,
            "share": float(final.noise[j]) / rms if rms > 0 else None,
        }
        terms = {} if final.errors is None else final.errors.terms
        for term, (sizes, sigma) in terms.items():
            row[term] = (float(sizes[j]), None if sigma is None else float(sigma[j]))
        if final.colour is not None:
            row["colour"] = [float(a) for a in final.colour[j]]
        rows.append(row)
    values = {
        "rows": rows,
        "terms": () if final.errors is None else tuple(final.errors.terms),
        "colour": final.colour is not None,
        "agreement": _agreement(run.estimate.agreement),
        "known": final.known,
        "contained": " and ".join(_contained(final)),
    }
    return Section(_KEY, _TITLE, values)


def _contained(final: Estimate) -> Iterator[str]:
    """Yield errors that were not estimated, but that the covariance contains."""
    if final.doubted is not None:
        yield "what the machine may have besides its model, as joints that are elsewhere"


def _agreement(found: Agreement | None) -> str:
    """Return a sentence on whether CAD values and data agree."""
    if found is None:
        return "No prior was used, so there is nothing to compare the data with."
    numbers = f"χ² = {number(found.chi2, 3)} with {number(found.dof, 3)} degrees of freedom"
    if not np.isfinite(found.p):
        return f"{numbers}."
    likely = f"{number(100 * found.p, 2)} % of cases" if found.p >= 1e-4 else "almost no case"
    if found.p < _DOUBT:
        return (
            f"Data and CAD values disagree: {numbers}, a value that the declared errors would "
            f"exceed in {likely}. The standard deviations of the CAD values are too small by a "
            f"factor of about {number(found.scale, 2)}, or the model is incomplete."
        )
    return (
        f"Data and CAD values agree within their declared errors: {numbers}, a value that such "
        f"errors exceed in {likely}. The data support a factor of {number(found.scale, 2)} on the "
        "declared standard deviations of the CAD values."
    )
