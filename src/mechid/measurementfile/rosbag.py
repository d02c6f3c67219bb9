"""ROS bags, versions 1 and 2: states of joints and wrenches."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.measurementfile.channels import Channel, Found
from mechid.measurementfile.mapping import EFFORT

_JOINTS, _WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
# Fields of a state and how the channels of a joint end.
_FIELDS = {"position": "", "velocity": ".d", "effort": EFFORT}
_COMPONENTS = {"Fx": ("force", "x", "N"), "Fy": ("force", "y", "N"), "Fz": ("force", "z", "N"),
               "Mx": ("torque", "x", "N m"), "My": ("torque", "y", "N m"),
               "Mz": ("torque", "z", "N m")}  # fmt: skip
_SERIES = dict[tuple[str, str], list[tuple[int, float]]]


def read_bag(path: Path) -> Found:
    """Return joint states and wrenches of a bag, each with the times of its messages.

    Channels are `joint` (position), `joint.d` (velocity), `joint.effort`, and `topic.Fx` to
    `topic.Mz`; a joint that several topics have is `topic/joint`. Times are those in the headers of
    the messages, or of their recording where a header has none.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise DataError(
            "reading ROS bags needs the package rosbags",
            remedy='install it with: pip install "mechid[ros]"',
        ) from None
    series: _SERIES = defaultdict(list)
    units: dict[tuple[str, str], str] = {}
    unstamped: set[str] = set()
    # Bags of ROS 2 before Iron do not say what their messages look like.
    store = get_typestore(Stores.LATEST)
    with AnyReader([path], default_typestore=store) as reader:
        wanted = [c for c in reader.connections if c.msgtype in (_JOINTS, _WRENCH)]
        if not wanted:
            has = ", ".join(sorted({c.msgtype for c in reader.connections})[:6]) or "none"
            raise DataError(
                f"the bag has no JointState or WrenchStamped messages; its types: {has}",
                remedy="record the joint states",
            )
        for connection, recorded, raw in reader.messages(connections=wanted):
            message: Any = reader.deserialize(raw, connection.msgtype)
            topic = connection.topic.strip("/")
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            if not stamp:
                unstamped.add(topic)
                stamp = recorded
            if connection.msgtype == _JOINTS:
                _add_state(series, topic, stamp, message)
            else:
                _add_wrench(series, units, topic, stamp, message)
    return _channels(series, units, unstamped)


def _add_state(series: _SERIES, topic: str, stamp: int, message: Any) -> None:
    for field, ending in _FIELDS.items():
        values = getattr(message, field)
        if not len(values):
            continue  # the field is not published
        if len(values) != len(message.name):
            raise DataError(
                f"a message of {topic} has {len(message.name)} names, {len(values)} of {field}"
            )
        for name, value in zip(message.name, values, strict=True):
            series[topic, f"{name}{ending}"].append((stamp, float(value)))


def _add_wrench(
    series: _SERIES, units: dict[tuple[str, str], str], topic: str, stamp: int, message: Any
) -> None:
    for name, (part, axis, unit) in _COMPONENTS.items():
        key = ("", f"{topic}.{name}")
        series[key].append((stamp, float(getattr(getattr(message.wrench, part), axis))))
        units[key] = unit


def _channels(series: _SERIES, units: dict[tuple[str, str], str], unstamped: set[str]) -> Found:
    if not series:
        raise DataError("the bag has no messages of joint states or wrenches")
    origin = min(stamp for samples in series.values() for stamp, _ in samples)
    count = Counter(name for _, name in series)
    found = {}
    for (topic, name), samples in series.items():
        samples.sort(key=lambda sample: sample[0])  # messages are in the order of arrival
        time = np.array([stamp - origin for stamp, _ in samples]) * 1e-9
        values = np.array([value for _, value in samples])
        label = name if count[name] == 1 else f"{topic}/{name}"
        found[label] = Channel(values, units.get((topic, name), ""), time)
    notes = [f"{topic}: times of recording, headers have none" for topic in sorted(unstamped)]
    return found, notes, Fraction(origin, 10**9)
