"""Whether as many parameters can be identified as transfers leave: found out cheaply, not proved.

Transfers bound the number from above. If the columns that they leave are clearly independent in
random states in double precision, the bound is reached. Where double precision cannot tell (long
mechanisms), the rank over prime fields can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.base.bounds import candidates, float_observation
from mechid.base.experiment import Experiment
from mechid.base.nullspace import NullSpace
from mechid.errors import MechidError
from mechid.exact.field import field_rank
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

# Smallest singular value, relative, of columns that are clearly independent: rounding in W is
# some hundred times the unit roundoff, more where the loops are near a singular pose.
CLEAR = 1e-9
_SWEEPS = 3


@dataclass(frozen=True)
class QuickRank:
    """How many parameters were seen to be independent.

    Attributes
    ----------
    upper : int
        Number that transfers leave.
    rank : int
        Number of independent columns that were seen.
    by : str
        "double precision" or "prime fields".
    """

    upper: int
    rank: int
    by: str

    @property
    def reached(self) -> bool:
        """Whether both numbers are equal."""
        return self.rank == self.upper


def quick_rank(
    mechanism: Mechanism, experiment: Experiment, null: NullSpace, seed: int = 0
) -> QuickRank:
    """Count independent columns of those that transfers leave."""
    kept = candidates(null)
    seen = 0
    for wide in (True, False):  # either may be better conditioned
        W = float_observation(mechanism, experiment, null, kept, seed, wide=wide)
        seen = max(seen, int(np.sum(spectrum(W) > CLEAR)))
        if seen == len(kept):
            break
    if seen < len(kept) and experiment.whole and not null.zeros:
        try:
            found = field_rank(mechanism, experiment.gravity, seed=seed)
        except MechidError:  # not algebraic, or no closed pose in exact numbers
            return QuickRank(len(kept), seen, "double precision")
        return QuickRank(len(kept), found.rank, "prime fields")
    return QuickRank(len(kept), seen, "double precision")


def spectrum(W: Floats) -> Floats:
    """Return singular values of W (N, n, k) by the largest, rows and columns made alike."""
    W = W.reshape(W.shape[0] * W.shape[1], W.shape[2])
    for _ in range(_SWEEPS):
        for axis in (1, 0):
            norms = np.linalg.norm(W, axis=axis, keepdims=True)
            W = W / np.where(norms > 0, norms, 1.0)
    s = np.linalg.svd(W, compute_uv=False)
    return np.asarray(s / s[0] if s.size and s[0] > 0 else s)
