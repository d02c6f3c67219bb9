"""Errors of CAD values as components: body by body and kind by kind, and of what may be absent.

A declared error of a body is one of its mass, its centre and its moments about the centre; machines
keep one kind and break another. Each has a scale of its own with heavy tails (Student's law), about
a common one for all bodies, which the data tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mechid.estimation.linear import compressed, prior_factor
from mechid.estimation.posterior.component import FAMILIES, Component
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints
from mechid.spatial.inertia import by_central

_CAD = FAMILIES["CAD values"]
KINDS = ("mass", "centre", "moments")
# Coefficients without a CAD value: as wide as they were declared, whatever the others say.
OPEN = "open"
_ALIKE = 1e-6  # correlations that are rounding
_OF_BODY = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])


def cad_components(prior: Prior) -> tuple[Component, ...]:
    """Return the errors of CAD values that a prior declares."""
    return tuple(
        Component(name, _CAD, kind, directions=F) for name, kind, F in _errors(prior) if np.any(F)
    )


def _errors(prior: Prior) -> Iterator[tuple[str, str, Floats]]:
    P, B = prior.covariance, prior.matrix
    if prior.estimated:
        yield "values", OPEN, B @ prior_factor(P)
        return
    owner = np.arange(len(P)) + len(prior.bodies)
    for k, (_, first) in enumerate(prior.bodies):
        owner[first : first + 10] = k
    for members in _together(P, owner):
        own = np.flatnonzero(np.isin(owner, members))
        F = prior_factor(P[np.ix_(own, own)])
        if len(members) > 1:
            # Declared together, as the weight of several bodies: they stay together.
            yield _words(prior, members, own), "together", B[:, own] @ F
        elif members[0] >= len(prior.bodies):
            i = int(own[0])
            kind = "coefficient" if prior.values[i] != 0 else OPEN
            yield prior.parameters[i], kind, B[:, own] @ F
        else:
            yield from _of_body(prior, int(members[0]), own, F)


def _of_body(prior: Prior, k: int, own: Ints, F: Floats) -> Iterator[tuple[str, str, Floats]]:
    """Yield the errors of mass, centre and moments of a body."""
    name, first = prior.bodies[k]
    if not prior.values[first] > 0:
        yield f"inertia of {name}", OPEN, prior.matrix[:, own] @ F
        return
    D = by_central(prior.values[own])
    central = np.asarray(np.linalg.solve(D, F), dtype=np.float64)
    if _go_together(central):
        # As a measured first moment ties mass and centre.
        yield f"inertia of {name}", "together", prior.matrix[:, own] @ F
        return
    for j, kind in enumerate(KINDS):
        rows = np.flatnonzero(j == _OF_BODY)
        if np.any(central[rows]):
            yield (
                f"{kind} of {name}",
                kind,
                prior.matrix[:, own] @ D[:, rows] @ compressed(central[rows]),
            )


def _go_together(central: Floats) -> bool:
    """Return whether errors of different kinds of a body are correlated."""
    C = central @ central.T
    size = np.sqrt(np.diag(C))
    apart = _OF_BODY[:, None] != _OF_BODY
    return bool(np.any(np.abs(C[apart]) > _ALIKE * np.outer(size, size)[apart]))


def _together(P: Floats, owner: Ints) -> Sequence[Ints]:
    """Return the owners of parameters whose errors are declared together."""
    n = int(owner.max(initial=-1)) + 1
    i, j = np.nonzero(P)
    number, label = connected_components(csr_array((np.ones(len(i)), (owner[i], owner[j])), (n, n)))
    used = np.unique(owner[np.diag(P) > 0])
    groups = (used[label[used] == k] for k in range(number))
    return [g for g in groups if g.size]


def _words(prior: Prior, members: Ints, own: Ints) -> str:
    n = len(prior.bodies)
    bodies = [prior.bodies[k][0] for k in members if k < n]
    rest = [prior.parameters[i] for i in own if not _in_body(prior, int(i))]
    return "together " + ", ".join([*bodies, *rest])


def _in_body(prior: Prior, i: int) -> bool:
    return any(first <= i < first + 10 for _, first in prior.bodies)
