"""ROS bags of both versions, written with their library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

from mechid.errors import DataError
from mechid.measurementfile import read_measurement
from mechid.measurementfile.channels import read_channels

from .logs import FIVE_BAR, T, truth

START = 1_772_368_215 * 10**9 + 250_000_000
STORES = {"bag": get_typestore(Stores.ROS1_NOETIC), "ros2": get_typestore(Stores.ROS2_HUMBLE)}
JOINTS, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"


def header(store: Any, stamp: int) -> Any:
    time = store.types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
    kind = store.types["std_msgs/msg/Header"]
    words = {"seq": 0} if "seq" in kind.__dataclass_fields__ else {}
    return kind(stamp=time, frame_id="", **words)


def joint_state(store: Any, stamp: int, k: int, names: tuple[str, ...] = ("q2", "q1")) -> Any:
    true, w = truth(), 2 * np.pi
    speed = {"q1": 0.3 * w * np.cos(w * T[k]), "q2": -0.2 * w * np.sin(w * T[k])}
    effort = {"q1": true["M1"][k], "q2": true["M2"][k]}
    return store.types[JOINTS](
        header=header(store, stamp),
        name=list(names),
        position=np.array([true[n][k] for n in names]),
        velocity=np.array([speed[n] for n in names]),
        effort=np.array([effort[n] for n in names]),
    )


def wrench(store: Any, stamp: int, t: float) -> Any:
    vector = store.types["geometry_msgs/msg/Vector3"]
    parts = store.types["geometry_msgs/msg/Wrench"](vector(t, 2 * t, 3.0), vector(4.0, 5.0, -t))
    return store.types[WRENCH](header=header(store, stamp), wrench=parts)


def write_bag(path: Path, version: str, *, stamped: bool = True) -> Path:
    """Write states at 200 Hz, in another order of arrival, and wrenches at 50 Hz."""
    store = STORES["bag" if version == "bag" else "ros2"]
    if version == "bag":
        path, writer = path / "log.bag", Writer1(path / "log.bag")
        serialize = store.serialize_ros1
    else:
        plugin = StoragePlugin.MCAP if version == "mcap" else StoragePlugin.SQLITE3
        path, writer = path / "log", Writer2(path / "log", version=9, storage_plugin=plugin)
        serialize = store.serialize_cdr
    with writer:
        states = writer.add_connection("/robot/joint_states", JOINTS, typestore=store)
        wrenches = writer.add_connection("/wrist", WRENCH, typestore=store)
        order = np.arange(len(T))
        order[[10, 11]] = order[[11, 10]]
        for k in order:
            stamp = START + round(T[k] * 1e9)
            message = joint_state(store, stamp if stamped else 0, k)
            writer.write(states, stamp + 10**6, serialize(message, JOINTS))
        for t in T[::4]:
            stamp = START + round(t * 1e9)
            writer.write(wrenches, stamp, serialize(wrench(store, stamp, t), WRENCH))
    return path


@pytest.mark.parametrize("version", ["bag", "db3", "mcap"])
def test_bags_are_read_without_a_mapping(version: str, tmp_path: Path) -> None:
    path = write_bag(tmp_path, version)
    found = read_channels(path).channels
    assert set(found) == {
        *(f"q{i}{e}" for i in (1, 2) for e in ("", ".d", ".effort")),
        *(f"wrist.{c}" for c in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")),
    }
    assert (found["wrist.Fy"].unit, found["wrist.Mz"].unit) == ("N", "N m")
    assert found["wrist.Mz"].values == pytest.approx(-T[::4])
    m = read_measurement(path, FIVE_BAR)
    true, w = truth(), 2 * np.pi
    assert m.time == pytest.approx(T, abs=1e-9)
    assert m.y.tolist() == np.stack([true["q1"], true["q2"]], axis=1).tolist()
    assert m.tau.tolist() == np.stack([true["M1"], true["M2"]], axis=1).tolist()
    assert m.yd is not None
    assert m.yd[:, 0] == pytest.approx(0.3 * w * np.cos(w * T))
    assert "times count from 2026-03-01T12:30:15.250000+00:00" in m.notes


def test_the_file_inside_a_bag_of_version_2(tmp_path: Path) -> None:
    (inner,) = write_bag(tmp_path, "db3").glob("*.db3")
    assert "q1" in read_channels(inner).channels


def test_messages_without_stamps_have_the_times_of_recording(tmp_path: Path) -> None:
    m = read_measurement(write_bag(tmp_path, "bag", stamped=False), FIVE_BAR, None)
    assert "robot/joint_states: times of recording, headers have none" in m.notes


def test_a_bag_and_a_table_of_one_run(tmp_path: Path) -> None:
    """The forces come from a second recorder that stamps in milliseconds since 1970."""
    bag = write_bag(tmp_path, "db3")
    stamps = [f"{START // 10**6 + round(1000 * t)}" for t in T]
    rows = [f"{s},{x}" for s, x in zip(stamps, truth()["M1"], strict=True)]
    (tmp_path / "cell.csv").write_text("\n".join(["timestamp,M1", *rows]))
    m = read_measurement(f"{bag}+{tmp_path / 'cell.csv'}", FIVE_BAR)
    assert m.forces == ("M1", "M2")
    assert m.tau[5:-5, 0] == pytest.approx(truth()["M1"][5:-5], abs=1e-6)


def test_joints_that_several_topics_have_are_named_with_the_topic(tmp_path: Path) -> None:
    store = STORES["bag"]
    with Writer1(tmp_path / "log.bag") as writer:
        for topic in ("/left", "/right"):
            connection = writer.add_connection(topic, JOINTS, typestore=store)
            for k in range(3):
                message = joint_state(store, START + k, k, ("q1",))
                writer.write(connection, START + k, store.serialize_ros1(message, JOINTS))
    found = read_channels(tmp_path / "log.bag").channels
    assert {"left/q1", "right/q1.effort"} <= set(found)


def test_bags_without_states_and_without_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = STORES["bag"]
    with Writer1(tmp_path / "log.bag") as writer:
        kind = "std_msgs/msg/String"
        connection = writer.add_connection("/chat", kind, typestore=store)
        raw = store.serialize_ros1(store.types[kind]("hello"), kind)
        writer.write(connection, START, raw)
    with pytest.raises(DataError, match=r"no JointState or WrenchStamped .*; its types: std_msgs"):
        read_channels(tmp_path / "log.bag")
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(DataError, match=r'log.bag: .* the package rosbags; .*"mechid\[ros\]"'):
        read_channels(tmp_path / "log.bag")
