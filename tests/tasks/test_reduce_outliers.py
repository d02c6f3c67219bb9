"""Sizes of a reduced model in data with outliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mechid
from mechid.tasks.reduction import _without_outliers
from mechid.tasks.stages import base_of, problem_of


@pytest.mark.slow
def test_outliers_do_not_make_all_sizes_alike() -> None:
    """Two values in a hundred are off by three times the force: the size is that without them."""
    motion = mechid.excite("five_bar", random=5, starts=0)
    words = {"noise": "1%", "cad_error": "20%", "rate": 50.0, "periods": 8}
    sizes = []
    for outliers in ("2%", 0.0):
        log = mechid.synthesise("five_bar", motion, outliers=outliers, **words)
        run = mechid.identify("five_bar", log, cad_error="20%")
        assert run.estimate is not None
        assert (run.estimate.tails is not None) is bool(outliers)
        small = mechid.reduce(run).reduction
        assert small is not None
        sizes.append(small.size.size)
    assert abs(sizes[0] - sizes[1]) <= 2
    assert sizes[0] > 3


@pytest.mark.slow
def test_what_was_not_used_is_no_outlier() -> None:
    five_bar = mechid.load("five_bar")
    motion = mechid.excite(five_bar, random=5, starts=0)
    log = mechid.synthesise(
        five_bar, motion, outliers="2%", noise="1%", cad_error="20%", rate=50.0, periods=8
    )
    run = mechid.identify(five_bar, log, cad_error="20%")
    found = run.estimate
    assert found is not None
    problem = problem_of(five_bar, base_of(five_bar), run.motions, run.about.options)
    kept = _without_outliers(found, problem.regression).valid
    share = 1 - np.count_nonzero(kept) / np.count_nonzero(problem.regression.valid)
    assert 0.01 < share < 0.03
    some = found.residuals.copy()
    some[:5] = np.nan
    again = _without_outliers(replace(found, residuals=some), problem.regression).valid
    assert again[:5].all()
    np.testing.assert_array_equal(again[5:], kept[5:])
