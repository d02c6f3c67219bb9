"""The trials of docs/reliability/scale.md in small sizes, and its tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.records import DATA, stale_tables
from tests.scale import trials
from tests.scale.tables import tables


def test_the_page_shows_the_record() -> None:
    record = json.loads((DATA / "scale.json").read_text("utf-8"))
    assert not stale_tables("scale.md", tables(record))


@pytest.mark.slow
def test_a_log_in_blocks_and_as_a_whole(tmp_path: Path) -> None:
    """The same noise, so the values differ by less than their standard deviations."""
    file = tmp_path / "log.parquet"
    trials.made_log(file, 12_000)
    found = trials.streamed(file)
    assert found["samples"] == 12_000
    wanted = trials.whole(file)
    assert found["E_p"] == pytest.approx(wanted["E_p"], rel=0.05)
    off = np.subtract(found["values"], wanted["values"]) / wanted["sigma"]
    assert np.abs(off).max() < 3.0


def test_a_motion_does_not_drift() -> None:
    found = trials.motion(3)
    assert found["closure"] < 1e-13
    assert found["history"] < 1e-10


def test_a_simulation_does_not_drift() -> None:
    found = trials.simulation(20)
    assert found["energy"] < 1e-6
    assert found["closure"] < 1e-12


@pytest.mark.slow
def test_a_mechanism_with_loops_in_series() -> None:
    """Each four-bar adds two bodies and three revolute joints; nothing but the first is driven."""
    found = trials.large(5, samples=60)
    assert (found["bodies"], found["loops"], found["dof"]) == (5, 2, 1)
    assert found["base_error"] < 1e-9
    assert found["energy"] < 1e-6
