"""Sentences that count in standard deviations count in those of the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.estimate import Unseen
from mechid.estimation.ols import OrdinaryLeastSquares

from .test_channel_errors import measured


def test_sentences_follow_the_covariance() -> None:
    found = OrdinaryLeastSquares()(measured())
    shifts = np.array([0.0, 6.0, -8.0, 4.0])
    unseen = Unseen("an unseen offset would", found.parameters, shifts, 2.0, "zero it")
    variances = np.array([0.0, 4.0, 1.0, 1.0])
    (first,) = unseen.words(np.sqrt(variances))
    assert first == "an unseen offset would shift p2 by 8 standard deviations: zero it"
    found = replace(
        found,
        covariance=np.diag(variances),
        known=("before", "after"),
        warnings=("before", first, "after"),
        unseen=(unseen,),
    )
    # One variance grows by a factor of sixteen, and another parameter is shifted most.
    wider = found.widened(np.diag(variances * [1.0, 1.0, 16.0, 1.0]))
    second = "an unseen offset would shift p3 by 4 standard deviations: zero it"
    assert wider.warnings == ("before", second, "after")
    assert wider.known == found.known
    # Now it is hidden.
    assert wider.widened(100 * wider.covariance).warnings == ("before", "after")


def test_further_parameters() -> None:
    unseen = Unseen("an offset would", ("a", "b"), np.array([1.0, 3.0]), 2.0, "zero it")
    among = unseen.among(("b", "c", "a"))
    assert among.shifts.tolist() == [3.0, 0.0, 1.0]
    assert among.words(np.array([1.0, 1e-9, 1.0])) == unseen.words(np.ones(2))
