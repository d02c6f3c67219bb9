"""All parameters of a mechanism from its identified base values, for export."""

from __future__ import annotations

import numpy as np

from mechid.errors import MechidError
from mechid.estimation.completion import complete
from mechid.estimation.prior import Prior
from mechid.estimation.recover import recover
from mechid.estimation.regression import Floats
from mechid.runs.record import FullSet, Run

# Of the terms of a base parameter and of its standard deviation: a smaller difference is none.
_ROUNDING = 1e-9
_LISTED = 3  # base parameters in a warning


def full_set(run: Run, prior: Prior | None) -> FullSet | None:
    """Return bodies that can exist and have the base values of a run; None if there are none near.

    Among those with the same base values it is nearest to the CAD values. An estimate with the
    constraints of physics brings its own.
    """
    if prior is None:
        return None
    final, values = run.final, run.values()
    whole = set(final.parameters) == set(prior.base)
    phi, distance, border = final.full, 0.0, tuple[str, ...]()
    order = [final.parameters.index(name) for name in prior.base] if whole else []
    if phi is None or not whole:
        fit = final.covariance[np.ix_(order, order)] if whole else None
        try:
            found = recover(prior, values, fit)
        except MechidError:
            return None
        phi, distance, border = found.phi, found.distance, found.border
    B = prior.matrix
    spread = np.sqrt(np.maximum(np.diag(prior.base_covariance), 0.0))
    terms = np.abs(B) @ np.abs(phi) + np.abs(values) + spread
    misses = B @ phi - values
    off = np.abs(misses) / np.where(terms > 0, terms, 1.0)
    return FullSet(
        parameters=prior.parameters,
        values=phi,
        difference=float(off.max(initial=0.0)),
        distance=distance,
        border=border,
        missed={prior.base[i]: float(misses[i]) for i in np.flatnonzero(off > _ROUNDING)},
        covariance=_covariances(run, prior),
    )


def _covariances(run: Run, prior: Prior) -> dict[str, Floats]:
    """Return the covariance (10, 10) of each body: data, and CAD for what they do not determine.

    From the estimate of all base parameters: a reduced model ignores correlations of those that
    it leaves out. Where the data show that CAD values are worse than declared, so is the rest.
    """
    if run.estimate is None or set(run.estimate.parameters) != set(prior.base):
        return {}
    order = [run.estimate.parameters.index(name) for name in prior.base]
    agreement = run.estimate.agreement
    scale = 1.0 if agreement is None else max(1.0, agreement.scale)
    try:
        found = complete(prior, run.estimate.values[order])
        root = found.root(run.estimate.covariance[np.ix_(order, order)], scale)
    except MechidError:
        return {}
    parts = {name: root[first : first + 10] for name, first in prior.bodies}
    return {name: T @ T.T for name, T in parts.items()}


def missed_words(run: Run, full: FullSet | None) -> tuple[str, ...]:
    """Return a warning that names the base values which all parameters together do not have."""
    if full is None or not full.missed:
        return ()
    units = dict(zip(run.parameters.names, run.parameters.units, strict=True))
    sigma = dict(zip(run.final.parameters, run.final.sigma.tolist(), strict=True))

    def deviations(name: str) -> float:
        return abs(full.missed[name]) / sigma[name] if sigma.get(name) else np.inf

    worst = sorted(full.missed, key=deviations, reverse=True)
    listed = [
        f"{name} by {full.missed[name]:.2g} {units[name]}"
        + (f" ({deviations(name):.2g} standard deviations)" if sigma.get(name) else "")
        for name in worst[:_LISTED]
    ]
    return (
        "no physically consistent bodies have all identified base values; those of full.json "
        f"differ in {len(worst)} of {len(units)}: {', '.join(listed)}"
        + (", …" if len(worst) > _LISTED else ""),
    )
