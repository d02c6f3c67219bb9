"""Logs: what the page is told about their channels before anything is computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechid.measurementfile.document import load_mapping
from mechid.studio import logs

RATE, N = 200.0, 5000


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Angles of a pendulum in degrees under other names, with a spike."""
    monkeypatch.chdir(tmp_path)
    time = np.arange(N) / RATE
    angle = 20 * np.sin(2 * np.pi * time)
    angle[1234] = 33.0
    rows = zip(time, angle, np.cos(time), strict=True)
    lines = [f"{t:.4f},{a:.6f},{m:.6f}" for t, a, m in rows]
    (tmp_path / "log.csv").write_text("\n".join(["time,Angle_act (deg),torque M (Nm)", *lines]))
    return "log.csv"


def test_channels(log: str) -> None:
    found = logs.inspect(log)
    assert (found["clock"], found["samples"]) == ("time", N)
    assert found["rate"] == pytest.approx(RATE)
    time, angle, torque = found["columns"]
    assert (time["guess"], angle["guess"], torque["guess"]) == ("time", "angle", "torque")
    assert angle["max"] == 33.0
    # Few points, but the spike of one sample is among them.
    assert len(angle["curve"]["values"]) <= logs.POINTS
    assert 33.0 in angle["curve"]["values"]
    assert angle["curve"]["time"] == sorted(angle["curve"]["time"])


def test_a_mapping_to_begin_with(log: str, tmp_path: Path) -> None:
    found = logs.guess(log, "zoo:pendulum")
    assert found["mapping"]["positions"] == {"angle": {"channel": "Angle_act"}}
    assert found["mapping"]["time"] == {"channel": "time"}
    assert found["sure"] == []
    (tmp_path / "map.yaml").write_text(found["text"])
    assert load_mapping("map.yaml")[0].positions["angle"].channel == "Angle_act"
    assert logs.mapping_of("map.yaml")["mapping"] == found["mapping"]
    quantities = {q["name"]: q["unit"] for q in found["quantities"]}
    assert quantities["angle"] == "rad"


def test_what_is_wrong_is_said(log: str) -> None:
    force = next(
        q["name"] for q in logs.guess(log, "zoo:pendulum")["quantities"] if q["role"] == "forces"
    )
    mapping = {
        "positions": {"angle": {"channel": "Angle_act"}},
        "forces": {force: {"channel": "torque M"}},
    }
    good = logs.check(log, "zoo:pendulum", mapping)
    assert good["ok"], good["errors"]
    angle = next(s for s in good["series"] if s["name"] == "angle")
    assert max(angle["values"]) == pytest.approx(np.deg2rad(33.0))  # in SI units

    wrong = {**mapping, "positions": {"angle": {"channel": "Angle", "unit": "mm"}}}
    bad = logs.check(log, "zoo:pendulum", wrong)
    assert not bad["ok"]
    assert "Angle" in bad["errors"][0]["what"]
    swapped = {**mapping, "forces": {force: {"channel": "Angle_act"}}}
    assert "unit" in logs.check(log, "zoo:pendulum", swapped)["errors"][0]["what"]
