"""The demonstration writes what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechid import demo
from mechid.modelfile import load
from mechid.tables import read_motion


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.main(tmp_path / "demo")
    text = capsys.readouterr().out
    page, table = tmp_path / "demo" / "sla_suspension.html", tmp_path / "demo" / "motion.csv"
    assert str(page) in text
    assert str(table) in text
    assert "degrees of freedom             5" in text
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    # The table is a motion that the tool can read again, with its speeds.
    motion = read_motion(table, load("sla_suspension"))
    assert motion.time[-1] > 10
    assert not any("derived" in note for note in motion.notes)
