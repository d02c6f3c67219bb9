"""All parameters of a mechanism from its identified base values, for export."""

from __future__ import annotations

import numpy as np

from mechid.errors import MechidError
from mechid.estimation.prior import Prior
from mechid.estimation.recover import recover
from mechid.runs.record import FullSet, Run


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
    if phi is None or not whole:
        order = [final.parameters.index(name) for name in prior.base] if whole else []
        covariance = final.covariance[np.ix_(order, order)] if whole else None
        try:
            found = recover(prior, values, covariance)
        except MechidError:
            return None
        phi, distance, border = found.phi, found.distance, found.border
    B = prior.matrix
    terms = np.abs(B) @ np.abs(phi) + np.abs(values)
    off = np.abs(B @ phi - values) / np.where(terms > 0, terms, 1.0)
    return FullSet(
        parameters=prior.parameters,
        values=phi,
        difference=float(off.max(initial=0.0)),
        distance=distance,
        border=border,
    )
