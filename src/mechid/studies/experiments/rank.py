"""Experiment `rank`: the rank that singular values of an observation matrix suggest.

Singular values in single or double precision, or pivots of a QR factorisation with as many bits as
wanted; columns as they are or of unit length; any tolerance.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from mechid.base.numeric import numeric_base, observed_base, uncancelled
from mechid.base.spectrum import Reading, read_rank
from mechid.dynamics.regressor import observation_matrix
from mechid.estimation.regression import Floats
from mechid.kinematics.motion import Motion
from mechid.studies.experiment import Experiment, Row
from mechid.studies.experiments.shared import words_key
from mechid.studies.given_motions import GivenMotion, solved
from mechid.studies.one_by_one import one_by_one


@dataclass(frozen=True)
class Ranked:
    """An observation matrix whose rank is read.

    Attributes
    ----------
    model : str
        Mechanism: a name of the zoo or a file.
    motion : mapping
        Options of `excite`, {departures: …}, {states: seed} or {file: …}; see "Motions" in the
        reference of experiments.
    rate, seconds : float
        Samples per second (Hz) and duration (s).
    precision : "single", "double" or "multi"
        "multi": pivots of QR with `bits`, columns of unit length.
    bits : int
        Of "multi".
    scaled : bool
        Columns of unit length and rows by coordinate, as mechid does it; false: all as it is.
    tolerance : float, optional
        Values above this part of the largest count; by default eps times the longer side of W.
    by_rank : bool
        Tolerance eps · r instead, r the number of values that count (Gautier).
    spectrum : bool
        Whether there is a row for every value; false: one row, for the last value that counts.
    """

    model: str
    motion: GivenMotion = field(default_factory=lambda: {"states": 0})
    rate: float = 50.0
    seconds: float = 8.0
    precision: Literal["single", "double", "multi"] = "double"
    bits: int = 300
    scaled: bool = True
    tolerance: float | None = None
    by_rank: bool = False
    spectrum: bool = True

    def __hash__(self) -> int:
        """Return the hash of all of it as text: motions are mappings."""
        return hash(words_key(asdict(self)))

    def shared(self) -> Hashable:
        """Key of the work that cells share: the spectrum."""
        of = ("model", "motion", "rate", "seconds", "precision", "bits", "scaled")
        return words_key({name: getattr(self, name) for name in of})


def rows(s: Ranked) -> list[Row]:
    """Return a row per singular value (or pivot), relative to the largest.

    All rows of a cell have the largest itself and the rank with its tolerance; `step` is the ratio
    of a value to the next.
    """
    largest, reading, eps = _spectrum(replace(s, tolerance=None, by_rank=False, spectrum=True))
    values = reading.spectrum
    tolerance = reading.tolerance if s.tolerance is None else s.tolerance
    rank = int(np.count_nonzero(values > tolerance))
    if s.by_rank:
        rank = max((k + 1 for k, x in enumerate(values) if x > eps * (k + 1)), default=0)
        tolerance = eps * rank
    return [
        {
            "number": k + 1,
            "value": float(x),
            "largest": largest,
            "tolerance": tolerance,
            "rank": rank,
            "step": float(x / values[k + 1]) if k + 1 < len(values) and values[k + 1] else None,
        }
        for k, x in enumerate(values)
        if s.spectrum or k + 1 == rank
    ]


@lru_cache(maxsize=32)
def _spectrum(s: Ranked) -> tuple[float, Reading, float]:
    """Return the largest value, the reading, and the unit roundoff."""
    motion = solved(s.model, s.motion, gravity=True, base="", rate=s.rate, seconds=s.seconds)
    if s.precision == "multi":
        return 1.0, observed_base(motion, precision=s.bits).reading, 2.0**-s.bits
    kind: type[np.floating[Any]] = np.float32 if s.precision == "single" else np.float64
    eps = float(np.finfo(kind).eps)
    if s.scaled:
        return 1.0, observed_base(motion, precision=s.precision).reading, eps
    W: Any = _with_effect(motion).astype(kind)
    values = np.linalg.svd(W, compute_uv=False).astype(float)
    return float(values[0]), read_rank(values, W.shape, eps), eps


def _with_effect(motion: Motion) -> Floats:
    """Return W as it is (N n_i, p), without the columns that hold nothing but rounding."""
    found = observation_matrix(motion)
    W = found.W.reshape(-1, found.W.shape[-1])
    names = [c.name for c in found.columns]
    sizes = np.linalg.norm(uncancelled(motion).reshape(W.shape), axis=0)
    gone = numeric_base(W, names, scale=sizes).without_effect
    return np.asarray(W[:, [n not in gone for n in names]])


EXPERIMENT = Experiment(Ranked, Ranked.shared, one_by_one(rows))
