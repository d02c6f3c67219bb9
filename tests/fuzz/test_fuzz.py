"""A small size of the fuzzing: every kind of file, the same cases in every run."""

from __future__ import annotations

from pathlib import Path

from ..records import stale_tables
from .drive import Driver, Tally
from .kinds import KINDS
from .record import PAGE, merged, tables

CASES = 20


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
