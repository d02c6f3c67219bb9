"""The quick size of the trials of docs/reliability/faults.md, and what they rest on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.faults.cases import CASES, READ_ONLY, commands
from tests.faults.memory import started
from tests.faults.page import PAGE, tables
from tests.records import stale_tables

from mechid.errors import DataError
from mechid.importing.workbook import workbook_bytes
from mechid.outputs import is_left_over, place_beside, remove_left_over, write_all
from mechid.tape import store

ROOT = Path(__file__).parents[2]


def test_every_command_that_writes_has_a_case() -> None:
    """A new command is entered in `CASES`, or in `READ_ONLY` if it writes nothing."""
    found = commands()
    assert set(found) == set(CASES) | READ_ONLY
    for name, command in found.items():
        options = {p.name for p in command.params}
        if name in READ_ONLY:
            assert not options & {"force", "output", "add"}, name
    for name, case in CASES.items():
        assert " ".join(case.argv).startswith(name)
        written = {"-o", "--plot", "--view", "--certificate", "--latex", "--picture", "--table"}
        assert set(case.outputs) == written & set(case.argv), name


def test_page_and_record_agree() -> None:
    assert stale_tables(PAGE, tables()) == []


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None, reason="LD_PRELOAD and gcc"
)
def test_some_kills_and_faults() -> None:
    """A file, and files that belong together: killed and failing at some operations."""
    line = [sys.executable, "-m", "tests.faults", "--kills", "4", "--step", "3", "--together", "1"]
    for name in ("zoo", "template"):
        line += ["--command", name]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = dict(text.split(": ", 1) for text in done.stdout.splitlines())
    for name in ("zoo", "template"):
        trials = json.loads(rows[name])["trials"]
        assert trials["killed at a time"] + trials.get("finished before", 0) >= 4
        assert {"killed at an operation", "disk full", "operation failed", "no home"} <= set(trials)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit it")
def test_little_address_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, before anything heavy is loaded, with a limit that suffices."""
    monkeypatch.chdir(tmp_path)
    for line in ("check four_bar", "simulate pendulum --t-end 0.1 -o a.csv", "study list"):
        refused = started(line.split(), 0.15e9)
        assert refused.plain, refused.err
        assert refused.status == 2
        (told,) = re.findall(r"the limit is 0.15 GB; raise it: ulimit -v (\d+)", refused.err)
        works = started(line.split(), 1024 * int(told))
        assert works.status == 0, works.err
    assert started(["base", "four_bar"], 0.4e9).status == 2
    assert started(["--help"], 0.15e9).status == 0


def test_files_that_belong_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first file is there only with the others; a failure before the moves changes nothing."""
    main, beside = tmp_path / "a.c", tmp_path / "a.h"
    write_all({main: b"old", beside: b"old"})
    moved: list[str] = []
    real = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if moved:
            raise KeyboardInterrupt
        moved.append(target.name)
        return real(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            write_all({main: b"new", beside: b"new"})
    assert moved == ["a.h"]
    assert not main.exists()
    write_all({main: b"old", beside: b"old"})
    with pytest.raises(DataError, match="cannot write the file"):
        write_all({main: b"new", tmp_path / "no" / "a.h": b"new"})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.c": b"old", "a.h": b"old"}


def test_only_own_left_overs_are_removed(tmp_path: Path) -> None:
    own, folder = place_beside(tmp_path / "a.csv"), place_beside(tmp_path / "new")
    own.write_text("half")
    folder.mkdir()
    (folder / "b").write_text("half")
    (tmp_path / ".mine.part").write_text("years of work")
    assert is_left_over(own)
    remove_left_over(tmp_path, tmp_path / "missing")
    assert [p.name for p in tmp_path.iterdir()] == [".mine.part"]


def test_workbooks_without_room_for_their_sheets() -> None:
    class Full:
        properties = SimpleNamespace()

        def save(self, file: object) -> None:
            raise RuntimeError("IO_ENOSPC")  # as lxml does

    with pytest.raises(DataError, match="sheets of the workbook: IO_ENOSPC; make room there"):
        workbook_bytes(Full())


def test_damaged_compiled_code_is_not_used(tmp_path: Path) -> None:
    """Every stump of a cached file and every changed byte is noticed."""
    data = bytes(range(256))
    store.write("k.o", data, (tmp_path,))
    path = tmp_path / "k.o"
    whole = path.read_bytes()
    assert whole == hashlib.sha256(data).digest() + data
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        assert store.read("k.o", (tmp_path,)) is None
        path.write_bytes(whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :])
        assert store.read("k.o", (tmp_path,)) is None
    path.write_bytes(whole)
    assert store.read("k.o", (tmp_path,)) == data


def test_compiled_code_written_at_once(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=store.write, args=("k.o", b"x" * 100_000, (tmp_path,)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert store.read("k.o", (tmp_path,)) in (None, b"x" * 100_000)
    for thread in threads:
        thread.join()
    assert [p.name for p in tmp_path.iterdir()] == ["k.o"]
