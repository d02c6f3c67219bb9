"""What a measurement can tell, against the estimator and against draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError, MechidError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.options.words import changed
from mechid.studies.experiments import shared
from mechid.studies.experiments.information import (
    EXPERIMENT,
    InformationSettings,
    force_rows,
    knowledge,
)

MOTION = {"random": 2, "starts": 0, "harmonics": 3, "base": "last"}


def settings(model: str = "five_bar", **words: Any) -> InformationSettings:
    given = {"base": "last", "motion": MOTION, "validation": [{**MOTION, "seed": 7}], **words}
    return changed(InformationSettings(model=model), given)


def rows(**words: Any) -> list[Any]:
    (found,) = EXPERIMENT.run([settings(**words)])
    assert not isinstance(found, MechidError), found
    return list(found)


def test_covariance_is_that_of_the_estimator() -> None:
    s = settings()
    known = knowledge(s)
    r = shared.observed(s.measured)
    tau = r.W @ known.prior.values + r.known
    sigma = 0.05 * np.sqrt(np.mean(tau**2, axis=0))
    problem = replace(r, tau=tau, noise=sigma).select(known.prior.base)
    estimator = MaximumAPosteriori(prior="full", scale=1.0, noise="declared")
    estimate = estimator(problem, known.prior)
    np.testing.assert_allclose(known.sigma(), estimate.sigma, rtol=1e-6)
    assert known.condition == pytest.approx(estimate.condition, rel=1e-6)
    found = rows(report="parameters")
    assert [row["parameter"] for row in found] == list(known.prior.base)


def test_noise_of_the_motion_with_a_floor() -> None:
    """Independent noises: their variances, and thus the inverses of the information, add up."""
    phi = knowledge(settings()).prior

    def rows_of(**words: Any) -> Any:
        return force_rows(settings(**words), phi)

    size, usual = rows_of(noise=1.0), rows_of(noise=1.0, noise_of="validation")
    both = rows_of(noise=0.05, floor=0.01)
    seen = np.abs(both) > 0
    expected = (0.05 / size[seen]) ** 2 + (0.01 / usual[seen]) ** 2
    np.testing.assert_allclose(both[seen] ** -2.0, expected, rtol=1e-10)
    np.testing.assert_allclose(rows_of(noise=0.05, validation=[]), 20 * size)
    with pytest.raises(DataError, match="floor must be ≥ 0, got -1"):
        settings(floor=-1.0)


def test_expected_error_is_that_of_draws() -> None:
    s = settings()
    known = knowledge(s)
    (by,) = s.others
    r = shared.observed(by)
    tau = r.W @ known.prior.values + r.known
    rng = np.random.default_rng(0)
    off = known.after @ rng.normal(size=(known.after.shape[1], 4000))
    errors = np.linalg.norm(r.W @ off, axis=0) / np.linalg.norm(tau, axis=0)[:, None]
    expected = np.sqrt(np.mean(errors**2, axis=1))
    np.testing.assert_allclose(known.errors(r), expected, rtol=0.05)
    found = rows()
    assert found[0]["E_p"] == pytest.approx(np.sum(known.errors(r)))
    assert found[0]["E_p"] < found[0]["E_p_cad"]


def test_many_periods_of_a_well_seen_mechanism() -> None:
    """Without much of a prior, errors fall as the root of the time that is measured."""
    short, long = (rows(periods=n, cad_error=1e3)[0]["E_p"] for n in (1, 4))
    assert short / long == pytest.approx(2.0, rel=1e-3)


@pytest.mark.slow
def test_a_load_cell_tells_more() -> None:
    motion = {**MOTION, "random": 1}
    words = {"model": "delta", "motion": motion, "validation": [{**motion, "seed": 7}]}
    from mechid.tasks.load_cells import load_cells

    cell = next(x for x in load_cells(shared.mechanism("delta")) if x.startswith("axial"))
    without = rows(**words)
    found = rows(**words, sensors=[cell])
    assert found[0]["E_p"] < without[0]["E_p"]
    alone = rows(**words, forces=["none"], sensors=[cell])
    assert without[0]["E_p_cad"] > alone[0]["E_p"] > found[0]["E_p"]


def test_nothing_measured() -> None:
    (found,) = EXPERIMENT.run([settings(forces=["none"])])
    assert isinstance(found, DataError)
    with pytest.raises(DataError, match="noise must be > 0"):
        settings(noise=0.0)
