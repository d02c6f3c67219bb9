"""Experiment `rank`: against ranks that are proved, and NumPy's singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mechid
from mechid.errors import MechidError
from mechid.studies.experiment import Row
from mechid.studies.given_motions import solved
from mechid.studies.registry import experiment


def rows(**settings: Any) -> list[Row]:
    kind = experiment("rank")
    (found,) = kind.run([kind.settings(**settings)])
    assert not isinstance(found, MechidError)
    return list(found)


@pytest.mark.parametrize("precision", ["single", "double", "multi"])
def test_the_proved_rank_of_a_linkage(precision: str) -> None:
    proved = mechid.base_parameters("four_bar").chosen.rank
    found = rows(
        model="four_bar", motion={"states": 1}, rate=40.0, seconds=1.0, precision=precision
    )
    assert {r["rank"] for r in found} == {proved}


def test_values_as_they_are_are_those_of_numpy() -> None:
    given: dict[str, Any] = {"model": "four_bar", "motion": {"states": 1}, "scaled": False}
    found = rows(**given, rate=40.0, seconds=1.0)
    motion = solved("four_bar", {"states": 1}, gravity=True, base="", rate=40.0, seconds=1.0)
    W = mechid.observation_matrix(motion).W
    s = np.linalg.svd(W.reshape(-1, W.shape[-1]), compute_uv=False)
    rank = int(found[0]["rank"])  # type: ignore[arg-type]
    assert found[0]["largest"] == pytest.approx(s[0], rel=1e-12)
    values = [float(r["value"]) for r in found[:rank]]  # type: ignore[arg-type]
    assert values == pytest.approx(s[:rank] / s[0], rel=1e-9)


@pytest.mark.slow
def test_tolerances_count_values() -> None:
    given: dict[str, Any] = {
        "model": "sla_suspension",
        "motion": {"random": 1, "starts": 0, "frequency": 0.5, "seed": 2},
        "rate": 60.0,
        "seconds": 2.0,
    }
    values = np.array([r["value"] for r in rows(**given)], dtype=float)
    for tolerance in (1e-4, 1e-9):
        (row,) = rows(**given, tolerance=tolerance, spectrum=False)
        assert row["rank"] == np.count_nonzero(values > tolerance)
        assert row["number"] == row["rank"]
    (gautier,) = rows(**given, by_rank=True, spectrum=False)
    eps = np.finfo(float).eps
    assert gautier["rank"] == np.count_nonzero(values > eps * np.arange(1, len(values) + 1))


def test_single_precision_sees_less_of_the_suspension() -> None:
    given: dict[str, Any] = {
        "model": "sla_suspension",
        "motion": {"random": 1, "starts": 0, "frequency": 0.5, "seed": 2},
        "rate": 60.0,
        "seconds": 2.0,
        "spectrum": False,
    }
    single, double = (rows(**given, precision=p)[0]["rank"] for p in ("single", "double"))
    assert single < double < 83  # type: ignore[operator]
    # Weight and accelerations of independent states show all of it.
    assert rows(**{**given, "motion": {"states": 0}})[0]["rank"] == 83
