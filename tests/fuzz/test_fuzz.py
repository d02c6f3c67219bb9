"""A small size of the fuzzing: every kind of file, the same cases in every run."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mechid.errors import DataError

from ..records import stale_tables
from .apart_server import FILES, Forking
from .drive import Driver, Tally
from .guard import ForbiddenError, Guard
from .kinds import KINDS, Kind
from .record import PAGE, merged, tables
from .worker import read_case

CASES = 20


@pytest.mark.slow
def test_changed_files_are_read_or_refused(tmp_path: Path) -> None:
    """Nothing but a result or one clear message, within limits of time and memory."""
    driver = Driver(tmp_path, tmp_path / "failures")
    found = {}
    try:
        for kind in KINDS:
            tally = found[kind] = Tally()
            driver.run(kind, 0, 0, CASES, tally)
    finally:
        driver.close()
    assert {kind: dict(tally.defects) for kind, tally in found.items() if tally.defects} == {}
    assert all(tally.cases == CASES for tally in found.values())
    # Changes are neither harmless nor hopeless.
    assert sum(tally.accepted for tally in found.values()) > len(KINDS)
    assert sum(tally.refused for tally in found.values()) > len(KINDS)


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (None, "accepted"),
        (DataError("wrong"), "refused"),
        (KeyError("x"), "exception"),
        (MemoryError(), "memory"),
        (ForbiddenError("writes"), "forbidden"),
    ],
)
def test_what_counts_as_a_defect(
    error: BaseException | None, result: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: Path, rng: Random) -> None:
        if error is not None:
            raise error

    monkeypatch.setitem(KINDS, "toy", Kind(lambda _: [], read, lambda _: []))
    assert read_case("toy", Path(), Random(0))[0] == result


@pytest.mark.parametrize(
    ("event", "args"),
    [
        ("open", ("/etc/x", "w", os.O_WRONLY | os.O_CREAT)),
        ("os.remove", ("/etc/x", -1)),
        ("os.rename", ("in/x", "/etc/x", -1, -1)),
        ("os.system", ("true",)),
        ("subprocess.Popen", ("true", ["true"], None, None)),
        ("socket.connect", (None, ("localhost", 1))),
    ],
)
def test_what_no_file_may_cause(
    event: str, args: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    guard = Guard([tmp_path / "in"])
    guard.audit(event, args)  # not yet
    guard.active = True
    with pytest.raises(ForbiddenError):
        guard.audit(event, args)
    guard.audit("open", ("/etc/x", "r", os.O_RDONLY))
    guard.audit("open", ("in/x", "w", os.O_WRONLY))


def test_records_add_up(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    merged(path, {"model": Tally(accepted=2, refused=3, seconds=0.5, memory=1.0)})
    merged(path, {"model": Tally(accepted=1, refused=1, seconds=0.1, memory=2.0)})
    text = path.read_text("utf-8")
    assert '"cases": 7' in text
    assert '"seconds": 0.5' in text
    assert '"memory": 2.0' in text


def test_the_page_shows_the_record() -> None:
    assert stale_tables(PAGE, tables()) == []


@pytest.mark.slow
def test_processes_that_read_files_are_followed_by_others(tmp_path: Path) -> None:
    """Crashes and errors end one file, not those after it; a process reads so many and no more."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "def channels_of(path):\n"
        "    text = open(path).read()\n"
        "    if text == 'crash': os.kill(os.getpid(), 11)\n"
        "    return os.getpid() if text == 'good' else text[9]\n"
    )
    forking = Forking()

    def read(text: str) -> tuple[int, int | None]:
        path = tmp_path / "file"
        path.write_text(text)
        done = forking.run(["python", "apart.py", str(script), str(path)])
        return done.returncode, pickle.loads(done.stdout) if done.stdout else None

    first = read("good")
    assert first[0] == 0
    assert read("good") == first
    assert read("error") == (1, None)
    assert read("good") == first
    assert read("crash") == (-11, None)
    second = read("good")
    assert second[0] == 0
    assert second != first
    later = [read("good") for _ in range(FILES)]
    assert later[:-1] == [second] * (FILES - 1)
    assert later[-1] not in (first, second)
    forking.close()
