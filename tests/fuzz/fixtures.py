"""Small valid files to start from, written into a folder by mechid and by the libraries."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import mechid

SEEDS = Path(__file__).parent / "seeds"
MODEL = "five_bar"


def log_columns(samples: int = 41) -> dict[str, Any]:
    """Return a log of the five-bar linkage in SI units, at 20 Hz."""
    t = np.arange(samples) / 20.0
    w = np.pi
    return {
        "time": t,
        "q1": 0.3 * np.sin(w * t),
        "q2": 0.2 * np.cos(w * t),
        "M1": 2.0 * np.sin(3 * w * t),
        "M2": np.cos(2 * w * t),
    }


def bench_columns() -> dict[str, Any]:
    """Return the same log as a test bench writes it, for the mapping."""
    c = log_columns(101)
    return {
        "t_ms": 1000 * c["time"],
        "enc1": np.rad2deg(c["q1"]),
        "enc2": 30 - np.rad2deg(c["q2"]),
        "load1": 1000 * c["M1"],
        "load2": c["M2"],
    }


def write_mf4(path: Path) -> None:
    """Write the log as MDF."""
    from asammdf import MDF, Signal

    columns = log_columns()
    t = columns.pop("time")
    with MDF() as file:
        file.start_time = datetime(2026, 1, 1, tzinfo=UTC)
        file.append([Signal(samples=v, timestamps=t, name=n) for n, v in columns.items()])
        file.save(path, overwrite=True)


def write_bags(folder: Path) -> None:
    """Write the log as a bag of ROS 1 and two of ROS 2."""
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.rosbag2 import StoragePlugin
    from rosbags.rosbag2 import Writer as Writer2
    from rosbags.typesys import Stores, get_typestore

    columns = log_columns()
    one, two = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.ROS2_HUMBLE)
    for store, writer in (
        (one, Writer1(folder / "log.bag")),
        (two, Writer2(folder / "db3", version=9, storage_plugin=StoragePlugin.SQLITE3)),
        (two, Writer2(folder / "mcap", version=9, storage_plugin=StoragePlugin.MCAP)),
    ):
        kind = "sensor_msgs/msg/JointState"
        types: Any = store.types
        words = {"seq": 0} if store is one else {}
        with writer:
            to: Any = writer.add_connection("/joints", kind, typestore=store)
            for k, t in enumerate(columns["time"]):
                stamp = 10**18 + round(t * 1e9)
                time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
                message = types[kind](
                    header=types["std_msgs/msg/Header"](stamp=time, frame_id="", **words),
                    name=["q1", "q2"],
                    position=np.array([columns["q1"][k], columns["q2"][k]]),
                    velocity=np.zeros(0),
                    effort=np.array([columns["M1"][k], columns["M2"][k]]),
                )
                raw = store.serialize_ros1 if store is one else store.serialize_cdr
                writer.write(to, stamp, raw(message, kind))


def write_run(folder: Path) -> None:
    """Identify a pendulum."""
    motion = mechid.excite("pendulum", random=2, starts=0, harmonics=2)
    log = mechid.synthesise("pendulum", motion, rate=20.0, noise="2%", cad_error="10%")
    mechid.identify("pendulum", log, folder=folder)
    mechid.save_measurement(log, folder.parent / "pendulum.csv")


def write_study(folder: Path) -> None:
    """Run a small study; its tables have no hashes, so that what is changed in them is read."""
    mechid.run_study(SEEDS / "study.yaml", folder, quick=True, workers=0)
    for path in folder.rglob("*.parquet"):
        pq.write_table(pq.read_table(path, partitioning=None), path)


def write_certificates(folder: Path) -> None:
    """Certify the number of base parameters of small mechanisms."""
    from mechid.cli.app import app

    for name in ("pendulum", "four_bar"):
        file = folder / f"{name}.json"
        app(["base", name, "--certificate", str(file), "--json"], standalone_mode=False)
