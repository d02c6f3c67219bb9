"""Damaged files of every format: channels, or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.measurementfile.channels import read_channels

from .test_formats import write_csv, write_hdf5, write_mat, write_mat73, write_mdf, write_parquet
from .test_rosbag import write_bag


def bag1(folder: Path) -> Path:
    return write_bag(folder, "bag")


def bag2(folder: Path) -> Path:
    return next(write_bag(folder, "db3").glob("*.db3"))


def mcap(folder: Path) -> Path:
    return next(write_bag(folder, "mcap").glob("*.mcap"))


WRITERS = (
    write_csv,
    write_parquet,
    write_mat,
    write_mat73,
    write_hdf5,
    write_mdf,
    bag1,
    bag2,
    mcap,
)


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITERS, ids=lambda f: f.__name__.removeprefix("write_"))
def test_damaged_files_give_one_line(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path)
    raw = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [raw[: len(raw) * part // 8] for part in range(8)]
    for where in (200, 2000, len(raw)):  # in the head, near it, anywhere
        for _ in range(4):
            noise = np.frombuffer(raw, np.uint8).copy()
            at = rng.integers(0, min(where, len(raw)), 8)
            noise[at] = rng.integers(0, 256, 8)
            damaged.append(noise.tobytes())
    # Some formats cost the start of a process for each file.
    damaged = damaged[2 :: {".mf4": 7, ".mat": 3, ".h5": 3}.get(path.suffix, 1)]
    said = []
    for content in damaged:
        path.write_bytes(content)
        try:
            assert read_channels(path).channels
        except DataError as error:
            said.append(str(error))
    assert said
    assert all(words.startswith(str(path)) and "\n" not in words for words in said)


def test_empty_files(tmp_path: Path) -> None:
    for ending in ("csv", "txt", "parquet", "mat", "h5", "mf4", "bag", "db3", "mcap"):
        (tmp_path / f"log.{ending}").write_bytes(b"")
        with pytest.raises(DataError, match=rf"log\.{ending}: \w+"):
            read_channels(tmp_path / f"log.{ending}")
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "metadata.yaml").write_text("{")
    with pytest.raises(DataError, match="bag: "):
        read_channels(tmp_path / "bag")
