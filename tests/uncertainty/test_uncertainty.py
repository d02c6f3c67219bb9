"""Intervals cover the truth in every class of parameters; the page says what the record says."""

from __future__ import annotations

import numpy as np
import pytest
from tests.records import stale_tables
from tests.uncertainty.laws import LAWS, Law
from tests.uncertainty.record import NARROW, PAGE, summary, tables
from tests.uncertainty.trial import INSIDE, trial

from mechid.mechanism.records import Mechanism
from mechid.spatial.inertia import inconsistency
from mechid.tasks.inputs import mechanism_of

SEEDS = 8


def test_the_page_says_what_the_record_says() -> None:
    assert stale_tables(PAGE, tables()) == []


@pytest.mark.parametrize(
    "law",
    [
        "white noise",
        "5 % outliers, half the force",
        "CAD errors with heavy tails",
        "CAD errors uniform, number by number",
        "gains off by 3 %",
        "gains off by 3 %, declared",
    ],
)
def test_every_class_is_covered(law: str) -> None:
    """Nominal 95 %, by laws that the estimator contains and by others; predicted forces too."""
    for row in summary(trial("five_bar", law, seed) for seed in range(SEEDS)):
        assert row["95"] >= NARROW, row
        assert row["worst"] < 6 or row["class"] == "forces with noise", row


def test_gains_that_are_not_declared_are_announced() -> None:
    runs = [trial("five_bar", "gains off by 3 %", seed) for seed in range(SEEDS)]
    assert all(
        any("gain error" in text or "gains of" in text for text in run["said"]) for run in runs
    )


@pytest.mark.parametrize("seed", [8, 10, 11])
def test_offsets_that_moved_values_by_more_than_cad_is_uncertain(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First moments across the bars are known well, and look like offsets of the drives."""
    law = Law({"noise": "1 %", "offset": "5 %"})
    monkeypatch.setattr("tests.uncertainty.trial.LAWS", {"offsets": law})
    found = trial("five_bar", "offsets", seed)["classes"]
    assert found["resting on the prior"]["worst"] < INSIDE["95"]
    assert found["forces without noise"]["worst"] < INSIDE["95"]


def test_bounds_of_runs_that_are_all_or_nothing() -> None:
    """Ten values that are right or wrong together are one value: Wilson's bounds of 20 values."""
    runs = [
        {
            "machine": "m",
            "law": "l",
            "said": [],
            "classes": {"c": {"n": 10, "68": 0, "95": 10 * (seed % 4 > 0), "worst": 1.0}},
        }
        for seed in range(20)
    ]
    (row,) = summary(runs)
    n, p, z = 20, 0.75, 1.959964
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert (row["95"], row["n"]) == (0.75, 200)
    np.testing.assert_allclose([row["low"], row["high"]], [middle - half, middle + half], atol=1e-4)


@pytest.mark.parametrize("law", [name for name, law in LAWS.items() if not law.data])
def test_bodies_of_all_laws_of_cad_errors_are_possible(law: str) -> None:
    true = mechanism_of("puma560")
    found = LAWS[law].cad(true, np.random.default_rng(0))
    assert isinstance(found, Mechanism)
    for before, after in zip(true.bodies, found.bodies, strict=True):
        if before.inertia is not None and after.inertia is not None:
            assert after.inertia.mass != before.inertia.mass
            assert inconsistency(after.inertia.mass, np.array(after.inertia.inertia_center)) is None
