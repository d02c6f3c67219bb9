"""The base set that an identification uses: with the dependencies that no transfer explains.

Transfers leave too many parameters where a mechanism is special: a spring that cannot be told from
a weight, equal lengths. Least squares would have no solution then. Bounds find these dependencies,
but take seconds to minutes, so that they are asked for only where singular values in double
precision show clearly that some columns depend on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mechid.base.analyse import Rule, base_parameters
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import candidates, float_observation
from mechid.base.choose import as_listed, first
from mechid.base.exchange import balanced
from mechid.base.experiment import EVERYTHING
from mechid.base.nullspace import NullSpace
from mechid.base.quick import CLEAR, spectrum
from mechid.errors import MechidError
from mechid.mechanism.records import Mechanism

# Relative singular value of columns that depend on others: rounding and nothing else.
_ROUNDING = 1e-13
# Rows of W for each of its columns.
_ROWS = 4


def complete_base(mechanism: Mechanism, rule: Rule = balanced) -> BaseSet:
    """Return the base set that a rule chooses, from transfers and all other dependencies."""
    null = _complete(mechanism)
    return base_set(null, rule(null))


def listed_base(mechanism: Mechanism, dependent: Sequence[str]) -> BaseSet:
    """Return a base set by the names of its dependent parameters.

    Those of a set from transfers alone are valid, too.
    """
    try:
        null = base_parameters(mechanism, rule=first).null_space
        return base_set(null, as_listed(null, dependent))
    except MechidError:
        null = _complete(mechanism)
        return base_set(null, as_listed(null, dependent))


@lru_cache(maxsize=8)
def _complete(mechanism: Mechanism) -> NullSpace:
    found = base_parameters(mechanism, rule=first).null_space
    try:
        if _lacks_some(mechanism, found):
            return base_parameters(mechanism, rule=first, certify=True).null_space
    except MechidError:  # it can hardly move, or has no exact numbers
        pass
    return found


def _lacks_some(mechanism: Mechanism, null: NullSpace) -> bool:
    """Return whether columns that transfers leave clearly depend on each other.

    Singular values that decrease steadily down to rounding, as those of long mechanisms do, show
    nothing.
    """
    kept = candidates(null)
    if not kept:
        return False
    n = -(-_ROWS * len(kept) // len(mechanism.coordinates))
    s = spectrum(float_observation(mechanism, EVERYTHING, null, kept, 0, n=n))
    return bool(np.any(s < _ROUNDING)) and not np.any((s >= _ROUNDING) & (s < CLEAR))
