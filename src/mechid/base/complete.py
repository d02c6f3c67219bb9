"""Base sets for least squares: with the dependencies that no transfer explains.

Transfers leave too many parameters where a mechanism is special: a spring that cannot be told from
a weight, equal lengths. Least squares would have no solution then. Bounds find these dependencies,
but take seconds to minutes, so that they are asked for only where singular values in double
precision show clearly that some columns depend on others.

Random states judge laws that are the same at every scale: inertia, springs and dampers of any
power. Friction, its drop at low speed, and laws with knots may act beyond the speeds and the range
of these states and not be seen, or look alike there: they are left as transfers leave them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np

from mechid.base.analyse import Rule, base_parameters, with_dependencies
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import bounds, candidates, float_observation
from mechid.base.choose import as_listed, first
from mechid.base.dependencies import dependencies
from mechid.base.exchange import balanced
from mechid.base.experiment import EVERYTHING
from mechid.base.nullspace import NullSpace
from mechid.base.quick import CLEAR, spectrum
from mechid.errors import MechidError
from mechid.mechanism.element_laws import FRICTION, HYSTERESIS, SLOPE, SPEED_SLOPE
from mechid.mechanism.element_terms import terms_of
from mechid.mechanism.records import Mechanism

# Relative singular value of columns that depend on others: rounding and nothing else.
_ROUNDING = 1e-13
# Laws with a scale of their own.
_LIMITED = (SLOPE, SPEED_SLOPE, FRICTION, HYSTERESIS)
# What joints that identification moved add to W, relative to its largest entry: places are known to
# better than that, and a set that does not explain the rest belongs to another mechanism.
_NEAR = 1e-2
# Rows of W for each of its columns.
_ROWS = 4


def complete_base(mechanism: Mechanism, rule: Rule = balanced) -> BaseSet:
    """Return the base set that a rule chooses, from transfers and all other dependencies.

    A list of dependent parameters that is valid for transfers alone is taken as it is.
    """
    null = _complete(mechanism)
    try:
        return base_set(null, rule(null))
    except MechidError:
        null = _transfers(mechanism)
        return base_set(null, rule(null))


def listed_base(
    mechanism: Mechanism, dependent: Sequence[str], base: Collection[str] | None = None
) -> BaseSet:
    """Return a base set by the names of its dependent and of its base parameters.

    Parameters
    ----------
    mechanism : Mechanism
    dependent : sequence of str
        Without those that have no effect.
    base : collection of str, optional
        Tells sets with the same dependent parameters apart: of transfers alone, or with all other
        dependencies.

    Notes
    -----
    Displacements of joints that identification found may be next to nothing, and leave dependencies
    that are neither exact nor clearly gone; the run keeps a set of the geometry before. With its
    names in `base`, that one is made by least squares, if it explains nearly all other columns.

    Raises
    ------
    MechidError
        If there is no such set.
    """
    for null in (_transfers(mechanism), _complete(mechanism)):
        try:
            found = base_set(null, as_listed(null, dependent))
        except MechidError:
            continue
        if base is None or set(found.base) == set(base):
            return found
    null = _transfers(mechanism)
    if base is not None and (near := _nearest(mechanism, null, dependent, base)) is not None:
        return near
    return base_set(null, as_listed(null, dependent))


def _nearest(
    mechanism: Mechanism, null: NullSpace, dependent: Sequence[str], base: Collection[str]
) -> BaseSet | None:
    """Return the set of these parameters whose forces are nearest to those of all of them."""
    at = {name: i for i, name in enumerate(null.names)}
    kept = tuple(sorted(base, key=lambda name: at.get(name, -1)))
    if not {*kept, *dependent} <= at.keys():
        return None
    rest = tuple(name for name in null.names if name not in {*kept, *null.zeros})
    n = -(-_ROWS * len(at) // len(mechanism.coordinates))
    try:
        W = float_observation(mechanism, EVERYTHING, null, (*kept, *rest), 0, n=n)
    except MechidError:  # it can hardly move
        return None
    W = W.reshape(-1, W.shape[-1])
    own, others = W[:, : len(kept)], W[:, len(kept) :]
    beta = np.linalg.lstsq(own, others)[0]
    beta[:, [name not in dependent for name in rest]] = 0.0
    if np.max(np.abs(others - own @ beta), initial=0.0) > _NEAR * np.max(np.abs(W), initial=0.0):
        return None
    beta = beta[:, [rest.index(name) for name in dependent]]
    without = tuple(name for name in rest if name not in dependent)
    return BaseSet(null, tuple(dependent), kept, without, np.asarray(beta, dtype=float))


def _transfers(mechanism: Mechanism) -> NullSpace:
    return base_parameters(mechanism, rule=first).null_space


@lru_cache(maxsize=8)
def _complete(mechanism: Mechanism) -> NullSpace:
    null = _transfers(mechanism)
    limited = {
        term.name
        for element in mechanism.elements
        for _, term in terms_of(element)
        if term.law in _LIMITED
    }
    try:
        if not _lacks_some(mechanism, null, [n for n in candidates(null) if n not in limited]):
            return null
        found = bounds(mechanism)
        left = [d for d in dependencies(found) if not limited & {*d.names}]
    except MechidError:  # it can hardly move, or has no exact numbers
        return null
    return with_dependencies(null, found, left)


def _lacks_some(mechanism: Mechanism, null: NullSpace, kept: Sequence[str]) -> bool:
    """Return whether columns that transfers leave clearly depend on each other.

    Singular values that decrease steadily down to rounding, as those of long mechanisms do, show
    nothing.
    """
    if not kept:
        return False
    n = -(-_ROWS * len(kept) // len(mechanism.coordinates))
    s = spectrum(float_observation(mechanism, EVERYTHING, null, tuple(kept), 0, n=n))
    return bool(np.any(s < _ROUNDING)) and not np.any((s >= _ROUNDING) & (s < CLEAR))
