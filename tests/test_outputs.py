"""Files that are written: checked before, whole or not at all, never over what is there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.outputs import check_outputs, write_text, write_whole
from mechid.tables.files import write_table


def test_what_is_there_is_replaced_on_request_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    check_outputs(path, None)
    path.write_text("old")
    with pytest.raises(DataError, match="the file exists; add --force"):
        check_outputs(path)
    check_outputs(path, force=True)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for other in (path, link, tmp_path / "." / "a.csv"):
        with pytest.raises(DataError, match="read by the same command"):
            check_outputs(other, force=True, inputs=[None, "zoo_name", path])
    with pytest.raises(DataError, match="two outputs have the same file"):
        check_outputs(tmp_path / "b", tmp_path / "b")
    assert path.read_text() == "old"


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, words in (
        ("no/a.csv", "no such folder; mkdir -p"),
        ("file/a.csv", "file is not a folder"),
        (".", "this is a folder"),
        ("x" * 300, "cannot write the file: File name too long"),
        ("loop", "cannot write the file: Too many levels of symbolic links"),
    ):
        with pytest.raises(DataError, match=words):
            check_outputs(tmp_path / name, force=True)
    for name in ("no/a.csv", "file/a.csv", "x" * 300):
        with pytest.raises(DataError, match="cannot write the file"):
            write_text(tmp_path / name, "")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(DataError, match="no permission"):
        check_outputs(tmp_path / "a.csv")


def test_nothing_half_is_ever_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half(beside: Path) -> None:
        beside.write_text("ne")
        assert path.read_text() == "old"
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left"):
        write_whole(path, half)
    assert path.read_text() == "old"
    assert [x.name for x in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_tables_are_written_beside_their_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed leaves the old table, not a stump: nothing opens its place."""
    path = tmp_path / name
    write_table(path, {"time": np.arange(3.0)})
    before, inode = path.read_bytes(), path.stat().st_ino

    def killed(self: Path, *arguments: object) -> Path:
        assert path.read_bytes() == before
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            write_table(path, {"time": np.arange(1000.0)})
    assert (path.read_bytes(), path.stat().st_ino) == (before, inode)
    write_table(path, {"time": np.arange(4.0)})
    assert path.stat().st_ino != inode
    assert [x.name for x in tmp_path.iterdir()] == [name]


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    check_outputs("/dev/null")
    write_text("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(DataError, match="/dev/full: cannot write the file: No space left"):
        write_text("/dev/full", "anything")
