"""Criteria and expected errors of motions, against `excite` and against draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mechid
from mechid.errors import DataError, MechidError
from mechid.options.words import changed
from mechid.studies.experiments.motions import ERRORS, EXPERIMENT, MotionsSettings, _of

EFFORT = {"random": 3, "starts": 1, "iterations": 2, "harmonics": 2, "base": "last"}


def settings(**words: Any) -> MotionsSettings:
    given = {"motion": EFFORT, "targets": 2, **words}
    return changed(MotionsSettings(model="five_bar"), given)


def rows(**words: Any) -> list[Any]:
    (found,) = EXPERIMENT.run([settings(**words)])
    assert not isinstance(found, MechidError), found
    return list(found)


def test_a_design_is_that_of_excite() -> None:
    (row,) = rows()
    made = mechid.excite("five_bar", **EFFORT)
    for name, value in made.criteria.items():
        assert row[name] == pytest.approx(value, rel=1e-6)
    assert row["seen"] == row["parameters"] == 11


def test_expected_errors_are_those_of_draws() -> None:
    s = settings(draws=1)
    bench = _of(s)
    (x,) = bench.drawn(1, 0)
    seen = bench.seen(x)
    W = bench.base.observation(seen.W)
    sigma = 0.05 * np.sqrt(np.mean((W @ bench.cad + seen.known) ** 2, axis=0))
    rng = np.random.default_rng(0)
    noise = sigma[:, None] * rng.normal(size=(*W.shape[:2], 3000))
    A = W.reshape(-1, W.shape[2])
    off = np.linalg.lstsq(A, noise.reshape(len(A), -1), rcond=None)[0]
    errors = []
    for w, tau in zip(*bench.predicted, strict=True):
        size = np.linalg.norm(tau, axis=0)
        mean = np.sqrt(np.mean(np.sum((w @ off) ** 2, axis=0), axis=1))
        errors.append(np.sum(mean / size))
    (row,) = rows(draws=1)
    assert row["E_p_plain_own"] == pytest.approx(np.mean(errors), rel=0.05)
    assert row["E_p_prior_own"] < row["E_p_plain_own"]


def test_ranking() -> None:
    found = rows(draws=6, report="ranking")
    assert len(found) == 6 * len(ERRORS)
    assert all(-1 <= row["correlation"] <= 1 for row in found)
    motions = rows(draws=6)
    order = np.argsort(np.argsort([row["prediction"] for row in motions]))
    other = np.argsort(np.argsort([row["E_p_prior_usual"] for row in motions]))
    # Spearman's correlation without ties is that of the ranks.
    expected = np.corrcoef(order, other)[0, 1]
    wanted = {"criterion": "prediction", "error": "prior_usual"}
    row = next(row for row in found if wanted.items() <= row.items())
    assert row["correlation"] == pytest.approx(expected)


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(DataError, match="a ranking needs draws ≥ 3"):
        settings(report="ranking")
    with pytest.raises(DataError, match="targets must be ≥ 1"):
        settings(targets=0)
