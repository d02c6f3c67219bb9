"""Generated code on disk: reused, never half written, never a reason to fail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mechid.tape.store import cache_folders, stored


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MECHID_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


def fail() -> bytes:
    raise AssertionError("it was made already")


def test_what_was_made_is_not_made_again(folder: Path) -> None:
    assert stored("a", lambda: b"code") == b"code"
    assert stored("a", fail) == b"code"
    assert stored("b", lambda: b"other") == b"other"
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"x" * 31, b"y" * 40])
def test_a_damaged_file_is_made_again(folder: Path, damage: bytes) -> None:
    stored("a", lambda: b"code")
    (file,) = folder.iterdir()
    file.write_bytes(damage)
    assert stored("a", lambda: b"new") == b"new"
    assert stored("a", fail) == b"new"


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MECHID_CACHE_DIR", str(tmp_path / "file"))
    assert stored("a", lambda: b"code") == b"code"


def test_many_at_once(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda i: stored(f"{i % 3}", lambda: b"code" * 10000), range(60)))
    assert found == {b"code" * 10000}
    assert len(list(folder.iterdir())) == 3


def test_the_user_s_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MECHID_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folders()[0] == Path("/somewhere/mechid")
