"""Correlations of the estimated parameters: which of them the data cannot tell apart."""

from __future__ import annotations

import numpy as np

from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats
from mechid.report.section import Section, not_there
from mechid.runs.record import Run

_KEY, _TITLE = "correlation", "Correlations of the parameters"
_SHOWN = 40  # parameters of the map: the most correlated ones of larger models
_LISTED = 12
STRONG = 0.9
_CELL = 14  # pixels


def section(run: Run) -> Section:
    """Return the section with a map and a list of the strongest correlations."""
    if run.estimate is None:
        return Section(_KEY, _TITLE, missing=not_there(run, "estimate"))
    names, r = correlations(run.final)
    if len(names) < 2:
        return Section(_KEY, _TITLE, missing="There are no two uncertain parameters.")
    i, j = np.triu_indices(len(names), 1)
    order = np.argsort(-np.abs(r[i, j]), kind="stable")
    pairs = [(names[i[k]], names[j[k]], float(r[i[k], j[k]])) for k in order[:_LISTED]]
    most = np.max(np.abs(r - np.eye(len(names))), axis=1)
    kept = np.sort(np.argsort(-most, kind="stable")[:_SHOWN])
    cells = [
        {"x": _CELL * b, "y": _CELL * a, "r": float(r[p, q]), "pair": f"{names[p]}, {names[q]}"}
        for a, p in enumerate(kept)
        for b, q in enumerate(kept)
        if p != q and abs(r[p, q]) >= 0.05
    ]
    values = {
        "pairs": pairs,
        "strong": int(np.count_nonzero(np.abs(r[i, j]) > STRONG)),
        "threshold": STRONG,
        "names": [names[k] for k in kept],
        "cells": cells,
        "cell": _CELL,
        "of": len(names),
    }
    return Section(_KEY, _TITLE, values)


def correlations(estimate: Estimate) -> tuple[tuple[str, ...], Floats]:
    """Return the parameters that are not exact, and their correlation matrix."""
    there = np.flatnonzero(estimate.sigma > 0)
    C = estimate.covariance[np.ix_(there, there)]
    sigma = estimate.sigma[there]
    return tuple(estimate.parameters[k] for k in there), C / np.outer(sigma, sigma)
