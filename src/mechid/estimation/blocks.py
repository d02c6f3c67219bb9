"""Samples in blocks: of time, or of the phase of a motion that repeats itself."""

from __future__ import annotations

import numpy as np

from mechid.estimation.effective import period
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.estimation.whitening import sample_numbers, stretches


def time_blocks(regression: Regression, blocks: int) -> Ints:
    """Return the block of each sample (N,): consecutive samples of each log, as many in each."""
    logs = regression.logs
    found = np.zeros(len(logs), dtype=np.int64)
    for log in np.unique(logs):
        own = np.flatnonzero(logs == log)
        own = own[np.argsort(regression.time[own], kind="stable")]
        found[own] = int(log) * blocks + np.arange(len(own)) * blocks // len(own)
    return found


def parts_of_motion(regression: Regression, columns: Floats, blocks: int) -> Ints:
    """Return the part of the motion of each sample (N,).

    Where the motion of a log repeats itself, parts are phases of its period: what the model lacks
    is the same in all periods, and leaving out one of them would not show it. Otherwise they are
    blocks of time.

    Parameters
    ----------
    regression : Regression
    columns : array (m, k)
        Columns of W in the valid rows, each in units of the uncertainty of its parameter.
    blocks : int
        Of each log.
    """
    found = time_blocks(regression, blocks)
    n_d, where = len(regression.channels), stretches(regression)
    number = sample_numbers(regression)
    for log in np.unique(regression.logs):
        periods = [period(columns, parts) for parts in where[int(log) * n_d : (int(log) + 1) * n_d]]
        known = [p for p in periods if p is not None]
        if known and len(known) == len(periods):
            own = np.flatnonzero(regression.logs == log)
            phase = (number[own] % max(known)) / max(known)
            found[own] = int(log) * blocks + (phase * blocks).astype(np.int64)
    return found
