"""Each kind of bad data has its own message, with file, channel and row or time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from mechid.errors import DataError
from mechid.measurementfile import read_measurement
from mechid.modelfile import load

from .logs import FIVE_BAR, MAPPING, T, channels, log, truth


def changed(name: str, rows: Any, value: float) -> dict[str, np.ndarray]:
    values = channels()[name].copy()
    values[rows] = value
    return {name: values}


def read(folder: Path, change: dict[str, np.ndarray], **mapping: Any) -> Any:
    return read_measurement(log(folder, change), FIVE_BAR, MAPPING | mapping)


def refusal(folder: Path, change: dict[str, np.ndarray], **mapping: Any) -> str:
    with pytest.raises(DataError) as refused:
        read(folder, change, **mapping)
    return str(refused.value).replace(str(folder), "")


def test_short_gaps_of_positions_are_filled(tmp_path: Path) -> None:
    m = read(tmp_path, changed("enc1", slice(500, 504), np.nan))
    assert "channel enc1 (q1): 4 samples missing, interpolated (first at 2.5 s)" in m.notes
    assert m.y[:, 0] == pytest.approx(truth()["q1"], abs=1e-5)


def test_long_gaps_of_positions_are_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, changed("enc1", slice(500, 506), np.nan))
    assert said == (
        "/log.csv: channel enc1 (q1), row 501: no value for 6 samples, 2.5 s to 2.525 s; "
        "choose a range without them; gaps of up to 5 samples are filled"
    )
    assert len(read(tmp_path, changed("enc1", slice(500, 506), np.nan), gaps=6).notes) == 1
    assert "row 1: no value for 1 samples" in refusal(tmp_path, changed("enc2", 0, np.nan))


def test_gaps_of_forces_are_masked(tmp_path: Path) -> None:
    m = read(tmp_path, changed("load1", slice(100, 200), np.nan))
    assert "channel load1 (M1): 100 samples missing, not used (first at 0.5 s)" in m.notes
    assert not m.valid[100:200, 0].any()
    assert m.valid[:, 0].sum() == 900
    assert m.valid[:, 1].all()
    assert np.isfinite(m.tau).all()
    said = refusal(tmp_path, {"load1": np.full(len(T), np.nan)})
    assert said == "/log.csv: channel load1 (M1): all samples are missing"


def test_times_that_do_not_increase(tmp_path: Path) -> None:
    said = refusal(tmp_path, changed("t_ms", 300, channels()["t_ms"][299]))
    assert said.startswith(
        "/log.csv: channel t_ms, row 301: time does not increase: 1.495 s occurs"
    )
    said = refusal(tmp_path, changed("t_ms", 300, 1000.0))
    assert "row 301: time does not increase: 1 s comes after 1.495 s" in said
    said = refusal(tmp_path, changed("t_ms", 300, np.nan))
    assert said.startswith("/log.csv: channel t_ms, row 301: the time is missing")


def dropped(rows: slice) -> dict[str, np.ndarray]:
    return {name: np.delete(values, rows) for name, values in channels().items()}


def test_lost_rows(tmp_path: Path) -> None:
    m = read(tmp_path, dropped(slice(400, 403)))
    assert any(note.startswith("resampled at 200 Hz") for note in m.notes)
    assert len(m.time) == 1000
    assert m.y[:, 0] == pytest.approx(truth()["q1"], abs=1e-5)
    assert np.flatnonzero(~m.valid[:, 0]).tolist() == [400, 401, 402]
    said = refusal(tmp_path, dropped(slice(400, 410)))
    assert said.startswith("/log.csv: row 401: no samples between 1.995 s and 2.05 s")


def test_uneven_times(tmp_path: Path) -> None:
    jitter = T + 1e-3 * np.sin(np.arange(len(T)) * 1.7)
    true = {"t_ms": 1000 * jitter, "enc1": np.rad2deg(0.3 * np.sin(2 * np.pi * jitter))}
    m = read(tmp_path, true)
    assert any(note.startswith("resampled at ") for note in m.notes)
    assert m.rate == pytest.approx(200, rel=1e-3)
    assert np.diff(m.time) == pytest.approx(np.diff(m.time)[0])
    assert m.y[:, 0] == pytest.approx(0.3 * np.sin(2 * np.pi * m.time), abs=1e-5)
    said = refusal(tmp_path, true, irregular="refuse")
    assert "the rate is not constant: steps of 0.003" in said


def test_rounded_times_are_even(tmp_path: Path) -> None:
    m = read(tmp_path, {"t_ms": np.round(1000 * T + 0.02 * np.sin(np.arange(len(T))), 2)})
    assert not any("resampled" in note for note in m.notes)


def test_missing_channels_are_suggested(tmp_path: Path) -> None:
    said = refusal(tmp_path, {}, forces={"M1": "Load1"})
    assert said.endswith("there is no channel Load1; the file has t_ms, enc1, enc2, load1, load2; "
                         "did you mean load1?")  # fmt: skip
    with pytest.raises(DataError, match="there is no channel q1"):
        read_measurement(log(tmp_path), FIVE_BAR)


def test_units_that_do_not_fit(tmp_path: Path) -> None:
    said = refusal(tmp_path, {}, forces={"M1": {"channel": "load1", "unit": "kN"}})
    assert said.startswith('forces.M1: the unit "kN" does not match a quantity in N m; check the')
    said = refusal(tmp_path, {}, forces={"M1": {"channel": "load1", "unit": "Volt"}})
    assert 'forces.M1.unit: unknown unit "Volt"' in said
    said = refusal(tmp_path, {}, time={"channel": "t_ms", "unit": "mm"})
    assert '"mm" is not a unit of time' in said


def test_suspicious_magnitudes(tmp_path: Path) -> None:
    m = read(tmp_path, {}, positions={"q1": "enc1", "q2": "enc2"}, prepare={"method": "spline"})
    assert m.preparation.method == "spline"
    assert not any("degrees?" in note for note in m.notes)  # ±17 could be radians
    big = {name: 5 * channels()[name] for name in ("enc1", "enc2")}
    m = read(tmp_path, big, positions={"q1": "enc1", "q2": "enc2"})
    assert any("turns: degrees?" in note for note in m.notes)


def test_lengths_far_larger_than_the_mechanism(tmp_path: Path) -> None:
    mechanism = load("slider_crank")
    path = log(tmp_path, {"guide": 200 + 10 * np.sin(T)})
    mapping = {"time": {"channel": "t_ms", "unit": "ms"}, "positions": {"guide": "guide"}}
    with pytest.raises(
        DataError, match=r"guide reaches 210 m, but the size of the mechanism is .* unit: mm"
    ):
        read_measurement(path, mechanism, mapping)
    mapping["positions"] = {"guide": {"channel": "guide", "unit": "mm"}}  # type: ignore[dict-item]
    assert read_measurement(path, mechanism, mapping).y.max() == pytest.approx(0.21, abs=1e-4)


def test_constant_and_saturated_channels_are_noted(tmp_path: Path) -> None:
    clipped = np.clip(channels()["load2"], -0.8, 0.9)
    m = read(tmp_path, {"load1": np.full(len(T), 3.0), "load2": clipped})
    assert "channel load1 (M1) is constant (0.003)" in m.notes
    # cos(4π t) > 0.9 for 0.0718 s at a time: 14 or 15 steps of 5 ms.
    runs = [n for n in m.notes if n.startswith("channel load2 (M2) stays at 0.9 for up to 15 ")]
    assert len(runs) == 1
    assert any("stays at -0.8" in n for n in m.notes)
    still = {"enc1": np.zeros(len(T)), "enc2": np.zeros(len(T))}
    assert "nothing moves: all positions are constant" in refusal(tmp_path, still)


def test_words_where_numbers_should_be(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('time,q1,q2,comment\n0,1,0,start\n0.1,"1,5",0,\n0.2,2,1,end\n')
    with pytest.raises(DataError, match='row 2, column q1: "1,5" is not a number'):
        read_measurement(path, FIVE_BAR)


def test_lengths_that_differ(tmp_path: Path) -> None:
    data = channels()
    data["load1"] = data["load1"][:-1]
    scipy.io.savemat(tmp_path / "log.mat", data)
    with pytest.raises(DataError, match="channel load1 has 999 samples, channel t_ms 1000"):
        read_measurement(tmp_path / "log.mat", FIVE_BAR, MAPPING)
