"""Mapping files: what they can say, and mistakes with their line."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from mechid.errors import DataError
from mechid.measurementfile import json_schema, prepared_columns, read_measurement
from mechid.measurementfile.document import load_mapping
from mechid.measurementfile.mapping import find_quantity
from mechid.mechanism.records import DistanceCoordinate, JointCoordinate, PointCoordinate
from mechid.modelfile import load
from mechid.signals.prepare import prepare
from mechid.tables import write_table

from .logs import FIVE_BAR, MAPPING, T, channels, log, truth


def test_default_mapping(tmp_path: Path) -> None:
    true = truth()
    write_table(tmp_path / "log.csv", {"time": T, **true, "room": 20 + 0 * T})
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR)
    assert m.y == pytest.approx(np.stack([true["q1"], true["q2"]], axis=1))
    assert m.forces == ("M1", "M2")
    assert m.notes == ("not used: room",)
    write_table(
        tmp_path / "few.csv", {"t": T, "q1": true["q1"], "q2": true["q2"], "M2": true["M2"]}
    )
    assert read_measurement(tmp_path / "few.csv", FIVE_BAR).forces == ("M2",)
    write_table(tmp_path / "none.csv", {"t": T, "q1": true["q1"], "q2": true["q2"]})
    assert "no forces are measured" in read_measurement(tmp_path / "none.csv", FIVE_BAR).notes


def test_default_mapping_takes_other_quantities_where_coordinates_are_missing(
    tmp_path: Path,
) -> None:
    four_bar = load("four_bar")
    write_table(tmp_path / "log.csv", {"time": T, "q3": np.sin(T), "bar_2.B.x": np.cos(T)})
    m = read_measurement(tmp_path / "log.csv", four_bar)
    assert m.names == ("q3", "bar_2.B.x")


def test_linear_combinations_of_channels(tmp_path: Path) -> None:
    # A wrist whose motors are coupled: joint angles are a matrix times motor angles.
    true = truth()
    N = np.array([[32.0, 0.0], [-20.0, 45.0]])
    motors = np.stack([true["q1"], true["q2"] + np.pi / 2], axis=1) @ N.T
    torques = np.stack([true["M1"], true["M2"]], axis=1) @ np.linalg.inv(N)
    write_table(
        tmp_path / "log.csv",
        {"time": T, "m1": motors[:, 0], "m2": motors[:, 1], "t1": torques[:, 0],
         "t2": torques[:, 1]},
    )  # fmt: skip
    (tmp_path / "map.yaml").write_text(
        "measurement: 1\n"
        "positions:\n"
        "  q1: {channel: m1, scale: 1/32}\n"
        "  q2: {channels: {m1: 20/(32*45), m2: 1/45}, offset: -90 deg}\n"
        "forces:\n"
        "  M1: {channels: {t1: 32, t2: -20}}\n"
        "  M2: {channels: {t2: 45}}\n"
    )
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR, tmp_path / "map.yaml")
    assert m.y == pytest.approx(np.stack([true["q1"], true["q2"]], axis=1), abs=1e-12)
    assert m.tau == pytest.approx(np.stack([true["M1"], true["M2"]], axis=1), abs=1e-12)


def test_speeds_accelerations_range_and_rate(tmp_path: Path) -> None:
    true = truth()
    w = 2 * np.pi
    write_table(
        tmp_path / "log.csv",
        {"q1": true["q1"], "q2": true["q2"], "n1": 0.3 * w * np.cos(w * T) * 30 / np.pi,
         "n2": -0.2 * w * np.sin(w * T) * 30 / np.pi, "a1": -0.3 * w**2 * np.sin(w * T)},
    )  # fmt: skip
    mapping = {
        "rate": 200,
        "range": [1, 3],
        "positions": {"q1": "q1", "q2": "q2"},
        "speeds": {"q2": {"channel": "n2", "unit": "rpm"}, "q1": {"channel": "n1", "unit": "rpm"}},
        "accelerations": {"q1": "a1"},
        "prepare": {"method": "low-pass", "cutoff": 10, "decimation": 3},
    }
    m = read_measurement(tmp_path / "log.csv", FIVE_BAR, mapping)
    assert (m.time[0], m.time[-1]) == pytest.approx((1.0, 3.0))
    assert m.yd is not None
    assert m.yd[:, 0] == pytest.approx(0.3 * w * np.cos(w * m.time))
    assert m.yd[:, 1] == pytest.approx(-0.2 * w * np.sin(w * m.time))
    assert m.ydd is None
    assert "accelerations not used: missing for q2" in m.notes
    assert (m.preparation.cutoff, m.preparation.decimation) == (10.0, 3)
    mapping["range"] = [7, 9]
    with pytest.raises(
        DataError, match="the range contains no samples; the log lasts from 0 s to 4"
    ):
        read_measurement(tmp_path / "log.csv", FIVE_BAR, mapping)
    del mapping["rate"]
    with pytest.raises(DataError, match=r"missing channel time; .* give the rate"):
        read_measurement(tmp_path / "log.csv", FIVE_BAR, mapping)


def test_a_part_of_a_log_instead_of_the_range_of_the_mapping(tmp_path: Path) -> None:
    path, mapping = log(tmp_path), MAPPING | {"range": [1, 2]}
    assert read_measurement(path, FIVE_BAR, mapping).time[[0, -1]] == pytest.approx([1, 2])
    m = read_measurement(path, FIVE_BAR, mapping, use=(3.0, None))
    assert m.time[[0, -1]] == pytest.approx([3, T[-1]])
    assert "used from 3 s to 4.995 s" in m.notes
    with pytest.raises(DataError, match="the range contains no samples"):
        read_measurement(path, FIVE_BAR, mapping, use=(7.0, 8.0))


def test_ranges_count_from_the_start_of_a_log(tmp_path: Path) -> None:
    """A log whose clock does not start at zero: a part is the same seconds of the motion."""
    path = log(tmp_path)
    late = log(tmp_path, {"t_ms": 1.7e6 + 1000 * T}, "late.csv")
    whole = read_measurement(path, FIVE_BAR, MAPPING)
    for found in (
        read_measurement(f"{late}@1:3", FIVE_BAR, MAPPING),
        read_measurement(late, FIVE_BAR, MAPPING | {"range": [1, 3]}),
    ):
        inside = (whole.time >= 1) & (whole.time <= 3)
        assert found.y == pytest.approx(whole.y[inside], abs=1e-12)
        assert found.time[0] == pytest.approx(1.7e3 + 1)
        assert "used from 1 s to 3 s" in found.notes
    with pytest.raises(DataError, match=r"lasts from 0 s to 4.995 s; .* which is at 1700 s"):
        read_measurement(f"{late}@1701:1703", FIVE_BAR, MAPPING)


def test_speeds_below_which_forces_do_not_count(tmp_path: Path) -> None:
    mapping = MAPPING | {"prepare": {"ignore_below": {"q1": "5 deg", "q2": 0.1}}}
    m = read_measurement(log(tmp_path), FIVE_BAR, mapping)
    assert m.preparation.ignore_below == {"q1": pytest.approx(np.pi / 36), "q2": 0.1}
    mapping["prepare"]["ignore_below"] = {"q1": -1}
    with pytest.raises(DataError, match=r"prepare\.ignore_below\.q1: must be > 0, got"):
        read_measurement(log(tmp_path), FIVE_BAR, mapping)


def test_prepared_tables_are_measurements(tmp_path: Path) -> None:
    bad = channels()["load1"]
    bad[300:320] = np.nan
    m = read_measurement(log(tmp_path, {"load1": bad}), FIVE_BAR, MAPPING)
    p = prepare(m, FIVE_BAR)
    write_table(tmp_path / "out.parquet", prepared_columns(p, FIVE_BAR))
    again = prepare(read_measurement(tmp_path / "out.parquet", FIVE_BAR), FIVE_BAR)
    assert again.method == "given"
    for field in ("y", "yd", "ydd", "valid"):
        assert np.array_equal(getattr(again, field), getattr(p, field))
    assert np.array_equal(again.tau[p.valid], p.tau[p.valid])


HEAD = "measurement: 1\n"
GOOD = "positions: {q1: enc1, q2: enc2}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("positions: {q1: a}\n", "map.yaml:1: measurement is missing; start the file with"),
        ("mechid: 1\n", "this is a model file"),
        ("measurement: 2\n" + GOOD, "map.yaml:1: measurement: the mapping file has format 2, of"),
        (HEAD, "positions is missing"),
        (HEAD + "positions: {}\n", "positions is missing"),
        (HEAD + GOOD + "prepare: {decimation: 0}\n", "yaml:3: prepare.decimation: must be"),
        (HEAD + "positions:\n  q1: {channel: a, offset: 1e99}\n", "1e+99 is out of range"),
        (HEAD + "positions:\n  q1: {chanel: a}\n", "map.yaml:3: positions.q1.chanel: unknown key"),
        (HEAD + "positions:\n  q1: {unit: mm}\n", "expected either channel or"),
        (HEAD + "positions:\n  q1: {channel: a, channels: {b: 1}}\n", "expected either channel or"),
        (HEAD + "positions:\n  q1: {channel: a, scale: L}\n", "yaml:3: positions.q1.scale: L is"),
        (HEAD + "positions:\n  q1: {channel: a, sign: 2}\n", "yaml:3: positions.q1.sign: exp"),
        (HEAD + GOOD + "rate: -5\n", "map.yaml:3: rate: must be > 0, got -5"),
        (HEAD + GOOD + "rate: 5\ntime: t\n", "time and rate exclude each other"),
        (HEAD + GOOD + "range: [3, 1]\n", "range: the start must be before the end, got 3"),
        (HEAD + GOOD + "range: 3\n", "expected [from, to]"),
        (HEAD + GOOD + "gaps: 1.5\n", "map.yaml:3: gaps: expected an integer"),
        (HEAD + GOOD + "speeds: {q3: a}\n", "speeds: q3 has no position"),
        (HEAD + GOOD + "prepare: {method: magic}\n", "map.yaml:3: prepare.method: expected"),
        (HEAD + "positions: {q1: enc1, q9: enc2}\n", "yaml:2: positions.q9: q9 is not a quantity"),
        (HEAD + GOOD + "forces:\n  M9: load1\n", "yaml:4: forces.M9: there is no force M9; ch"),
        (HEAD + "positions:\n  q1: {channel: enc1, unit: mm}\n  q2: enc2\n",
         'map.yaml:3: positions.q1: the unit "mm" does not match a quantity in rad'),
        (HEAD + "positions: [", "not valid YAML"),
    ],
)  # fmt: skip
def test_mistakes_in_mapping_files(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(DataError) as refused:
        read_measurement(log(tmp_path), FIVE_BAR, tmp_path / "map.yaml")
    assert said in str(refused.value)


def test_names_of_quantities() -> None:
    mechanism = load("sla_suspension")
    z = find_quantity(mechanism, "z_r")
    assert z == mechanism.coordinates[0]
    assert isinstance(find_quantity(mechanism, "slider_r"), JointCoordinate)
    assert find_quantity(mechanism, "J_r.angle_2") == JointCoordinate(
        "J_r.angle_2", "J_r", 1, "", "rad"
    )
    point = find_quantity(mechanism, "upright_r.O3_r.y")
    assert isinstance(point, PointCoordinate)
    assert point.direction == (0.0, 1.0, 0.0)
    distance = find_quantity(mechanism, "ground.N_r - strut_bottom_r.L_r")
    assert isinstance(distance, DistanceCoordinate)
    for wrong in ("J_r", "G_r", "G_r.w", "nothing", "upright_r.nothing.x", "ground.N_r-nothing"):
        with pytest.raises(DataError):
            find_quantity(mechanism, wrong)


def test_file_and_mapping_state_different_units(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "log.h5", "w") as file:
        for name, values in channels().items():
            file[name] = values
        file["enc1"].attrs["unit"] = "rad"
        file["load1"].attrs["unit"] = "V"
        file["load2"].attrs["unit"] = "N"
    with pytest.raises(
        DataError, match=r'forces\.M2: the unit "N" does not match a quantity in N m'
    ):
        read_measurement(tmp_path / "log.h5", FIVE_BAR, MAPPING)
    forces = {"M1": "load1", "M2": {"channel": "load2", "scale": 0.1}}  # a lever of 0.1 m
    m = read_measurement(tmp_path / "log.h5", FIVE_BAR, MAPPING | {"forces": forces})
    assert 'positions.q1: the file states "rad"; "deg" of the mapping is used' in m.notes
    assert 'forces.M1: unknown unit "V" in the file; SI is assumed' in m.notes
    mapped = {"M2": {"channel": "load2", "unit": "N m"}}
    with pytest.raises(DataError, match='the mapping says "N m", the file "N"'):
        read_measurement(tmp_path / "log.h5", FIVE_BAR, MAPPING | {"forces": mapped})


def test_schema_names_every_key(tmp_path: Path) -> None:
    schema = json_schema()
    (tmp_path / "map.yaml").write_text(HEAD + GOOD)
    document, _ = load_mapping(tmp_path / "map.yaml")
    assert set(schema["properties"]) == set(type(document).model_fields)
